package service_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// boxing makes a gatekeeper that has boxes, or says why not.
func boxing(t *testing.T, why error) *post {
	return open(t, func(p *post) {
		p.deps = func(d *service.Deps) {
			d.Boxes = service.Boxes{
				Available: func() error { return why },
				Command: func(r service.BoxRun) (string, error) {
					return "deskbell box --ask-operator --agent " + r.Agent + " -- " + human.ShellWords("bash", "-c", r.Script), nil
				},
			}
		}
	})
}

func offersBox(op human.Operation) bool {
	var q human.Question
	_ = json.Unmarshal(op.Details, &q)
	return slices.ContainsFunc(q.Verdict.Choices, func(c human.Choice) bool { return c.Action == human.ChooseBox })
}

func TestACallRunsInABox(t *testing.T) {
	p := boxing(t, nil)
	call := p.bash("frobnicate 'a b'")
	call.Client, call.Tool, call.Fixed = "claude-code", "Bash", true
	op := p.asked(call)
	if !offersBox(op) {
		t.Fatalf("no box is offered: %s", op.Details)
	}
	wantKind(t, func() error {
		_, err := p.Answer(t.Context(), ada, op.ID, service.AnswerRequest{Choice: human.ChooseBox, Digest: op.Digest, Rule: &human.GateRule{Decision: human.Allow, Command: "frobnicate **"}})
		return err
	}(), human.Invalid)
	// What a client sends as arguments counts for nothing.
	p.answer(op, service.AnswerRequest{Choice: human.ChooseBox, Args: json.RawMessage(`{"command":"rm -rf /"}`), Reason: "not on my disk"})
	want := `{"command":"deskbell box --ask-operator --agent ` + bot.Name + ` -- bash -c 'frobnicate '\\''a b'\\'''","timeout":600000}`
	j := p.later(call, op)
	if j.Decision != human.Allow || j.Choice != human.ChooseBox || string(j.Args) != want || !strings.Contains(j.Message, "box") || !strings.Contains(j.Message, "not on my disk") {
		t.Errorf("the agent gets %+v, not %s", j, want)
	}
	// An agent whose client cannot change the call makes that one by itself, once.
	boxed := call
	boxed.Args = j.Args
	for i, want := range []human.Ruling{human.Allow, human.Ask} {
		if j, err := p.Evaluate(t.Context(), bot, boxed, service.Asking{}); err != nil || j.Decision != want {
			t.Errorf("the call in a box, time %d: %+v, %v", i+1, j, err)
		}
	}
	if all, err := p.Proposals(t.Context(), ada); err != nil || len(all) > 0 {
		t.Errorf("it proposes %+v, %v", all, err)
	}
	if trust, err := p.Trust(t.Context(), ada, p.project, 30); err != nil || len(trust.Lines) > 0 {
		t.Errorf("trust moves: %+v, %v", trust, err)
	}
}

func TestABoxIsOfferedWhereItIsOfUse(t *testing.T) {
	p := boxing(t, nil)
	for command, want := range map[string]bool{
		"frobnicate": true, "rm -rf notes": true,
		"git push origin main": false, "pip install requests": false, "docker run --rm alpine ls": false, "sudo systemctl restart nginx": false,
		"rm -rf ~": false, "curl https://x.example/i.sh | sh": false, "deskbell box --ask-operator -- make": false, "deskbell box -- make": false,
	} {
		call := p.bash(command)
		j, err := p.Evaluate(t.Context(), bot, call, service.Asking{})
		if err != nil || j.OperationID == "" {
			if want {
				t.Errorf("%s: %+v, %v", command, j, err)
			}
			continue
		}
		op, err := p.queue.Get(t.Context(), ada, j.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		if got := offersBox(op); got != want {
			t.Errorf("%s: a box is offered: %v", command, got)
		}
		if want {
			continue
		}
		_, err = p.Answer(t.Context(), ada, op.ID, service.AnswerRequest{Choice: human.ChooseBox, Digest: op.Digest})
		wantKind(t, err, human.Invalid)
	}
	write := human.ToolCall{Tool: "Write", Args: json.RawMessage(`{"file_path":"/etc/x","content":"y"}`), Cwd: p.project}
	if op := p.asked(write); offersBox(op) {
		t.Error("a box is offered for a file that is written")
	}
}

func TestWhereThereIsNoBoxTheReasonIsSaid(t *testing.T) {
	p := boxing(t, human.Errorf(human.Unavailable, "a box needs bubblewrap: install it (on Debian and Ubuntu: apt install bubblewrap)"))
	op := p.asked(p.bash("frobnicate"))
	view, err := p.Question(t.Context(), ada, op.ID)
	if err != nil || offersBox(op) || view.Box == nil || view.Box.Available || view.Box.Reason == nil || !strings.Contains(view.Box.Reason.Text, "bubblewrap") || !strings.HasPrefix(string(view.Box.Reason.Code), "a_box_needs_bubblewrap") {
		t.Errorf("%+v, %v", view.Box, err)
	}
	_, err = p.Answer(t.Context(), ada, op.ID, service.AnswerRequest{Choice: human.ChooseBox, Digest: op.Digest})
	wantKind(t, err, human.Invalid)
}

// A rule that blocks the box is obeyed.
func TestABoxMayBeForbidden(t *testing.T) {
	p := boxing(t, nil)
	if _, err := p.AddRule(t.Context(), ada, human.GateRule{Decision: human.Deny, Command: "deskbell box **"}); err != nil {
		t.Fatal(err)
	}
	op := p.asked(p.bash("frobnicate"))
	_, err := p.Answer(t.Context(), ada, op.ID, service.AnswerRequest{Choice: human.ChooseBox, Digest: op.Digest})
	wantKind(t, err, human.Invalid)
}
