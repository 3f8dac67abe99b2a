//go:build examples

package examples

import (
	"syscall"
	"testing"

	"deskbell/backend/human"
)

func TestACP(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	client, agent := compiled(t, "adapters", "acp-client"), compiled(t, "adapters", "acp-agent")
	run := func(env []string, prompt string) *process {
		return d.runWith(env, client, append([]string{prompt}, agent...)...)
	}
	for name, tt := range map[string]struct {
		env    []string
		answer func(human.Operation)
		code   int
		says   string
	}{
		"allowed":               {nil, func(op human.Operation) { d.approve(op, "fine") }, 0, "[old.log: deleted]\nended: end_turn"},
		"rejected":              {nil, func(op human.Operation) { d.deny(op, "") }, 0, "[old.log: not allowed]\nended: end_turn"},
		"declined":              {nil, func(op human.Operation) { d.decline(op, "not mine") }, 0, "[old.log: not allowed]\nended: end_turn"},
		"no way to say yes":     {[]string{"OPTIONS=no"}, func(op human.Operation) { d.approve(op, "") }, 2, "[old.log: cancelled]\nended: cancelled"},
		"only a yes for ever":   {[]string{"OPTIONS=always,no"}, func(op human.Operation) { d.approve(op, "") }, 2, "[old.log: cancelled]\nended: cancelled"},
		"that yes, and by name": {[]string{"OPTIONS=always,no"}, func(op human.Operation) { d.approve(op, "always allow") }, 0, "[old.log: deleted]\nended: end_turn"},
		"no way to say no":      {[]string{"OPTIONS=yes"}, func(op human.Operation) { d.deny(op, "") }, 2, "[old.log: cancelled]\nended: cancelled"},
		"no, and the name of a yes": {nil, func(op human.Operation) { d.deny(op, "Always allow") }, 0,
			"[old.log: not allowed]\nended: end_turn"},
		"nobody there": {[]string{"TIMEOUT=0.3"}, nil, 2, "[old.log: cancelled]\nended: cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			p := run(tt.env, "Delete old.log, please.")
			if tt.answer != nil {
				op := d.asked(p)
				// The agent names the call before it asks about it, and only by its id then.
				if q := details(t, op); op.Kind != human.Approve || op.Description != "Delete old.log" || q.Risk != "high" || q.Action != `delete({"path":"old.log"})` {
					t.Errorf("it asked with %s %q, %+v", op.Kind, op.Description, q)
				}
				tt.answer(op)
			}
			says(t, d.ends(p, tt.code), tt.says)
		})
	}
	t.Run("one for all", func(t *testing.T) {
		before := len(d.all())
		p := run(nil, "Delete one.log, two.log and three.log.")
		d.approve(d.asked(p), "") // one.log, this once
		d.wait("the second ring", func() bool { return len(d.all()) == before+2 || p.over() })
		op := d.asked(p)
		if op.Description != "Delete two.log" {
			t.Errorf("the second ring is %q", op.Description)
		}
		d.approve(op, "Always allow")
		says(t, d.ends(p, 0), "[one.log: deleted][two.log: deleted][three.log: deleted]\nended: end_turn")
		if rings := len(d.all()) - before; rings != 2 {
			t.Errorf("it asked %d times", rings)
		}
	})
	t.Run("cancelled with Ctrl+C", func(t *testing.T) {
		p := run(nil, "Delete old.log, please.")
		op := d.waited(p)
		p.signal(t, syscall.SIGINT)
		says(t, d.ends(p, 2), "[old.log: cancelled]\nended: cancelled")
		if op = d.state(op.ID, human.Cancelled); op.Ended.By.Role != human.Agent {
			t.Errorf("it was withdrawn by %v", op.Ended.By)
		}
	})
	if open := d.open(); len(open) > 0 {
		t.Errorf("%d operations are left open", len(open))
	}
}
