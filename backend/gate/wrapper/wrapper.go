// Package wrapper puts the gatekeeper around tools that are Go functions: a call that was refused never runs.
package wrapper

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A Judge decides about a call before it runs. Ask means that an operator is being asked: the same call with
// service.Asking.Question goes on waiting. Of agents in a process of their own, client.Client is one.
type Judge interface {
	Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error)
}

// Refused is the error of a call that did not run.
type Refused struct {
	Tool         string
	Reason       string         // why, and what to do, for the agent
	By           string         // the operator who refused it; empty where a rule did
	Alternatives []human.Choice // what would pass in its place, or with more care
	Operation    human.OperationID
	Verdict      human.Verdict
	Err          error // why it could not be judged; nil where it was refused
}

func (r *Refused) Error() string { return r.Tool + " did not run: " + r.Reason }

func (r *Refused) Unwrap() error { return r.Err }

const (
	// waits is how long one question to the judge may wait for the operator.
	waits = 25 * time.Second
	// pause is between two questions to a judge that does not wait.
	pause = time.Second
)

// Wrap returns the tool with the gatekeeper around it, under a name by which it is judged. A call is asked about with its
// arguments as JSON, and waits for the operator where one is asked, until ctx ends. It runs only when it was allowed, with
// the arguments that were allowed: those of the call, decoded from the very JSON that was judged, or others that the
// operator gave. Arguments that do not come back from JSON as they were judged are refused; so A must be a type whose JSON
// holds all that the tool looks at. Any error but the tool's own is a *Refused. The wrapped tool is safe for concurrent
// use where the judge and the tool are.
func Wrap[A, R any](judge Judge, name string, tool func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, a A) (R, error) {
		args, err := permit(ctx, judge, name, a)
		if err != nil {
			var none R
			return none, err
		}
		return tool(ctx, args)
	}
}

// permit returns the arguments with which a call may run.
func permit[A any](ctx context.Context, judge Judge, name string, a A) (allowed A, err error) {
	refuse := func(why error, format string, args ...any) (A, error) {
		var none A
		return none, &Refused{Tool: name, Reason: fmt.Sprintf(format, args...), Err: why}
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return refuse(err, "its arguments cannot be written as JSON")
	}
	call := human.ToolCall{Tool: name, Args: raw, Client: "wrapper"}
	j, err := decide(ctx, judge, call)
	switch {
	case err != nil:
		return refuse(err, "it could not be judged: %s", human.SafeText(err))
	case j.Decision != human.Allow:
		return allowed, refusal(name, j)
	case j.Args != nil:
		call.Args = j.Args
	case j.Verdict.Digest != "" && j.Verdict.Digest != digest(call):
		return refuse(nil, "what was allowed is not what was called")
	}
	// What runs is made from what was judged: nothing that another goroutine changes in the arguments meanwhile, and
	// nothing that JSON does not show, gets by.
	d := json.NewDecoder(bytes.NewReader(call.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(&allowed); err != nil {
		return refuse(err, "the arguments that it was allowed with do not fit it")
	}
	if _, err := d.Token(); err != io.EOF {
		return refuse(err, "the arguments that it was allowed with do not fit it")
	}
	again, err := json.Marshal(allowed)
	if err != nil {
		return refuse(err, "its arguments cannot be written as JSON")
	}
	runs := call
	runs.Args = again
	if digest(runs) != digest(call) {
		return refuse(nil, "its arguments are not what was allowed, once they are read")
	}
	if ctx.Err() != nil {
		return refuse(ctx.Err(), "its caller gave it up")
	}
	return allowed, nil
}

func digest(call human.ToolCall) string {
	return gate.Digest(gate.Call{Tool: call.Tool, Args: call.Args, Cwd: call.Cwd})
}

// decide has the call judged, and waits while an operator is asked.
func decide(ctx context.Context, judge Judge, call human.ToolCall) (human.Judgement, error) {
	how := service.Asking{}
	for {
		j, err := judge.Evaluate(ctx, call, how)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || j.Decision != human.Ask || j.OperationID == "" {
			return j, err
		}
		if how.Question != "" {
			t := time.NewTimer(pause)
			select {
			case <-ctx.Done():
			case <-t.C:
			}
			t.Stop()
		}
		how = service.Asking{Question: j.OperationID, Wait: waits}
	}
}

// refusal is the error for a call that may not run.
func refusal(name string, j human.Judgement) *Refused {
	r := &Refused{Tool: name, Reason: j.Message, By: j.By, Operation: j.OperationID, Verdict: j.Verdict}
	if r.Reason == "" {
		r.Reason = "it was refused"
	}
	for _, c := range j.Verdict.Choices {
		if c.Action == human.ChooseInstead || c.Action == human.ChooseBackup {
			r.Alternatives = append(r.Alternatives, c)
		}
	}
	return r
}
