package procedure

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// A Covered is why a procedure may do what a request asks for.
type Covered struct {
	Why     []human.Sentence
	Fields  map[string]string // of what the request wants filled in: the output that gives it
	Missing []string          // wanted, and given by no output
	score   float64
}

// doings are verbs by what is done; a verb that stands in a request and whose class a procedure has not is other work. English verbs
// count at the beginning of a clause alone, where they ask for something: elsewhere they may be nouns.
var doings = sync.OnceValue(func() map[string][]string {
	all := map[string]string{
		"take":   "get download export fetch retrieve read look find check copy pull grab collect save extract show tell track what where which 下载 导出 获取 查询 查看 读取 查找 取得 查一下 保存",
		"make":   "create add register book reserve enter new write make 新建 创建 添加 新增 登记 录入 预订 预约 填写 申请",
		"change": "change update set edit rename modify adjust correct 修改 更新 更改 编辑 调整 设置为 改为",
		"delete": "delete remove cancel erase revoke discard 删除 移除 取消 注销 撤销",
		"send":   "send submit post publish reply email forward report upload 发送 提交 发布 回复 转发 上传",
		"pay":    "pay transfer buy purchase order refund 付款 支付 转账 下单 购买 退款",
		"decide": "approve reject confirm decline sign close 批准 审批 驳回 确认 拒绝 关闭",
	}
	of := map[string][]string{}
	for class, verbs := range all {
		of[class] = strings.Fields(verbs)
	}
	return of
})

// passed are words that say nothing about the work; lead are those after which a verb tells what to do.
var passed = sync.OnceValue(func() map[string]bool {
	return set("a an the of for from to in on at by with and or then please i you we me my our your us it its is are be as into all any this that up out need need want can could would new latest last")
})

var lead = sync.OnceValue(func() map[string]bool { return set("and then please to you or also now just should must can") })

// neutral are words that a sentence may begin with, whatever the work is.
var neutral = sync.OnceValue(func() map[string]bool {
	return set("open go visit navigate use log hello hi thank could would can if when there still currently today tomorrow")
})

// other are Chinese nouns that make another thing of the word before them.
var other = sync.OnceValue(func() []string {
	return strings.Fields("模板 列表 名单 清单 记录 地址 设置 抬头 类型 规则 提醒 统计 权限 字段 页面")
})

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// A token is a word of a text as it is compared, and how it stands there.
type token struct {
	word   string
	starts bool // a clause
	first  bool // of a sentence, or after "and" and the like: where an English verb tells what to do
	name   bool // it is written like a name or a number
}

var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\p{Han}+|[\p{Latin}\p{Cyrillic}\p{Greek}\p{N}]+(?:['’]\p{Latin}+)?|[.,;:!?，。；：！？、\n]`)
})

// tokensOf are the words of a text: of Chinese, pairs of characters.
func tokensOf(text string) (all []token) {
	starts, first := true, true
	for _, found := range tokens().FindAllString(text, -1) {
		letter := []rune(found)[0]
		switch {
		case unicode.Is(unicode.Han, letter):
			for _, pair := range pairs(found) {
				all = append(all, token{word: pair})
			}
			starts, first = false, false
		case !unicode.IsLetter(letter) && !unicode.IsDigit(letter):
			starts, first = true, strings.ContainsAny(found, ".;!?\n。；！？")
		default:
			word := stem(strings.ToLower(found))
			all = append(all, token{word, starts, first, unicode.IsUpper(letter) && (!starts || !first) || unicode.IsDigit(letter)})
			starts, first = lead()[word], slices.Contains([]string{"and", "then", "please", "also"}, word)
		}
	}
	return all
}

// pairs are the pairs of neighbors of characters.
func pairs(text string) (all []string) {
	runes := []rune(text)
	for i := range max(0, len(runes)-1) {
		all = append(all, string(runes[i:i+2]))
	}
	return all
}

// stem is an English word without its plural and genitive.
func stem(word string) string {
	word = strings.NewReplacer("'s", "", "’s", "").Replace(word)
	switch n := len(word); {
	case n > 4 && strings.HasSuffix(word, "ies"):
		return word[:n-3] + "y"
	case n > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
		return word[:n-1]
	}
	return word
}

// told are the classes of what a text tells to do, each once.
func told(text string) (all []string) {
	words := tokensOf(text)
	for class, verbs := range doings() {
		if slices.ContainsFunc(verbs, func(verb string) bool {
			if unicode.Is(unicode.Han, []rune(verb)[0]) {
				return strings.Contains(text, verb)
			}
			return slices.ContainsFunc(words, func(t token) bool { return t.starts && t.word == stem(verb) })
		}) {
			all = append(all, class)
		}
	}
	return all
}

// things are the words of a title that name what the work is about, and the one that it is about first of all: the last word before "of",
// "from" and the like; in Chinese the last pair.
func things(title string) (all []string, head string) {
	for _, verbs := range doings() {
		for _, verb := range verbs {
			if unicode.Is(unicode.Han, []rune(verb)[0]) {
				title = strings.ReplaceAll(title, verb, " ")
			}
		}
	}
	closed := false
	for i, t := range tokensOf(title) {
		if passed()[t.word] || i == 0 && t.starts {
			closed = closed || head != "" && passed()[t.word]
			continue
		}
		if !slices.Contains(all, t.word) {
			all = append(all, t.word)
		}
		if !closed {
			head = t.word
		}
	}
	return all, head
}

// An asking is what a request says, as far as it is compared.
type asking struct {
	text   string // what is to be done, without addresses
	words  []token
	told   []string
	hosts  []string // that it names
	path   string   // of its address
	fields []string
}

var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)https?://[^\s"'<>，。）)]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,}\b`)
})

// askingOf reads a request; ok is false where it is of a kind that no procedure does the work of.
func askingOf(op human.Operation) (a asking, ok bool) {
	if op.Kind != human.Browser && op.Kind != human.Desktop {
		return a, false
	}
	parts := []string{op.Description}
	for _, field := range []string{"required_action", "url"} {
		var text string
		if json.Unmarshal(kind.Value(op, field), &text) == nil && text != "" {
			if field == "url" {
				u, err := url.Parse(text)
				if err != nil || u.Host == "" {
					return a, false
				}
				a.hosts, a.path = []string{strings.ToLower(u.Host)}, u.Path
				continue
			}
			parts = append(parts, text)
		}
	}
	parts = append(parts, kind.Steps(op)...)
	text := strings.Join(parts, "\n")
	for _, found := range addresses().FindAllString(text, -1) {
		address := strings.TrimRight(found, ".")
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			a.hosts, a.path = append(a.hosts, strings.ToLower(u.Host)), cmp.Or(a.path, u.Path)
		}
	}
	a.text = strings.NewReplacer("sign in", "log in", "Sign in", "Log in").Replace(addresses().ReplaceAllString(text, " "))
	a.words, a.told, a.fields = tokensOf(a.text), told(a.text), wanted(op)
	return a, true
}

// wanted are the names of the fields that a request wants filled in.
func wanted(op human.Operation) (all []string) {
	raw := kind.Value(op, "data_to_extract")
	human.Members(raw, func(name []byte, _ json.RawMessage) { all = append(all, string(name)) })
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // an object is no list
	for _, one := range list {
		var name string
		var field struct{ Name string }
		if json.Unmarshal(one, &name) != nil {
			_ = json.Unmarshal(one, &field)
			name = field.Name
		}
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// Covers says whether a procedure does what a request asks for, and why. It takes weak evidence for none: the request is about the same
// thing, tells to do the same kind of work and nothing else, names no other site and wants no fields that are all unknown.
func Covers(p human.Procedure, op human.Operation) (c Covered, covers bool) {
	a, ok := askingOf(op)
	if !ok || p.Where != "browser" {
		return c, false
	}
	site, page := a.at(p)
	if site == "" && len(a.hosts) > 0 {
		return c, false
	}
	does := told(p.Title)
	for _, class := range a.told {
		if !slices.Contains(does, class) {
			return c, false
		}
	}
	if a.strange(p, does) {
		return c, false
	}
	c.Fields, c.Missing = given(p, a.fields)
	if len(c.Fields) == 0 && (len(a.fields) > 0 || len(a.told) == 0 && !a.begins(p.Title)) {
		return c, false
	}
	all, head := things(p.Title)
	if site != "" {
		all = slices.DeleteFunc(all, func(word string) bool { return word != head && strings.Contains(site, word) })
	}
	found, named := 0, fieldWords(c.Fields)
	for _, word := range all {
		if slices.Contains(named, word) || slices.ContainsFunc(a.words, func(t token) bool { return t.word == word }) {
			found++
		}
	}
	share := float64(found) / float64(max(1, len(all)))
	least := 0.75
	if page {
		least = 0.3
	}
	if share < least || site == "" && found < 2 || !a.about(p, head, c.Fields) {
		return c, false
	}
	if site != "" {
		c.Why = append(c.Why, human.Sayf("same site: %s", site))
		c.score++
	}
	c.Why = append(c.Why, human.Sayf("%d of %d words of its title", found, len(all)))
	if len(a.fields) > 0 {
		c.Why = append(c.Why, human.Sayf("gives %d of %d fields", len(c.Fields), len(a.fields)))
	}
	c.score += share + float64(len(c.Fields))/float64(max(1, len(a.fields)))
	return c, true
}

// begins says whether a clause begins with the first word of a title, whatever that means.
func (a asking) begins(title string) bool {
	first := tokensOf(title)
	return len(first) > 0 && slices.ContainsFunc(a.words, func(t token) bool { return t.starts && t.word == first[0].word })
}

// at is the site of a procedure that a request names; page says that its address leads to the same part of it, or to its front.
func (a asking) at(p human.Procedure) (site string, page bool) {
	for _, s := range p.Steps {
		u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(s.URL))
		if err != nil || u.Host == "" || !slices.Contains(a.hosts, strings.ToLower(u.Host)) {
			continue
		}
		site = u.Host
		page = page || firstPart(a.path) == "" || firstPart(a.path) == firstPart(u.Path)
	}
	return site, page
}

func firstPart(path string) string {
	first, _, _ := strings.Cut(strings.Trim(path, "/"), "/")
	return first
}

// about says whether a request is about the thing that a title is about, and not about another one that is named by it, such as an
// invoice's template.
func (a asking) about(p human.Procedure, head string, fields map[string]string) bool {
	known := knownTo(p)
	there := false
	for i, t := range a.words {
		if t.word != head {
			continue
		}
		there = true
		if i+1 == len(a.words) {
			continue
		}
		next := a.words[i+1]
		if unicode.Is(unicode.Han, []rune(head)[0]) {
			if slices.ContainsFunc(other(), func(noun string) bool { return strings.Contains(a.text, head+noun) }) {
				return false
			}
			continue
		}
		if !next.name && !next.starts && !passed()[next.word] && !known[next.word] {
			return false
		}
	}
	return there || slices.Contains(fieldWords(fields), head)
}

// strange says whether a sentence begins with a word that tells to do what is not known: "Dispute the invoice".
func (a asking) strange(p human.Procedure, does []string) bool {
	known := knownTo(p)
	for _, t := range a.words {
		verb := slices.ContainsFunc(does, func(class string) bool { return slices.Contains(doings()[class], t.word) })
		if t.first && !t.name && !verb && !known[t.word] && !passed()[t.word] && !neutral()[t.word] && !lead()[t.word] {
			return true
		}
	}
	return false
}

// knownTo are the words of what a procedure says of itself, and the verbs for what it does.
func knownTo(p human.Procedure) map[string]bool {
	known := map[string]bool{}
	for _, class := range told(p.Title) {
		for _, verb := range doings()[class] {
			known[verb] = true
		}
	}
	texts := []string{p.Title, p.Description, p.Name}
	for _, q := range p.Parameters {
		texts = append(texts, q.Name, q.Description)
	}
	for _, o := range p.Outputs {
		texts = append(texts, o.Name, o.Description)
	}
	for _, t := range tokensOf(strings.ReplaceAll(strings.Join(texts, " . "), "_", " ")) {
		known[t.word] = true
	}
	return known
}

func fieldWords(fields map[string]string) (all []string) {
	for name := range fields {
		for _, t := range tokensOf(strings.ReplaceAll(name, "_", " ")) {
			all = append(all, t.word)
		}
	}
	return all
}

// given are the outputs that give wanted fields, each once, and the fields that none gives.
func given(p human.Procedure, fields []string) (by map[string]string, missing []string) {
	by = map[string]string{}
	used := map[string]bool{}
	for _, field := range fields {
		i := slices.IndexFunc(p.Outputs, func(o human.ProcedureOutput) bool { return !used[o.Name] && names(field, o) })
		if i < 0 {
			missing = append(missing, field)
			continue
		}
		by[field], used[p.Outputs[i].Name] = p.Outputs[i].Name, true
	}
	return by, missing
}

// names says whether a field's name means an output: one has all words of the other, or the output's description has the name.
func names(field string, o human.ProcedureOutput) bool {
	words := func(text string) (all []string) {
		for _, t := range tokensOf(strings.ReplaceAll(text, "_", " ")) {
			switch t.word {
			case "no", "nr":
				t.word = "number"
			case "pdf", "document":
				t.word = "file"
			}
			all = append(all, t.word)
		}
		return all
	}
	within := func(a, b []string) bool {
		return len(a) > 0 && !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
	}
	f, n := words(field), words(o.Name)
	return within(f, n) || within(n, f) || strings.Contains(strings.ToLower(o.Description), strings.ToLower(field))
}
