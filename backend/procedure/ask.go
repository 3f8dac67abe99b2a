package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// A Call is a run that is asked for.
type Call struct {
	Parameters     map[string]string `json:"parameters,omitempty" doc:"By name; absent where the procedure has none."`
	Version        int               `json:"version,omitempty" doc:"Absent: the newest."`
	SessionID      string            `json:"session_id,omitempty"`
	IdempotencyKey string            `json:"idempotency_key,omitempty" doc:"The same again joins the run that exists."`
	Timeout        float64           `json:"timeout,omitempty" minimum:"0" doc:"Seconds until it is overdue; absent: never."`
}

// Asked is the operation of a call.
type Asked struct {
	Operation human.OperationID `json:"operation_id"`
	State     human.State       `json:"state"`
	Created   bool              `json:"created" doc:"False where the same was asked for before."`
}

// Ask asks for a run: it waits in the queue until an operator starts it, or begins at once where an operator let it run unattended. Values
// that do not fit their parameters are an Invalid error with the field; NotFound where there is no such procedure; Denied where it is not
// for this agent, which learns no more of it.
func (s *Service) Ask(ctx context.Context, by human.Actor, called string, c Call) (Asked, error) {
	if err := s.mayCall(ctx, caller(by), called); err != nil {
		return Asked{}, err
	}
	v, err := s.version(ctx, called, c.Version)
	if err != nil {
		return Asked{}, err
	}
	p := v.Content
	if said := Blocked(p, cmp.Or(p.Policy, Standard)); said != nil {
		return Asked{}, human.Errorf(human.Conflict, "procedure %s is not run: %s", p.Name, said.Text)
	}
	if _, err := Fill(p, c.Parameters); err != nil {
		return Asked{}, err
	}
	call := human.ProcedureCall{
		Procedure: p.Name, Version: v.Number, Digest: v.Digest, Title: p.Title, Risk: RiskOf(p), Does: p.Does, Parameters: c.Parameters, Sites: sites(p),
	}
	if call.Parameters == nil {
		call.Parameters = map[string]string{}
	}
	for _, o := range p.Outputs {
		call.Outputs = append(call.Outputs, o.Name)
	}
	details, err := json.Marshal(call)
	if err != nil {
		return Asked{}, human.Wrap(human.Invalid, err, "the call cannot be written as JSON")
	}
	agent := by.Name
	if by.Role == human.Operator {
		agent = human.PersonID(by.Name)
	}
	r := human.Request{
		Kind: human.ProcedureRun, Description: p.Title, Details: details, AgentID: agent, SessionID: c.SessionID,
		IdempotencyKey: c.IdempotencyKey, Priority: human.DefaultPriority, Timeout: c.Timeout,
	}
	if asked, began, err := s.begin(ctx, by, v, r, c.Parameters); began || err != nil {
		return asked, err
	}
	op, created, err := s.d.Queue.Submit(ctx, r, nil)
	return Asked{op.ID, op.State, created}, err
}

// A Tool is a procedure as agents call it.
type Tool struct {
	Name        string                     `json:"name"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Does        []string                   `json:"does" enum:"reads,sends,pays,deletes"`
	Parameters  []human.ProcedureParameter `json:"parameters"`
	Outputs     []human.ProcedureOutput    `json:"outputs"`
}

// Tools are the procedures that an agent can ask for, by name; for an operator, all.
func (s *Service) Tools(ctx context.Context, by human.Actor) ([]Tool, error) {
	can, err := s.callable(ctx, caller(by))
	if err != nil {
		return nil, err
	}
	all, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	tools := []Tool{}
	for _, v := range all {
		p := v.Content
		if !can(p.Name) {
			continue
		}
		tools = append(tools, Tool{p.Name, p.Title, p.Description, p.Does, orEmpty(p.Parameters), orEmpty(p.Outputs)})
	}
	slices.SortFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, nil
}

// A RunOrder is what an operator does with a run.
type RunOrder struct {
	NotDone bool   `json:"not_done,omitempty" doc:"With continue and step: the operator has looked, and the step that may have been done was not."`
	Do      string `json:"do" enum:"pause,continue,accept,step,take,done,skip,end" doc:"pause: before the next step. continue: from the step it stopped at, which is done now. accept: the same, with the form and the words around its element as they are. step: the same as continue, then pause. take: the operator has the page. done: the step it stopped at was done by hand; continue with the next. skip: leave that step out. end: no more of it."`
}

// DraftOf are the recordings that a procedure is to be made of.
type DraftOf struct {
	Recordings []human.RecordingID `json:"recordings" doc:"One to three, of the same work."`
}

// Draft makes a procedure from recordings. It saves nothing.
func (s *Service) Draft(ctx context.Context, by human.Actor, of DraftOf) (ProcedureDraft, error) {
	if err := operatorsOnly(by); err != nil {
		return ProcedureDraft{}, err
	}
	if len(of.Recordings) == 0 || len(of.Recordings) > 3 {
		return ProcedureDraft{}, human.BadField("recordings", "has %d; a procedure is made from one to three", len(of.Recordings))
	}
	var taught []human.Procedure
	for _, id := range of.Recordings {
		title, rec, list, err := s.d.Recordings.Taught(ctx, by, id)
		if err != nil {
			return ProcedureDraft{}, err
		}
		p, err := Compile(title, rec, list)
		if err != nil {
			return ProcedureDraft{}, err
		}
		taught = append(taught, p)
		if p.Where != taught[0].Where {
			return ProcedureDraft{}, human.Errorf(human.Conflict, "recording %s was made on the desktop and another one in a browser; a procedure is made from one of the two", id)
		}
	}
	p, rows := Align(taught)
	checkpointed(&p)
	p.Does = Does(p)
	file, err := Write(p)
	if err != nil {
		return ProcedureDraft{}, err
	}
	return ProcedureDraft{Procedure: p, File: file, Rows: rowsOf(taught, p, rows), Findings: orEmpty(Lint(p)), Risk: RiskOf(p)}, nil
}

// A TaughtRow is what became of one step of the recordings.
type TaughtRow struct {
	State string         `json:"state" enum:"same,parameter,optional,left_out"`
	Step  string         `json:"step,omitempty" doc:"The step of the procedure; absent where it was left out."`
	From  []string       `json:"from" doc:"One for each recording: the action's id; empty where it has none."`
	Why   human.Sentence `json:"why,omitzero"`
}

// rowsOf are rows as they are shown: with the actions of the recordings in place of the steps of drafts.
func rowsOf(taught []human.Procedure, p human.Procedure, rows []Row) []TaughtRow {
	all := []TaughtRow{}
	for _, r := range rows {
		row := TaughtRow{State: r.State, Why: r.Why, From: make([]string, len(taught))}
		if r.At >= 0 {
			row.Step = p.Steps[r.At].ID
		}
		for i, id := range r.From {
			n := slices.IndexFunc(taught[i].Steps, func(s human.ProcedureStep) bool { return s.ID == id })
			if n >= 0 && len(taught[i].Steps[n].From) > 0 {
				row.From[i] = taught[i].Steps[n].From[0].Action
			}
		}
		all = append(all, row)
	}
	return all
}
