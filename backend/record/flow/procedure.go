package flow

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// maxSelectors of an element are kept in a procedure, the best first.
const maxSelectors = 6

// Procedure is what was done in a browser as the steps of a procedure, each with what the page showed of it as its checkpoints. It has
// no parameters: texts stand in it as they were typed. Secret texts have names, no values.
func Procedure(in Input, recording human.RecordingID) human.Procedure {
	c := &compiler{plan: newPlan(in), recording: recording, said: map[string][]human.Action{}, secrets: map[string]string{}}
	did, loads := "", map[string]int{} // loads: pages that had a message when they were loaded
	for _, a := range in.Actions {
		if comesWithPages(a) {
			loads[a.Dialog.Message]++
		}
	}
	for _, a := range in.Actions {
		switch {
		case a.Cut:
		case a.Type == human.PageSaid:
			if a.CausedBy == did && (!comesWithPages(a) || loads[a.Dialog.Message] == 1) { // else something else was done since, which it may come of
				c.said[did] = append(c.said[did], a)
			}
		case !isEffect(a.Type) || a.Type == human.Upload || a.Type == human.Navigate && a.CausedBy == "":
			did = a.ID
		}
	}
	for i, m := range c.moves {
		c.move(m, c.moves[i+1:])
	}
	c.p.Format, c.p.Where, c.p.Title = 1, "browser", c.title
	c.p.Taught = []human.ProcedureSource{{Recording: recording}}
	for i := range c.p.Steps {
		c.p.Steps[i].ID = fmt.Sprintf("s%d", i+1)
	}
	return c.p
}

// comesWithPages says whether a message stood on a page when that was loaded, and is no heading. What several pages have is theirs, such as
// a notice about cookies, and tells of no step.
func comesWithPages(a human.Action) bool {
	return a.Type == human.PageSaid && a.Dialog != nil && slices.Contains(a.Values, "loaded") && (a.Element == nil || a.Element.Role != "heading")
}

type compiler struct {
	*plan
	p         human.Procedure
	recording human.RecordingID
	said      map[string][]human.Action // messages of pages, by the action they came of
	secrets   map[string]string         // what for -> name
}

// step begins the step of a move.
func (c *compiler) step(m *move, do string) human.ProcedureStep {
	s := human.ProcedureStep{Do: do, Title: escape(m.words()), Frame: m.frame(), Page: pageName(m.tab)}
	if isEffect(m.Type) && m.Type != human.Upload {
		s.Frame = nil
	}
	if !isEffect(m.Type) || m.Type == human.Upload {
		s.Target = target(m.Element)
		if e := m.Element; e != nil && e.Form != nil && !slices.ContainsFunc(e.Form, func(f human.Filled) bool { return strings.Contains(f.Name+f.Holds, dots) }) {
			s.Form = []human.Filled{}
			for _, f := range e.Form {
				f.Name, f.Holds = escape(f.Name), escape(f.Holds)
				s.Form = append(s.Form, f)
			}
		}
		if e := m.Element; e != nil && e.Says != nil {
			s.Says = []string{}
			for _, line := range e.Says {
				s.Says = append(s.Says, escape(hidden.ReplaceAllString(line, "*")))
			}
		}
	}
	s.Modifiers = m.Modifiers
	s.From = []human.ProcedureSource{{Recording: c.recording, Action: m.ID}}
	return s
}

// pageName is how steps name a tab; the first needs no name.
func pageName(t *tab) string {
	if t == nil || t.number == 1 {
		return ""
	}
	return fmt.Sprintf("t%d", t.number)
}

// target is what finds an element again.
func target(e *human.Element) *human.ProcedureTarget {
	if e == nil {
		return nil
	}
	t := &human.ProcedureTarget{Role: e.Role, Named: e.Named, Tag: e.Tag, Inside: e.Inside}
	if e.Hidden == "" && !strings.Contains(e.Name, dots) {
		t.Name = escape(e.Name)
	}
	if !strings.Contains(e.Beside, dots) {
		t.Beside = escape(e.Beside)
	}
	if len(e.Ancestry) > 0 && e.Ancestry[0].Role == "row" {
		t.Row = strings.Split(e.Ancestry[0].Name, " | ")
		if len(e.Ancestry) > 1 {
			t.Heads = strings.Split(e.Ancestry[1].Name, " | ")
		}
	}
	for _, list := range selectorsOf(e) {
		if len(t.Selectors) < maxSelectors && !strings.Contains(strings.Join(list, ""), dots) {
			t.Selectors = append(t.Selectors, list)
		}
	}
	if t.Name == "" && t.Role == "" && len(t.Selectors) == 0 {
		return nil
	}
	return t
}

// move adds the step of one move.
func (c *compiler) move(m *move, later []*move) {
	if m.tab == nil {
		return
	}
	if !isEffect(m.Type) && m.Type != human.Note && !m.tab.went {
		c.ready(m)
	}
	switch m.Type {
	case human.Navigate:
		c.navigates(m)
	case human.OpenPage:
		m.tab.went = m.tab.went || m.cause != nil
		if m.cause == nil && goable(m.Page.URL) {
			c.ready(m)
		}
	case human.ClosePage:
		if m.cause == nil && m.tab.went {
			c.add(m, c.step(m, "close"))
		}
	case human.SwitchPage:
		if m.tab.went {
			c.add(m, c.step(m, "switchPage"))
		}
	case human.Upload:
		s := c.step(m, "setInputFiles")
		for _, f := range m.Transfers {
			s.Files = append(s.Files, escape(name(f.Name)))
		}
		c.add(m, s)
	case human.DialogEnded, human.Download, human.Note, human.Missing, human.PageSaid:
	default:
		c.does(m, later)
	}
}

// does adds what a person did to an element.
func (c *compiler) does(m *move, later []*move) {
	switch m.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		if up := m.effect(human.Upload); up != nil && up.cause == m || m.Type == human.Click && focuses(m, later) {
			return
		}
		s := c.step(m, map[human.ActionType]string{human.Click: "click", human.DoubleClick: "doubleClick", human.TripleClick: "tripleClick"}[m.Type])
		if m.Button > 1 {
			s.Button = m.Button
		}
		if m.isTag("canvas", "svg", "img", "map", "area", "video", "embed", "object") {
			s.X, s.Y = share(m.X, m.Y, m.Element)
		}
		c.add(m, s)
	case human.Typing, human.Paste:
		if m.Type == human.Typing || m.pastes() {
			c.types(m)
		} else {
			c.presses(m)
		}
	case human.Copy:
		if m.Value != "" { // cut, and this is left
			c.types(m)
		}
	case human.Shortcut:
		if !focuses(m, later) {
			c.presses(m)
		}
	case human.Choose:
		if !m.isTag("select") {
			c.types(m)
			return
		}
		s := c.step(m, "selectOption")
		s.Options = escapedAll(m.Values)
		c.add(m, s)
	case human.Check:
		s := c.step(m, "check")
		s.Options = []string{"checked"}
		if len(m.Values) > 0 && m.Values[0] == "unchecked" {
			s.Options[0] = "unchecked"
		}
		c.add(m, s)
	case human.Hover:
		c.add(m, c.step(m, "hover"))
	case human.PlayMedia:
		s := c.step(m, "media")
		s.Options = m.Values
		c.add(m, s)
	case human.Scroll:
		s := c.step(m, "scroll")
		s.ScrollX, s.ScrollY = m.ToX, m.ToY
		if m.isTag("body", "html") {
			s.Target = nil
		}
		c.add(m, s)
	case human.Drag:
		s := c.step(m, "drag")
		s.To = target(m.Target)
		s.X, s.Y = share(m.X, m.Y, m.Element)
		c.add(m, s)
	case human.Extract:
		c.picks(m)
	}
}

// focuses says whether a click only put the caret into the field that is typed into next, or a key only selected what stands in it: what is
// typed takes the place of all that.
func focuses(m *move, later []*move) bool {
	if len(m.effects) > 0 || m.Type != human.Click && !selectsAll(m) || m.Element == nil || len(later) == 0 {
		return false
	}
	next := later[0]
	if selectsAll(next) && len(later) > 1 && len(next.effects) == 0 {
		next = later[1]
	}
	types := slices.Contains([]human.ActionType{human.Typing, human.Paste, human.Choose}, next.Type)
	return types && next.tab == m.tab && next.Element != nil && slices.Equal(next.frame(), m.frame()) &&
		next.Element.Role == m.Element.Role && next.Element.Name == m.Element.Name && fmt.Sprint(next.Element.Selectors) == fmt.Sprint(m.Element.Selectors)
}

func selectsAll(m *move) bool {
	return m.Type == human.Shortcut && strings.EqualFold(m.Key, "a") && len(m.Modifiers) == 1 && (m.Modifiers[0] == "ctrl" || m.Modifiers[0] == "meta")
}

func (c *compiler) types(m *move) {
	s := c.step(m, "change")
	s.Modifiers = nil
	text, known := m.text()
	if m.Type == human.Choose {
		text, known = m.value()
	}
	switch {
	case known:
		s.Text = escape(text)
	default:
		s.Secret = c.secretOf(m)
	}
	if m.Type == human.Typing && m.Key != "" {
		s.Key = m.Key
	}
	c.add(m, s)
}

// secretOf is the name of a secret: the same text, and the same field, have the same.
func (c *compiler) secretOf(m *move) string {
	key := c.secret(m)
	if named, is := c.secrets[key]; is {
		return named
	}
	field := "secret"
	if m.Element != nil && m.Element.Name != "" {
		field = hyphened(m.Element.Name)
	}
	named := field
	for n := 2; slices.ContainsFunc(c.p.Secrets, func(s human.ProcedureSecret) bool { return s.Name == named }); n++ {
		named = fmt.Sprintf("%s-%d", field, n)
	}
	c.secrets[key] = named
	secret := human.ProcedureSecret{Name: named, Site: origin(m.Page.URL)}
	if frame := origin(m.Page.FrameURL); frame != "" && frame != secret.Site {
		secret.Site, secret.Around = frame, []string{secret.Site}
	}
	c.p.Secrets = append(c.p.Secrets, secret)
	return named
}

// hyphened is a text as the name of a secret.
func hyphened(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	joined := strings.TrimLeft(strings.Join(words, "-"), "0123456789-")
	if joined = joined[:min(len(joined), 40)]; joined == "" {
		return "secret"
	}
	return joined
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (c *compiler) presses(m *move) {
	s := c.step(m, "press")
	s.Key, s.Count = m.Key, 0
	if m.Type == human.Paste {
		return // what was pasted is not known
	}
	if m.Type == human.Shortcut && m.Count > 1 {
		s.Count = m.Count
	}
	if s.Key != "" {
		c.add(m, s)
	}
}

func (c *compiler) picks(m *move) {
	if m.Pick == nil {
		return
	}
	s := c.step(m, "pick")
	s.Output, s.Target = m.Pick.Field, unread(s.Target)
	o := human.ProcedureOutput{Name: m.Pick.Field, Type: "text"}
	if m.Pick.Take == human.TakeTable || m.Pick.Take == human.TakeList {
		s.Take, o.Type = m.Pick.Take, m.Pick.Take
	}
	if o.Type == "text" {
		o.Pattern = shape(m.Pick.Text)
	}
	c.output(o)
	c.add(m, s)
}

// AnyDigit is the pattern of an output in which there was a digit, and nothing else is known of it.
const AnyDigit = `[^0-9]*[0-9](?s:.*)`

var amounts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^0-9]*(?:[0-9]{1,3}(?:([,.'’\x{a0}\x{202f} ])[0-9]{3})+|[0-9]+)([.,])[0-9]{2}[^0-9]*$`)
})

// shape is the pattern of a value: that of an amount with two decimals, or of anything with a digit; "" where there is none.
func shape(text string) string {
	text = strings.TrimSpace(text)
	found := amounts().FindStringSubmatch(text)
	switch {
	case found != nil && found[1] != found[2]:
		thousands := map[string]string{".": ",", ",": "."}[found[2]]
		return `[^0-9]*(?:[0-9]{1,3}(?:[` + thousands + `'’\x{a0}\x{202f} ][0-9]{3})+|[0-9]+)[` + found[2] + `][0-9]{2}[^0-9]*`
	case strings.ContainsAny(text, "0123456789"):
		return AnyDigit
	}
	return ""
}

// unread is what an element is found by that is read, without what stands in it: that is another each time. Where nothing else finds it,
// that stays.
func unread(t *human.ProcedureTarget) *human.ProcedureTarget {
	if t == nil || t.Named == "" && !slices.Contains([]string{"cell", "definition", "heading", "gridcell"}, t.Role) {
		return t
	}
	other := *t
	other.Name, other.Named = "", ""
	other.Selectors = slices.DeleteFunc(slices.Clone(t.Selectors), func(list []string) bool {
		last := list[len(list)-1]
		return strings.HasPrefix(last, "text/") || strings.HasPrefix(last, "aria/")
	})
	if len(other.Selectors) == 0 {
		return t
	}
	return &other
}

func (c *compiler) output(o human.ProcedureOutput) {
	if !slices.ContainsFunc(c.p.Outputs, func(has human.ProcedureOutput) bool { return has.Name == o.Name }) {
		c.p.Outputs = append(c.p.Outputs, o)
	}
}

// ready goes to the page of a move, where nothing recorded did.
func (c *compiler) ready(m *move) {
	m.tab.went = true
	if m.Page == nil || !goable(m.Page.URL) {
		return
	}
	if m.Type != human.Navigate {
		m.tab.push(m.Page.URL)
	}
	s := human.ProcedureStep{
		Do: "navigate", Title: human.Sayf("Open %s", site(m.Page.URL)).Text, Page: pageName(m.tab), URL: escape(m.Page.URL),
		Then: []human.ProcedureCheckpoint{{Is: "address", Text: wild(m.Page.URL)}}, From: []human.ProcedureSource{{Recording: c.recording, Action: m.ID}},
	}
	c.p.Steps = append(c.p.Steps, s)
}

func (c *compiler) navigates(m *move) {
	if !m.whole() || m.failed() {
		return
	}
	by := m.tab.visit(m)
	switch {
	case m.goes():
		m.tab.went = true
		s := c.step(m, "navigate")
		s.URL = escape(m.Page.URL)
		s.Then = []human.ProcedureCheckpoint{{Is: "address", Text: wild(m.Page.URL)}}
		c.add(m, s)
	case !m.tab.went:
		c.ready(m)
	case m.kind() == "reload" && m.cause == nil:
		c.add(m, c.step(m, "reload"))
	case m.kind() == "back_forward" && m.cause == nil:
		s := c.step(m, "back")
		if by > 0 {
			s.Do = "forward"
		}
		s.Then = []human.ProcedureCheckpoint{{Is: "address", Text: wild(m.Page.URL)}}
		c.add(m, s)
	}
}

// add adds a step with what came of its move: checkpoints, dialogs, and whether something was sent.
func (c *compiler) add(m *move, s human.ProcedureStep) {
	s.Writes = len(m.Answers) > 0
	arrived := map[*tab]*move{}
	for _, e := range m.effects {
		s.Writes = s.Writes || len(e.Answers) > 0 // such as a dialog that asks first
		switch e.Type {
		case human.DialogEnded:
			if d := e.Dialog; d != nil {
				s.Dialogs = append(s.Dialogs, human.ProcedureDialog{Kind: d.Kind, Message: unmasked(d.Message), Accept: d.Accepted, Input: escape(d.Input)})
			}
		case human.Download:
			for _, f := range e.Transfers {
				s.Then = append(s.Then, human.ProcedureCheckpoint{Is: "download", Text: escape(name(f.Name))})
				if s.Output == "" {
					s.Output = "file"
					c.output(human.ProcedureOutput{Name: s.Output, Type: "file"})
				}
			}
		case human.OpenPage:
			s.Then = append(s.Then, human.ProcedureCheckpoint{Is: "opened", Page: pageName(e.tab)})
		case human.ClosePage:
			s.Then = append(s.Then, human.ProcedureCheckpoint{Is: "closed", Page: pageName(e.tab)})
		case human.Navigate:
			if e.whole() && !e.failed() {
				arrived[e.tab] = e
			}
			s.Writes = s.Writes || e.Navigation != nil && e.Navigation.Sends || e.kind() == "form" && !strings.Contains(e.Page.URL, "?")
		}
	}
	s.Then = append(s.Then, c.addresses(arrived, s.Page)...)
	c.shows(m, s)
	s.Then = append(s.Then, c.messages(m, s.Frame)...)
	switch {
	case len(s.Then) > 0 || s.Key != "" && s.Do == "change":
	case s.Do == "change" && s.Secret == "" && s.Target != nil, s.Do == "selectOption", s.Do == "check":
		value := s.Text
		if s.Do != "change" {
			value = strings.Join(s.Options, ", ")
		}
		s.Then = append(s.Then, human.ProcedureCheckpoint{Is: "value", Text: value, Target: s.Target, Frame: s.Frame})
	}
	if !s.Writes && s.Do != "pick" {
		s.Says = nil
	}
	c.p.Steps = append(c.p.Steps, s)
}

// messages are the checkpoints of messages of the page that came of a move.
func (c *compiler) messages(m *move, frame []int) (all []human.ProcedureCheckpoint) {
	for _, a := range c.said[m.ID] {
		if d := a.Dialog; d != nil && !slices.Contains(a.Values, "invalid") && len(d.Message) < 200 && !digits.MatchString(d.Message) && !strings.Contains(d.Message, dots) {
			all = append(all, human.ProcedureCheckpoint{Is: "text", Text: escape(d.Message), Frame: frame})
		}
	}
	return all
}

// shows adds what a page said when the step s was begun to what must hold after the step that led there: what had been typed or chosen
// before that one.
func (c *compiler) shows(m *move, s human.ProcedureStep) {
	if m.Element == nil || len(m.Element.Shows) == 0 {
		return
	}
	leads := func(s human.ProcedureStep) bool {
		return s.Do == "click" || s.Do == "press" || s.Do == "change" && s.Key != ""
	}
	at := len(c.p.Steps) - 1
	for ; at >= 0 && !leads(c.p.Steps[at]); at-- {
		if c.p.Steps[at].Do == "navigate" {
			return
		}
	}
	if at < 0 {
		return
	}
	from := &c.p.Steps[at]
	check := human.ProcedureCheckpoint{Is: "text", Frame: s.Frame}
	if check.Page = s.Page; s.Page == from.Page {
		check.Page = ""
	} else if s.Page == "" {
		check.Page = "t1"
	}
	for _, o := range c.p.Steps[:at+1] {
		texts := o.Options
		if o.Do == "change" {
			texts = []string{o.Text}
		} else if o.Do != "selectOption" {
			continue
		}
		for _, text := range texts {
			literal := strings.Join(strings.Fields(strings.NewReplacer("{{", "{", "}}", "}").Replace(text)), " ")
			for _, digest := range []string{human.Digested(literal), human.DigestedLine(literal)} {
				if check.Is, check.Text = "text", text; digest == human.DigestedLine(literal) {
					check.Is = "line"
				}
				if slices.Contains(m.Element.Shows, digest) && !slices.ContainsFunc(from.Then, func(o human.ProcedureCheckpoint) bool { return reflect.DeepEqual(o, check) }) {
					from.Then = append(from.Then, check)
				}
			}
		}
	}
}

// addresses are the checkpoints of pages that a step arrived at. own is the name of its tab.
func (c *compiler) addresses(arrived map[*tab]*move, own string) (all []human.ProcedureCheckpoint) {
	for _, t := range c.inOrder(arrived) {
		page := pageName(t)
		switch page {
		case own:
			page = ""
		case "":
			page = "t1"
		}
		text := wild(arrived[t].Page.URL)
		if before, _, has := strings.Cut(text, "?"); has && arrived[t].kind() == "form" {
			text = before + "?*" // how a form calls its fields is the page's own; what they hold is looked at where it is typed
		}
		all = append(all, human.ProcedureCheckpoint{Is: "address", Text: text, Page: page})
	}
	return all
}

// inOrder are the tabs of a map by their numbers.
func (c *compiler) inOrder(all map[*tab]*move) (out []*tab) {
	for t := range all {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *tab) int { return a.number - b.number })
	return out
}

// wild is a URL in which * stands for what is different each time, and for what was masked.
func wild(address string) string {
	var b strings.Builder
	for _, p := range part.FindAllString(address, -1) {
		if volatile.MatchString(p) && digits.MatchString(p) {
			b.WriteByte('*')
			continue
		}
		b.WriteString(escape(hidden.ReplaceAllString(strings.ReplaceAll(p, "*", "%2A"), "*")))
	}
	return b.String()
}

// unmasked is a message that can be compared; "" where something of it was masked.
func unmasked(text string) string {
	if strings.Contains(text, dots) {
		return ""
	}
	return escape(text)
}

// escape is a literal text as procedures have it: with each brace twice.
func escape(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
}

func escapedAll(all []string) (out []string) {
	for _, text := range all {
		out = append(out, escape(text))
	}
	return out
}

// share is where in an element a point lies, as shares of its size; nil where that is not known.
func share(x, y int, e *human.Element) (*float64, *float64) {
	if e == nil || e.Bounds.W <= 0 || e.Bounds.H <= 0 || !e.Bounds.Contains(x, y) {
		return nil, nil
	}
	w, h := float64(x-e.Bounds.X)/float64(e.Bounds.W), float64(y-e.Bounds.Y)/float64(e.Bounds.H)
	return &w, &h
}
