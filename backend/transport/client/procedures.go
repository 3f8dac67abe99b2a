package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// Procedures are those that were taught. For operators.
func (c *Client) Procedures(ctx context.Context) ([]procedure.Listed, error) {
	var list struct{ Procedures []procedure.Listed }
	_, err := c.call(ctx, http.MethodGet, "/api/procedures", nil, &list)
	return list.Procedures, err
}

// Procedure is one in a version; 0: the newest. For operators.
func (c *Client) Procedure(ctx context.Context, name string, version int) (procedure.Shown, error) {
	var shown procedure.Shown
	_, err := c.call(ctx, http.MethodGet, "/api/procedures/"+url.PathEscape(name)+"?version="+strconv.Itoa(version), nil, &shown)
	return shown, err
}

// SaveProcedure saves the next version of a procedure. For operators.
func (c *Client) SaveProcedure(ctx context.Context, change procedure.Change) (procedure.Shown, error) {
	var shown procedure.Shown
	_, err := c.call(ctx, http.MethodPost, "/api/procedures", change, &shown)
	return shown, err
}

// DraftProcedure makes a procedure from recordings, without saving it. For operators.
func (c *Client) DraftProcedure(ctx context.Context, of procedure.DraftOf) (procedure.ProcedureDraft, error) {
	var draft procedure.ProcedureDraft
	_, err := c.call(ctx, http.MethodPost, "/api/procedure-drafts", of, &draft)
	return draft, err
}

// RemoveProcedure deletes a procedure with all its versions. For operators.
func (c *Client) RemoveProcedure(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/procedures/"+url.PathEscape(name), nil, nil)
	return err
}

// ProcedureProposals are work that people did by hand again and again. For operators.
func (c *Client) ProcedureProposals(ctx context.Context) ([]procedure.RepeatedWork, error) {
	var list struct{ Proposals []procedure.RepeatedWork }
	_, err := c.call(ctx, http.MethodGet, "/api/procedure-proposals", nil, &list)
	return list.Proposals, err
}

// DismissProcedureProposal has what is like the work of an operation not proposed any more. For operators.
func (c *Client) DismissProcedureProposal(ctx context.Context, id human.OperationID) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/procedure-proposals/"+url.PathEscape(string(id)), nil, nil)
	return err
}

// Unattended says whether agents can run a procedure unattended. For operators.
func (c *Client) Unattended(ctx context.Context, name string) (procedure.UnattendedState, error) {
	return c.unattended(ctx, http.MethodGet, name, nil)
}

// LetUnattended lets agents run a procedure unattended. For operators.
func (c *Client) LetUnattended(ctx context.Context, name string, g procedure.UnattendedGrant) (procedure.UnattendedState, error) {
	return c.unattended(ctx, http.MethodPut, name, g)
}

// StopUnattended has them run it so no more. For operators.
func (c *Client) StopUnattended(ctx context.Context, name string) (procedure.UnattendedState, error) {
	return c.unattended(ctx, http.MethodDelete, name, nil)
}

func (c *Client) unattended(ctx context.Context, method, name string, body any) (procedure.UnattendedState, error) {
	var state procedure.UnattendedState
	_, err := c.call(ctx, method, "/api/procedures/"+url.PathEscape(name)+"/unattended", body, &state)
	return state, err
}

// SetProcedureAgents says which agents can call a procedure. For operators.
func (c *Client) SetProcedureAgents(ctx context.Context, name string, a procedure.AgentsAllowed) (procedure.ProcedureAgents, error) {
	var now procedure.ProcedureAgents
	_, err := c.call(ctx, http.MethodPut, "/api/procedures/"+url.PathEscape(name)+"/agents", a, &now)
	return now, err
}

// ProcedureTools are the procedures that an agent can ask for.
func (c *Client) ProcedureTools(ctx context.Context) ([]procedure.Tool, error) {
	var list struct{ Tools []procedure.Tool }
	_, err := c.call(ctx, http.MethodGet, "/api/procedure-tools", nil, &list)
	return list.Tools, err
}

// AskForRun asks for a run of a procedure.
func (c *Client) AskForRun(ctx context.Context, name string, call procedure.Call) (procedure.Asked, error) {
	var asked procedure.Asked
	_, err := c.call(ctx, http.MethodPost, "/api/procedures/"+url.PathEscape(name)+"/runs", call, &asked)
	return asked, err
}

// StartRun runs what an operation asks for; RunState says how far that has come. For operators.
func (c *Client) StartRun(ctx context.Context, id human.OperationID) (human.RunOfProcedure, error) {
	return c.run(ctx, http.MethodPost, id, "", nil)
}

// RunState says how far a run has come. For operators.
func (c *Client) RunState(ctx context.Context, id human.OperationID) (human.RunOfProcedure, error) {
	return c.run(ctx, http.MethodGet, id, "", nil)
}

// OrderRun steers a run. For operators.
func (c *Client) OrderRun(ctx context.Context, id human.OperationID, o procedure.RunOrder) (human.RunOfProcedure, error) {
	return c.run(ctx, http.MethodPost, id, "/orders", o)
}

func (c *Client) run(ctx context.Context, method string, id human.OperationID, more string, body any) (human.RunOfProcedure, error) {
	var r human.RunOfProcedure
	_, err := c.call(ctx, method, "/api/operations/"+url.PathEscape(string(id))+"/procedure"+more, body, &r)
	return r, err
}

// ProcedureCorrection is the next version of a procedure, with what was done by hand in a run of it. For operators.
func (c *Client) ProcedureCorrection(ctx context.Context, id human.OperationID) (procedure.ProcedureDraft, error) {
	var draft procedure.ProcedureDraft
	_, err := c.call(ctx, http.MethodGet, "/api/operations/"+url.PathEscape(string(id))+"/procedure/correction", nil, &draft)
	return draft, err
}
