package builtin

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// A world makes work at random and knows what happened, because it made it. Names of one world are never used twice, so that what a
// sentence says can be told from its names.
type world struct {
	*rand.Rand
	s *surfer // work in pages
	w *worker // or on the desktop

	n        int
	touched  bool            // something may have been changed
	blind    bool            // something may not have been recorded
	partial  bool            // at any time
	sent     map[string]bool // forms, by the page they were on: a request was answered well, or the page said so
	open     map[string]bool // fields that were filled in and certainly not sent since
	uploaded map[string]bool // files whose request was answered well
	saved    map[string]bool // files that changed
	deleted  map[string]bool
	moved    map[[2]string]bool
	signedIn bool
	last     string          // what signing in came to at last
	login    string          // the expectation about it
	shown    map[string]bool // dialogs that are certainly open
	said     map[string]bool // messages of pages
	refused  map[string]bool // of those, the objections
	expected string
	outcome  string // met, not met, unknown
}

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), sent: map[string]bool{}, open: map[string]bool{}, uploaded: map[string]bool{}, saved: map[string]bool{},
		deleted: map[string]bool{}, moved: map[[2]string]bool{}, shown: map[string]bool{}, said: map[string]bool{}, refused: map[string]bool{}, outcome: "unknown"}
	return w
}

func (w *world) one(of ...string) string { return of[w.IntN(len(of))] }

// name is one that nothing else has.
func (w *world) name(of ...string) string {
	w.n++
	return w.one(of...) + " " + strconv.Itoa(100+w.n)
}

// acted takes note that something was done that may have changed or sent anything.
func (w *world) acted() { w.touched = true; clear(w.open) }

func (w *world) gap() {
	w.blind = true
	clear(w.open)
	clear(w.shown)
}

// pages makes work in pages.
func (w *world) pages(steps int) summarizers.Input {
	w.s = surf("https://site"+strconv.Itoa(w.IntN(9))+".example/", w.name("Board", "客户", "Inbox", "Start"))
	if w.IntN(8) == 0 {
		w.s.rec.Sources = []human.SourceState{{Source: human.BrowserSource, Status: "partial", Code: "lost", Lost: 3}}
		w.s.rec.Complete, w.blind, w.partial = false, true, true
	}
	deeds := []func(){w.follows, w.inert, w.control, w.fills, w.fills, w.fills, w.sends, w.sends, w.drags, w.uploads, w.signsIn, w.confirms, w.looks, w.looks, w.keys, w.sets, w.tab, w.likes}
	for range steps {
		deeds[w.IntN(len(deeds))]()
		if w.IntN(25) == 0 {
			w.s.gap()
			w.gap()
		}
	}
	if w.login != "" && w.login == w.expected {
		w.outcome = w.last
	}
	return w.s.in
}

func (w *world) address() string { w.n++; return fmt.Sprintf("%sp%d", w.site(), w.n) }
func (w *world) site() string    { return w.s.page.URL[:strings.Index(w.s.page.URL, ".example/")+9] }

func (w *world) follows() {
	w.leaves()
	w.s.click("link", w.name("Plan", "Team", "订单")).goes("link", w.address(), w.name("Plan", "Team", "订单"), 200)
}

// leaves takes note that a page may send by itself what is in it when it is left.
func (w *world) leaves() { clear(w.open) }

func (w *world) inert() {
	w.s.click(w.one("heading", "paragraph", "text"), w.name("Welcome", "说明"))
}

func (w *world) control() {
	w.acted()
	role := w.one("button", "menuitem", "tab", "switch", "option", "gridcell", "generic", "")
	name := w.one("", w.name("Like", "Archive", "Delete", "Mark as read", "删除", "收藏", "Next", "Close", "Show more", "+", "Save", "Publish"))
	w.s.click(role, name)
}

func (w *world) likes() {
	w.acted()
	w.s.add(human.Action{Type: w.s0(human.DoubleClick, human.TripleClick), Button: 1, Element: el(w.one("img", "listitem", "canvas"), w.one("", w.name("Photo", "卡片")))})
}

func (w *world) s0(of ...human.ActionType) human.ActionType { return of[w.IntN(len(of))] }

func (w *world) fills() {
	w.touched = true
	n := w.name("Name", "Subject", "备注", "City")
	w.open[n] = true
	w.s.typed(n, 1+w.IntN(20))
}

// sends fills in a field and uses a button that should send it; anything may come of that.
func (w *world) sends() {
	page := w.s.page.Title
	w.fills()
	if w.IntN(3) > 0 {
		w.fills()
	}
	w.acted()
	w.s.click("button", w.name("Save", "Send", "Submit", "提交", "Create", "Publish", "Pay", "Delete", "Add"))
	w.comes(page)
}

// comes is what a server or script may answer to a form of a page. It says whether the answer was good.
func (w *world) comes(page string) (good bool) {
	switch w.IntN(10) {
	case 0: // nothing is seen
	case 1:
		w.s.goes("form", w.address(), w.name("Thanks", "Overview", "列表"), 200)
		w.sent[page], good = true, true
	case 2:
		w.s.goes("form", w.address(), w.name("Error", "Oops", "出错了"), []int{400, 401, 409, 413, 500}[w.IntN(5)])
	case 3: // a script shows another page: whether it sent anything is not known
		w.s.goes(w.one("script", "history"), w.address(), w.name("Step 2", "Home", "列表"), 200)
	case 4:
		text := w.name("Message sent", "Saved successfully", "已提交", "Created")
		w.said[text], w.sent[page] = true, true
		w.s.dialog("alert", text, true)
	case 5:
		text := w.name("Not saved: name is required", "提交失败", "Could not send")
		w.said[text], w.refused[text] = true, true
		w.s.dialog("alert", text, true)
	case 6:
		w.s.goes("link", w.address(), w.name("Terms", "Help"), 200)
	case 7:
		text := w.name("Changes saved", "Your order was placed", "已保存", "Invitation sent", "The file has been uploaded")
		w.said[text], w.sent[page] = true, true
		w.s.says(text)
		if w.expected == "" && w.IntN(3) == 0 {
			w.expected, w.outcome = text, "met"
		}
	case 8:
		text := w.name("Wrong user name or password", "The amount is too large", "保存失败", "We could not save your changes", "This field is required", "用户名已被占用")
		w.said[text], w.refused[text] = true, true
		w.s.says(text)
	case 9:
		text := w.name("Are you sure", "Loading", "3 results", "请稍候", "Draft")
		w.said[text] = true
		w.s.says(text)
	}
	return good
}

func (w *world) drags() {
	from, to := w.one("", w.name("Card", "任务")), w.one("", w.name("Done", "Review", "已完成"))
	w.acted()
	a := human.Action{Type: human.Drag, Element: el("listitem", from)}
	if w.IntN(4) > 0 {
		a.Target = el("list", to)
		w.moved[[2]string{from, to}] = true
		if from != "" && to != "" {
			switch w.IntN(12) {
			case 0:
				w.expected, w.outcome = from+" is in "+to, "met"
			case 1:
				w.expected, w.outcome = to+" contains "+from, "met"
			case 2:
				w.expected, w.outcome = from+" 移动到 "+w.name("Closed", "归档"), "not met"
			}
		}
	}
	w.s.add(a)
	if w.outcome == "not met" || w.outcome == "met" {
		return
	}
	if w.IntN(10) == 0 {
		w.expected = w.name("Task") + " is in " + w.name("Later")
	}
}

func (w *world) uploads() {
	file := strings.ReplaceAll(w.name("scan", "cv", "合同"), " ", "-") + ".pdf"
	w.touched = true
	w.open["file "+file] = true
	w.s.file(human.Upload, file, "", 2048)
	if w.IntN(2) == 0 {
		page := w.s.page.Title
		w.acted()
		w.s.click("button", w.name("Upload", "上传", "Hand in"))
		if w.comes(page) {
			w.uploaded[file] = true
		}
	}
}

func (w *world) signsIn() {
	w.touched = true
	w.s.goes("address", w.site()+"login"+strconv.Itoa(w.n), w.name("Sign in", "登录"), 200)
	w.leaves()
	w.s.password("Password")
	switch w.IntN(5) {
	case 0: // given up: the form of that page is not used for anything else
		w.leaves()
		w.s.goes("address", w.address(), w.name("News", "公告"), 200)
		return
	case 1:
		w.acted()
		w.last = "unknown"
		w.s.click("button", "Sign in")
	case 2:
		w.acted()
		w.last = "not met"
		w.s.click("button", "Sign in").goes("form", w.address(), w.name("Sign in failed", "登录失败"), 401)
	default:
		w.acted()
		w.signedIn, w.last = true, "met"
		w.s.click("button", "Sign in").goes("form", w.address(), w.name("Overview", "首页"), 200)
	}
	if w.IntN(3) == 0 {
		w.expected = w.one("Signed in", "登录成功", "The operator is logged in")
		w.login = w.expected
	}
}

func (w *world) confirms() {
	w.acted()
	text := w.name("Delete the project", "删除项目", "Leave") + "?"
	w.said[text] = true
	w.s.click("button", w.name("Delete", "删除", "Remove")).dialog("confirm", text, w.IntN(2) == 0)
}

func (w *world) looks() {
	switch w.IntN(4) {
	case 0:
		w.s.add(human.Action{Type: human.Scroll, DeltaY: 4})
	case 1:
		w.s.add(human.Action{Type: human.Hover, Element: el("img", w.name("Chart"))})
	case 2:
		w.leaves()
		w.s.goes("back_forward", w.address(), w.name("Home", "列表"), 200)
	case 3:
		w.leaves()
		w.s.goes("address", w.address(), w.name("News", "公告"), 200)
	}
}

func (w *world) keys() {
	key := w.one("Enter", " ", "Delete", "a", "ArrowDown", "Escape")
	a := human.Action{Type: human.Shortcut, Key: key, Count: 1, Element: el("listitem", w.one("", w.name("Row")))}
	if w.IntN(3) == 0 {
		a.Modifiers = []string{"ctrl"}
	}
	w.acted()
	w.s.add(a)
}

func (w *world) sets() {
	w.touched = true
	if n := w.name("Alerts", "语言"); w.IntN(2) == 0 {
		w.s.choose(n, w.name("German", "中文"))
	} else {
		w.s.check(n, w.one("checked", "unchecked"))
	}
}

func (w *world) tab() {
	was := w.s.page
	w.s.page = human.WebPage{Target: "t" + strconv.Itoa(100+w.n), Opener: was.Target, URL: w.address(), Title: w.name("Popup", "帮助")}
	w.s.add(human.Action{Type: human.OpenPage, Navigation: &human.Navigation{Kind: "link", Status: 200}, CausedBy: w.s.last})
	w.s.add(human.Action{Type: human.ClosePage})
	w.s.page = was
}

// programs makes work on the desktop.
func (w *world) programs(steps int) summarizers.Input {
	w.w = work(w.one("Editor", "签署工具", "Files"))
	rec := &w.w.in.Recordings[0]
	if w.IntN(8) == 0 {
		rec.Sources = []human.SourceState{{Source: human.InputSource, Status: "partial", Code: "lost", Lost: 2}, {Source: human.WindowSource, Status: "partial", Code: "lost", Lost: 2}}
		rec.Complete, w.blind, w.partial = false, true, true
	}
	deeds := []func(){w.dialog, w.dialog, w.types, w.types, w.presses, w.changesFile, w.changesFile, w.shortcut, w.ticks, w.switches}
	for range steps {
		deeds[w.IntN(len(deeds))]()
		if w.IntN(25) == 0 {
			w.w.gap("lost", 1e9)
			w.gap()
		}
	}
	return w.w.in
}

func (w *world) dialog() {
	title := w.name("Options", "导出设置", "Find", "Save as")
	parent := w.w.win.Title
	w.w.dialog(title)
	clear(w.shown)
	w.shown[title] = !w.partial
	for range w.IntN(4) {
		switch w.IntN(3) {
		case 0:
			w.types()
		case 1:
			w.ticks()
		case 2:
			w.w.add(human.Action{Type: human.Scroll, DeltaY: 2})
		}
	}
	switch w.IntN(7) {
	case 0: // it stays
		return
	case 1: // its own close
		w.w.add(human.Action{Type: human.CloseWindow, Element: &human.Element{Role: "dialog", Name: title}})
	case 2:
		w.acted()
		w.w.click("button", w.one("OK", "Cancel", "关闭", "Choose"))
	case 3:
		w.w.key(w.one("Escape", "Enter"))
		w.acted()
	case 4: // the window it belongs to, which ends it
		w.w.back(parent).closes()
	case 5: // a choice in a list that ends it, which no event tells
		w.w.add(human.Action{Type: w.s0(human.Click, human.DoubleClick), Button: 1, Element: &human.Element{Role: w.one("listitem", "option", "treeitem", "cell"), Name: w.name("Entry")}})
		w.acted()
	case 6:
		w.w.key("w", "ctrl")
		w.acted()
	}
	clear(w.shown)
	w.w.back(parent)
}

func (w *world) types() {
	w.touched = true
	n := w.name("Title", "标题", "Amount")
	w.open[n] = true
	w.w.typed(n, "some text")
}

func (w *world) presses() {
	w.acted()
	w.w.click(w.one("button", "menuitem", "listitem", "generic"), w.one("", w.name("Send", "Export", "导出", "Print", "Rename", "Save")))
	clear(w.shown)
}

func (w *world) ticks() {
	w.touched = true
	w.w.click(w.one("checkbox", "radio"), w.name("Start at login", "自动保存"))
}

func (w *world) shortcut() {
	w.acted()
	clear(w.shown)
	w.w.key(w.one("s", "z", "Enter", "p"), "ctrl")
}

func (w *world) switches() {
	clear(w.shown)
	w.w.switches(w.one("Mail", "浏览器", "Terminal"), w.name("Inbox", "窗口"))
}

func (w *world) changesFile() {
	w.acted()
	path := "/w/" + strings.ReplaceAll(w.name("plan", "报告"), " ", "-") + ".txt"
	other := strings.Replace(path, ".txt", "-b.txt", 1)
	switch w.IntN(5) {
	case 0:
		w.w.file("created", path, "")
		w.saved[path] = true
		if w.IntN(6) == 0 {
			w.expected, w.outcome = path[3:]+w.one(" is created", " 已创建"), "met"
		}
	case 1:
		w.w.file("changed", path, "")
		w.saved[path] = true
	case 2:
		w.w.file("deleted", path, "")
		w.deleted[path] = true
		if w.IntN(6) == 0 {
			w.expected, w.outcome = path[3:]+w.one(" is deleted", " 已删除"), "met"
		}
	case 3:
		w.w.file("renamed", path, other)
		switch w.IntN(12) {
		case 0:
			w.expected, w.outcome = path[3:]+" is renamed to "+other[3:], "met"
		case 1:
			w.expected, w.outcome = "把 "+path[3:]+" 重命名为 "+strings.Replace(other[3:], "-b", "-c", 1), "not met"
		}
	case 4:
		w.w.file("created", path, "").file("deleted", path, "")
		w.deleted[path] = true
	}
}

var (
	quotations = regexp.MustCompile(`“[^”]*”`)
	sentenceAt = regexp.MustCompile(`\.\s|\.$|。|\n|；|; `)
	untouched  = regexp.MustCompile(`(?i)nothing (was )?(changed|picked|done)|no file, form or setting|nothing else was done|没有更改|没有.{0,8}被更改|未做任何|什么也没`)
	refusal    = regexp.MustCompile(`was not taken|did not go through|the sign-in at .* failed|没有被接受|没有成功|登录失败`)
	notSentEn  = regexp.MustCompile(`(?i)not sent|sends (it|them)|sends or saves|not saved|unsent|没有看到提交|未提交|没有提交|没有保存|没有提交或保存`)
	negatives  = regexp.MustCompile(`(?i)\b(not|no|nothing|never|without|none|neither|nor)\b|没有|未|不`)
	admitted   = regexp.MustCompile(`(?i)not recorded|not known|cannot be told|without having|does not confirm|not confirmed|未能确认|not seen|is not certain|不得而知|没有录制|未被录制|无法|没有记录|没有任何操作|不足以确认|没有看到|缺失|不完整|couldn|could not be opened|no page, message or download|打不开|not completed|not ticked|未勾选|与预期.*不符|未完成|尚未|不一致`)
)

// judge returns the sentences of a report that are false, with why.
func (w *world) judge(r human.Report) (wrong []string) {
	said := r.Line + "\n" + r.Text
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		said += "\n" + f.Text
	}
	for _, sentence := range sentenceAt.Split(said, -1) {
		bare := quotations.ReplaceAllString(sentence, "“”")
		bad := func(why string) { wrong = append(wrong, why+": "+sentence) }
		has := func(words string) bool { return regexp.MustCompile(`(?i)` + words).MatchString(bare) }
		names := func(of map[string]bool) bool {
			for n, is := range of {
				if is && strings.Contains(sentence, n) {
					return true
				}
			}
			return false
		}
		here := has(`went to|tab of its own|closed it again|left it again|打开了`) // of one page or program, not of all
		if here && untouched.MatchString(bare) && w.partial {
			bad("something may have been done there")
		}
		if untouched.MatchString(bare) && !notSentEn.MatchString(bare) && !here && (w.touched || w.blind) {
			bad("something may have been changed")
		}
		if notSentEn.MatchString(bare) && has(`filled|填写|typed|form|输入`) {
			for _, n := range fieldsIn(sentence) {
				if !w.open[n] || w.partial {
					bad("it may have been sent or saved")
					break
				}
			}
		}
		if has(`\buploaded\b|上传了|已上传`) && !has(`chose|选择`) && !names(w.uploaded) {
			bad("no request was answered well")
		}
		if has(`still open at|仍然打开`) && !names(w.shown) {
			bad("it is not certain to be open")
		}
		if has(`\bsaved\b|保存了`) && !has(`not saved|没有保存|was not saved|may be lost|可能丢失|saved changes to many|filled in`) && !named(sentence, w.saved) && !names(w.said) {
			bad("no file changed, and no page said so")
		}
		if has(`^sent the form|提交了.*表单`) && !names(w.sent) {
			bad("nothing says that it was sent")
		}
		if has(`^(sent|published|posted) “|发送了|发布了`) && !names(w.said) && !names(w.sent) {
			bad("nothing says that it was sent")
		}
		if has(`^(deleted|删除了)`) && !named(sentence, w.deleted) {
			bad("no file was deleted")
		}
		if has(`\bas expected|符合预期`) && !has(`otherwise|与预期|不符合`) && w.outcome != "met" {
			bad("it is " + w.outcome + " that " + w.expected)
		}
		if has(`^expected .*\bbut\b|otherwise than expected|^not as expected|与预期.*不符|不符合预期`) && w.outcome != "not met" {
			bad("it is " + w.outcome + " that " + w.expected)
		}
		if has(`^(signed in)|^登录了|登录成功`) && !w.signedIn {
			bad("no one was signed in for certain")
		}
		if has(`^(moved|dragged) “.*“.* to |拖到|移到`) && w.s != nil && !slices.ContainsFunc(pairs(w.moved), func(p [2]string) bool { return strings.Contains(sentence, p[0]) && strings.Contains(sentence, p[1]) }) {
			bad("no such drag")
		}
		if refusal.MatchString(bare) && !names(w.refused) && !has(`(answered|status) [45]|(返回|状态码) [45]`) {
			bad("nothing was refused so")
		}
		if negatives.MatchString(bare) && !refusal.MatchString(bare) && !admitted.MatchString(bare) && !untouched.MatchString(bare) && !notSentEn.MatchString(bare) && !has(`were not kept|will be lost|可能丢失|no longer`) {
			bad("a negative sentence that this test cannot judge")
		}
	}
	if n := strings.Count(r.Line+r.Text, "what it led to is not recorded") + strings.Count(r.Line+r.Text, "结果没有记录"); n > 1 {
		wrong = append(wrong, fmt.Sprintf("%d times that what it led to is not recorded: %s", n, r.Text))
	}
	return wrong
}

// named says whether a sentence has one of the files, by its path or its name, or speaks of many.
func named(sentence string, files map[string]bool) bool {
	for p := range files {
		if strings.Contains(sentence, p[strings.LastIndexByte(p, '/')+1:]) || strings.Contains(sentence, "files") || strings.Contains(sentence, "个文件") || strings.Contains(sentence, "多个文件") {
			return true
		}
	}
	return false
}

func pairs(of map[[2]string]bool) (out [][2]string) {
	for p := range of {
		out = append(out, p)
	}
	return out
}

var fieldName = regexp.MustCompile(`“((?:Name|Subject|备注|City|Title|标题|Amount) \d+)”`)

func fieldsIn(sentence string) (out []string) {
	for _, m := range fieldName.FindAllStringSubmatch(sentence, -1) {
		out = append(out, m[1])
	}
	return out
}

// Of work made at random, nothing false is said: not that something did not happen that may have, nor that something did that nothing shows.
func TestNothingFalseIsSaid(t *testing.T) {
	worlds := 1500
	if n, err := strconv.Atoi(os.Getenv("WORLDS")); err == nil {
		worlds = n
	}
	first, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	wrong, shown, bad := 0, 0, map[int]bool{}
	for i := range worlds {
		w := newWorld(first + uint64(i))
		var in summarizers.Input
		s := browser()
		if i%3 == 2 {
			in, s = w.programs(1+w.IntN(10)), desktop()
		} else {
			in = w.pages(w.IntN(10))
		}
		if w.IntN(4) == 0 {
			s = joined()
		}
		if w.expected != "" {
			in.Operation.Details = []byte(`{"expected_outcome":` + strconv.Quote(w.expected) + `}`)
		}
		for _, lang := range []string{say.English, say.Chinese} {
			r := report(t, s, worded(in, lang))
			found := w.judge(r)
			if wrong += len(found); len(found) > 0 {
				bad[i] = true
			}
			for _, f := range found {
				if shown++; shown <= 40 {
					t.Errorf("seed %d: %s", first+uint64(i), f)
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d sentences are false, in %d of %d worlds", wrong, len(bad), worlds)
	}
}
