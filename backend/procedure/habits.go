package procedure

import (
	"slices"
	"strings"

	"deskbell/backend/human"
)

// habits makes the same of what persons do in other ways for the same end: who moves to the next field by Tab where another one clicks it, and who
// sends by Enter where another one presses the button. Only where the recordings differ in it.
func habits(drafts [][]*shown) {
	for i, steps := range drafts {
		for at := 0; at < len(steps); at++ {
			s := steps[at]
			if s.Do != "change" || s.Key != "Tab" && s.Key != "Enter" || len(s.Modifiers) > 0 {
				continue
			}
			for k, others := range drafts {
				if k == i {
					continue
				}
				if s.Key == "Tab" && slices.ContainsFunc(others, func(o *shown) bool { return o.Key != "Tab" && field(o.ProcedureStep) == field(s.ProcedureStep) }) {
					s.withoutKey()
				} else if button := pressedInstead(s, others); button != nil {
					steps = slices.Insert(steps, at+1, s.sends(button))
				}
				if s.Key == "" {
					break
				}
			}
		}
		drafts[i] = steps
	}
}

// withoutKey leaves a field filled, and no key pressed in it.
func (s *shown) withoutKey() {
	s.Key, s.Then = "", slices.Clone(s.Then)
	if s.Text != "" {
		s.Then = slices.Insert(s.Then, 0, human.ProcedureCheckpoint{Is: "value", Text: s.Text, Target: s.Target, Frame: s.Frame})
	}
}

// pressedInstead is the button that another recording pressed after it filled in the same field, and that led to the same page; nil where there
// is none.
func pressedInstead(s *shown, others []*shown) *shown {
	path := func(address string) string { before, _, _ := strings.Cut(address, "?"); return before }
	for i, o := range others {
		if o.Key != "" || field(o.ProcedureStep) != field(s.ProcedureStep) {
			continue
		}
		for _, next := range others[i+1:] {
			if looks(next.ProcedureStep) {
				continue
			}
			if t := next.Target; next.Do == "click" && t != nil && t.Role == "button" && path(next.after) == path(s.after) && next.Writes == s.Writes {
				return next
			}
			break
		}
	}
	return nil
}

// sends takes the Enter from a field, and is the press of the button in its place.
func (s *shown) sends(button *shown) *shown {
	press := *button
	press.draft, press.at, press.before, press.after = s.draft, s.at, s.before, s.after
	press.ID, press.Page, press.Then, press.Dialogs, press.From, press.Writes = s.ID+"b", s.Page, s.Then, s.Dialogs, s.From, s.Writes
	s.after, s.Writes, s.Dialogs, s.Form, s.Says, s.Then = s.before, false, nil, nil, nil, nil
	s.withoutKey()
	return &press
}

// signedInVain are the steps of signing in that a page answered with the same form: they were all done once more, and led to another page.
func signedInVain(steps []*shown) (vain []*shown) {
	for i, sent := range steps {
		if !sent.Writes || fills(sent.ProcedureStep) || sent.before == "" || sent.after != sent.before {
			continue
		}
		again := slices.IndexFunc(steps[i+1:], func(o *shown) bool { return !fills(o.ProcedureStep) && !looks(o.ProcedureStep) })
		if again < 0 {
			continue
		}
		once, filled := steps[i+1+again], steps[i+1:i+1+again]
		if !once.Writes || field(once.ProcedureStep) != field(sent.ProcedureStep) || once.before != sent.before || once.after == sent.before {
			continue
		}
		secret, from := false, i
		for ; from > 0 && fills(steps[from-1].ProcedureStep); from-- {
			s := steps[from-1]
			if !slices.ContainsFunc(filled, func(o *shown) bool { return field(o.ProcedureStep) == field(s.ProcedureStep) }) {
				break
			}
			secret = secret || s.Secret != ""
		}
		if secret {
			vain = append(vain, steps[from:i+1]...)
		}
	}
	return vain
}
