package procedure

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
)

// Correction makes the next version of a procedure from what the operator of a run that is over did by hand: in place of a step they did
// themselves, and before one that was done afterwards, where it may be left out. It saves nothing. A Conflict error where nothing was
// done by hand, or where the newest version has the step no more.
func (s *Service) Correction(ctx context.Context, by human.Actor, id human.OperationID) (ProcedureDraft, error) {
	r, err := s.State(ctx, by, id)
	if err != nil {
		return ProcedureDraft{}, err
	}
	v, err := s.version(ctx, r.Procedure, 0)
	if err != nil {
		return ProcedureDraft{}, err
	}
	title, rec, list, err := s.d.Recordings.Taught(ctx, by, r.Recording)
	if err != nil {
		return ProcedureDraft{}, err
	}
	seen, err := Compile(title, rec, list)
	if err != nil {
		return ProcedureDraft{}, err
	}
	c := correction{p: v.Content, seen: seen, values: valuesOf(v.Content, r.Parameters), at: map[string]time.Time{}}
	for _, a := range list {
		c.at[a.ID] = rec.StartedAt.Add(time.Duration(a.At))
	}
	c.p.Steps, c.p.Secrets = slices.Clone(c.p.Steps), slices.Clone(c.p.Secrets)
	for _, hand := range r.ByHand {
		if err := c.takes(hand, v.Number); err != nil {
			return ProcedureDraft{}, err
		}
		if hand.Accept {
			c.accepts(hand)
		}
	}
	if len(c.changed) == 0 {
		return ProcedureDraft{}, human.Errorf(human.Conflict, "nothing was done by hand in the run of operation %s that could be taught", id)
	}
	p := c.p
	p.Taught = append(slices.Clone(p.Taught), human.ProcedureSource{Recording: rec.ID})
	checkpointed(&p)
	for _, does := range Does(p) {
		if !slices.Contains(p.Does, does) {
			p.Does = append(slices.Clone(p.Does), does)
		}
	}
	file, err := Write(p)
	return ProcedureDraft{Procedure: p, File: file, Rows: c.rows(p), Findings: orEmpty(Lint(p)), Risk: RiskOf(p), After: v.Number, Changed: c.changed}, err
}

// rows are the steps of the corrected version, and which of them were shown.
func (c *correction) rows(p human.Procedure) (all []TaughtRow) {
	for _, s := range p.Steps {
		row := TaughtRow{State: "same", Step: s.ID}
		if s.Optional {
			row.State = "optional"
		}
		for _, taught := range p.Taught {
			i := slices.IndexFunc(s.From, func(from human.ProcedureSource) bool { return from.Recording == taught.Recording })
			action := ""
			if i >= 0 {
				action = s.From[i].Action
			}
			row.From = append(row.From, action)
		}
		if slices.Contains(c.changed, s.ID) {
			row.Why = human.Sayf("it was shown in a run")
		}
		all = append(all, row)
	}
	return all
}

// valuesOf are the parameters of a procedure with the values that a run had.
func valuesOf(p human.Procedure, of map[string]string) (all heldValues) {
	for _, q := range p.Parameters {
		if text := of[q.Name]; text != "" {
			all = append(all, &heldValue{ProcedureParameter: q, held: []string{text}, has: []bool{true}})
		}
	}
	return all
}

// A correction is a version that is being corrected.
type correction struct {
	p       human.Procedure
	seen    human.Procedure // all that was done in the run, by Deskbell and by hand
	values  heldValues
	at      map[string]time.Time // when an action of the recording was
	changed []string
}

// takes puts in what was done by hand at one place.
func (c *correction) takes(hand human.RunByHand, version int) error {
	var steps []human.ProcedureStep
	for _, s := range c.seen.Steps {
		at, ok := c.at[s.From[0].Action]
		if ok && !at.Before(hand.From) && !at.After(hand.To) && !c.has(s.From[0]) {
			steps = append(steps, c.taught(s))
		}
	}
	if len(steps) == 0 {
		return nil
	}
	i := slices.IndexFunc(c.p.Steps, func(s human.ProcedureStep) bool { return s.ID == hand.Step })
	if i < 0 {
		return human.Errorf(human.Conflict, "version %d of procedure %s has no step %s any more; correct it by hand", version, c.p.Name, hand.Step)
	}
	end := i
	if hand.Instead {
		steps[len(steps)-1] = instead(c.p.Steps[i], steps[len(steps)-1])
		end++
	}
	for n := range steps {
		if steps[n].ID == "" {
			steps[n].ID = c.free()
			steps[n].Optional = !hand.Instead && steps[n].Target != nil
		}
		c.changed = append(c.changed, steps[n].ID)
	}
	c.p.Steps = slices.Replace(c.p.Steps, i, end, steps...)
	return nil
}

// accepts adds to a step what stood around its element when it was done with that.
func (c *correction) accepts(hand human.RunByHand) {
	i := slices.IndexFunc(c.p.Steps, func(s human.ProcedureStep) bool { return s.ID == hand.Step })
	if i < 0 || c.p.Steps[i].Target == nil {
		return
	}
	s := &c.p.Steps[i]
	at := slices.IndexFunc(c.seen.Steps, func(o human.ProcedureStep) bool {
		when, ok := c.at[o.From[0].Action]
		return ok && !when.Before(hand.To) && o.Do == s.Do && o.Target != nil && o.Target.Role == s.Target.Role
	})
	if at < 0 {
		return
	}
	did := c.taught(c.seen.Steps[at])
	if s.Form != nil {
		like := func(f, g human.Filled) bool {
			return g.Role == f.Role && g.Name == f.Name && (g.Holds == "" || f.Holds == "" || g.Holds == f.Holds)
		}
		s.Form = slices.Clone(s.Form)
		for i, f := range s.Form {
			s.Form[i].Optional = f.Optional || !slices.ContainsFunc(did.Form, func(g human.Filled) bool { return like(f, g) })
		}
		for _, f := range did.Form {
			if f.Optional = true; !slices.ContainsFunc(s.Form, func(g human.Filled) bool { return like(f, g) }) {
				s.Form = append(s.Form, f)
			}
		}
	}
	if s.Says != nil && did.Says != nil {
		s.Says = compacted(append(slices.Clone(s.Says), did.Says...))
	}
	c.changed = append(c.changed, s.ID)
}

// has says whether an action was taught already: in an earlier correction by the same run.
func (c *correction) has(from human.ProcedureSource) bool {
	return slices.ContainsFunc(c.p.Steps, func(s human.ProcedureStep) bool { return slices.Contains(s.From, from) })
}

// instead is a step as it was done by hand in place of an old one. One that does the same keeps its id, and what it is for: its
// parameters and its output.
func instead(old, by human.ProcedureStep) human.ProcedureStep {
	by.Optional = old.Optional
	if by.Do != old.Do {
		return by
	}
	by.ID, by.Output, by.Take, by.Writes = old.ID, old.Output, old.Take, old.Writes || by.Writes
	by.Text, by.Secret, by.Options, by.Files = old.Text, old.Secret, old.Options, old.Files
	if by.Says != nil {
		by.Says = compacted(append(slices.Clone(old.Says), by.Says...))
	}
	if len(by.Then) == 0 {
		by.Then = old.Then
	}
	return by
}

// taught is a step of the run with the names of parameters in place of their values, and without an id.
func (c *correction) taught(s human.ProcedureStep) human.ProcedureStep {
	for _, v := range c.values {
		s = stepTexts(s, func(of textKind, text string) string {
			if utf8.RuneCountInString(v.held[0]) >= shortest {
				return heldValues{v}.within(of, text)
			}
			if text == escape(v.held[0]) {
				return "{" + v.Name + "}"
			}
			return text
		})
	}
	s.ID = ""
	if i := slices.IndexFunc(c.seen.Secrets, func(x human.ProcedureSecret) bool { return x.Name == s.Secret }); s.Secret != "" && i >= 0 {
		s.Secret = c.secret(c.seen.Secrets[i])
	}
	return s
}

// secret is the name that a secret has in the procedure.
func (c *correction) secret(x human.ProcedureSecret) string {
	called := x.Name
	for n := 2; ; n++ {
		i := slices.IndexFunc(c.p.Secrets, func(y human.ProcedureSecret) bool { return y.Name == x.Name })
		if i < 0 {
			c.p.Secrets = append(c.p.Secrets, x)
			return x.Name
		}
		if c.p.Secrets[i].Site == x.Site && slices.Equal(c.p.Secrets[i].Around, x.Around) {
			return x.Name
		}
		x.Name = fmt.Sprintf("%s_%d", called, n)
	}
}

// free is an id that no step has.
func (c *correction) free() string {
	for n := len(c.p.Steps) + 1; ; n++ {
		id := fmt.Sprintf("s%d", n)
		if !slices.ContainsFunc(c.p.Steps, func(s human.ProcedureStep) bool { return s.ID == id }) && !slices.Contains(c.changed, id) {
			return id
		}
	}
}
