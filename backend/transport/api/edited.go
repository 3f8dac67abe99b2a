package api

import (
	"context"
	"encoding/json"
	"regexp"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// An EditRequest is arguments of an approval as an operator would change them.
type EditRequest struct {
	OperationID human.OperationID `json:"operation_id"`
	Args        json.RawMessage   `json:"args" doc:"A JSON object of the arguments that are edited; those that are not in it stay as they are."`
}

func (r EditRequest) operation() human.OperationID { return r.OperationID }

// An EditedView is the call of an approval with edited arguments.
type EditedView struct {
	human.EditedCall
	Risk human.Risk `json:"risk,omitempty" enum:"none,low,medium,high,critical" doc:"Never lower than its agent said."`
}

// toolName is what the gatekeeper can judge as a call of a tool; other actions are sentences or commands.
var toolName = regexp.MustCompile(`^[A-Za-z_][\w.:/-]{0,127}$`)

// edited is what an approval would be with other arguments. Its risk is the agent's, or where the edit makes the call more dangerous
// than it was, as the gatekeeper finds.
func (s *Server) edited(ctx context.Context, by human.Actor, r EditRequest) (EditedView, error) {
	op, err := s.deps.Queue.Get(ctx, by, r.OperationID)
	if err != nil {
		return EditedView{}, err
	}
	var a human.Answer
	if a.Args, err = op.Edited(r.Args); err != nil {
		return EditedView{}, err
	}
	view := EditedView{EditedCall: human.EditedCall{Changes: []human.EditedValue{}, Digest: op.Digest, Requested: op.Digest}, Risk: op.Risk}
	call := op.EditedCall(a)
	if call == nil {
		return view, nil
	}
	view.EditedCall = *call
	tool, _ := human.JSONString(kind.Value(op, "action"))
	if s.deps.Gate == nil || !toolName.MatchString(tool) {
		return view, nil
	}
	was, err := s.deps.Gate.Try(ctx, by, human.ToolCall{Tool: tool, Args: kind.Value(op, "arguments"), Client: op.AgentID}, "")
	if err != nil {
		return view, err
	}
	is, err := s.deps.Gate.Try(ctx, by, human.ToolCall{Tool: tool, Args: a.Args, Client: op.AgentID}, "")
	if err != nil {
		return view, err
	}
	if is.Verdict.Risk.Level() > was.Verdict.Risk.Level() && (op.Risk == "" || is.Verdict.Risk.Level() > op.Risk.Level()) {
		view.Risk = is.Verdict.Risk
	}
	return view, nil
}
