package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// An Offer is a procedure that covers what a request asks for, with the parameters that the request says.
type Offer struct {
	Procedure  string                     `json:"procedure"`
	Title      string                     `json:"title"`
	Version    int                        `json:"version"`
	Digest     string                     `json:"sha256" doc:"Of the version's file, in hex."`
	TaughtAt   time.Time                  `json:"taught_at" doc:"When its first version was saved."`
	Does       []string                   `json:"does" enum:"reads,sends,pays,deletes"`
	Risk       human.Risk                 `json:"risk_level" enum:"none,low,medium,high,critical"`
	Steps      int                        `json:"steps" doc:"How many."`
	Figures    Figures                    `json:"figures"`
	Why        []human.Sentence           `json:"why" doc:"Why it is offered."`
	Parameters []human.ProcedureParameter `json:"parameters"`
	Values     []OfferedValue             `json:"values" doc:"One for each parameter, in order."`
	Gives      map[string]string          `json:"gives" doc:"Of the fields that the request wants: the output that each gets."`
	Missing    []string                   `json:"missing" doc:"Fields that the request wants and that it does not give: a person fills them in after the run."`
	score      float64
}

// An OfferedValue is what a request says a parameter is.
type OfferedValue struct {
	Value string          `json:"value" doc:"Empty where the request does not say."`
	From  *human.Sentence `json:"from,omitempty" doc:"What it was read from, or that several values fit."`
}

// Offers are the procedures that cover an open request that no run was begun for, the best first.
func (s *Service) Offers(ctx context.Context, by human.Actor, id human.OperationID) ([]Offer, error) {
	if err := operatorsOnly(by); err != nil {
		return nil, err
	}
	op, err := s.d.Queue.Get(ctx, by, id)
	if err != nil {
		return nil, err
	}
	offers := []Offer{}
	if _, does := askingOf(op); !does || op.State.Terminal() || op.Leaving != nil {
		return offers, nil
	}
	if err := s.unbegun(ctx, id); err != nil {
		if human.KindOf(err) == human.Conflict {
			err = nil
		}
		return offers, err
	}
	can, err := s.callable(ctx, op.AgentID)
	if err != nil {
		return nil, err
	}
	all, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		p := v.Content
		c, covers := Covers(p, op)
		if !covers || !can(p.Name) || Blocked(p, cmp.Or(p.Policy, Standard)) != nil {
			continue
		}
		versions, err := s.versions(ctx, p.Name)
		if err != nil {
			return nil, err
		}
		runs, err := s.d.Store.Runs(ctx, p.Name, 1000)
		if err != nil {
			return nil, err
		}
		o := Offer{
			Procedure: p.Name, Title: p.Title, Version: v.Number, Digest: v.Digest, TaughtAt: versions[len(versions)-1].SavedAt, Does: orEmpty(p.Does),
			Risk: RiskOf(p), Steps: len(p.Steps), Figures: figures(runs), Why: c.Why, Parameters: orEmpty(p.Parameters), Gives: c.Fields, Missing: orEmpty(c.Missing),
			score: c.score,
		}
		read := readValues(p, op)
		o.Values = []OfferedValue{}
		for _, q := range p.Parameters {
			value := OfferedValue(read[q.Name])
			if value.From == nil {
				value.Value = q.Default
			}
			o.Values = append(o.Values, value)
		}
		offers = append(offers, o)
	}
	slices.SortStableFunc(offers, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Procedure, b.Procedure))
	})
	return offers, nil
}

// unbegun is a Conflict error where a run was begun for an operation: whatever it did, it is not done again.
func (s *Service) unbegun(ctx context.Context, id human.OperationID) error {
	r, err := s.d.Store.Run(ctx, id)
	switch {
	case human.KindOf(err) == human.NotFound:
		return nil
	case err != nil:
		return err
	case s.find(id) != nil || !r.State.Over() || begun(r):
		return human.Errorf(human.Conflict, "a procedure was run for operation %s already; finish it by hand", id)
	}
	return nil
}

// An OfferTaken is an offer as an operator takes it.
type OfferTaken struct {
	Procedure  string            `json:"procedure"`
	Version    int               `json:"version" minimum:"1"`
	Digest     string            `json:"sha256" doc:"Of the offer that was shown."`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Take runs a procedure for a request for work: the run is the work of that operation, which its outputs answer. It returns once
// the browser is open. A Conflict error where the procedure is not the one that was shown, or where one was run for the request already.
func (s *Service) Take(ctx context.Context, by human.Actor, id human.OperationID, o OfferTaken) (human.RunOfProcedure, error) {
	if by.Role != human.Operator {
		return human.RunOfProcedure{}, human.Errorf(human.Denied, "only an operator can run a procedure")
	}
	op, err := s.d.Queue.Get(ctx, by, id)
	if err != nil {
		return human.RunOfProcedure{}, err
	}
	if _, does := askingOf(op); !does || op.State.Terminal() || op.Leaving != nil {
		return human.RunOfProcedure{}, human.Errorf(human.Conflict, "no procedure can be run for operation %s: it is no open request for work", id)
	}
	if err := s.mayCall(ctx, op.AgentID, o.Procedure); err != nil {
		return human.RunOfProcedure{}, err
	}
	v, err := s.version(ctx, o.Procedure, o.Version)
	if err != nil {
		return human.RunOfProcedure{}, err
	}
	if v.Digest != o.Digest {
		return human.RunOfProcedure{}, human.Errorf(human.Conflict, "procedure %s has changed since it was offered; look at it again", v.Name)
	}
	if said := Blocked(v.Content, cmp.Or(v.Content.Policy, Standard)); said != nil {
		return human.RunOfProcedure{}, human.Errorf(human.Conflict, "procedure %s is not run: %s", v.Name, said.Text)
	}
	p, err := Fill(v.Content, o.Parameters)
	if err != nil {
		return human.RunOfProcedure{}, err
	}
	s.taking.Lock()
	defer s.taking.Unlock()
	if err := s.unbegun(ctx, id); err != nil {
		return human.RunOfProcedure{}, err
	}
	r := newRun(op, v, p, by, s.d.Now())
	r.Parameters, r.Digest = o.Parameters, v.Digest
	if err := s.d.Store.PutRun(ctx, r); err != nil {
		return r, err
	}
	running, err := s.Run(ctx, by, id)
	if err == nil {
		return running, nil
	}
	return s.unstarted(ctx, r, err), err
}

// callOf is what is run for an operation: what it asks for itself, or what an operator took for it.
func (s *Service) callOf(ctx context.Context, op human.Operation) (c human.ProcedureCall, err error) {
	if op.Kind == human.ProcedureRun && json.Unmarshal(op.Details, &c) == nil {
		return c, nil
	}
	r, err := s.d.Store.Run(ctx, op.ID)
	if human.KindOf(err) == human.NotFound || err == nil && r.Digest == "" {
		err = human.Errorf(human.Conflict, "operation %s does not ask for a run of a procedure", op.ID)
	}
	return human.ProcedureCall{Procedure: r.Procedure, Version: r.Version, Digest: r.Digest, Parameters: r.Parameters}, err
}

// deliver gives the answer of a good run to the agent, or leaves it as a draft and says why.
func (one *run) deliver(ctx context.Context, rec human.Recording) *human.Sentence {
	a := one.answer(ctx, rec)
	var missing []string
	if one.r.Digest != "" {
		op, err := one.s.d.Queue.Get(ctx, one.by, one.r.Operation)
		if err == nil {
			missing = one.fields(&a, wanted(op))
		}
	}
	var why human.Sentence
	if len(missing) > 0 {
		why = human.Sayf("it does not give %s: fill that in, and answer", strings.Join(missing, ", "))
	} else {
		_, err := one.s.d.Queue.Complete(ctx, one.by, one.r.Operation, a, one.digest)
		if err == nil {
			return nil
		}
		one.s.d.Log.Error("the answer of a run could not be given", "operation_id", one.r.Operation, "err", err)
		why = human.Sayf("its answer could not be given: %s", human.SafeText(err))
	}
	if one.r.Digest != "" {
		if _, err := one.s.d.Queue.SaveInput(ctx, one.by, one.r.Operation, &a); err != nil {
			one.s.d.Log.Warn("what a run found could not be kept as a draft", "operation_id", one.r.Operation, "err", err)
		}
	}
	return &why
}

// fields gives what a run found the names that its request has for it. The agent gets the places it was picked at, and not the whole
// recording: that is its operator's to give. It returns the names that nothing was found for.
func (one *run) fields(a *human.Answer, asked []string) (missing []string) {
	a.Attachments = nil
	a.ExecutionResult += " SHA-256 of its file: " + one.r.Digest + "."
	by, missing := given(one.p, asked)
	for _, field := range asked {
		output := by[field]
		value, found := a.Fields[output]
		switch {
		case output == "" || output == field && found:
			continue
		case !found:
			missing = append(missing, field)
			continue
		}
		delete(a.Fields, output)
		a.Fields[field] = value
		if source, has := a.FieldSources[output]; has {
			delete(a.FieldSources, output)
			a.FieldSources[field] = source
		}
	}
	return missing
}
