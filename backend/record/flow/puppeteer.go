package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// The names of custom steps: what was done that a user flow has no step for. The runner does nothing for them;
// an extension of it may, by their parameters. One for a dialog stands before the step that brings it up, for
// it must be waited for by then.
const (
	notesStep    = "deskbell.notes"
	secretStep   = "deskbell.secret"
	dialogStep   = "deskbell.dialog"
	dragStep     = "deskbell.drag"
	uploadStep   = "deskbell.upload"
	downloadStep = "deskbell.download"
	pickStep     = "deskbell.pick"
	keyStep      = "deskbell.key"
	actionStep   = "deskbell.action" // an element or page that the runner cannot find
	showStep     = "deskbell.show"   // a page comes to the front
	noteStep     = "deskbell.note"
)

// A step of a user flow, as the schema of @puppeteer/replay 3.1 has it.
type step struct {
	Type       string   `json:"type"`
	Name       string   `json:"name,omitempty"`
	Target     string   `json:"target,omitempty"`
	Frame      []int    `json:"frame,omitempty"`
	Selectors  []any    `json:"selectors,omitempty"`
	URL        string   `json:"url,omitempty"`
	Button     string   `json:"button,omitempty"`
	OffsetX    *int     `json:"offsetX,omitempty"`
	OffsetY    *int     `json:"offsetY,omitempty"`
	Key        string   `json:"key,omitempty"`
	Value      *string  `json:"value,omitempty"`
	X          *int     `json:"x,omitempty"`
	Y          *int     `json:"y,omitempty"`
	Operator   string   `json:"operator,omitempty"`
	Count      int      `json:"count,omitempty"`
	Expression string   `json:"expression,omitempty"`
	Asserted   []event  `json:"assertedEvents,omitempty"`
	Parameters *details `json:"parameters,omitempty"`
	*viewport
}

type viewport struct {
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	Scale     int  `json:"deviceScaleFactor"`
	Mobile    bool `json:"isMobile"`
	Touch     bool `json:"hasTouch"`
	Landscape bool `json:"isLandscape"`
}

// An event that a step waits for.
type event struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// details are the parameters of a custom step.
type details struct {
	Words     string           `json:"words,omitempty"`
	Notes     []string         `json:"notes,omitempty"`
	Env       []string         `json:"env,omitempty"`
	Selectors []any            `json:"selectors,omitempty"`
	Target    []any            `json:"targetSelectors,omitempty"`
	From      []int            `json:"from,omitempty"`
	To        []int            `json:"to,omitempty"`
	Keys      []string         `json:"keys,omitempty"`
	Dialog    *human.Dialog    `json:"dialog,omitempty"`
	Files     []human.Transfer `json:"files,omitempty"`
	Field     string           `json:"field,omitempty"`
	Take      string           `json:"take,omitempty"`
}

// longest is the time the runner gives a step, in milliseconds; more than this is an error.
const longest = 30000

// puppeteer writes a user flow for @puppeteer/replay and the recorder of Chrome's DevTools. What a user flow cannot
// say (dialogs, drags, uploads, downloads, secret texts) is in it as custom steps, which the runner passes over, and
// the first step names them.
func puppeteer(p *plan) string {
	f := &userFlow{plan: p}
	for _, m := range f.moves {
		f.move(m)
	}
	f.end()
	return indented(struct {
		Title   string `json:"title"`
		Timeout int    `json:"timeout"`
		Steps   []step `json:"steps"`
	}{f.title, longest, append(f.head(), f.steps...)})
}

// A userFlow is one while it is written.
type userFlow struct {
	*plan
	steps []step
	front *tab
}

func (f *userFlow) add(s ...step) { f.steps = append(f.steps, s...) }

func (f *userFlow) head() []step {
	var out []step
	if said := f.said(); len(said) > 0 {
		var notes []string
		for _, s := range said {
			notes = append(notes, actions.Line(s.Text, 300))
		}
		out = append(out, step{Type: "customStep", Name: notesStep, Parameters: &details{Notes: notes}})
	}
	if f.w > 0 && f.h > 0 {
		out = append(out, step{Type: "setViewport", viewport: &viewport{f.w, f.h, 1, false, false, f.w > f.h}})
	}
	return out
}

// on is a step in the page and frame of a move. The runner finds a page by the address it shows.
func (f *userFlow) on(m *move, kind string) step {
	s := step{Type: kind, Frame: m.frame()}
	if m.tab != nil && m.tab.number > 1 {
		s.Target = m.Page.URL
	}
	return s
}

// reachable says whether the runner finds the page of a move: its first page, or one with an address of its own.
func (f *userFlow) reachable(m *move) bool {
	if m.tab.number == 1 {
		return true
	}
	if !goable(m.Page.URL) || masked(m.Page.URL) {
		return false
	}
	for _, t := range f.tabs {
		if t != m.tab && t.now == m.Page.URL {
			return false
		}
	}
	return true
}

// find is on, with what finds the element; false, and a note in the flow, where nothing does.
func (f *userFlow) find(m *move, kind string) (step, bool) {
	all := selectors(m.Element)
	if len(all) == 0 {
		f.custom(m, actionStep, details{From: []int{m.X, m.Y}}, human.Sayf("Some elements cannot be found again; their steps are left out."))
		return step{}, false
	}
	s := f.on(m, kind)
	s.Selectors = all
	return s, true
}

// selectors are those of an element as the schema has them: a text, or a list through shadow roots.
func selectors(e *human.Element) []any {
	var out []any
	best, _ := steady(selectorsOf(e))
	for _, s := range best {
		if len(s) == 1 {
			out = append(out, s[0])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// custom adds a step that the runner passes over, and says so at the top.
func (f *userFlow) custom(m *move, name string, d details, note human.Sentence) {
	d.Words = m.words()
	if m.Element != nil && d.Selectors == nil {
		d.Selectors = selectors(m.Element)
	}
	s := step{Type: "customStep", Name: name, Parameters: &d}
	if !isEffect(m.Type) || m.Type == human.Upload {
		s.Frame = m.frame()
	}
	if m.tab != nil && m.Type != human.DialogEnded {
		if m.tab.number > 1 && f.reachable(m) {
			s.Target = m.Page.URL
		} else if m.tab.number > 1 {
			s.Frame = nil
		}
	}
	if note.Text != "" {
		f.note(note)
	}
	f.add(s)
}

// ready goes to the page of a move, where nothing recorded did.
func (f *userFlow) ready(m *move) {
	if m.tab == nil || m.tab.went {
		return
	}
	if m.tab.number > 1 {
		f.open(m)
		return
	}
	f.goTo(m, m.Page.URL)
}

// open brings up a page that the person opened by the browser's own means.
func (f *userFlow) open(m *move) {
	m.tab.went = true
	if m.Type != human.Navigate {
		m.tab.push(m.Page.URL)
	}
	if goable(m.Page.URL) && !masked(m.Page.URL) {
		f.add(step{Type: "waitForExpression", Expression: "(window.open(" + jsonText(m.Page.URL) + ", '_blank', 'noopener'), true)"})
	}
}

// jsonText is a text, or a list of them, as JavaScript.
func jsonText(text any) string {
	out, _ := json.Marshal(text) // texts: cannot fail
	return string(out)
}

func (f *userFlow) goTo(m *move, url string) {
	if !goable(url) {
		return
	}
	if !m.tab.went && m.Type != human.Navigate {
		m.tab.push(url)
	}
	m.tab.went = true
	if masked(url) {
		f.note(human.Sayf("Something secret in an address was masked; put it back before playing: %s", url))
	}
	s := step{Type: "navigate", URL: url, Asserted: []event{{"navigation", url, title(m)}}}
	if m.tab.number > 1 {
		s.Target = m.from
	}
	f.add(s)
}

func title(m *move) string {
	if m.Page == nil {
		return ""
	}
	return comment(m.Page.Title)
}

// move adds the steps of one move.
func (f *userFlow) move(m *move) {
	if m.tab != nil {
		m.tab.now = m.Page.URL
		if m.Type == human.ClosePage {
			defer func() { m.tab.now = "" }()
		}
	}
	switch {
	case m.Type == human.Missing:
		return
	case m.Type == human.OpenPage && m.cause != nil:
		m.tab.went = true // it is waited for by what is done in it
		m.tab.push(m.Page.URL)
		return
	case m.Type == human.OpenPage:
		if goable(m.Page.URL) {
			f.ready(m)
		}
		return
	}
	if !isEffect(m.Type) && m.tab != nil {
		f.ready(m)
		f.shows(m)
	}
	for _, e := range m.effects {
		if e.Type == human.DialogEnded {
			f.dialog(e)
		}
	}
	if m.tab != nil && !isEffect(m.Type) {
		if !f.reachable(m) {
			f.custom(m, actionStep, details{}, human.Sayf("The runner cannot find a page whose address is not its own alone, or has something secret; steps in it are left out."))
			return
		}
		f.frames(m)
	}
	first := len(f.steps)
	switch m.Type {
	case human.Note:
		f.custom(m, noteStep, details{}, human.Sentence{})
	case human.DialogEnded, human.SwitchPage:
	case human.Navigate:
		f.navigates(m)
		return
	case human.ClosePage:
		if m.cause == nil && m.tab.went && f.reachable(m) {
			s := f.on(m, "close")
			s.Frame = nil
			f.add(s)
		}
	case human.Download:
		f.custom(m, downloadStep, details{Files: m.Transfers}, human.Sayf("A user flow has no step for a download; it is not waited for."))
	case human.Upload:
		var env []string
		for _, file := range m.Transfers {
			env = append(env, f.file(m, file))
		}
		f.frames(m)
		f.custom(m, uploadStep, details{Files: m.Transfers, Env: env}, human.Sayf("A user flow has no step for an upload; set the files by hand or by an extension of the runner."))
	default:
		f.does(m)
	}
	f.await(m, f.steps[first:])
}

// shows says when another page comes to the front; the runner leaves it where it is, and what moves in a tab behind
// another stands still.
func (f *userFlow) shows(m *move) {
	if f.front != nil && f.front != m.tab && f.front.now != "" && m.tab.number < f.front.number {
		f.custom(m, showStep, details{}, human.Sayf("The runner brings no page to the front; a step in a tab behind another may not end."))
	}
	f.front = m.tab
}

// frames waits for the frames down to a move's, for the runner does not.
func (f *userFlow) frames(m *move) {
	path := m.frame()
	for i, n := range path {
		s := f.on(m, "waitForElement")
		s.Frame, s.Selectors, s.Operator, s.Count = path[:i], []any{"pierce/iframe, frame"}, ">=", max(n, 0)+1
		f.add(s)
	}
}

// await has the last step of a move wait for the navigation that comes of it, if nothing was done before that.
func (f *userFlow) await(m *move, steps []step) {
	i := len(steps) - 1
	for ; i >= 0 && !leads(steps[i]); i-- {
	}
	if i < 0 {
		return
	}
	for _, e := range m.effects {
		if e.Type == human.Navigate && e.kind() != "reload" && e.next && !e.failed() && e.tab == m.tab && slices.Equal(e.frame(), m.frame()) {
			steps[i].Asserted = []event{{"navigation", e.Page.URL, title(e)}}
			return
		}
	}
}

// leads says whether a navigation may come of a step. Space presses a button when it is released, other keys at once.
func leads(s step) bool {
	switch s.Type {
	case "click", "doubleClick", "change":
		return true
	case "keyDown":
		return s.Key != " "
	case "keyUp":
		return s.Key == " "
	}
	return false
}

// dialog says before a step how a dialog that comes of it is answered.
func (f *userFlow) dialog(m *move) {
	d := details{Dialog: m.Dialog}
	if m.Dialog != nil && (strings.Contains(m.Dialog.Input, dots) || m.Masked) {
		d.Env = []string{f.answer(m)}
	}
	f.custom(m, dialogStep, d, human.Sayf("A user flow has no step for a dialog; where nothing answers it, the step that brings it up does not end."))
}

func (f *userFlow) navigates(m *move) {
	if !m.whole() || m.failed() {
		return
	}
	by := m.tab.visit(m)
	if m.loads() {
		m.tab.scrolled = [2]int{}
	}
	switch {
	case m.goes():
		if m.tab.number > 1 && !m.tab.went {
			f.open(m)
			return
		}
		f.goTo(m, m.Page.URL)
	case !m.tab.went:
		f.ready(m)
	case m.kind() == "reload": // whoever did it: what waits for one that does not come would not end
		f.evaluates(m, "location.reload()")
	case m.cause == nil && m.kind() == "back_forward" && by == 0:
		f.goTo(m, m.Page.URL)
	case m.cause == nil && m.kind() == "back_forward":
		script := fmt.Sprintf("history.go(%d)", by)
		if arrived, _ := place(m.Page.URL); m.from != m.Page.URL && goable(m.Page.URL) {
			// The runner may evaluate it again on the page it led to.
			script = arrived + ".test(location.href) || " + script
		}
		f.evaluates(m, script)
	case m.passing || m.cause == nil && (!m.loads() || m.kind() == "restored"):
	case m.cause != nil && m.cause.tab == m.tab && m.next && len(m.cause.frame()) == 0 && !m.opensIn():
		// its cause waits for it
	default:
		f.arrives(m)
	}
}

// opensIn says whether it is the first page of a popup.
func (m *move) opensIn() bool { return m.cause != nil && m.cause.tab != m.tab }

// evaluates has the page do what the browser's own buttons do; after the step, so that its end is not lost with
// the page.
func (f *userFlow) evaluates(m *move, script string) {
	s := step{Type: "waitForExpression", Expression: "(setTimeout(() => " + script + "), true)", Asserted: []event{{"navigation", m.Page.URL, title(m)}}}
	if m.tab.number > 1 {
		s.Target = m.from
	}
	f.add(s)
}

// arrives waits until the page shows an address.
func (f *userFlow) arrives(m *move) {
	if m.tab.number > 1 || !goable(m.Page.URL) {
		return // the runner finds that page by its address
	}
	expression, _ := place(m.Page.URL)
	f.add(step{Type: "waitForExpression", Expression: expression + ".test(location.href) && document.readyState === 'complete'"})
}

// end waits for where it all led to.
func (f *userFlow) end() {
	if f.shown == nil || f.shown.number > 1 || !f.shown.went || !goable(f.shown.url) {
		return
	}
	expression, _ := place(f.shown.url)
	f.add(step{Type: "waitForExpression", Expression: expression + ".test(location.href) && document.readyState === 'complete'"})
}
