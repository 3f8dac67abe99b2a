package builtin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
)

// findDetours tells of ways that were tried and given up, and of what was tried again.
func findDetours(r *reading) []human.Finding {
	return slices.Concat(r.sentAgain(), r.searchedAgain(), r.clearedForms(), r.thereAndBack(), r.clickedAgain(), r.openedAgain())
}

// sentAgain finds forms that were sent again because they came to nothing the first time. Sending a form for one thing
// after the other is work; after an error it is a retry.
func (r *reading) sentAgain() []human.Finding {
	var out []human.Finding
	for _, g := range r.forms() {
		var tries []*send
		why := ""
		for _, s := range g.sends {
			said, bad := r.answered(s)
			tries, why = append(tries, s), cmp.Or(why, said)
			if bad {
				continue
			}
			if len(tries) > 1 && len(out) < enough {
				out = append(out, r.retried(g, tries, why))
			}
			tries, why = nil, ""
		}
		if len(tries) > 1 && len(out) < enough { // and never was answered with anything else
			out = append(out, r.retried(g, tries, why))
		}
	}
	return out
}

func (r *reading) retried(g *form, tries []*send, why string) human.Finding {
	tries = tries[:min(len(tries), maxRefs)]
	n := len(tries)
	var evidence []human.Ref
	for _, s := range tries {
		evidence = append(evidence, r.acts[s.at].ref())
	}
	alike := !slices.ContainsFunc(tries, func(s *send) bool { return r.acts[s.at].Type != r.acts[tries[0].at].Type })
	for _, s := range tries[:n-1] { // what it came to, where that does not blur how often it was
		if !alike {
			break
		}
		for _, j := range s.said {
			evidence = append(evidence, r.acts[j].ref())
		}
		if j := r.pickedError(s); j >= 0 {
			evidence = append(evidence, r.acts[j].ref())
		}
		if s.then != nil && s.then.came >= 0 && s.then.came != s.at {
			evidence = append(evidence, r.acts[s.then.came].ref())
		}
	}
	from := tries[0].at
	if s := tries[0]; s.then != nil && from == s.then.came && len(s.fields) > 0 {
		from = s.fields[0]
	}
	form := cmp.Or(r.pageName(r.page(from, &evidence)), r.say("a page", "页面"))
	// A page may object before anything is sent: an attempt it is all the same.
	text := r.say("%[2]s to send the form on %[1]s", "提交%[1]s的表单尝试了%[2]s", form, r.times(n, "attempt", "attempts"))
	if g.secret {
		text = r.say("%[2]s to sign in at %[1]s", "在 %[1]s 登录尝试了%[2]s", cmp.Or(r.host(tries[0].on.page.URL), form), r.times(n, "attempt", "attempts"))
	}
	if why != "" {
		text += r.say("; at first %s", "，起初%s", why)
	}
	return finding(human.FoundDetour, 0.9, text, evidence...)
}

// clearedForms finds what was filled in and emptied again by a button for that.
func (r *reading) clearedForms() []human.Finding {
	var out []human.Finding
	for _, v := range r.pages().visits {
		for _, c := range v.cleared {
			if len(out) == enough {
				return out
			}
			evidence := refs(r.acts[c.at])
			var names []string
			for _, i := range c.fields[:min(len(c.fields), maxRefs-2)] {
				evidence = append(evidence, r.acts[i].ref())
				if n := r.quote(elementName(r.acts[i].Element)); n != "" && !slices.Contains(names, n) && len(names) < maxItems {
					names = append(names, n)
				}
			}
			page := cmp.Or(r.pageName(r.page(c.at, &evidence)), r.say("a page", "页面"))
			fields := cmp.Or(r.list(names), r.say("the form", "表单"))
			out = append(out, finding(human.FoundDetour, 0.8, r.say("On %s filled in %s, then cleared it with %s", "在%s填写了%s，又用%s清空了",
				page, fields, r.quote(elementName(r.acts[c.at].Element))), evidence...))
		}
	}
	return out
}

// A form is one that was sent once or more often.
type form struct {
	sends  []*send
	secret bool // it is one to sign in with
}

// forms are what was sent, put together by form: those of one site that share a button and a field.
func (r *reading) forms() []*form {
	w := r.pages()
	if w.forms != nil {
		return w.forms
	}
	of := map[[3]string]*form{}
	w.forms = []*form{}
	for _, s := range w.sends {
		if s.search {
			continue
		}
		host, button := r.host(s.on.page.URL), ""
		if e := r.acts[s.at].Element; isButton(e) {
			button = e.Name
		}
		var keys [][3]string
		for _, i := range s.fields {
			if n := elementName(r.acts[i].Element); n != "" {
				keys = append(keys, [3]string{host, button, n})
			}
		}
		if s.secret && r.signsIn(s) {
			keys = append(keys, [3]string{host, "", "\x00password"}) // however it is sent
		}
		page := [3]string{host, button, "\x00" + place(s.on.page.URL)}
		var f *form
		for _, k := range keys {
			f = cmp.Or(f, of[k])
		}
		if p := of[page]; f == nil && p != nil && (len(s.fields) == 0 || p.sends[len(p.sends)-1].on == s.on) {
			f = p // as it was filled in before, or with what was missing
		}
		if s.again != nil {
			f = of[[3]string{"", "", "\x00" + strconv.Itoa(s.again.at)}]
		}
		if f == nil {
			f = &form{}
			w.forms = append(w.forms, f)
		}
		f.sends, f.secret = append(f.sends, s), f.secret || s.secret && r.signsIn(s)
		for _, k := range append(keys, page, [3]string{"", "", "\x00" + strconv.Itoa(s.at)}) {
			of[k] = f
		}
	}
	return w.forms
}

// answered says what came back for a form, as a part of a sentence, where that was an error or the form once more.
func (r *reading) answered(s *send) (string, bool) {
	for _, j := range s.said {
		if d := r.acts[j].Dialog; d != nil && d.Kind == "alert" && speaksOfError(d.Message, false) {
			return r.say("the page said %s", "页面提示%s", r.quote(d.Message)), true
		}
	}
	if said, bad := r.refused(s.then); bad {
		return r.say("%s came back", "得到的是%s", said), true
	}
	if i := r.pickedError(s); i >= 0 {
		return r.say("the page said %s", "页面提示%s", r.quote(r.acts[i].Pick.Text)), true
	}
	if s.secret && s.then != nil && r.sameForm(s.on, s.then) {
		return r.say("%s came back", "又回到%s", cmp.Or(r.pageName(&s.then.page), r.say("the same page", "原页面"))), true
	}
	return "", false
}

// pickedError is the action that picked from the page, right after a form was sent, words that tell of an error; -1.
func (r *reading) pickedError(s *send) int {
	at, ok := slices.BinarySearch(s.on.acts, s.at)
	if s.then != nil || !ok {
		return -1
	}
	for _, i := range s.on.acts[at+1:] {
		switch a := r.acts[i]; a.Type {
		case human.Extract:
			if a.Pick != nil && len(a.Pick.Rows) == 0 && speaksOfError(a.Pick.Text, false) {
				return i
			}
		case human.Scroll, human.Hover, human.Note, human.Copy:
		default:
			return -1
		}
	}
	return -1
}

// searchedAgain finds searches that were made anew with nothing done to what the one before had found.
func (r *reading) searchedAgain() []human.Finding {
	w := r.pages()
	var out []human.Finding
	var run []*send
	end := func() {
		if n := min(len(run), maxRefs/2); n > 1 && len(out) < enough {
			var evidence []human.Ref
			for _, s := range run[:n] {
				evidence = append(evidence, r.acts[s.at].ref())
			}
			text := r.say("Searched %s", "搜索了%s", r.times(n, "time", "times"))
			if to := run[0].then; to != nil && to.came >= 0 {
				evidence = append(evidence, r.acts[to.came].ref())
				if t := r.pageName(r.page(to.came, &evidence)); t != "" {
					text += r.say("; at first %s was shown", "，起初显示%s", t)
				}
			}
			out = append(out, finding(human.FoundDetour, 0.8, text, evidence...))
		}
		run = nil
	}
	for _, s := range w.sends {
		if !s.search {
			continue
		}
		if len(run) > 0 {
			last := run[len(run)-1]
			if r.host(last.on.page.URL) != r.host(s.on.page.URL) || r.acts[last.at].Type != r.acts[s.at].Type || r.usedBetween(last.at, s) {
				end()
			}
		}
		run = append(run, s)
	}
	end()
	return out
}

// usedBetween says whether anything was done after a search but to search again.
func (r *reading) usedBetween(from int, s *send) bool {
	w := r.pages()
	for i := from + 1; i < s.at; i++ {
		switch a := r.acts[i]; a.Type {
		case human.Navigate, human.Scroll, human.Hover, human.Shortcut, human.Note:
		case human.Click, human.DoubleClick, human.TripleClick:
			if len(w.effects[i]) > 0 {
				return true
			}
		default:
			if !slices.Contains(s.fields, i) {
				return true
			}
		}
	}
	return false
}

// sameForm says whether a page that came back is the one before.
func (r *reading) sameForm(a, b *visit) bool {
	if r.host(a.page.URL) != r.host(b.page.URL) {
		return false
	}
	return place(a.page.URL) == place(b.page.URL) || title(&a.page) != "" && title(&a.page) == title(&b.page)
}

// thereAndBack finds pages that were gone to and left the same way, with nothing done in them.
func (r *reading) thereAndBack() []human.Finding {
	w := r.pages()
	var out []human.Finding
	type trip struct {
		names []string
		refs  []human.Ref
	}
	var trips []*trip
	from := map[actionKey]*trip{} // trips from one page are told together
	for _, v := range w.visits {
		// A popup or tab of its own that was opened and closed again.
		if v.ended >= 0 && v.last == nil && v.came >= 0 && !r.did(v) && !blankPage(v.page.URL) && r.acts[v.came].Type == human.OpenPage && !r.gapBetween(v.came, v.ended) {
			if _, bad := r.refused(v); bad {
				continue
			}
			if what := r.pageName(&v.page); what != "" {
				evidence := append(refs(r.acts[v.came], r.acts[v.ended]), r.acts[v.named].ref())
				out = append(out, finding(human.FoundDetour, 0.7, r.say("%s was opened in a tab of its own and closed again with nothing done in it", "在新标签页打开了%s，未做任何操作就关闭了", what), evidence...))
			}
			continue
		}
		there := v.last
		if there == nil || there.last == nil || there.came < 0 || v.came < 0 {
			continue
		}
		here := there.last
		back := false // from a page that a form had led to
		if kindOf(r.acts[there.came]) == "form" {
			if back = r.wentBack(v); !back {
				continue
			}
		}
		if place(here.page.URL) != place(v.page.URL) || place(there.page.URL) == place(v.page.URL) || v.page.URL == "" || r.did(there) || !back && !r.went(there) || !r.went(v) && !back || r.gapBetween(there.came, v.came) || r.readIn(there, v) {
			continue
		}
		if _, bad := r.refused(there); bad {
			continue // told as an error already
		}
		what := r.pageName(&there.page)
		if what == "" {
			continue
		}
		if back {
			evidence := refs(r.acts[there.came], r.acts[v.came])
			a, b := r.pageName(r.page(there.came, &evidence)), r.pageName(r.page(v.came, &evidence))
			if a != "" && b != "" && len(out) < enough {
				out = append(out, finding(human.FoundDetour, 0.8, r.say("Went back from %s to %s", "从%s退回到%s", a, b), evidence...))
			}
			continue
		}
		key := actionKey{r.acts[v.came].rec.ID, place(v.page.URL)}
		t := from[key]
		if t == nil {
			t = &trip{}
			from[key] = t
			trips = append(trips, t)
		}
		if len(t.refs)+3 <= maxRefs {
			t.refs = append(t.refs, r.acts[there.came].ref(), r.acts[v.came].ref(), r.acts[there.named].ref())
			if !slices.Contains(t.names, what) && len(t.names) < 4 {
				t.names = append(t.names, what)
			}
		}
	}
	for _, t := range trips[:min(len(trips), enough)] {
		out = append(out, finding(human.FoundDetour, 0.7, r.say("Went to %s and back, with nothing done there", "打开了%s，未做任何操作就返回了", r.list(t.names)), t.refs...))
	}
	return out
}

// wentBack says whether a page was gone back to, and not on.
func (r *reading) wentBack(v *visit) bool {
	if kindOf(r.acts[v.came]) == "back_forward" {
		return true
	}
	return v.by >= 0 && r.acts[v.by].Element != nil && backWords.begins(r.acts[v.by].Element.Name)
}

// lookedAt is how long somebody stays on a page that they read, and not only see that it is the wrong one.
const lookedAt = 15 * time.Second

// readIn says whether a page was read before the next one was gone to, as far as that can be told.
func (r *reading) readIn(v, next *visit) bool {
	if r.acts[next.came].began().Sub(r.acts[v.came].ended()) >= lookedAt {
		return true
	}
	return slices.ContainsFunc(v.acts, func(i int) bool { return r.acts[i].Type == human.Scroll })
}

// gapBetween says whether something was not recorded between two actions.
func (r *reading) gapBetween(from, to int) bool {
	w := r.pages()
	i, _ := slices.BinarySearch(w.gaps, from)
	return i < len(w.gaps) && w.gaps[i] < to
}

// did says whether anything was done in a page but looking and leaving it.
func (r *reading) did(v *visit) bool {
	w := r.pages()
	for _, i := range v.acts {
		switch a := r.acts[i]; a.Type {
		case human.Scroll, human.Hover, human.SwitchPage, human.SwitchWindow, human.Missing, human.Note, human.ClosePage:
		case human.Click, human.Shortcut:
			if a.Button == 8 || a.Button == 9 {
				continue
			}
			leaves := false
			for _, j := range w.effects[i] {
				b := r.acts[j]
				leaves = leaves || (b.Type == human.Navigate || b.Type == human.ClosePage) && b.Page != nil && b.Page.Target == a.Page.Target
			}
			if !leaves {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// went says whether a person brought a page, and not a server or script.
func (r *reading) went(v *visit) bool {
	a := r.acts[v.came]
	if a.Navigation == nil {
		return a.Type == human.OpenPage
	}
	switch a.Navigation.Kind {
	case "link", "address", "back_forward":
		return true
	case "history", "fragment", "script":
		return v.by >= 0
	}
	return false
}

// clickedAgain finds clicks on one thing, one after the other, that nothing came of.
func (r *reading) clickedAgain() []human.Finding {
	w := r.pages()
	var out []human.Finding
	var run []int
	end := func() {
		if len(run) > 1 && len(out) < enough {
			first := r.acts[run[0]]
			n := min(len(run), maxRefs)
			var evidence []human.Ref
			for _, i := range run[:n] {
				evidence = append(evidence, r.acts[i].ref())
			}
			times := r.times(n, "time", "times")
			if n < len(run) {
				times = r.say("more than %s", "%s以上", times)
			}
			sure := 0.7
			if first.Before != "" && first.Before == first.After {
				sure = 0.9 // the page looked the same
			}
			out = append(out, finding(human.FoundDetour, sure, r.say("%s was clicked %s in a row; no page, message or download was seen to come of it in between", "连续点击%s%s，其间没有看到页面跳转、提示或下载",
				r.quote(elementName(first.Element)), times), evidence...))
		}
		run = run[:0]
	}
	for i, a := range r.acts {
		switch {
		case a.Type == human.Missing: // what was done then is not known
			end()
			continue
		case w.in[i] == nil, a.Type == human.Hover, a.Type == human.Scroll:
			continue
		case a.Type != human.Click && a.Type != human.DoubleClick || a.Button > 1 || !r.answers(a):
			end()
			continue
		}
		if len(run) > 0 {
			last := r.acts[run[len(run)-1]]
			if w.in[i] != w.in[run[0]] || !sameElement(last.Element, a.Element) || len(w.effects[run[len(run)-1]]) > 0 {
				end()
			}
		}
		run = append(run, i)
	}
	end()
	return out
}

// answers says whether something is to be expected of a click at once, and once is enough.
func (r *reading) answers(a act) bool {
	e := a.Element
	if e == nil || elementName(e) == "" || stepWords.begins(e.Name) {
		return false
	}
	return e.Role == "link" || isButton(e) || e.Role == "menuitem"
}

// openedAgain finds pages that were loaded again and again.
func (r *reading) openedAgain() []human.Finding {
	w := r.pages()
	type page struct{ opened, reloaded []int }
	var order []*page
	pages := map[actionKey]*page{}
	for _, v := range w.visits {
		if v.came < 0 || blankPage(v.page.URL) {
			continue
		}
		if _, bad := r.refused(v); bad {
			continue // told as an error
		}
		a := r.acts[v.came]
		key := actionKey{a.rec.ID, v.page.URL}
		p := pages[key]
		if p == nil {
			p = &page{}
			pages[key] = p
			order = append(order, p)
		}
		switch kindOf(a) {
		case "reload":
			p.reloaded = append(p.reloaded, v.came)
		case "address":
			p.opened = append(p.opened, v.came)
		}
	}
	var out []human.Finding
	tell := func(at []int, sure float64, en, zh string) {
		var evidence []human.Ref
		for _, i := range at[:min(len(at), maxRefs)] {
			evidence = append(evidence, r.acts[i].ref())
		}
		// By its title where one of these has it: with another piece of evidence it would be told how often wrongly.
		page := r.acts[at[max(0, slices.IndexFunc(at[:len(evidence)], func(i int) bool { return title(r.acts[i].Page) != "" }))]].Page
		what := cmp.Or(r.pageName(page), r.say("a page", "一个页面"))
		out = append(out, finding(human.FoundDetour, sure, r.say(en, zh, what, r.times(len(evidence), "time", "times")), evidence...))
	}
	for _, p := range order {
		switch {
		case len(out) >= enough:
			return out
		case len(p.reloaded) == 1:
			evidence := refs(r.acts[p.reloaded[0]])
			what := cmp.Or(r.pageName(r.page(p.reloaded[0], &evidence)), r.say("a page", "一个页面"))
			out = append(out, finding(human.FoundDetour, 1, r.say("%s was reloaded", "重新加载了%s", what), evidence...))
		case len(p.reloaded) > 1:
			tell(p.reloaded, 1, "%s was reloaded %s", "%s重新加载了%s")
		}
		if len(p.opened) > 1 {
			tell(p.opened, 0.9, "%s was opened by its address %s", "%s通过网址打开了%s")
		}
	}
	return out
}

func kindOf(a act) string {
	if a.Navigation == nil {
		return ""
	}
	return a.Navigation.Kind
}

// blankPage says whether an address is that of an empty tab.
func blankPage(address string) bool {
	return address == "" || strings.HasPrefix(address, "about:blank") || strings.HasPrefix(address, "chrome://newtab") ||
		strings.HasPrefix(address, "chrome://new-tab-page")
}
