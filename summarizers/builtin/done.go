package builtin

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// findDone tells what was done in pages: sign-ins, forms sent, buttons that change something, choices, uploads,
// downloads. It says what was seen to come of it, and where nothing was seen, not that it came about.
func findDone(r *reading) []human.Finding {
	w := r.pages()
	var out []doneAt
	used := map[int]bool{} // actions that are told as a part of something
	for _, f := range r.forms() {
		if sent := r.sent(f, used); len(out) < enough {
			out = append(out, sent...)
		}
	}
	for _, v := range w.visits {
		for _, i := range r.unsent(v) {
			used[i] = true
		}
		for _, c := range v.cleared {
			for _, i := range c.fields {
				used[i] = true
			}
		}
	}
	for _, s := range w.sends {
		if s.search {
			used[s.at] = true
			for _, i := range s.fields {
				used[i] = true
			}
		}
	}
	out = append(out, r.transfers()...)
	out = append(out, r.choices(used)...)
	out = append(out, r.deeds(used)...)
	slices.SortStableFunc(out, func(a, b doneAt) int { return a.at - b.at })
	found := make([]human.Finding, len(out))
	for i, d := range out {
		found[i] = d.Finding
	}
	return found
}

// A doneAt is a finding with where in the acts it belongs.
type doneAt struct {
	human.Finding
	at int
}

// sent tells what came of sending a form. What came to nothing is an error or a detour, and not done.
func (r *reading) sent(f *form, used map[int]bool) []doneAt {
	var good []*send
	for _, s := range f.sends {
		used[s.at] = true
		for _, i := range s.fields {
			used[i] = true
		}
		for _, i := range s.said {
			used[i] = true
		}
		if _, bad := r.answered(s); !bad && !r.declined(s) {
			good = append(good, s)
		}
	}
	if len(good) == 0 {
		return nil
	}
	s := good[len(good)-1]
	evidence := []human.Ref{r.acts[s.at].ref()}
	if s.then != nil && s.then.came >= 0 && s.then.came != s.at {
		evidence = append(evidence, r.acts[s.then.came].ref())
	}
	for _, i := range s.said {
		evidence = append(evidence, r.acts[i].ref())
	}
	filled := r.filled(s, &evidence)
	from := s.at
	if s.then != nil && from == s.then.came && len(s.fields) > 0 { // what sent it was not seen
		from = s.fields[0]
	}
	page, site := r.pageName(r.page(from, &evidence)), r.host(s.on.page.URL)
	sure := 0.8
	if s.known || s.then != nil {
		sure = 0.95
	}
	page = cmp.Or(page, site, r.say("a page", "页面"))
	by := ""
	if e := r.acts[s.at].Element; isButton(e) {
		by = r.quote(elementName(e))
	}
	seen := s.known || s.then != nil
	var text string
	switch n := min(len(good), maxRefs); {
	case f.secret:
		text = r.say("Sign-in at %s: a password was typed (hidden) and sent", "登录 %s：输入了密码（已隐藏）并提交", cmp.Or(site, page))
	case n > 1: // for one thing after the other
		evidence = evidence[:0]
		page = cmp.Or(r.pageName(r.page(from, &evidence)), page)
		for _, s := range good[:n] {
			if ref := r.acts[s.at].ref(); !slices.Contains(evidence, ref) {
				evidence = append(evidence, ref)
			}
		}
		text = r.say("Sent the form on %s %s", "提交了%s的表单%s", page, r.times(n, "time", "times"))
		s, seen = &send{on: s.on}, true
	case seen:
		text = r.say("Sent the form on %s", "提交了%s的表单", page)
		if by != "" {
			text += r.say(" with %s", "（按钮%s）", by)
		}
		if filled != "" {
			text += r.say("; filled in: %s", "，填写了%s", filled)
		}
	default:
		text = r.say("On %s filled in %s", "在%s填写了%s", page, cmp.Or(filled, r.say("a form", "表单")))
		switch {
		case by != "":
			text += r.say(" and clicked %s", "，并点击%s", by)
		case r.acts[s.at].Key == "Enter":
			text += r.say(" and pressed Enter", "，并按下回车")
		}
	}
	came := r.cameOf(s, &evidence)
	if came == "" && !seen {
		came = r.say("; what it led to is not recorded", "，之后的结果没有记录")
	}
	text += came
	return []doneAt{{finding(human.FoundDone, sure, text, evidence...), s.at}}
}

// declined says whether a person did not confirm what they were asked.
func (r *reading) declined(s *send) bool {
	for _, i := range s.said {
		if d := r.acts[i].Dialog; d != nil && !d.Accepted {
			return true
		}
	}
	return false
}

// signsIn says whether a form with a password is one to sign in with, and not one that sets a password or makes an
// account.
func (r *reading) signsIn(s *send) bool {
	passwords := map[string]bool{}
	for _, i := range s.fields {
		if a := r.acts[i]; isPassword(a) && a.Element != nil {
			passwords[a.Element.Name] = true
		}
	}
	if len(passwords) > 1 {
		return false
	}
	if e := r.acts[s.at].Element; isButton(e) && signWords.in(plain(e.Name)) {
		return true
	}
	return signWords.in(plain(s.on.page.Title)) || len(s.fields) <= 2
}

// cameOf says what was seen of a form that was sent or of a button that was clicked.
func (r *reading) cameOf(s *send, evidence *[]human.Ref) string {
	text := ""
	for _, i := range s.said {
		d := r.acts[i].Dialog
		if d == nil || d.Message == "" {
			continue
		}
		switch {
		case d.Kind == "alert":
			text += r.say("; the page said %s", "；页面提示%s", r.quote(d.Message))
		case d.Accepted:
			text += r.say("; asked %s, the answer was OK", "；页面询问%s，选择了确定", r.quote(d.Message))
		}
	}
	if s.then != nil {
		to := r.pageName(&s.then.page)
		if s.then.came >= 0 {
			to = r.pageName(r.page(s.then.came, evidence))
		}
		if to != "" {
			text += r.say("; then %s was shown", "；随后显示%s", to)
		}
	}
	return text
}

// filled names the fields of a form with what may be said of how each was left: what was chosen, how much was typed.
// Their actions join the evidence.
func (r *reading) filled(s *send, evidence *[]human.Ref) string {
	last := map[string]int{}
	var order []string
	for _, i := range s.fields {
		n := r.quote(elementName(r.acts[i].Element))
		if n == "" {
			continue
		}
		if _, ok := last[n]; !ok {
			order = append(order, n)
		}
		last[n] = i
	}
	var names []string
	for _, n := range order {
		if len(*evidence) >= maxRefs {
			break
		}
		a := r.acts[last[n]]
		more := ""
		switch {
		case isPassword(a) || a.Hidden != "":
			more = r.say("hidden", "已隐藏")
		case a.Type == human.Typing || a.Type == human.Paste:
			if a.Count > 0 {
				more = r.count(a.Count, "character", "characters", "个字符")
			}
		case a.Type == human.Choose && len(a.Values) > 0 && offered(a.Element):
			more = r.chosen(a)
		case a.Type == human.Check && unchecked(a):
			more = r.say("unchecked", "取消勾选")
		case a.Type == human.Check && (a.Element.Role == "radio" || a.Element.Tag == "input/radio"):
			more = r.say("chosen", "选中")
		case a.Type == human.Check && len(a.Values) > 0:
			more = r.say("checked", "已勾选")
		case a.Type == human.Upload && len(a.Transfers) > 0:
			more = r.exactly(a.Transfers[0].Name, maxName)
		}
		if more != "" {
			n = r.say("%s (%s)", "%s（%s）", n, more)
		}
		names = append(names, n)
		*evidence = append(*evidence, a.ref())
	}
	return r.list(names)
}

func unchecked(a act) bool { return len(a.Values) > 0 && a.Values[0] == "unchecked" }

// offered says whether a field offers what is chosen in it; into others, such as dates, it is typed.
func offered(e *human.Element) bool {
	if e == nil {
		return false
	}
	switch e.Tag {
	case "select", "input/range", "input/color", "input/radio", "input/checkbox":
		return true
	}
	switch e.Role {
	case "listbox", "option", "slider", "radio", "radiogroup", "checkbox", "switch":
		return true
	}
	return false
}

func (r *reading) chosen(a act) string {
	values := make([]string, 0, len(a.Values))
	for _, v := range a.Values[:min(len(a.Values), 5)] {
		values = append(values, r.exactly(v, maxName))
	}
	return r.list(values)
}

// transfers tells of files that came or went.
func (r *reading) transfers() []doneAt {
	var out []doneAt
	for i, a := range r.acts {
		if len(out) >= enough {
			break
		}
		for _, f := range a.Transfers {
			what := cmp.Or(r.quote(f.Name), r.say("a file", "一个文件"))
			size := ""
			if f.Size > 0 {
				size = r.say("%d bytes", "%d 字节", f.Size)
			}
			switch {
			case a.Type == human.Upload:
				text := r.say("Chose %s for upload", "选择了%s上传", what)
				if to := elementName(a.Element); to != "" {
					text += r.say(" to %s", "到%s", r.quote(to))
				}
				if size != "" {
					text += r.say(" (%s)", "（%s）", size)
				}
				out = append(out, doneAt{finding(human.FoundDone, 1, text, a.ref()), i})
			case a.Type == human.Download && f.State != "canceled":
				var facts []string
				if size != "" {
					facts = append(facts, size)
				}
				if len(f.Hash) >= shortHash {
					facts = append(facts, r.say("hash “%s…”", "哈希值“%s…”", f.Hash[:shortHash]))
				}
				text := r.say("Downloaded %s", "下载了%s", what)
				if len(facts) > 0 {
					text += r.say(" (%s)", "（%s）", strings.Join(facts, r.say(", ", "，")))
				}
				evidence := []human.Ref{a.ref()}
				if a.Page != nil {
					if from := r.pageName(r.page(i, &evidence)); from != "" {
						text += r.say(" from %s", "，来自%s", from)
					}
				}
				out = append(out, doneAt{finding(human.FoundDone, 1, text, evidence...), i})
			}
		}
	}
	return out
}

// shortHash is how much of a hash is said; the evidence has all of it.
const shortHash = 12

// choices tells of settings: what was chosen, switched on and off without a form that sends it. Of one page they are
// told together, each as it was left.
func (r *reading) choices(used map[int]bool) []doneAt {
	w := r.pages()
	var out []doneAt
	for _, v := range w.visits {
		var names []string
		var evidence []human.Ref
		last := map[string]int{} // how each was left
		var order []string
		at := -1
		for _, i := range v.acts {
			a := r.acts[i]
			n := elementName(a.Element)
			if used[i] || a.Type != human.Choose && a.Type != human.Check || n == "" || a.Hidden != "" {
				continue
			}
			if _, ok := last[n]; !ok {
				order = append(order, n)
			}
			last[n], at = i, i
		}
		for _, n := range order {
			a := r.acts[last[n]]
			if len(evidence) == maxRefs {
				break
			}
			evidence = append(evidence, a.ref())
			switch {
			case a.Type == human.Choose && len(a.Values) > 0 && offered(a.Element):
				names = append(names, r.say("%s to %s", "%s设为 %s", r.quote(n), r.chosen(a)))
			case a.Type == human.Choose:
				names = append(names, r.say("%s changed", "%s已更改", r.quote(n)))
			case a.Element.Role == "radio" || a.Element.Tag == "input/radio":
				names = append(names, r.say("%s chosen", "选中%s", r.quote(n)))
			case unchecked(a):
				names = append(names, r.say("%s unchecked", "取消勾选%s", r.quote(n)))
			default:
				names = append(names, r.say("%s checked", "勾选%s", r.quote(n)))
			}
		}
		if len(names) > 0 && len(out) < enough {
			page := cmp.Or(r.pageName(r.page(at, &evidence)), r.say("a page", "页面"))
			out = append(out, doneAt{finding(human.FoundDone, 0.95, r.say("Set on %s: %s", "在%s上设置：%s", page, r.list(names)), evidence...), at})
		}
	}
	return out
}

// deeds tells of buttons that change something by themselves, and of things that were moved.
func (r *reading) deeds(used map[int]bool) []doneAt {
	w := r.pages()
	var out []doneAt
	for i, a := range r.acts {
		v := w.in[i]
		if v == nil || used[i] {
			continue
		}
		if len(out) == enough {
			break
		}
		evidence := []human.Ref{a.ref()}
		here := func() string { return cmp.Or(r.pageName(r.page(i, &evidence)), r.say("a page", "页面")) }
		switch a.Type {
		case human.Click, human.DoubleClick:
			if (!isButton(a.Element) && (a.Element == nil || a.Element.Role != "menuitem")) || !deedWords.begins(elementName(a.Element)) {
				continue
			}
			to, said, _ := r.ledTo(w, i)
			s := &send{at: i, on: v, then: to, said: said}
			if _, bad := r.answered(s); bad || r.declined(s) {
				continue
			}
			for _, j := range said {
				used[j] = true
				evidence = append(evidence, r.acts[j].ref())
			}
			if to != nil && to.came >= 0 {
				evidence = append(evidence, r.acts[to.came].ref())
			}
			text := r.say("Clicked %s on %s", "在%[2]s上点击了%[1]s", r.quote(elementName(a.Element)), here()) + r.cameOf(s, &evidence)
			out = append(out, doneAt{finding(human.FoundDone, 0.8, text, evidence...), i})
		case human.Drag:
			from, to := r.quote(elementName(a.Element)), r.quote(elementName(a.Target))
			if from != "" && to != "" && from != to {
				out = append(out, doneAt{finding(human.FoundDone, 0.9, r.say("Dragged %s to %s on %s", "在%[3]s上将%[1]s拖到%[2]s", from, to, here()), evidence...), i})
			}
		case human.DialogEnded:
			d := a.Dialog
			if d == nil || d.Message == "" || !d.Accepted || d.Kind == "beforeunload" || speaksOfError(d.Message, d.Kind != "alert") {
				continue
			}
			text := r.say("The page said %s", "页面提示%s", r.quote(d.Message))
			if d.Kind != "alert" {
				text = r.say("Asked %s, the answer was OK", "页面询问%s，选择了确定", r.quote(d.Message))
			}
			out = append(out, doneAt{finding(human.FoundDone, 0.95, text, a.ref()), i})
		}
	}
	return out
}
