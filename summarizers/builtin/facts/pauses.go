package facts

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"deskbell/backend/human"
)

// What counts as long: a wait and a step by themselves, and beside the others of their kind.
const (
	LongWait  = 10 * time.Second
	LongPause = 60 * time.Second
	LongStep  = 60 * time.Second
	MuchMore  = 3 // times the middle one
	FewSlow   = 3 // the longest ones are reported
)

// A Stretch is the time between two actions, in which no one did anything.
type Stretch struct {
	From, To Action
	Long     time.Duration
	Wait     bool // it ended with something that a person does not do: what they had begun took that long
}

// Stretches are those of a second or more without a gap of the recording in them, in the order of time; usual is how
// long it mostly took from one action to the next.
func (fs *Facts) Stretches() (out []Stretch, usual time.Duration) {
	var lengths []time.Duration
	last := -1 // the one that ended last: some continue beside others
	var until time.Time
	for i, a := range fs.Actions {
		if a.Type == human.Missing || a.Type == human.Note && a.CausedBy == "" && a.Text == "" {
			last = -1 // what happened then is not known
			continue
		}
		began := a.Began()
		if last >= 0 && fs.Actions[last].Rec == a.Rec {
			d := max(began.Sub(until), 0)
			lengths = append(lengths, d)
			if d >= time.Second {
				p := fs.Actions[last]
				out = append(out, Stretch{From: p, To: a, Long: d, Wait: startsWork(p) && endsWait(a, p)})
			}
		} else {
			last = -1
		}
		if e := a.Ended(); last < 0 || !e.Before(until) {
			last, until = i, e
		}
	}
	if len(lengths) < 3 { // of so few none is the usual one
		return out, 0
	}
	return out, Middle(lengths)
}

// startsWork says whether something may take its time after an action.
func startsWork(a Action) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.Shortcut, human.Typing, human.DialogEnded, human.Upload, human.Drag, human.Paste, human.Navigate, human.OpenPage:
		return true
	}
	return false
}

// endsWait says whether an action, done by no hand, is what was waited for after p.
func endsWait(a, p Action) bool {
	switch a.Type {
	case human.FileOperation, human.Download:
		return true
	case human.SwitchWindow:
		return a.Element != nil
	case human.Navigate, human.OpenPage:
		if n := a.Navigation; n != nil && (n.Kind == "script" || n.Kind == "redirect" || n.Kind == "form") {
			return true
		}
		return a.CausedBy == p.ID
	}
	return busy(p)
}

// busy says whether what was shown said that it is not done yet.
func busy(a Action) bool {
	t := WindowTitle(a)
	if a.Page != nil {
		t = a.Page.Title
	} else if a.Type == human.SwitchWindow && a.Element != nil {
		t = cmp.Or(a.Element.Name, t)
	}
	return HasAny(t, enBusy, zhBusy) || percent.MatchString(t)
}

var percent = regexp.MustCompile(`\b\d{1,2} ?%`)

// Middle is the lower of the two in the middle: of few, the shorter ones are the rule.
func Middle(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[(len(d)-1)/2]
}
