// Package flow writes what was done in a browser as something that others can play: a user flow of
// @puppeteer/replay, and a test of Playwright. Both wait for what came of an action (a page, a popup, a
// download) and never for a time. What a format cannot say stands in it as a note, never as something else.
package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// An Input is what a flow is made of. Nothing in it is trusted: names and texts are those of pages.
type Input struct {
	Title   string         // of the work; any text
	Actions []human.Action // as they leave: without what was removed, with what was masked hidden
}

// A move is an action in a browser, with what came of it.
type move struct {
	human.Action
	tab     *tab
	cause   *move   // that this came of; nil where the person, or the page by itself, did it
	effects []*move // what came of this, in order
	next    bool    // nothing else was done between the cause and this
	number  int     // among the effects of its type, from 1
	passing bool    // a navigation that another one follows at once
	from    string  // the URL that the tab showed before
}

// A tab is a page target.
type tab struct {
	number   int    // from 1
	url      string // as far as the moves were read
	opened   bool   // as far as they are written
	went     bool   // it shows a page that the flow brought it to
	now      string // the URL it shows there
	closed   bool
	scrolled [2]int   // as far as they are written
	past     []string // URLs gone through, for back and forward
	at       int      // in past
}

// A variable of the environment stands for what a recording does not hold.
type variable struct {
	name   string
	stands human.Sentence // for what
}

// A plan is how the actions are played.
type plan struct {
	title     string
	moves     []*move
	tabs      map[string]*tab
	variables []variable
	asked     map[string]string // what for -> name of its variable
	notes     []human.Sentence
	shown     *tab // in the end
	w, h      int
}

// isEffect says whether an action is something that happens, not something that is done.
func isEffect(t human.ActionType) bool {
	switch t {
	case human.OpenPage, human.ClosePage, human.Navigate, human.DialogEnded, human.Upload, human.Download, human.SwitchPage:
		return true
	}
	return false
}

func newPlan(in Input) *plan {
	p := &plan{title: actions.Line(in.Title, 200), tabs: map[string]*tab{}, asked: map[string]string{}}
	if p.title == "" {
		p.title = "Recorded with Deskbell"
	}
	byID := map[string]*move{}
	var did *move // done last by the person
	numbers := map[human.ActionType]int{}
	elsewhere, gaps := 0, 0
	for _, a := range ended(in.Actions) {
		switch {
		case a.Type == human.Missing:
			gaps++
		case a.Type == human.Note:
		case a.Page == nil:
			elsewhere++
			continue
		case a.Type == human.PageSaid:
			continue // the page does it
		case a.Element != nil && a.Element.Tag == "option" && (a.Type == human.Click || a.Type == human.DoubleClick):
			continue // what was chosen by it is an action of its own
		}
		m := &move{Action: a}
		if a.Page != nil {
			p.places(m)
		}
		if isEffect(a.Type) {
			numbers[a.Type]++
			m.number = numbers[a.Type]
			p.link(m, byID[a.CausedBy], did)
		}
		if m.tab != nil && (m.cause == nil || a.Type == human.Upload) {
			did = m
		}
		byID[a.ID] = m
		p.moves = append(p.moves, m)
	}
	for i, m := range p.moves {
		if m.tab != nil && !m.tab.closed {
			p.shown = m.tab
		}
		if i+1 < len(p.moves) && m.Type == human.Navigate {
			after := p.moves[i+1]
			m.passing = after.Type == human.Navigate && m.tab == after.tab && m.whole() && after.whole() && !after.done()
		}
	}
	if elsewhere > 0 {
		p.note(human.Sayf("What was done outside of the browser is left out; actions: %d.", elsewhere))
	}
	if gaps > 0 {
		p.note(human.Sayf("What was done while nothing was recorded is missing; gaps: %d.", gaps))
	}
	return p
}

// ended are the actions without the closing of the last pages: a browser that is closed in the end is no part of
// the work.
func ended(list []human.Action) []human.Action {
	list = slices.DeleteFunc(slices.Clone(list), func(a human.Action) bool { return a.Cut })
	open := map[string]bool{}
	for _, a := range list {
		if a.Page != nil {
			open[a.Page.Target] = a.Type != human.ClosePage
		}
	}
	for _, is := range open {
		if is {
			return list
		}
	}
	for at := int64(-1); len(list) > 0; list = list[:len(list)-1] {
		last := list[len(list)-1]
		if last.Type != human.ClosePage || at >= 0 && at-last.At > int64(time.Second) {
			break
		}
		at = max(at, last.At)
	}
	return list
}

// places says in which tab a move is, and what that shows from then on.
func (p *plan) places(m *move) {
	m.tab = p.tab(m.Page.Target)
	m.from = m.tab.url
	if m.Page.URL != "" && (m.whole() || m.Type != human.Navigate) {
		m.tab.url = m.Page.URL
	}
	m.tab.closed = m.Type == human.ClosePage
	if p.w == 0 {
		p.w, p.h = m.Page.W, m.Page.H
	}
}

// link ties an effect to what it came of. A dialog and a file that came must be waited for before they can happen;
// where their cause is not known, that is what was done last. What came of the answer to a dialog came of what
// brought that up: neither ends before the other.
func (p *plan) link(m, cause, did *move) {
	for cause != nil && cause.Type == human.DialogEnded && cause.cause != nil {
		cause = cause.cause
	}
	switch m.Type {
	case human.DialogEnded, human.Download:
		if cause == nil {
			cause = did
		}
	case human.SwitchPage:
		return
	case human.Navigate:
		switch kind := m.kind(); {
		case kind == "address":
			return
		case kind != "reload" && kind != "back_forward" || cause == nil:
		case cause.Type == human.Shortcut:
			return // the browser's own key, which reaches no page
		case slices.ContainsFunc(cause.effects, func(e *move) bool { return e.Type == human.Navigate && e.tab == m.tab }):
			return // that led elsewhere already: this came of the browser's own buttons, soon after it
		}
	}
	if cause == nil {
		return
	}
	m.cause, m.next = cause, cause == did
	cause.effects = append(cause.effects, m)
}

// tab returns a page target by the recording's name for it.
func (p *plan) tab(target string) *tab {
	t := p.tabs[target]
	if t == nil {
		t = &tab{number: len(p.tabs) + 1}
		p.tabs[target] = t
	}
	return t
}

func (m *move) kind() string {
	if m.Navigation == nil {
		return ""
	}
	return m.Navigation.Kind
}

func (m *move) failed() bool { return m.Navigation != nil && m.Navigation.Failed != "" }

// goes says whether a navigation is the person's own, to an address.
func (m *move) goes() bool {
	switch m.kind() {
	case "address":
		return true
	case "link", "form", "":
		return m.cause == nil // what led to it was removed or not recorded
	}
	return false
}

// done says whether a navigation is the person's own, by whatever means.
func (m *move) done() bool {
	return m.goes() || m.cause == nil && (m.kind() == "reload" || m.kind() == "back_forward")
}

// frame is the path of the frame it was done in.
func (m *move) frame() []int {
	if m.Page == nil {
		return nil
	}
	return m.Page.Frame
}

// whole says whether a navigation is one of the page, not of a frame in it.
func (m *move) whole() bool { return len(m.frame()) == 0 }

// loads says whether a navigation brings a new document.
func (m *move) loads() bool { return m.kind() != "history" && m.kind() != "fragment" }

// effect returns the first effect of a type.
func (m *move) effect(t human.ActionType) *move {
	i := slices.IndexFunc(m.effects, func(e *move) bool { return e.Type == t })
	if i < 0 {
		return nil
	}
	return m.effects[i]
}

// pastes says whether a paste is one into a field, so that what stands in it afterwards can be set.
func (m *move) pastes() bool {
	e := m.Element
	return m.Value != "" || e != nil && (m.isTag("textarea") || strings.HasPrefix(e.Tag, "input") || slices.Contains(e.States, "editable"))
}

// isTag says whether the element is one of these, as Element.Tag writes them.
func (m *move) isTag(tags ...string) bool {
	return m.Element != nil && slices.Contains(tags, m.Element.Tag)
}

// drawn says whether it matters where in an element a click was, though only its place on the screen is known.
func (m *move) drawn() bool {
	_, _, placed := m.offset(m.X, m.Y, m.Element)
	return !placed && m.isTag("canvas", "svg", "img", "map", "area", "video", "embed", "object") && !direct(m.Element.Role)
}

// words are the action in a line.
func (m *move) words() string { return actions.Line(m.Words, 300) }

// text is what is to stand in the field. known is false where the recording does not hold it.
func (m *move) text() (text string, known bool) {
	text = m.Value
	if text == "" {
		text = m.Text
	}
	if m.Page != nil && m.Type == human.Typing && m.Hidden == "" && text == "" && m.Count == 0 {
		return "", true // it was emptied, be it one for secrets
	}
	if m.Type == human.Paste && m.Value == "" || m.Hidden != "" || m.Masked || m.Element != nil && m.Element.Secret || strings.Contains(text, dots) || text == "" && m.Count > 0 {
		return "", false
	}
	return text, true
}

// value is what was set in a field for a date, a colour or a range.
func (m *move) value() (string, bool) {
	if len(m.Values) == 0 || strings.Contains(m.Values[0], dots) {
		return "", false
	}
	return m.Values[0], true
}

// variable is the name of the environment's variable for something. The same thing has the same name.
func (p *plan) variable(kind, key string, stands func(name string) human.Sentence) string {
	if name, is := p.asked[kind+key]; is {
		return name
	}
	n := 1
	for _, v := range p.variables {
		if strings.HasPrefix(v.name, "DESKBELL_"+kind+"_") {
			n++
		}
	}
	name := fmt.Sprintf("DESKBELL_%s_%d", kind, n)
	p.asked[kind+key] = name
	p.variables = append(p.variables, variable{name, stands(name)})
	return name
}

// secret is the variable for a text that the recording does not hold.
func (p *plan) secret(m *move) string {
	field := "a field"
	if e := m.Element; e != nil && e.Name != "" {
		field = actions.Line(e.Name, 120)
	}
	key := strings.Join([]string{site(m.Page.URL), fmt.Sprint(m.frame()), fmt.Sprint(selectorsOf(m.Element))}, "\x00")
	if m.SecretID > 0 {
		key = fmt.Sprint(m.SecretID)
	}
	return p.variable("SECRET", key, func(name string) human.Sentence {
		return human.Sayf("%s stands for what was typed into %s.", name, field)
	})
}

// address is the variable for a URL that has something masked in it.
func (p *plan) address(url string) string {
	return p.variable("URL", url, func(name string) human.Sentence {
		return human.Sayf("%s stands for the address that was recorded as %s.", name, actions.Line(url, 200))
	})
}

// file is the variable for the path of a file that was uploaded.
func (p *plan) file(m *move, t human.Transfer) string {
	return p.variable("FILE", m.ID+"\x00"+t.Name, func(variable string) human.Sentence {
		return human.Sayf("%s stands for the path of the file that was %s.", variable, name(t.Name))
	})
}

// answer is the variable for what was typed into a dialog.
func (p *plan) answer(m *move) string {
	return p.variable("SECRET", "dialog"+m.ID, func(name string) human.Sentence {
		return human.Sayf("%s stands for what was typed into the dialog %s.", name, actions.Line(m.Dialog.Message, 120))
	})
}

// note keeps a sentence for the top, once.
func (p *plan) note(said human.Sentence) {
	if !slices.ContainsFunc(p.notes, func(n human.Sentence) bool { return n.Text == said.Text }) {
		p.notes = append(p.notes, said)
	}
}

// name is what a file was called, without its folder.
func name(file string) string {
	return actions.Line(file[strings.LastIndexAny(file, `/\`)+1:], 120)
}

// push keeps that a tab continued to a URL.
func (t *tab) push(url string) {
	t.past = append(t.past[:min(t.at+1, len(t.past))], url)
	t.at = len(t.past) - 1
}

// visit keeps where a navigation went, and says how many pages back (negative) or forward that lay; 0 where it is
// not known.
func (t *tab) visit(m *move) int {
	switch m.kind() {
	case "back_forward":
		for far := 1; far < len(t.past); far++ {
			for _, to := range []int{t.at - far, t.at + far} {
				if to >= 0 && to < len(t.past) && t.past[to] == m.Page.URL {
					by := to - t.at
					t.at = to
					return by
				}
			}
		}
	case "reload", "restored", "redirect":
		if len(t.past) > 0 {
			t.past[t.at] = m.Page.URL
		}
	default:
		t.push(m.Page.URL)
	}
	return 0
}
