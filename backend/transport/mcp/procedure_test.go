package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	mcpserver "deskbell/backend/transport/mcp"
)

const invoices = `deskbell_procedure: 1
name: export_invoice
title: Export an invoice
description: Downloads the invoice of a customer.
where: browser
does: [reads]
parameters:
  - {name: customer, type: text, examples: [Nordwind], description: as on the invoice}
  - {name: month, type: month, examples: [2026-09]}
  - {name: copies, type: integer, default: "1"}
outputs:
  - {name: total, type: text}
steps:
  - {id: s1, do: navigate, title: Open, url: "https://portal.example/?of={customer}&in={month}&n={copies}", then: [{is: address, text: "https://portal.example/*"}]}
  - {id: s2, do: pick, title: Read, output: total, target: {role: status, name: Total}, then: [{is: text, text: Total}]}
`

// taughtTo is a service where the connection is of one agent.
type taughtTo struct{ *procedure.Service }

func (s taughtTo) Ask(ctx context.Context, _ human.Actor, name string, c procedure.Call) (procedure.Asked, error) {
	return s.Service.Ask(ctx, bot, name, c)
}

// TestProceduresAreTools: each procedure is a tool of its own, from when it is saved until it is deleted, and a call is a request.
func TestProceduresAreTools(t *testing.T) {
	q, store := openStore(t)
	service := procedure.New(procedure.Deps{Store: store.Procedures(), Queue: q, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	c := inMemory(t, mcpserver.ForQueue(q, nil, bot), mcpserver.Options{Procedures: taughtTo{service}}, modern)
	ctx := t.Context()
	tools := func() map[string]*mcp.Tool {
		t.Helper()
		list, err := c.ListTools(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]*mcp.Tool{}
		for _, tool := range list.Tools {
			all[tool.Name] = tool
		}
		return all
	}
	if all := tools(); len(all) != 1 {
		t.Errorf("before anything was taught there are %d tools", len(all))
	}
	if _, err := service.Save(ctx, mei, procedure.Change{File: invoices}); err != nil {
		t.Fatal(err)
	}
	tool := tools()["procedure_export_invoice"]
	if tool == nil {
		t.Fatal("it is no tool")
	}
	raw, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"required":["customer","month"]`, `"pattern":"^(?:\\d{4}-\\d{2})$"`, `"type":"integer"`, `"description":"as on the invoice"`, `"additionalProperties":false`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the schema has no %s: %s", want, raw)
		}
	}
	if !tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint || !strings.Contains(tool.Description, "Gives back: total") {
		t.Errorf("the tool is described as %+v %s", tool.Annotations, tool.Description)
	}

	wrong, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "procedure_export_invoice", Arguments: map[string]any{"customer": "Nordwind", "month": "September"}})
	if err != nil || !wrong.IsError || !strings.Contains(wrong.Content[0].(*mcp.TextContent).Text, "month") {
		t.Errorf("a month that is none: %+v, %v", wrong, err)
	}

	answered := make(chan error, 1)
	go func() { answered <- answers(q, "Nordwind") }()
	result, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "procedure_export_invoice", Arguments: map[string]any{"customer": "Nordwind", "month": "2026-10", "copies": 2}})
	if err != nil || result.IsError {
		t.Fatalf("the call: %+v, %v", result, err)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	var got struct {
		Status string
		Fields map[string]string
	}
	raw, _ = json.Marshal(result.StructuredContent)
	if err := json.Unmarshal(raw, &got); err != nil || got.Status != "completed" || got.Fields["total"] != "€ 1,904.00" {
		t.Errorf("the agent gets %s", raw)
	}

	if err := service.Remove(ctx, mei, "export_invoice"); err != nil {
		t.Fatal(err)
	}
	if all := tools(); all["procedure_export_invoice"] != nil {
		t.Error("it is a tool after it was deleted")
	}
}

// answers is an operator who answers the next run that is asked for, where it has a value among its parameters.
func answers(q interface {
	Recent(ctx context.Context, of human.Kind, most int) ([]human.Operation, error)
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Claim(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Complete(ctx context.Context, by human.Actor, id human.OperationID, a human.Answer, digest string) (human.Operation, error)
}, value string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		all, err := q.Recent(ctx, human.ProcedureRun, 10)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			<-time.After(5 * time.Millisecond)
			continue
		}
		op, err := q.Claim(ctx, mei, all[0].ID)
		if err != nil {
			return err
		}
		var call human.ProcedureCall
		if err := json.Unmarshal(op.Details, &call); err != nil || call.Parameters["customer"] != value || call.Parameters["copies"] != "2" {
			return human.Errorf(human.Internal, "asked for %s", op.Details)
		}
		a := human.Answer{Fields: map[string]string{"total": "€ 1,904.00"}, ExecutionResult: "Ran it."}
		a.Verdict = human.WorkDone
		_, err = q.Complete(ctx, mei, op.ID, a, op.Digest)
		return err
	}
}

// TestOverHTTPEveryAgentHasItsProcedures, also while another one lists its own; what is not for it tells it so, and no more.
func TestOverHTTPEveryAgentHasItsProcedures(t *testing.T) {
	q, store := openStore(t)
	service := procedure.New(procedure.Deps{Store: store.Procedures(), Queue: q, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	s, _ := serve(t, q, mcpserver.Options{Procedures: service})
	ctx := t.Context()
	mustSave := func(file string) {
		t.Helper()
		if _, err := service.Save(ctx, mei, procedure.Change{File: file}); err != nil {
			t.Fatal(err)
		}
	}
	mustSave(invoices)
	mustSave(strings.Replace(invoices, "export_invoice", "other_work", 1))
	allow := func(name string, agents ...string) {
		t.Helper()
		if _, err := service.SetAgents(ctx, mei, name, procedure.AgentsAllowed{Agents: agents}); err != nil {
			t.Fatal(err)
		}
	}
	allow("export_invoice", bot.Name)
	for _, version := range []string{modern, legacy} {
		mine, theirs := overHTTP(t, s, "dbk_bot", version), overHTTP(t, s, "dbk_other", version)
		allow("other_work", other.Name[:2]+"*")
		lists := func(c *client, want string) {
			t.Helper()
			list, err := c.ListTools(ctx, nil)
			if err != nil {
				t.Error(err)
				return
			}
			var got []string
			for _, tool := range list.Tools {
				if strings.HasPrefix(tool.Name, "procedure_") {
					got = append(got, tool.Name)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: it lists %q, not %q", version, got, want)
			}
		}
		var both sync.WaitGroup
		for range 10 {
			both.Go(func() { lists(mine, "procedure_export_invoice") })
			both.Go(func() { lists(theirs, "procedure_other_work") })
		}
		both.Wait()
		for _, arguments := range []map[string]any{{}, {"customer": "Nordwind", "month": "2026-10"}, {"x": "1"}} {
			r, err := theirs.CallTool(ctx, &mcp.CallToolParams{Name: "procedure_export_invoice", Arguments: arguments})
			if err != nil || !r.IsError {
				t.Fatalf("%s: it is called: %+v, %v", version, r, err)
			}
			if text := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "cannot call procedure export_invoice; an operator can let it") || strings.Contains(text, "month") {
				t.Errorf("%s: it gets %s", version, text)
			}
		}
		if all, err := q.Recent(ctx, human.ProcedureRun, 10); err != nil || len(all) > 0 {
			t.Errorf("%s: it is asked for: %+v, %v", version, all, err)
		}
		allow("other_work", "*")
		lists(mine, "procedure_export_invoice procedure_other_work")
	}
	r, err := overHTTP(t, s, "dbk_bot", modern).CallTool(ctx, &mcp.CallToolParams{Name: "procedure_none"})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "no procedure") {
		t.Errorf("one that is not there: %+v, %v", r, err)
	}
}

// later are procedures of which one is there from a time on.
type later struct{ from time.Time }

func (l later) Tools(context.Context, human.Actor) ([]procedure.Tool, error) {
	if time.Now().Before(l.from) {
		return nil, nil
	}
	return []procedure.Tool{{Name: "export_invoice"}}, nil
}

func (later) Ask(context.Context, human.Actor, string, procedure.Call) (procedure.Asked, error) {
	return procedure.Asked{}, human.Errorf(human.Denied, "not now")
}

// TestWhoListensHearsOfOtherProcedures: a client whose connection stays open, without asking, within 15 seconds.
func TestWhoListensHearsOfOtherProcedures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ended := make(chan error, 1)
		began := time.Now()
		go func() {
			ended <- mcpserver.ServeStdio(t.Context(), nil, in, out, mcpserver.Options{Procedures: later{began.Add(time.Minute)}})
		}()
		changed := make(chan time.Time, 1)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "listens", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- time.Now() },
		}).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: legacy})
		if err != nil {
			t.Fatal(err)
		}
		if at := (<-changed).Sub(began); at < time.Minute || at > 76*time.Second {
			t.Errorf("it hears after %s", at)
		}
		_ = toServer.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = out.Close()
		_ = c.Close()
	})
}
