package builtin

import (
	"net/url"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A web is what was done in pages: which were visited, what was done in each, and which forms were sent.
type web struct {
	visits  []*visit
	in      []*visit      // of each action, the visit it was done in; nil for one that is in no page
	effects map[int][]int // what actions led to, by where they are in reading.acts
	sends   []*send
	forms   []*form
	gaps    []int // where something was not recorded
	hosts   map[string]string
	bad     map[string]bool // whether a title is one of an error
}

// A visit is a stretch in which a tab showed one page.
type visit struct {
	page  human.WebPage // as it was last seen
	named int           // the action that has its title
	came  int           // the action that brought it; -1 for a page that was there
	by    int           // the action that led to that; -1 where none is known
	acts  []int         // what was done in it
	last  *visit        // what the tab showed before; nil at first
	next  *visit        // and after
	ended int           // the action that closed the tab; -1
	// unsent is what was filled in after what was sent last.
	unsent  []int
	cleared []clearing
}

// A send is a form that was sent, or a button that stands for it.
type send struct {
	at     int   // the click, the key or, where neither is known, the navigation
	fields []int // what was filled in before
	on     *visit
	then   *visit // the page it led to; nil where none was seen
	said   []int  // dialogs it led to
	secret bool   // a password was among the fields
	search bool
	known  bool  // that it was sent is certain: the browser said so
	again  *send // what it sends once more, where the button says so
}

// A clearing is a button that empties a form, with what had been filled in.
type clearing struct {
	at     int
	fields []int
}

type tabOf struct {
	rec    human.RecordingID
	target string
}

// pages reads what was done in pages, once.
func (r *reading) pages() *web {
	if r.web != nil {
		return r.web
	}
	w := &web{in: make([]*visit, len(r.acts)), effects: map[int][]int{}, hosts: map[string]string{}, bad: map[string]bool{}}
	r.web = w
	shown := map[tabOf]*visit{}
	for i, a := range r.acts {
		by := -1
		if a.CausedBy != "" && a.Page != nil {
			if by = r.before(i, a.CausedBy); by >= 0 {
				w.effects[by] = append(w.effects[by], i)
			}
		}
		if a.Type == human.Missing {
			w.gaps = append(w.gaps, i)
		}
		if a.Page == nil {
			continue
		}
		tab := tabOf{a.rec.ID, a.Page.Target}
		v := shown[tab]
		switch {
		case a.Type == human.ClosePage:
			if v != nil {
				v.ended = i
				w.in[i] = v
				delete(shown, tab)
			}
			continue
		case v == nil || a.Type == human.OpenPage || a.Type == human.Navigate && len(a.Page.Frame) == 0:
			came := -1
			if a.Type == human.OpenPage || a.Type == human.Navigate {
				came = i
			}
			n := &visit{came: came, by: -1, last: v, ended: -1}
			if came >= 0 {
				n.by = by
			}
			if v != nil {
				v.next = n
			}
			v = n
			shown[tab] = v
			w.visits = append(w.visits, v)
		}
		if a.Page.URL != "" {
			was := v.page
			if v.page = *a.Page; a.Page.Title != "" {
				v.named = i
			} else if was.URL == a.Page.URL {
				v.page.Title = was.Title
			}
		}
		w.in[i] = v
		if i != v.came {
			v.acts = append(v.acts, i)
		}
	}
	for _, v := range w.visits {
		r.findSends(w, v)
	}
	slices.SortStableFunc(w.sends, func(a, b *send) int { return a.at - b.at })
	return w
}

// before is where the action is that led to the one at i; -1 where it does not come before. Mostly it is the one before
// it.
func (r *reading) before(i int, id string) int {
	for j := i - 1; j >= max(0, i-8); j-- {
		if r.acts[j].ID == id && r.acts[j].rec == r.acts[i].rec {
			return j
		}
	}
	if j := r.index(r.acts[i].rec.ID, id); j < i {
		return j
	}
	return -1
}

// findSends finds what was sent from a page.
func (r *reading) findSends(w *web, v *visit) {
	var fields []int
	var last *send
	for _, i := range v.acts {
		a := r.acts[i]
		sent, again := false, false
		switch a.Type {
		case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
			fields = append(fields, i)
			sent = a.Type == human.Typing && a.Key == "Enter" && oneLine(a.Element)
		case human.Click:
			if isButton(a.Element) && clearWords.begins(a.Element.Name) && len(fields) > 0 && len(w.effects[i]) == 0 {
				v.cleared, fields = append(v.cleared, clearing{i, fields}), nil
				continue
			}
			again = last != nil && isButton(a.Element) && retryWords.begins(a.Element.Name)
			sent = again || sends(a.Element) && (len(fields) > 0 || a.Element.Tag == "input/submit" || r.objected(w, i))
		case human.Shortcut, human.DoubleClick:
		default:
			continue
		}
		to, said, form := r.ledTo(w, i)
		if !sent && !form {
			continue
		}
		next := r.newSend(send{at: i, fields: fields, on: v, then: to, said: said, known: form})
		if again {
			next.again = last
		}
		w.sends = append(w.sends, next)
		fields, last = nil, next
	}
	v.unsent = fields
	// A form may be sent by what was not seen: a key held in another program, a script.
	if n := v.next; n != nil && n.came >= 0 && n.by < 0 && len(fields) > 0 {
		if nav := r.acts[n.came].Navigation; nav != nil && nav.Kind == "form" {
			w.sends = append(w.sends, r.newSend(send{at: n.came, fields: fields, on: v, then: n, known: true}))
			v.unsent = nil
		}
	}
}

// objected says whether the page answered a click with a message of an error.
func (r *reading) objected(w *web, i int) bool {
	return slices.ContainsFunc(w.effects[i], func(j int) bool {
		d := r.acts[j].Dialog
		return d != nil && d.Kind == "alert" && speaksOfError(d.Message, false)
	})
}

func (r *reading) newSend(s send) *send {
	for _, i := range s.fields {
		e := r.acts[i].Element
		s.secret = s.secret || isPassword(r.acts[i])
		s.search = s.search || e != nil && (e.Role == "searchbox" || e.Tag == "input/search" || searches(e.Name))
	}
	if e := r.acts[s.at].Element; e != nil && searches(e.Name) {
		s.search = true
	}
	s.search = s.search && !s.secret
	return &s
}

// ledTo is the page and the dialogs that an action led to; form, whether the browser said that a form was sent.
func (r *reading) ledTo(w *web, i int) (to *visit, said []int, form bool) {
	for _, j := range w.effects[i] {
		switch b := r.acts[j]; b.Type {
		case human.Navigate, human.OpenPage:
			form = form || b.Navigation != nil && b.Navigation.Kind == "form"
			if to == nil && len(b.Page.Frame) == 0 {
				to = w.in[j]
			}
		case human.DialogEnded:
			said = append(said, j)
			more, further, sent := r.ledTo(w, j) // what was sent once it was confirmed
			if to == nil {
				to = more
			}
			said, form = append(said, further...), form || sent
		}
	}
	if to != nil { // what a form is answered with may send on by itself
		for n := to.next; n != nil && len(to.acts) == 0 && n.by < 0 && n.came >= 0; n = n.next {
			nav := r.acts[n.came].Navigation
			if nav == nil || nav.Kind != "redirect" && nav.Kind != "script" {
				break
			}
			to = n
		}
	}
	return to, said, form
}

// isPassword says whether a password was typed, and not another secret: a card's number, a code.
func isPassword(a act) bool {
	return (a.Type == human.Typing || a.Type == human.Paste) &&
		(a.Hidden == "password" || a.Element != nil && (a.Element.Tag == "input/password" || a.Element.Secret && passWords.in(plain(a.Element.Name))))
}

// oneLine says whether Enter in a field sends what is in it.
func oneLine(e *human.Element) bool {
	return e != nil && e.Tag != "textarea" && !slices.Contains(e.States, "multiline") && (strings.HasPrefix(e.Tag, "input") || e.Role == "textbox" || e.Role == "searchbox" || e.Role == "combobox")
}

// sends says whether an element is a button that sends what was filled in.
func sends(e *human.Element) bool {
	if e == nil {
		return false
	}
	return e.Tag == "input/submit" || e.Tag == "input/image" || isButton(e) && sendWords.begins(e.Name)
}

func isButton(e *human.Element) bool {
	return e != nil && (e.Role == "button" || e.Tag == "button" || e.Tag == "input/button" || e.Tag == "input/submit")
}

// sameElement says whether two looks at elements were looks at one: where both tell how to find it, by that.
func sameElement(a, b *human.Element) bool {
	switch {
	case a == nil || b == nil:
		return false
	case a == b:
		return true
	case len(a.Selectors) > 0 && len(b.Selectors) > 0:
		return slices.Equal(a.Selectors[0], b.Selectors[0])
	}
	return a.Role == b.Role && a.Name == b.Name && a.Tag == b.Tag && a.Name != ""
}

// host is where a page comes from: its site, or the name of its file.
func (r *reading) host(address string) string {
	w := r.pages()
	if h, ok := w.hosts[address]; ok {
		return h
	}
	h := ""
	if u, err := url.Parse(address); err == nil {
		switch {
		case u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
			h = name(u.Host)
		case u.Scheme == "file":
			h = r.exactly(u.Path[strings.LastIndexByte(u.Path, '/')+1:], maxName)
		}
	}
	w.hosts[address] = h
	return h
}

// place is the address of a page without what changes from visit to visit.
func place(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return strings.TrimRight(address, "/")
}

// title is what a page is called, "" where it has no title and shows its address instead.
func title(p *human.WebPage) string {
	t := strings.TrimSpace(p.Title)
	if t == "" || !strings.ContainsFunc(t, func(c rune) bool { return !unseenRune(c) }) {
		return ""
	}
	if _, after, ok := strings.Cut(p.URL, "://"); t == p.URL || ok && (t == after || t == strings.TrimRight(after, "/")) {
		return ""
	}
	return t
}

// pageName names a page within a sentence: “Quota”, else where it comes from; "" for one of which nothing is known.
func (r *reading) pageName(p *human.WebPage) string {
	if t := title(p); t != "" {
		return r.quote(t)
	}
	return r.host(p.URL)
}

// page is the one an action was done in, with the title that another action may have of it; that one then joins the
// evidence, so that the title stands there.
func (r *reading) page(i int, evidence *[]human.Ref) *human.WebPage {
	a, v := r.acts[i], r.pages().in[i]
	named, page := i, a.Page
	if title(a.Page) == "" && v != nil && title(&v.page) != "" {
		named, page = v.named, &v.page
	}
	if ref := r.acts[named].ref(); !slices.Contains(*evidence, ref) {
		*evidence = append(*evidence, ref)
	}
	return page
}

// pageAt names a page with where it comes from.
func (r *reading) pageAt(p *human.WebPage) string {
	t, h := title(p), r.host(p.URL)
	switch {
	case t == "":
		return h
	case h == "":
		return r.quote(t)
	}
	return r.say("%s (%s)", "%s（%s）", r.quote(t), h)
}
