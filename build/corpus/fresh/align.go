package fresh

import (
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Recall is how what was recorded agrees with what was done.
type Recall struct {
	Due, Found int
	Of         []int // of each step the action that records it, or -1
	Lost       []string
	Invented   []string
	Disordered []string
}

// Align finds, in order, the action of each step. Scrolled says that the page was scrolled so that something could be
// reached, which is no step of the list and may be recorded.
func Align(steps []Step, all []human.Action, scrolled bool) (r Recall) {
	n, m := len(steps), len(all)
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := fits(steps[i], all[j]); s > 0 {
				best[i][j] = max(best[i][j], s+best[i+1][j+1])
			}
		}
	}
	taken := make([]bool, m)
	r.Of = slices.Repeat([]int{-1}, n)
	for i, j := 0, 0; i < n && j < m; {
		s := fits(steps[i], all[j])
		switch {
		case s > 0 && best[i][j] == s+best[i+1][j+1]:
			r.Of[i], taken[j] = j, true
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	for i, d := range steps {
		if len(d.Types) == 0 {
			continue
		}
		r.Due++
		if r.Of[i] >= 0 {
			r.Found++
			continue
		}
		later := -1
		for j, a := range all {
			if !taken[j] && fits(d, a) > 2 {
				later = j
			}
		}
		if later >= 0 {
			taken[later] = true
			r.Found++
			r.Disordered = append(r.Disordered, fmt.Sprintf("%s %s %q, recorded as %s", d.Do, d.On, d.Name, sketch(all[later])))
			continue
		}
		r.Lost = append(r.Lost, fmt.Sprintf("%s %s %q %q", d.Do, d.On, d.Name, d.Value))
	}
	for j, a := range all {
		if !taken[j] && !follows(a, scrolled) {
			r.Invented = append(r.Invented, sketch(a))
		}
	}
	return r
}

// follows says whether an action needs no step: what pages do by themselves, or what the recording says of itself.
func follows(a human.Action, scrolled bool) bool {
	switch a.Type {
	case human.OpenPage, human.ClosePage, human.SwitchPage, human.PageSaid, human.Note, human.Missing:
		return true
	case human.Navigate:
		return a.CausedBy != ""
	case human.Scroll:
		return scrolled
	}
	return false
}

func sketch(a human.Action) string {
	s := string(a.Type)
	if a.Key != "" {
		s += " " + a.Key
	}
	if a.Element != nil {
		s += fmt.Sprintf(" %s %q", a.Element.Role, a.Element.Name)
	}
	if a.Value != "" || a.Text != "" {
		s += fmt.Sprintf(" = %q", a.Value+a.Text)
	}
	if len(a.Values) > 0 {
		s += " " + strings.Join(a.Values, ", ")
	}
	return s
}

// fits says how well an action records a step: 0 not at all.
func fits(d Step, a human.Action) (score int) {
	switch {
	case slices.Contains(d.Types, string(a.Type)):
		score = 2
	case slices.Contains(d.May, string(a.Type)):
		return 1
	default:
		return 0
	}
	if d.Do == "back" && (a.Navigation == nil || a.Navigation.Kind != "back_forward") {
		return 0
	}
	if d.Value != "" && (a.Value == d.Value || strings.TrimSpace(a.Text) == d.Value || slices.Contains(a.Values, d.Value)) {
		score += 3
	}
	if d.Secret && a.Hidden != "" {
		score += 2
	}
	if a.Type == human.Typing && !d.Secret && d.Value != "" && score == 2 && a.Hidden == "" {
		return 0 // another text
	}
	if a.Element != nil && d.Name != "" {
		if a.Element.Name != "" && strings.Contains(strings.ToLower(a.Element.Name), strings.ToLower(d.Name)) {
			score += 2
		}
		if !strings.HasPrefix(d.On, "field:") && d.Do == "click" && (a.Element.Role == "textbox" || a.Element.Role == "combobox") {
			return 0
		}
	}
	return score
}
