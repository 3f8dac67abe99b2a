package find

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// A meaning is what a text says of two things: that one has the other's name, lies in it, or is it.
type meaning struct{ relation, object, value string }

// meanings are the ways to say so. The value comes first where a way is turned.
var meanings = []struct {
	relation string
	turned   bool
	shape    *regexp.Regexp
}{
	{"rename", false, regexp.MustCompile(`(?i)^(?:please )?rename (.+?) (?:to|as|into) (.+)$`)},
	{"rename", true, regexp.MustCompile(`(?i)^(.+?) is the new name of (.+)$`)},
	{"rename", false, regexp.MustCompile(`(?i)^(?:the )?new name of (.+?) is (.+)$`)},
	{"rename", false, regexp.MustCompile(`(?i)^(.+?) (?:is|was|has been|should be|will be)(?: now)? renamed (?:to|as|into) (.+)$`)},
	{"rename", false, regexp.MustCompile(`^(?:把|将)?(.+?)(?:已|已经|被)?(?:重命名|改名|更名)(?:为|成|到)(.+)$`)},
	{"rename", false, regexp.MustCompile(`^(.+?)的新(?:名称|名字|文件名)(?:是|为)(.+)$`)},
	{"move", false, regexp.MustCompile(`(?i)^(?:please )?(?:move|drag|put) (.+?) (?:to|into|onto|under|in) (.+)$`)},
	{"move", false, regexp.MustCompile(`(?i)^(.+?) (?:(?:is|are|was|were|has been|have been|should be) )?(?:now )?(?:moved|dragged|put) (?:to|into|onto|under|in) (.+)$`)},
	{"move", false, regexp.MustCompile(`(?i)^(.+?) (?:is|are|lies|stands|should be)(?: now)? (?:in|under|inside|within) (.+)$`)},
	{"move", true, regexp.MustCompile(`(?i)^(.+?) (?:now )?(?:contains?|includes?|holds) (.+)$`)},
	{"move", false, regexp.MustCompile(`^(?:把|将)?(.+?)(?:已|已经|被)?(?:移动|移|拖动|拖|挪)(?:到|至|入|进)了?(.+)$`)},
	{"move", true, regexp.MustCompile(`^(.+?)(?:里|中|内|下)?(?:现在)?(?:包含|含有|包括)(.+)$`)},
	{"move", true, regexp.MustCompile(`^(.+?)(?:里|中|内|下)(?:现在)?有(.+)$`)},
	{"move", false, regexp.MustCompile(`^(.+?)(?:现在|已)?(?:在|位于)(.+?)(?:里|中|内|下)?$`)},
	{"count", true, regexp.MustCompile(`(?i)^(?:there are )?(\d+) (\pL+?)(?: are (?:listed|shown|left|there))?$`)},
	{"count", true, regexp.MustCompile(`^(?:共有?|有)?\s*(\d+)\s*[个条项名位]\s*(\pL+)$`)},
	{"on", false, regexp.MustCompile(`(?i)^(.+?) (?:is|are|was|has been|should be)(?: now)? (?:turned |switched |set )?(on|enabled|checked|ticked|selected|active|off|disabled|unchecked|deselected|inactive)$`)},
	{"on", true, regexp.MustCompile(`(?i)^(?:turn|turned|switch|switched) (on|off) (.+)$`)},
	{"on", false, regexp.MustCompile(`(?i)^(?:turn|turned|switch|switched) (.+) (on|off)$`)},
	{"on", true, regexp.MustCompile(`(?i)^(enable|enabled|disable|disabled) (.+)$`)},
	{"on", true, regexp.MustCompile(`^(?:现在|已|已经)?(开启|打开|启用|勾选|选中|关闭|停用|禁用|取消勾选)了?(.+)$`)},
	{"on", false, regexp.MustCompile(`^(.+?)(?:现在|已|已经|被)*(开启|打开|启用|勾选|选中|关闭|停用|禁用|取消勾选)(?:状态)?$`)},
	{"equal", false, regexp.MustCompile(`(?i)^(.+?) (?:is|are|equals|reads|says|=) (.+)$`)},
	{"equal", false, regexp.MustCompile(`^(.+?)\s*[=:：]\s*(.+)$`)},
	{"equal", false, regexp.MustCompile(`^(.+?)(?:显示为|等于|为|是)(.+)$`)},
}

// means are the meanings that a text may have, the most likely first.
func means(text string) (out []meaning) {
	text = strings.TrimRight(strings.TrimSpace(text), ".。!！")
	for _, m := range meanings {
		got := m.shape.FindStringSubmatch(text)
		if got == nil {
			continue
		}
		if m.turned {
			got[1], got[2] = got[2], got[1]
		}
		out = append(out, meaning{m.relation, strings.TrimSpace(got[1]), strings.TrimSpace(got[2])})
	}
	return out
}

// sorts are words of what sort of thing is meant, beside its name.
var sorts = map[string]bool{}

func init() {
	for _, w := range strings.Fields("the a an this that called named card item task ticket list column folder directory file project row page field board lane stage status value") {
		sorts[w] = true
	}
}

var zhSorts = []string{"卡片", "任务", "条目", "列表", "文件夹", "目录", "文件", "项目", "字段", "一列", "状态", "列", "栏"}

// thing is a name without marks and without words of what sort of thing it is, to be held against another.
func thing(name string) string {
	words := strings.Fields(facts.Flat(name))
	bare := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return sorts[w] })
	if len(bare) == 0 {
		bare = words
	}
	out := strings.Join(bare, " ")
	for again := facts.HasHan(out); again; {
		again = false
		for _, w := range zhSorts {
			if cut := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(out, w), w)); cut != "" && cut != out {
				out, again = cut, true
			}
		}
	}
	return out
}

// same says whether two names are of one thing.
func same(a, b string) bool { a, b = thing(a), thing(b); return a != "" && a == b }

// equal says whether two values are the same, numbers however they are written.
func equal(a, b string) bool {
	x, okX := number(a)
	y, okY := number(b)
	return okX && okY && x == y || strings.TrimSpace(facts.Flat(a)) == strings.TrimSpace(facts.Flat(b))
}

func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 64)
	return n, err == nil
}

// meant judges an expectation by what it says of things that something is known of. The contrary needs evidence about the same thing;
// without, it is nil.
func (r *Result) meant(text string, witnesses []observation) (a *human.Ref, seen Phrase, v facts.Verdict) {
	for _, m := range means(text) {
		var judge func(meaning) (*human.Ref, Phrase, facts.Verdict)
		switch m.relation {
		case "rename":
			judge = r.renamed
		case "move":
			judge = func(m meaning) (*human.Ref, Phrase, facts.Verdict) {
				if ref, seen, v := r.movedTo(m); ref != nil {
					return ref, seen, v
				}
				return held(m, witnesses)
			}
		case "on":
			judge = r.switched
		default:
			judge = func(m meaning) (*human.Ref, Phrase, facts.Verdict) { return valued(m, witnesses) }
		}
		if ref, seen, v := judge(m); ref != nil {
			return ref, seen, v
		}
	}
	return nil, Phrase{}, facts.Unsaid
}

func is(yes bool) facts.Verdict {
	if yes {
		return facts.Agrees
	}
	return facts.Differs
}

// renamed judges that a file has another name now.
func (r *Result) renamed(m meaning) (*human.Ref, Phrase, facts.Verdict) {
	for _, f := range slices.Backward(r.Files()) {
		for _, a := range f.Ops {
			if a.File.Op != "renamed" || !r.SamePath(unmarked(m.object), a.File.Path, a) || f.Now == "" {
				continue
			}
			ref := f.Last().Ref()
			return &ref, r.lastChange(f), is(r.SamePath(unmarked(m.value), f.Now, f.Last()))
		}
	}
	return nil, Phrase{}, facts.Unsaid
}

// unmarked is a name without quotation marks and the words before it.
func unmarked(name string) string {
	name = strings.TrimSpace(strings.Trim(name, "“”\"'「」『』 "))
	for _, w := range append(zhSorts, "the file ", "the folder ", "file ", "folder ", "the ") {
		if rest, ok := strings.CutPrefix(name, w); ok && strings.TrimSpace(rest) != "" {
			name = strings.TrimSpace(rest)
		}
	}
	return strings.Trim(name, "“”\"'「」『』 ")
}

// switched judges that a box is checked, or a switch on, as it was left last, where the page said something to that or a form with
// it was sent.
func (r *Result) switched(m meaning) (*human.Ref, Phrase, facts.Verdict) {
	wanted := facts.SwitchedOn(m.value)
	for i := len(r.Actions) - 1; i >= 0; i-- {
		a := r.Actions[i]
		if a.Type == human.PageSaid && facts.Objects(a) || a.Type == human.Missing {
			break
		}
		name := facts.ElementName(a.Element)
		if a.Type != human.Check || len(a.Values) == 0 || name == "" || !same(name, m.object) {
			continue
		}
		if !r.taught(i) {
			break
		}
		ref := a.Ref()
		key := "setting-checked"
		if facts.Unchecked(a) {
			key = "setting-unchecked"
		}
		return &ref, say(key, facts.Quote(name)), is(facts.Unchecked(a) != wanted)
	}
	return nil, Phrase{}, facts.Unsaid
}

// taught says whether a page took what was set in it: it said so, or the form was sent.
func (r *Result) taught(i int) bool {
	return facts.Accepted(r.Actions[i]) && !slices.ContainsFunc(r.Pages().Effects[i], func(j int) bool { return facts.Objects(r.Actions[j]) }) ||
		slices.ContainsFunc(r.Pages().Effects[i], func(j int) bool { return facts.Happened(facts.Spoken(r.Actions[j])) }) ||
		slices.ContainsFunc(r.Pages().Sends, func(s *facts.Send) bool { return slices.Contains(s.Fields, i) && r.confirmed(s) })
}

// movedTo judges that a thing was dragged on a page, or a file moved, to another. What a file was dropped on at the desktop does not tell whether it went there.
func (r *Result) movedTo(m meaning) (*human.Ref, Phrase, facts.Verdict) {
	for i := len(r.Actions) - 1; i >= 0; i-- {
		a := r.Actions[i]
		from, to := facts.ElementName(a.Element), facts.ElementName(a.Target)
		if a.Type == human.Drag && (a.Page != nil || len(facts.Claims(from).Paths) == 0) && from != "" && to != "" && from != to && same(from, m.object) {
			ref, beside := a.Ref(), facts.Beside(a.Target)
			switch {
			case same(to, m.value):
				return &ref, say("moved-to", facts.Quote(from), facts.Quote(to)), facts.Agrees
			case same(beside, m.value):
				return &ref, say("moved-to", facts.Quote(from), facts.Quote(beside)), facts.Agrees
			case beside != "" || a.Target.Named != "" || a.Page == nil: // it was dropped on another thing, which lies who knows where
				return nil, Phrase{}, facts.Unsaid
			}
			return &ref, say("moved-to", facts.Quote(from), facts.Quote(to)), facts.Differs
		}
	}
	for _, f := range slices.Backward(r.Files()) {
		if f.Now == "" || !slices.ContainsFunc(f.Ops, func(a facts.Action) bool {
			return a.File.Op == "renamed" && facts.Folder(a.File.Path) != facts.Folder(a.File.To)
		}) {
			continue
		}
		if r.SamePath(unmarked(m.object), f.Now, f.Last()) {
			ref := f.Last().Ref()
			folder := facts.Folder(f.Now)
			return &ref, r.lastChange(f), is(same(facts.BaseName(folder), m.value) || strings.HasSuffix(folder, strings.Trim(unmarked(m.value), "/")))
		}
	}
	return nil, Phrase{}, facts.Unsaid
}

// held judges that a field's value has a text in it. That it has not is not certain: what was picked may be a part of it.
func held(m meaning, witnesses []observation) (*human.Ref, Phrase, facts.Verdict) {
	for i := range witnesses { // the latest come first
		w := &witnesses[i]
		if w.kind == seenField && same(w.field, m.value) {
			if text := strings.TrimSpace(facts.Flat(m.object)); text != "" && strings.Contains(facts.Flat(w.text), text) {
				return &w.ref, say("seen-field", facts.Clean(w.field, MaxField), facts.Quote(w.text)), facts.Agrees
			}
			break
		}
	}
	return nil, Phrase{}, facts.Unsaid
}

// valued judges that a field has a value, in either order.
func valued(m meaning, witnesses []observation) (*human.Ref, Phrase, facts.Verdict) {
	for i := range witnesses {
		w := &witnesses[i]
		if w.kind != seenField || strings.TrimSpace(w.text) == "" {
			continue
		}
		value := m.value
		switch {
		case sameField(w.field, m.object):
		case m.relation == "equal" && sameField(w.field, m.value):
			value = m.object
		default:
			continue
		}
		seen := say("seen-field", facts.Clean(w.field, MaxField), facts.Quote(w.text))
		has, wants := facts.Flat(w.text), facts.Flat(value)
		_, isNumber := number(w.text)
		switch {
		case equal(w.text, value):
			return &w.ref, seen, facts.Agrees
		case m.relation == "count" && !isNumber:
			return nil, Phrase{}, facts.Unsaid
		case strings.TrimSpace(wants) == "" || strings.Contains(has, strings.TrimSpace(wants)) || strings.Contains(wants, strings.TrimSpace(has)) || facts.StartsWith(value, facts.EnValueNot, facts.ZhValueNot):
			return nil, Phrase{}, facts.Unsaid // more or less than that, or all but that: who knows
		}
		return &w.ref, seen, facts.Differs
	}
	return nil, Phrase{}, facts.Unsaid
}

// sameField says whether a field is the one that is named.
func sameField(field, name string) bool {
	flat := strings.TrimPrefix(strings.TrimSpace(facts.Flat(name)), "the ")
	return strings.TrimSpace(facts.Flat(field)) == flat
}

// gotIn judges that someone is signed in, by what came of the form with the password last.
func (r *Result) gotIn(e facts.Claim) (*human.Ref, Phrase, facts.Verdict) {
	login, says := e.Says["login"]
	if !says || login.Contrary {
		return nil, Phrase{}, facts.Unsaid
	}
	for w := range e.Words {
		switch w {
		case "!login", "!ok", "!done", "operator", "user", "person", "account":
		default:
			return nil, Phrase{}, facts.Unsaid
		}
	}
	for _, s := range slices.Backward(r.Pages().Sends) {
		if !s.Secret || !r.IsSignIn(s) {
			continue
		}
		ref := r.Actions[r.answeredAt(s)].Ref()
		if why, bad := r.answered(s); bad {
			return &ref, say("sign-in-failed", textOr(cmp.Or(r.Host(s.On.Page.URL), r.PageName(&s.On.Page)), "a-page"), why), facts.Differs
		}
		if i := r.greeted(s); i >= 0 {
			ref := r.Actions[i].Ref()
			return &ref, say("seen-message", facts.Quote(facts.Spoken(r.Actions[i]))), facts.Agrees
		}
		if (r.confirmed(s) || r.letIn(s)) && r.signedIn(s) {
			return &ref, say("seen-page-title", r.PageName(&s.Then.Page)), facts.Agrees
		}
		break
	}
	return nil, Phrase{}, facts.Unsaid
}

// wentUp judges that files were uploaded, by what came of the form that had them. Where one is expected, nothing else tells it.
func (r *Result) wentUp(e facts.Claim) (ref *human.Ref, seen Phrase, v facts.Verdict, expected bool) {
	says, ok := e.Says["import"]
	if !ok || says.Contrary || e.Counts() { // how much of a file was taken, its upload does not tell
		return nil, Phrase{}, facts.Unsaid, false
	}
	some := len(e.Paths) == 0 // the last file is meant
	for _, f := range slices.Backward(r.Forms()) {
		for _, s := range slices.Backward(f.Sends) {
			files := r.files(s)
			if some && len(files) == 0 || !some && !slices.ContainsFunc(e.Paths, func(p string) bool { return slices.Contains(files, facts.Quote(facts.BaseName(p))) }) {
				continue
			}
			ref := r.Actions[r.answeredAt(s)].Ref()
			if why, bad := r.answered(s); bad {
				return &ref, or(r.failure(s.At, why), why), facts.Differs, true
			}
			if r.confirmed(s) {
				return &ref, say("uploaded-on", files, textOr(r.PageName(&s.On.Page), "a-page")), facts.Agrees, true
			}
			return nil, Phrase{}, facts.Unsaid, true
		}
	}
	for i, a := range slices.Backward(r.Actions) { // a page may send a file as soon as it is chosen
		names := r.files(&facts.Send{Fields: []int{i}})
		if a.Type == human.Upload && facts.Accepted(a) && (some || slices.ContainsFunc(e.Paths, func(p string) bool { return slices.Contains(names, facts.Quote(facts.BaseName(p))) })) {
			ref := a.Ref()
			return &ref, say("uploaded-on", names, textOr(r.PageName(a.Page), "a-page")), facts.Agrees, true
		}
	}
	return nil, Phrase{}, facts.Unsaid, !some
}
