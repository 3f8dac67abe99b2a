package bell

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
)

// Denied is the error of a call that the gatekeeper, or the operator it asked, did not let run.
type Denied struct {
	Tool    string
	Reason  string // for the agent: why, and what to do
	By      string // the operator who denied it; empty where a rule did
	Instead string // a command that would do the same with less risk, where there is one
}

func (d *Denied) Error() string { return d.Tool + " did not run: " + d.Reason }

// A judgement is what the gatekeeper says about a call.
type judgement struct {
	Decision    string          `json:"decision"` // allow, deny, or ask: an operator is being asked
	Message     string          `json:"message"`
	OperationID string          `json:"operation_id"`
	By          string          `json:"by"`
	Args        json.RawMessage `json:"args"` // run it with these and no others
	Verdict     struct {
		Choices []struct{ Action, Command string }
	} `json:"verdict"`
}

// Guard puts the gatekeeper around a tool that is a Go function: a call that was denied never runs, and returns a *Denied.
// A call is judged by the tool's name, the process's folder and the arguments as JSON, and waits for the operator where one
// is asked, until ctx ends. It runs with arguments decoded from the JSON that was judged, or that the operator changed it
// to; so A must be a type whose JSON holds all that the tool looks at. Any error means that the tool did not run, except
// the tool's own. The guarded tool is safe for concurrent use where the tool is.
func Guard[A, R any](b Bell, name string, tool func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, args A) (result R, err error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return result, err
		}
		if raw, err = b.judge(ctx, name, raw); err != nil {
			return result, err
		}
		if args, err = exactly[A](raw); err != nil {
			return result, &Denied{Tool: name, Reason: "the arguments that it was allowed with do not fit it: " + err.Error()}
		}
		return tool(ctx, args)
	}
}

// judge returns the arguments that a call may run with.
func (b Bell) judge(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	call := map[string]any{"tool": tool, "args": args, "cwd": cwd, "client": "guard", "call_id": rand.Text()}
	path, until := "/api/gate/evaluate", context.WithoutCancel(ctx) // the first answer names what there is to withdraw
	asked := ""
	for {
		var j judgement
		err := b.Do(until, "POST", path, call, &j)
		asked = cmp.Or(asked, j.OperationID)
		if ctx.Err() != nil && asked != "" {
			return nil, errors.Join(ctx.Err(), b.Withdraw(context.WithoutCancel(ctx), asked, "the agent was stopped"))
		}
		switch {
		case err != nil || ctx.Err() != nil:
			return nil, cmp.Or(err, ctx.Err())
		case j.Decision == "allow" && j.Args != nil:
			return j.Args, nil
		case j.Decision == "allow":
			return args, nil
		case j.Decision == "ask" && j.OperationID != "":
			call["operation_id"] = j.OperationID
			path, until = "/api/gate/evaluate?wait=25", ctx
			continue
		}
		denied := &Denied{Tool: tool, Reason: j.Message, By: j.By}
		for _, c := range j.Verdict.Choices {
			if c.Action == "instead" {
				denied.Instead = c.Command
			}
		}
		return nil, denied
	}
}

// exactly decodes JSON into a type that must hold all of it: nothing that was judged is lost, rounded, or read otherwise.
func exactly[A any](raw json.RawMessage) (args A, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return args, err
	}
	read, err := json.Marshal(args)
	if err != nil {
		return args, err
	}
	if !reflect.DeepEqual(generic(read), generic(raw)) {
		return args, errors.New("they are not the same once they are read")
	}
	return args, nil
}

// generic is what JSON says, with its numbers as they are written; nil where more follows, or it is no JSON.
func generic(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	return v
}
