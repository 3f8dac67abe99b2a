// Package guide makes step guides of recordings, to be given to people: one HTML page that needs nothing
// else, a zip with a Markdown page and its pictures, or JSON. All of them are made with the operator's edits:
// what was cut is not in them, what was masked is hidden.
package guide

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
)

// An Input is what a guide is made of.
type Input struct {
	Recording   human.Recording
	Actions     []human.Action // as derived, without edits, their words in Language
	Edits       human.Edits
	Language    string // en (also "") or zh-CN
	Title       string // of the work; any text
	Description string // more about it, or empty; any text
	Steps       []string

	// Picture returns a picture with the edits' masks applied. It is called for one at a time, and the frame
	// is not used after the next call. One that is NotFound is left out of the guide; another error ends it.
	// nil: without pictures.
	Picture func(id string) (*record.Frame, error)

	Files []File // attached to the work's request and answer; only a zip has them
}

// A File is an attached one.
type File struct {
	human.Attachment
	Answer bool // it came with the answer, not with the request

	// Read returns its bytes. One that is NotFound is only named; another error ends the guide.
	Read func() ([]byte, error)
}

// A step is one action, or the heading of what belongs to a step of the checklist.
type step struct {
	Heading string // then nothing else is set, but
	Caption string // which step of the checklist it is
	Number  int
	Words   string
	Time    string
	Gap     bool
	Hidden  bool

	Note bool

	Where   *where // the page it was done on, where that is another than the step's before
	Effects []effect

	action human.Action
	show   string // id of its picture, or empty
	file   string // of its picture, in a zip
	guide  *guide
}

type guide struct {
	in    Input
	say   *said
	Steps []step
	err   error
}

func newGuide(in Input) *guide {
	g := &guide{in: in, say: english}
	if strings.HasPrefix(strings.ToLower(in.Language), "zh") {
		g.say = chinese
	}
	list := actions.Left(in.Actions, in.Edits, in.Language)
	headed := slices.ContainsFunc(list, func(a human.Action) bool { return a.Step != nil })
	number, heading, shown := 0, -2, ""
	on := where{}
	steps := map[string]int{} // by action
	for i, a := range list {
		if n, is := steps[a.CausedBy]; is && isEffect(a) {
			g.Steps[n].Effects = append(g.Steps[n].Effects, effect{a.Words, clock(a.At)})
			steps[a.ID] = n // what came of that came of the same
			continue
		}
		at := -1
		if a.Step != nil && *a.Step >= 0 {
			at = *a.Step
		}
		if headed && at != heading {
			heading = at
			g.Steps = append(g.Steps, g.heading(at))
		}
		s := step{
			Words: a.Words, Time: clock(a.At), Gap: a.Type == human.Missing, Note: a.Type == human.Note, action: a, guide: g,
			Hidden: a.Hidden != "" && (a.Type == human.Typing || a.Type == human.Paste || a.Type == human.Copy || a.Type == human.Choose),
		}
		if w := whereOf(a.Page); w != nil && w.URL != on.URL {
			s.Where, on = w, *w
		}
		if !s.Gap && a.Type != human.Note {
			number++
			s.Number = number
		}
		// The same picture twice in a row shows nothing, unless something is marked in it. Nor does a click
		// into a field beside what was typed there.
		if s.show = pictureOf(a); i+1 < len(list) && entered(a, list[i+1]) {
			s.show = ""
		} else if a.Type == human.Extract {
			s.show = a.After // its crop, which is among the fields
		} else if s.show == shown && len(marks(a, view{})) == 0 {
			s.show = ""
		} else if s.show != "" {
			shown = s.show
		}
		steps[a.ID] = len(g.Steps)
		g.Steps = append(g.Steps, s)
	}
	return g
}

func (g *guide) heading(at int) step {
	if at < 0 {
		return step{Heading: g.say.apart}
	}
	number := fmt.Sprintf(g.say.step, at+1)
	if at < len(g.in.Steps) {
		if text := line(g.in.Steps[at], 200); text != "" {
			return step{Heading: text, Caption: number}
		}
	}
	return step{Heading: number}
}

// entered says whether a click only went into the field that the next action typed into, and shows.
func entered(a, next human.Action) bool {
	return a.Type == human.Click && next.Type == human.Typing && next.After != "" && a.Element != nil && next.Element != nil &&
		(a.Element.Role == next.Element.Role && a.Element.Name == next.Element.Name && a.Element.Bounds == next.Element.Bounds || sameField(a, next))
}

// pictureOf is the picture that shows an action best: from before it where a place on the screen is marked,
// from after it where something came of it.
func pictureOf(a human.Action) string {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.MoveWindow, human.ResizeWindow, human.Hover:
		if a.Before != "" {
			return a.Before
		}
		return a.After
	case human.Typing, human.Scroll, human.Paste, human.OpenApp, human.SwitchWindow, human.Shortcut,
		human.Choose, human.Check, human.Navigate, human.OpenPage, human.SwitchPage, human.Upload:
		return a.After
	}
	return ""
}

// clock is the time from the start, as 02:47 or 1:02:47.
func clock(ns int64) string {
	s := max(ns, 0) / int64(time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// line is text from elsewhere as one line that can be shown.
func line(text string, longest int) string { return actions.Line(text, longest) }

func (g *guide) title() string {
	if t := line(g.in.Title, 200); t != "" {
		return t
	}
	return g.say.title
}

// paragraphs are those of the description.
func (g *guide) paragraphs() []string {
	var out []string
	for p := range strings.Lines(g.in.Description) {
		if p = actions.Line(p, 2000); p != "" && (len(out) > 0 || p != g.title()) {
			out = append(out, p)
		}
	}
	return out
}

func (g *guide) meta() []string {
	r := g.in.Recording
	out := []string{}
	if by := line(r.By, 80); by != "" {
		out = append(out, fmt.Sprintf(g.say.by, by))
	}
	if !r.StartedAt.IsZero() {
		out = append(out, r.StartedAt.Format("2006-01-02 15:04 MST"))
	}
	if r.Elapsed > 0 {
		out = append(out, fmt.Sprintf(g.say.long, clock(r.Elapsed)))
	}
	n := 0
	for _, s := range g.Steps {
		if s.Number > 0 {
			n++
		}
	}
	return append(out, g.say.count(n, g.say.oneAction, g.say.actions))
}

// complete says whether all is there, in a sentence.
func (g *guide) complete() string {
	r := g.in.Recording
	switch {
	case r.State == human.RecordingRuns || r.State == human.RecordingPaused:
		return g.say.running
	case r.Complete:
		return g.say.complete
	case len(r.Gaps) > 0:
		return g.say.count(len(r.Gaps), g.say.oneGap, g.say.gaps)
	}
	return g.say.incomplete
}

// gaps names each of them, and what sources could not deliver.
func (g *guide) gaps() []string {
	var out []string
	for _, gap := range g.in.Recording.Gaps {
		a := human.Action{Type: human.Missing, Gap: &gap}
		out = append(out, fmt.Sprintf("%s – %s  %s", clock(gap.From), clock(gap.To), actions.Words(a, g.in.Language)))
	}
	for _, s := range g.in.Recording.Sources {
		if s.Status == "missing" || s.Status == "partial" {
			text := g.say.sources[s.Source]
			if text == "" {
				text = string(s.Source)
			}
			if s.Detail != "" {
				text += ": " + line(s.Detail, 300)
			}
			out = append(out, fmt.Sprintf(g.say.status[s.Status], text))
		}
	}
	return out
}

// left says what the operator left out, and what the recorder hid.
func (g *guide) left() []string {
	e := g.in.Edits
	ids := map[string]bool{}
	for _, a := range g.in.Actions {
		ids[a.ID] = true
	}
	known := func(list []string) (n int) {
		for _, id := range list {
			if ids[id] {
				n++
			}
		}
		return n
	}
	var out []string
	if n := known(e.Cuts); n > 0 {
		out = append(out, g.say.count(n, g.say.oneCut, g.say.cuts))
	}
	if n := known(e.MaskedTexts); n > 0 {
		out = append(out, g.say.count(n, g.say.oneMask, g.say.masks))
	}
	if n := len(e.Masks); n > 0 {
		out = append(out, g.say.count(n, g.say.oneRegion, g.say.regions))
	}
	if n := int(g.in.Recording.Counts.Masked); n > 0 {
		out = append(out, g.say.count(n, g.say.oneHidden, g.say.hidden))
	}
	return out
}

// JSON writes the recording and its actions as they leave, for programs.
func JSON(w io.Writer, in Input) error {
	out := struct {
		Title     string          `json:"title"`
		Recording human.Recording `json:"recording"`
		Steps     []string        `json:"action_sequence,omitempty"`
		Actions   []human.Action  `json:"actions"`
		Fields    []jsonField     `json:"fields,omitempty"`
		Left      struct {
			Cut     int `json:"actions_cut"`
			Masked  int `json:"actions_masked"`
			Regions int `json:"picture_regions_masked"`
		} `json:"left_out"`
	}{Title: in.Title, Recording: in.Recording, Steps: in.Steps, Actions: actions.Left(in.Actions, in.Edits, in.Language)}
	out.Fields = jsonFields(out.Actions)
	out.Left.Cut = len(in.Actions) - len(out.Actions)
	for _, a := range out.Actions {
		if a.Masked {
			out.Left.Masked++
		}
	}
	out.Left.Regions = len(in.Edits.Masks)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
