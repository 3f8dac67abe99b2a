// Package persons holds recordings of desktops against what is true of them. A person whom a seed makes up works in real
// programs (TestFreshDesktop in build/e2e), and what they did is written down as they do it: a Truth. Read compares the
// actions and the summary of the recording with it.
package persons

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Truth is what a person did, and what came of it.
type Truth struct {
	Acts     []Act              `json:"acts"`               // in order, with the windows that came up
	Files    []human.FileChange `json:"files"`              // what became of files: with their base names, and in To that of the folder they were moved to
	Dialogs  []string           `json:"dialogs"`            // titles of the dialogs that came up
	Canceled []string           `json:"canceled"`           // of these, those that were left without effect
	Dropped  bool               `json:"dropped,omitempty"`  // changes were discarded
	Unsaved  []string           `json:"unsaved,omitempty"`  // documents that stand there unsaved at the end
	Retried  bool               `json:"retried,omitempty"`  // something was tried again after a dialog
	Undone   bool               `json:"undone,omitempty"`   // something was undone, restored or put back
	Idle     []string           `json:"idle,omitempty"`     // programs in which nothing was done
	Settings []string           `json:"settings,omitempty"` // names of what was set
	Blind    []string           `json:"blind,omitempty"`    // programs that give no elements
	Met      *bool              `json:"met,omitempty"`      // whether what the request expects came about; nil: it expects nothing
	Ticked   []int              `json:"ticked,omitempty"`
}

// An Act is one thing that a person did, or a window that came up.
type Act struct {
	Does      human.ActionType `json:"does"`
	On        string           `json:"on,omitempty"`     // the accessible name of what it was done to; "": it has none
	To        string           `json:"to,omitempty"`     // that of what it was dragged to
	Text      string           `json:"text,omitempty"`   // that was typed
	Shows     string           `json:"shows,omitempty"`  // what a display showed then
	Hidden    int              `json:"hidden,omitempty"` // characters of a secret
	Key       string           `json:"key,omitempty"`
	Modifiers []string         `json:"modifiers,omitempty"`
	Button    int              `json:"button,omitempty"`
}

// Load reads the truth of a case; Save writes it beside the case.
func Load(dir, name string) (t Truth, err error) {
	data, err := os.ReadFile(filepath.Join(dir, name+".truth.json"))
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// Save writes the truth of a case.
func Save(dir, name string, t Truth) error {
	data, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".truth.json"), data, 0o644)
}

// A Reading is what came of comparing.
type Reading struct {
	Acts, Recorded      int // of acts and changes of files
	Targets, Named      int // of recorded acts that have a target, those that name it
	Lost, Misnamed      []string
	Invented            []string
	Claims              int // of the summary
	False, Unjudged     []string
	Shown, ShownRightly int // displays
}

// is says whether an action is a act, whatever it was done to.
func (d Act) is(a human.Action) bool {
	if a.Type != d.Does {
		return false
	}
	switch d.Does {
	case human.Click, human.DoubleClick, human.TripleClick:
		return a.Button == max(d.Button, 1)
	case human.Typing:
		if d.Hidden > 0 {
			return a.Hidden == "password" && a.Count == d.Hidden
		}
		return a.Text == d.Text
	case human.Shortcut, human.Copy, human.Paste:
		return strings.EqualFold(a.Key, d.Key) && slices.Equal(a.Modifiers, d.Modifiers)
	case human.SwitchWindow:
		return a.Element != nil && a.Element.Name == d.On || a.Element == nil && a.Window != nil && strings.HasPrefix(a.Window.Title, d.On)
	case human.OpenApp, human.CloseWindow:
		return a.Window != nil && strings.HasPrefix(strings.TrimPrefix(a.Window.Title, "*"), d.On)
	}
	return true
}

// names says whether the action names what the act was done to.
func (d Act) names(a human.Action) bool {
	called := func(e *human.Element, name string) bool { return name == "" || e != nil && e.Name == name }
	return called(a.Element, d.On) && called(a.Target, d.To)
}

// targets says whether an act was done to something that has a name.
func (d Act) targets() bool {
	switch d.Does {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Typing:
		return d.On != ""
	}
	return false
}

func (d Act) String() string {
	parts := []string{string(d.Does)}
	for _, p := range []string{d.On, d.To, d.Text, strings.Join(append(slices.Clone(d.Modifiers), d.Key), "+"), d.Shows} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " | ")
}

// Read compares actions with what was done.
func (t Truth) Read(actions []human.Action) Reading {
	var r Reading
	var rest, files []human.Action
	for _, a := range actions {
		if a.Type == human.FileOperation {
			files = append(files, a)
		} else {
			rest = append(rest, a)
		}
	}
	pairs := align(t.Acts, rest)
	taken := map[int]bool{}
	r.Acts = len(t.Acts) + len(t.Files)
	for i, d := range t.Acts {
		j, found := pairs[i]
		if !found {
			r.Lost = append(r.Lost, d.String())
			continue
		}
		taken[j] = true
		r.Recorded++
		if d.targets() {
			r.Targets++
			if d.names(rest[j]) {
				r.Named++
			} else {
				r.Misnamed = append(r.Misnamed, d.String()+" <- "+rest[j].Words)
			}
		}
		if d.Shows != "" {
			r.Shown++
			if rest[j].Value == d.Shows {
				r.ShownRightly++
			}
		}
	}
	for j, a := range rest {
		switch a.Type {
		case human.Missing, human.Note, human.CloseWindow:
		case human.SwitchWindow:
			if a.Element != nil && !taken[j] && !slices.Contains(t.Dialogs, a.Element.Name) {
				r.Invented = append(r.Invented, a.Words)
			}
		default:
			if !taken[j] {
				r.Invented = append(r.Invented, a.Words)
			}
		}
	}
	left := slices.Clone(t.Files)
	for _, a := range files {
		i := slices.IndexFunc(left, func(f human.FileChange) bool { return sameFile(f, *a.File) })
		if i < 0 {
			r.Invented = append(r.Invented, a.Words)
			continue
		}
		r.Recorded++
		left = slices.Delete(left, i, i+1)
	}
	for _, f := range left {
		r.Lost = append(r.Lost, "file | "+f.Op+" | "+f.Path+" | "+f.To)
	}
	return r
}

func sameFile(want, is human.FileChange) bool {
	base := filepath.Base
	if want.Op == "moved" {
		return is.Op == "renamed" && base(is.Path) == want.Path && base(filepath.Dir(is.To)) == want.To
	}
	return want.Op == is.Op && base(is.Path) == want.Path && (want.To == "" || base(is.To) == want.To)
}

// align pairs acts with actions, both in their order, so that as much as possible agrees.
func align(acts []Act, actions []human.Action) map[int]int {
	n, m := len(acts), len(actions)
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	value := func(i, j int) int {
		switch {
		case !acts[i].is(actions[j]):
			return 0
		case acts[i].names(actions[j]):
			return 5
		}
		return 2
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if v := value(i, j); v > 0 {
				best[i][j] = max(best[i][j], v+best[i+1][j+1])
			}
		}
	}
	pairs := map[int]int{}
	for i, j := 0, 0; i < n && j < m; {
		switch v := value(i, j); {
		case v > 0 && best[i][j] == v+best[i+1][j+1]:
			pairs[i] = j
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// Add adds another reading's figures.
func (r *Reading) Add(o Reading) {
	r.Acts, r.Recorded, r.Targets, r.Named = r.Acts+o.Acts, r.Recorded+o.Recorded, r.Targets+o.Targets, r.Named+o.Named
	r.Claims, r.Shown, r.ShownRightly = r.Claims+o.Claims, r.Shown+o.Shown, r.ShownRightly+o.ShownRightly
	r.Lost, r.Misnamed, r.Invented = append(r.Lost, o.Lost...), append(r.Misnamed, o.Misnamed...), append(r.Invented, o.Invented...)
	r.False, r.Unjudged = append(r.False, o.False...), append(r.Unjudged, o.Unjudged...)
}

// Table is the figures in Markdown.
func (r Reading) Table(cases int) string {
	share := func(a, b int) float64 { return 100 * float64(a) / float64(max(b, 1)) }
	return fmt.Sprintf("| cases | acts | recorded | invented | targets named | displays read | claims | false | not judged |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"+
		"| %d | %d | %.1f %% | %d | %.1f %% of %d | %d of %d | %d | %d | %d |\n", cases, r.Acts, share(r.Recorded, r.Acts), len(r.Invented),
		share(r.Named, r.Targets), r.Targets, r.ShownRightly, r.Shown, r.Claims, len(r.False), len(r.Unjudged))
}
