package facts

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// A Form is one that was sent once or more often.
type Form struct {
	Sends  []*Send
	Secret bool // it is one to sign in with
}

// Forms are what was sent, put together by form: those of one site that share a button and a field.
func (fs *Facts) Forms() []*Form {
	w := fs.Pages()
	if w.forms != nil {
		return w.forms
	}
	of := map[[3]string]*Form{}
	w.forms = []*Form{}
	for _, s := range w.Sends {
		if s.Search {
			continue
		}
		host, button := fs.Host(s.On.Page.URL), ""
		if e := fs.Actions[s.At].Element; IsButton(e) {
			button = e.Name
		}
		var keys [][3]string
		for _, i := range s.Fields {
			if n := ElementName(fs.Actions[i].Element); n != "" {
				keys = append(keys, [3]string{host, button, n})
			}
		}
		if s.Secret && fs.IsSignIn(s) {
			keys = append(keys, [3]string{host, "", "\x00password"}) // however it is sent
		}
		page := [3]string{host, button, "\x00" + Place(s.On.Page.URL)}
		var f *Form
		for _, k := range keys {
			f = cmp.Or(f, of[k])
		}
		if p := of[page]; f == nil && p != nil && (len(s.Fields) == 0 || p.Sends[len(p.Sends)-1].On == s.On) {
			f = p // as it was filled in before, or with what was missing
		}
		if s.again != nil {
			f = of[[3]string{"", "", "\x00" + strconv.Itoa(s.again.At)}]
		}
		if f == nil {
			f = &Form{}
			w.forms = append(w.forms, f)
		}
		f.Sends, f.Secret = append(f.Sends, s), f.Secret || s.Secret && fs.IsSignIn(s)
		for _, k := range append(keys, page, [3]string{"", "", "\x00" + strconv.Itoa(s.At)}) {
			of[k] = f
		}
	}
	return w.forms
}

// SameForm says whether a page that came back is the one before.
func (fs *Facts) SameForm(a, b *Visit) bool {
	if fs.Host(a.Page.URL) != fs.Host(b.Page.URL) {
		return false
	}
	return Place(a.Page.URL) == Place(b.Page.URL) || Title(&a.Page) != "" && Title(&a.Page) == Title(&b.Page)
}

// GapBetween says whether something was not recorded between two actions.
func (fs *Facts) GapBetween(from, to int) bool {
	w := fs.Pages()
	i, _ := slices.BinarySearch(w.gaps, from)
	return i < len(w.gaps) && w.gaps[i] < to
}

// KindOf is the kind of navigation an action is; "" where it is none.
func KindOf(a Action) string {
	if a.Navigation == nil {
		return ""
	}
	return a.Navigation.Kind
}

// BlankPage says whether an address is that of an empty tab.
func BlankPage(address string) bool {
	return address == "" || strings.HasPrefix(address, "about:blank") || strings.HasPrefix(address, "chrome://newtab") ||
		strings.HasPrefix(address, "chrome://new-tab-page")
}

// SignsIn says whether a title or name is of where people sign in.
func SignsIn(name string) bool { return signWords.in(plain(name)) }

// IsSearch says whether an element is one to search with.
func IsSearch(e *human.Element) bool {
	return e != nil && (e.Role == "searchbox" || e.Tag == "input/search" || Searches(e.Name))
}

// IsSignIn says whether a form with a password is one to sign in with, and not one that sets a password or makes an
// account.
func (fs *Facts) IsSignIn(s *Send) bool {
	passwords := map[string]bool{}
	for _, i := range s.Fields {
		if a := fs.Actions[i]; IsPassword(a) && a.Element != nil {
			passwords[a.Element.Name] = true
		}
	}
	if len(passwords) > 1 {
		return false
	}
	if e := fs.Actions[s.At].Element; IsButton(e) && signWords.in(plain(e.Name)) {
		return true
	}
	var fields []*human.Element // one may have been filled in, cleared and filled in again
	for _, i := range s.Fields {
		if e := fs.Actions[i].Element; !slices.ContainsFunc(fields, func(o *human.Element) bool { return SameElement(o, e) }) {
			fields = append(fields, e)
		}
	}
	return signWords.in(plain(s.On.Page.Title)) || len(fields) <= 2
}

// Unchecked says whether an action took the tick from a box.
func Unchecked(a Action) bool { return len(a.Values) > 0 && a.Values[0] == "unchecked" }

// Offered says whether a field offers what is chosen in it; into others, such as dates, it is typed.
func Offered(e *human.Element) bool {
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

// Alerted is the name of the alert or dialog that an element lies in, where that speaks of an error.
func Alerted(e *human.Element) string {
	if e == nil {
		return ""
	}
	for i := -1; i < len(e.Ancestry); i++ {
		at := e
		if i >= 0 {
			at = &e.Ancestry[i]
		}
		switch at.Role {
		case "alert", "alertdialog", "dialog":
			if text := ElementName(at); text != "" && SpeaksOfError(text, at.Role == "dialog") {
				return text
			}
		}
	}
	return ""
}

// ErrorTitle asks the words once for each title.
func (fs *Facts) ErrorTitle(title string) bool {
	w := fs.Pages()
	bad, ok := w.bad[title]
	if !ok {
		bad = errorTitle(title)
		w.bad[title] = bad
	}
	return bad
}

// A Web is what was done in pages: which were visited, what was done in each, and which forms were sent.
type Web struct {
	Visits  []*Visit
	In      []*Visit      // of each action, the visit it was done in; nil for one that is in no page
	Effects map[int][]int // what actions led to, by where they are in reading.acts
	Sends   []*Send
	forms   []*Form
	gaps    []int // where something was not recorded
	hosts   map[string]string
	bad     map[string]bool // whether a title is one of an error
}

// A Visit is a stretch in which a tab showed one page.
type Visit struct {
	Page    human.WebPage // as it was last seen
	Named   int           // the action that has its title
	Came    int           // the action that brought it; -1 for a page that was there
	By      int           // the action that led to that; -1 where none is known
	Actions []int         // what was done in it
	Last    *Visit        // what the tab showed before; nil at first
	Next    *Visit        // and after
	Ended   int           // the action that closed the tab; -1
	// unsent is what was filled in after what was sent last.
	unsent  []int
	Cleared []clearing
}

// A Send is a form that was sent, or a button that stands for it.
type Send struct {
	At     int   // the click, the key or, where neither is known, the navigation
	Fields []int // what was filled in before
	On     *Visit
	Then   *Visit // the page it led to; nil where none was seen
	Said   []int  // dialogs it led to
	Secret bool   // a password was among the fields
	Search bool
	Known  bool  // that it was sent is certain: the browser said so
	again  *Send // what it sends once more, where the button says so
}

// A clearing is a button that empties a form, with what had been filled in.
type clearing struct {
	At     int
	Fields []int
}

type tabOf struct {
	rec    human.RecordingID
	target string
}

// Pages reads what was done in pages, once.
func (fs *Facts) Pages() *Web {
	if fs.web != nil {
		return fs.web
	}
	w := &Web{In: make([]*Visit, len(fs.Actions)), Effects: map[int][]int{}, hosts: map[string]string{}, bad: map[string]bool{}}
	fs.web = w
	shown := map[tabOf]*Visit{}
	for i, a := range fs.Actions {
		by := -1
		if a.CausedBy != "" && a.Page != nil {
			if by = fs.before(i, a.CausedBy); by >= 0 {
				w.Effects[by] = append(w.Effects[by], i)
			}
		}
		if a.Type == human.Missing {
			w.gaps = append(w.gaps, i)
		}
		if a.Page == nil {
			continue
		}
		tab := tabOf{a.Rec.ID, a.Page.Target}
		v := shown[tab]
		switch {
		case a.Type == human.ClosePage:
			if v != nil {
				v.Ended = i
				w.In[i] = v
				delete(shown, tab)
			}
			continue
		case v == nil || a.Type == human.OpenPage || a.Type == human.Navigate && len(a.Page.Frame) == 0:
			came := -1
			if a.Type == human.OpenPage || a.Type == human.Navigate {
				came = i
			}
			n := &Visit{Came: came, By: -1, Last: v, Ended: -1}
			if came >= 0 {
				n.By = by
			}
			if v != nil {
				v.Next = n
			}
			v = n
			shown[tab] = v
			w.Visits = append(w.Visits, v)
		}
		if a.Page.URL != "" {
			was := v.Page
			if v.Page = *a.Page; a.Page.Title != "" {
				v.Named = i
			} else if was.URL == a.Page.URL {
				v.Page.Title = was.Title
			}
		}
		w.In[i] = v
		if i != v.Came {
			v.Actions = append(v.Actions, i)
		}
	}
	for _, v := range w.Visits {
		fs.findSends(w, v)
	}
	slices.SortStableFunc(w.Sends, func(a, b *Send) int { return a.At - b.At })
	return w
}

// before is where the action is that led to the one at i; -1 where it does not come before. Mostly it is the one before
// it.
func (fs *Facts) before(i int, id string) int {
	for j := i - 1; j >= max(0, i-8); j-- {
		if fs.Actions[j].ID == id && fs.Actions[j].Rec == fs.Actions[i].Rec {
			return j
		}
	}
	if j := fs.Index(fs.Actions[i].Rec.ID, id); j < i {
		return j
	}
	return -1
}

// findSends finds what was sent from a page.
func (fs *Facts) findSends(w *Web, v *Visit) {
	var fields []int
	var last *Send
	for _, i := range v.Actions {
		a := fs.Actions[i]
		sent, again := false, false
		switch a.Type {
		case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
			fields = append(fields, i)
			sent = a.Type == human.Typing && a.Key == "Enter" && oneLine(a.Element)
		case human.Click:
			if IsButton(a.Element) && clearWords.Begins(a.Element.Name) && len(fields) > 0 && len(w.Effects[i]) == 0 {
				v.Cleared, fields = append(v.Cleared, clearing{i, fields}), nil
				continue
			}
			again = last != nil && IsButton(a.Element) && (retryWords.Begins(a.Element.Name) ||
				len(fields) == 0 && len(a.Answers) > 0 && SameElement(a.Element, fs.Actions[last.At].Element))
			sent = again || fs.sendsNow(w, i, last, len(fields) > 0)
		case human.Shortcut, human.DoubleClick:
		default:
			continue
		}
		to, said, form := fs.LedTo(w, i)
		form = form || fs.scripted(i, len(fields) > 0, sent)
		if !sent && !form {
			continue
		}
		next := fs.newSend(Send{At: i, Fields: fields, On: v, Then: to, Said: said, Known: form})
		if again {
			next.again = last
			if len(fields) == 0 { // it sends what was filled in before
				next.Fields = last.Fields
			}
		}
		w.Sends = append(w.Sends, next)
		fields, last = nil, next
	}
	v.unsent = fields
	// A form may be sent by what was not seen: a key held in another program, a script.
	if n := v.Next; n != nil && n.Came >= 0 && n.By < 0 && len(fields) > 0 {
		if nav := fs.Actions[n.Came].Navigation; nav != nil && nav.Kind == "form" {
			w.Sends = append(w.Sends, fs.newSend(Send{At: n.Came, Fields: fields, On: v, Then: n, Known: true}))
			v.unsent = nil
		}
	}
}

// sendsNow says whether a click sends a form: by what the button says, or because it sent that form before.
func (fs *Facts) sendsNow(w *Web, i int, last *Send, filled bool) bool {
	e := fs.Actions[i].Element
	if last != nil && filled && IsButton(e) && SameElement(e, fs.Actions[last.At].Element) {
		return true
	}
	return sends(e) && (filled || e.Tag == "input/submit" || fs.objected(w, i))
}

// scripted says whether a script sent what was filled in because of an action. What a switch sends is its own state.
func (fs *Facts) scripted(i int, filled, sent bool) bool {
	a := fs.Actions[i]
	return len(a.Answers) > 0 && filled && (sent || IsButton(a.Element) && !IsSwitch(a.Element))
}

// objected says whether the page answered a click with a message of an error.
func (fs *Facts) objected(w *Web, i int) bool {
	return slices.ContainsFunc(w.Effects[i], func(j int) bool {
		return Objects(fs.Actions[j])
	})
}

// Spoken is what a page said by an action, in a message or an alert that asks nothing.
func Spoken(a Action) string {
	if d := a.Dialog; d != nil && (d.Kind == "alert" || d.Kind == "message") {
		return d.Message
	}
	return ""
}

// Objects says whether a page said by an action that something is wrong: the browser says so of a field, or the page's words do.
func Objects(a Action) bool {
	text := Spoken(a)
	if a.Type == human.PageSaid && Questions(text) {
		return false // it asks before something is done
	}
	return text != "" && (slices.Contains(a.Values, "invalid") || SpeaksOfError(text, false) || a.Type == human.PageSaid && Trouble(text))
}

// Refused is the status of an answer by which a site did not do what the page sent because of an action; 0 where there is none.
func Refused(a Action) int {
	for _, answer := range a.Answers {
		if answer.Status >= 400 {
			return answer.Status
		}
	}
	return 0
}

// TurnedDown says whether a site did nothing of what the page sent because of an action.
func TurnedDown(a Action) bool {
	return len(a.Answers) > 0 && !slices.ContainsFunc(a.Answers, func(w human.WebAnswer) bool { return w.Status < 400 })
}

// Accepted says whether a site answered what the page sent because of an action, and always that it did it.
func Accepted(a Action) bool { return len(a.Answers) > 0 && Refused(a) == 0 }

func (fs *Facts) newSend(s Send) *Send {
	for _, i := range s.Fields {
		e := fs.Actions[i].Element
		s.Secret = s.Secret || IsPassword(fs.Actions[i])
		s.Search = s.Search || IsSearch(e)
	}
	if e := fs.Actions[s.At].Element; e != nil && Searches(e.Name) {
		s.Search = true
	}
	s.Search = s.Search && !s.Secret
	return &s
}

// LedTo is the page and the dialogs that an action led to; form, whether the browser said that a form was sent.
func (fs *Facts) LedTo(w *Web, i int) (to *Visit, said []int, form bool) {
	for _, j := range w.Effects[i] {
		switch b := fs.Actions[j]; b.Type {
		case human.Navigate, human.OpenPage:
			form = form || b.Navigation != nil && b.Navigation.Kind == "form"
			if to == nil && len(b.Page.Frame) == 0 {
				to = w.In[j]
			}
		case human.PageSaid:
			said = append(said, j)
		case human.DialogEnded:
			said = append(said, j)
			more, further, sent := fs.LedTo(w, j) // what was sent once it was confirmed
			if to == nil {
				to = more
			}
			said, form = append(said, further...), form || sent
		}
	}
	if to != nil { // what a form is answered with may send on by itself
		for n := to.Next; n != nil && len(to.Actions) == 0 && n.By < 0 && n.Came >= 0; n = n.Next {
			nav := fs.Actions[n.Came].Navigation
			if nav == nil || nav.Kind != "redirect" && nav.Kind != "script" {
				break
			}
			to = n
		}
	}
	return to, said, form
}

// IsPassword says whether a password was typed, and not another secret: a card's number, a code.
func IsPassword(a Action) bool {
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
	return e.Tag == "input/submit" || e.Tag == "input/image" || IsButton(e) && sendWords.Begins(e.Name)
}

// IsButton says whether an element is a button, by its role or its tag.
func IsButton(e *human.Element) bool {
	return e != nil && (e.Role == "button" || e.Tag == "button" || e.Tag == "input/button" || e.Tag == "input/submit")
}

// IsSwitch says whether an element is one that is on or off.
func IsSwitch(e *human.Element) bool {
	return e != nil && slices.Contains([]string{"checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"}, e.Role)
}

// SameElement says whether two looks at elements were looks at one: where both tell how to find it, by that.
func SameElement(a, b *human.Element) bool {
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

// Host is where a page comes from: its site, or the name of its file.
func (fs *Facts) Host(address string) string {
	w := fs.Pages()
	if h, ok := w.hosts[address]; ok {
		return h
	}
	h := ""
	if u, err := url.Parse(address); err == nil {
		switch {
		case u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
			h = Name(u.Host)
		case u.Scheme == "file":
			h = Exactly(u.Path[strings.LastIndexByte(u.Path, '/')+1:], MaxName)
		}
	}
	w.hosts[address] = h
	return h
}

// Place is the address of a page without what changes from visit to visit.
func Place(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return strings.TrimRight(address, "/")
}

// Title is what a page is called, "" where it has no title and shows its address instead.
func Title(p *human.WebPage) string {
	t := strings.TrimSpace(p.Title)
	if t == "" || !strings.ContainsFunc(t, func(c rune) bool { return !unseenRune(c) }) {
		return ""
	}
	if _, after, ok := strings.Cut(p.URL, "://"); t == p.URL || ok && (t == after || t == strings.TrimRight(after, "/")) {
		return ""
	}
	return t
}

// PageName names a page within a sentence: “Quota”, else where it comes from; "" for one of which nothing is known.
func (fs *Facts) PageName(p *human.WebPage) string {
	if t := Title(p); t != "" {
		return Quote(t)
	}
	return fs.Host(p.URL)
}

// Page is the one an action was done in, with the title that another action may have of it; that one then joins the
// evidence, so that the title stands there.
func (fs *Facts) Page(i int, evidence *[]human.Ref) *human.WebPage {
	a, v := fs.Actions[i], fs.Pages().In[i]
	named, page := i, a.Page
	if Title(a.Page) == "" && v != nil && Title(&v.Page) != "" {
		named, page = v.Named, &v.Page
	}
	if ref := fs.Actions[named].Ref(); !slices.Contains(*evidence, ref) {
		*evidence = append(*evidence, ref)
	}
	return page
}

// Unsent is what was typed into a page, and chosen beside it, with no button clicked afterwards that may have sent it;
// pages can save by themselves, too.
func (fs *Facts) Unsent(v *Visit) []int {
	if len(v.unsent) == 0 {
		return nil
	}
	typed := false
	for _, i := range v.unsent {
		a := fs.Actions[i]
		if a.Element == nil || a.Element.Role == "searchbox" || Searches(a.Element.Name) {
			continue
		}
		typed = typed || a.Type == human.Typing || a.Type == human.Paste
	}
	if !typed {
		return nil
	}
	for _, i := range v.Actions {
		if a := fs.Actions[i]; i > v.unsent[0] && (a.Type == human.Click && IsButton(a.Element) || a.Type == human.Shortcut && a.Key == "Enter") {
			return nil
		}
	}
	return v.unsent
}
