package actions

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// A Suggestion is an action that seems to have done a step. Nothing is decided by it: the operator ticks.
type Suggestion struct {
	Step     int    `json:"step" doc:"Index into details.action_sequence; -1 for the expected outcome."`
	ActionID string `json:"action_id"`
	At       int64  `json:"at_ns"`
}

// How sure a suggestion has to be: which share of what a step says is found in the action, and how far the
// step is ahead of the next likely one. A wrong suggestion costs more than none.
const (
	enough = 0.38
	ahead  = 0.1
	recent = 2000 // actions that are looked at: it is asked again and again while a recording runs
)

// Suggest names, for each step that no action belongs to, the action so far that most likely did it: by the
// words they share, the verb before all, and by names of files. At most one for a step, and none for most.
func Suggest(steps []string, list []human.Action) []Suggestion {
	ticked := map[int]bool{}
	for _, a := range list {
		if a.Step != nil {
			ticked[*a.Step] = true
		}
	}
	parsed := make([]saying, len(steps))
	often := map[string]int{}
	for i, s := range steps {
		parsed[i] = say(s)
		for w := range parsed[i].words {
			often[w]++
		}
	}
	// A word that several steps have separates them less.
	for i := range parsed {
		for w := range parsed[i].words {
			parsed[i].words[w] /= float64(often[w])
		}
	}
	best := make([]float64, len(steps))
	found := make([]*human.Action, len(steps))
	list = list[max(0, len(list)-recent):]
	for n := range list {
		a := &list[n]
		if a.Step != nil || a.Cut || a.Masked {
			continue
		}
		does := saidOf(*a)
		if len(does.words) == 0 && does.path == "" {
			continue
		}
		first, second, step := 0.0, 0.0, -1
		for i, s := range parsed {
			score := s.share(does)
			switch {
			case score > first:
				first, second, step = score, first, i
			case score > second:
				second = score
			}
		}
		if step < 0 || ticked[step] || first < enough || first-second < ahead {
			continue
		}
		if first >= best[step] {
			best[step], found[step] = first, a
		}
	}
	var out []Suggestion
	for i, a := range found {
		if a != nil {
			out = append(out, Suggestion{Step: i, ActionID: a.ID, At: a.At})
		}
	}
	return out
}

// Watched finds the file that an outcome or a step names, once an action made it: the path itself, or a file
// in the folder it names. Relative paths are those in the folders that are watched.
func Watched(outcome string, folders []string, list []human.Action) (Suggestion, bool) {
	kinds := extensions(outcome)
	for _, named := range paths(outcome) {
		for i := range list {
			a := &list[i]
			made := madePath(*a)
			if made == "" || a.Cut {
				continue
			}
			ext := strings.ToLower(strings.TrimPrefix(path.Ext(base(made)), "."))
			if a.File != nil && a.File.Dir || !names(named, made, folders) || len(kinds) > 0 && !slices.Contains(kinds, ext) {
				continue
			}
			return Suggestion{Step: -1, ActionID: a.ID, At: a.At}, true
		}
	}
	return Suggestion{}, false
}

// madePath is the file an action left behind; of a download its name alone.
func madePath(a human.Action) string {
	if a.Type == human.Download && len(a.Transfers) == 1 && a.Transfers[0].State == "completed" {
		return base(a.Transfers[0].Name)
	}
	if a.Type != human.FileOperation || a.File == nil {
		return ""
	}
	switch a.File.Op {
	case "created", "changed":
		return a.File.Path
	case "renamed":
		return a.File.To
	}
	return ""
}

// names says whether the named path is made itself, or a folder it lies in.
func names(named, made string, folders []string) bool {
	named, made = slashes(named), slashes(made)
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		made, named = slashes(home(made)), "~/"+rest
	} else if !strings.HasPrefix(named, "/") && !hasDrive(named) {
		for _, f := range folders {
			if rest, ok := strings.CutPrefix(made, strings.TrimRight(slashes(f), "/")+"/"); ok && (rest == named || strings.HasSuffix(rest, "/"+named)) {
				return true
			}
		}
		return !strings.Contains(named, "/") && path.Base(made) == named
	}
	if strings.HasSuffix(named, "/") {
		return path.Dir(made)+"/" == named
	}
	return made == named || path.Ext(named) == "" && path.Dir(made) == named
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func hasDrive(p string) bool { return len(p) > 2 && p[1] == ':' && p[2] == '/' }

var pathShape = regexp.MustCompile(`(?:~|[A-Za-z]:|[A-Za-z0-9._@+-]+)?(?:[/\\][\p{L}\p{N}._@+~-]+)+[/\\]?|[\p{L}\p{N}_@+~-][\p{L}\p{N}._@+~-]*\.[A-Za-z][A-Za-z0-9]{0,4}\b`)

// paths are the paths and file names a text has.
func paths(text string) []string {
	var out []string
	for _, p := range pathShape.FindAllString(text, -1) {
		p = strings.TrimRight(p, ".,;:!?")
		if r := []rune(p); len(r) > 2 {
			out = append(out, p)
		}
	}
	return out
}

var extensionShape = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}])(pdf|csv|tsv|txt|md|png|jpe?g|gif|svg|xlsx?|docx?|pptx?|odt|ods|json|xml|html?|zip|mp4)(?:/[a-z])?(?:[^A-Za-z0-9]|$)`)

// extensions are the kinds of files a text speaks of.
func extensions(text string) []string {
	var out []string
	for _, m := range extensionShape.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ToLower(m[1]))
	}
	return out
}

// A saying is what a step or an action says, as words with weights; verbs by what they mean.
type saying struct {
	words map[string]float64
	paths []string
	path  string // made by an action
	verb  string // what an action is by its type, and no name says
}

// Verbs that mean the same get one word. The first of each is its name.
var verbs = map[string]string{}

func init() {
	for _, same := range []string{
		"!open launch start run visit navigate go 打开 启动 运行 访问 前往 进入", "!close quit exit leave 关闭 退出", "!save store 保存 存储 另存",
		"!export download 导出 下载", "!find search look 查找 搜索 寻找 找到", "!type enter fill write 输入 填写 键入",
		"!login signin 登录 登陆", "!copy 复制 拷贝", "!paste 粘贴", "!scroll 滚动", "!delete remove 删除 移除", "!rename 重命名",
		"!move drag 移动 拖动", "!print 打印", "!send submit 发送 提交", "!import upload 导入 上传", "!sign 签署 签名", "!confirm ok accept 确认 确定 同意",
		"!check verify 检查 核对 确认无误", "!create make new 新建 创建", "!switch 切换", "!cancel 取消", "!edit change 编辑 修改", "!select choose pick 选择 选中 选取",
		"!read extract 读取 提取", "!tick untick uncheck 勾选",
	} {
		all := strings.Fields(same)
		for _, v := range all[1:] {
			verbs[v] = all[0]
		}
		verbs[all[0][1:]] = all[0]
	}
}

var stop = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("a an the of to in into on at by for from with as and or is are be it its this that then all both each your you button field menu item window click press " +
		"的 了 和 与 在 到 把 将 并 为 中 里 上 下 个 一 按钮 点击 窗口 菜单") {
		out[w] = true
	}
	return out
}()

// say takes a step apart. The first verb weighs most: it is what the step is about.
func say(step string) saying {
	s := saying{words: map[string]float64{}, paths: paths(step)}
	text := step
	for _, p := range s.paths {
		if strings.ContainsAny(p, `/\`) {
			text = strings.ReplaceAll(text, p, " ")
		}
	}
	for i, w := range split(text) {
		weight := 1.0
		switch {
		case strings.HasPrefix(w, "!") && i == 0:
			weight = 2
		case isHan(w):
			weight = 0.5
		case strings.ContainsFunc(w, unicode.IsDigit):
			weight = 2 // an identifier
		}
		s.words[w] = max(s.words[w], weight)
	}
	return s
}

// saidOf is what an action did, in the words a step would use.
func saidOf(a human.Action) saying {
	s := saying{words: map[string]float64{}}
	switch a.Type {
	case human.OpenApp:
		s.say("!open", openedName(a), windowName(a))
	case human.CloseWindow:
		s.say("!close", openedName(a), windowName(a))
	case human.SwitchWindow:
		if a.Element != nil {
			s.say("!switch", a.Element.Name)
		} else {
			s.say("!switch", windowName(a))
		}
	case human.Click, human.DoubleClick:
		if a.Button == 1 && elementName(a.Element) != "" {
			s.say("", a.Element.Name, menuPath(a.Element))
		}
	case human.Typing:
		s.say("!type", a.Text, elementName(a.Element))
		if a.Page != nil {
			s.say("!type", a.Value)
		}
	case human.Drag:
		s.say("!move", elementName(a.Element), elementName(a.Target))
	case human.FileOperation:
		if s.path = madePath(a); s.path != "" {
			s.say("!save", base(s.path))
		} else if a.File != nil && a.File.Op == "deleted" {
			s.say("!delete", base(a.File.Path))
		}
	default:
		s.sayPage(a)
	}
	return s
}

// sayPage adds what an action in a browser did.
func (s *saying) sayPage(a human.Action) {
	switch a.Type {
	case human.OpenPage, human.Navigate:
		if a.Navigation != nil && a.Navigation.Failed == "" && a.Navigation.Kind != "redirect" {
			at := host(a.Page.URL)
			s.say("!open", pageTitle(a.Page), strings.NewReplacer(".", " ", "/", " ", "-", " ").Replace(at), at)
		}
	case human.SwitchPage:
		s.say("!switch", pageName(a.Page))
	case human.ClosePage:
		s.say("!close", pageName(a.Page))
	case human.Choose:
		s.say("!select", append(a.Values[:len(a.Values):len(a.Values)], elementName(a.Element))...)
	case human.Check:
		verb := "!tick"
		if isRadio(a.Element) {
			verb = "!select"
		}
		s.say(verb, elementName(a.Element))
	case human.DialogEnded:
		if a.Dialog == nil {
			return
		}
		verb := "!cancel"
		if a.Dialog.Accepted {
			verb = "!confirm"
		}
		s.say(verb, a.Dialog.Message)
	case human.Upload:
		s.say("!import", elementName(a.Element))
		for _, f := range a.Transfers {
			s.say("!import", f.Name)
		}
	case human.Download:
		if s.path = madePath(a); s.path != "" {
			s.say("!export", s.path)
		}
	case human.Extract:
		if a.Pick != nil {
			s.say("!read", a.Pick.Field, strings.ReplaceAll(a.Pick.Field, "_", " "))
		}
	}
}

// say sets the verb and adds the words of texts.
func (s *saying) say(verb string, texts ...string) {
	s.verb = verb
	for _, text := range texts {
		for _, w := range split(text) {
			s.words[w] = 1
		}
	}
}

// share is how much of what the step says the action has, 0 to 1.
func (s saying) share(does saying) float64 {
	if does.path != "" {
		for _, p := range s.paths {
			if names(p, does.path, []string{"/"}) {
				return 1
			}
		}
		if len(s.paths) > 0 {
			return 0 // another one
		}
	}
	all, has := 0.0, 0.0
	for w, weight := range s.words {
		all += weight
		if does.words[w] > 0 {
			has += weight
		}
	}
	// That something was opened or typed says nothing without what.
	if has > 0 && does.words[does.verb] == 0 {
		has += s.words[does.verb]
	}
	all += float64(len(s.paths))
	// One small word in common says nothing.
	if all == 0 || has < 0.9 {
		return 0
	}
	return has / all
}

// split gives the words of a text: verbs by their meaning, English without endings, Chinese in pairs of
// characters, identifiers and file names whole.
func split(text string) []string {
	var out []string
	add := func(w string) {
		w = strings.Trim(strings.ToLower(w), ".,:;-_/…")
		if w == "" || stop[w] {
			return
		}
		if v, ok := verbs[w]; ok {
			out = append(out, v)
			return
		}
		w = stem(w)
		if v, ok := verbs[w]; ok {
			w = v
		}
		out = append(out, w)
	}
	text = strings.NewReplacer("log in", "login", "Log in", "login", "Log In", "login", "sign in", "signin", "Sign in", "signin", "Sign In", "signin").Replace(text)
	var word, han []rune
	flush := func() {
		add(string(word))
		word = word[:0]
		if len(han) > 0 {
			out = append(out, hanWords(string(han))...)
			han = han[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			if len(word) > 0 {
				flush()
			}
			han = append(han, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".-_/", r) && len(word) > 0:
			if len(han) > 0 {
				flush()
			}
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	return out
}

// hanWords takes verbs out of a run of Chinese and the rest in pairs, without the small words between.
func hanWords(run string) []string {
	var out []string
	var rest []rune
	pairs := func() {
		for i := 0; i+1 < len(rest); i++ {
			out = append(out, string(rest[i:i+2]))
		}
		if len(rest) == 1 {
			out = append(out, string(rest))
		}
		rest = rest[:0]
	}
	for r := []rune(run); len(r) > 0; {
		taken := 0
		for n := min(4, len(r)); n >= 1; n-- {
			w := string(r[:n])
			if v, ok := verbs[w]; ok {
				pairs()
				out = append(out, v)
				taken = n
			} else if stop[w] {
				pairs()
				taken = n
			}
			if taken > 0 {
				break
			}
		}
		if taken == 0 {
			rest = append(rest, r[0])
			taken = 1
		}
		r = r[taken:]
	}
	pairs()
	return out
}

func isHan(w string) bool {
	for _, r := range w {
		return unicode.Is(unicode.Han, r)
	}
	return false
}

// stem takes English endings off, lightly: enough for contracts and exported.
func stem(w string) string {
	if len(w) < 5 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 && !strings.HasSuffix(w, "ss") {
			w = s
			break
		}
	}
	return strings.TrimSuffix(w, "e")
}
