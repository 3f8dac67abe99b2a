//go:build examples

package examples

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestLangGraphNode(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	node := compiled(t, "adapters", "langgraph-agent")
	for name, tt := range map[string]struct {
		answer  func(human.Operation)
		outcome string
	}{
		"accepted":      {func(op human.Operation) { d.approve(op, "") }, "sent to Ann"},
		"edited":        {func(op human.Operation) { d.approve(op, `{"to": "Anna"}`) }, "sent to Anna"},
		"ignored":       {func(op human.Operation) { d.deny(op, "") }, "not sent"},
		"answered":      {func(op human.Operation) { d.deny(op, "call her") }, "not sent: call her"},
		"no such field": {func(op human.Operation) { d.approve(op, `{"who": "Anna"}`) }, `not sent: send_letter was not called with who; asked for: {"who": "Anna"}`},
		"declined":      {func(op human.Operation) { d.decline(op, "not mine") }, "not sent: not mine"},
	} {
		t.Run(name, func(t *testing.T) {
			p := d.run(node, "node")
			op := d.asked(p)
			if q := details(t, op); op.Kind != human.Approve || op.Description != "Send this letter to Ann?" || q.Risk != "medium" ||
				q.Action != `send_letter({"to":"Ann","text":"See you on Monday."})` {
				t.Errorf("it asked with %s %q, %+v", op.Kind, op.Description, q)
			}
			tt.answer(op)
			says(t, d.ends(p, 0), "the node begins\n", "the node begins\n", "outcome: "+tt.outcome+"\n")
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		says(t, d.ends(d.run(node, "node", "--timeout", "0.3"), 0), "outcome: not sent")
	})
}

// A graph that is kept in a file continues after a crash, with the question that it had sent.
func TestLangGraphRings(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	node := compiled(t, "adapters", "langgraph-agent")
	state := filepath.Join(d.work, "graph")
	p := d.run(node, "node", "--state", state)
	op := d.asked(p)
	p.kill()
	p = d.run(node, "node", "--state", state)
	d.line(p, "the node begins") // so it has come to the interrupt once more
	d.approve(op, "")
	says(t, d.ends(p, 0), "outcome: sent to Ann")
	if all := d.all(); len(all) != 1 {
		t.Errorf("it asked %d times", len(all))
	}

	// A question that no one answers in time is still open, and its answer is there the next time.
	state += "2"
	says(t, d.ends(d.run(node, "ask", "Which of the two?", "--state", state, "--timeout", "0.5"), 2), "unanswered: nobody has answered")
	op = d.asked(p)
	if op.Kind != human.Feedback || op.Description != "Which of the two?" {
		t.Errorf("it asked with %s %q", op.Kind, op.Description)
	}
	d.complete(op, human.Answer{HumanInput: "The blue one."})
	says(t, d.ends(d.run(node, "ask", "Which of the two?", "--state", state), 0), "outcome: The blue one.")
	if all := d.all(); len(all) != 2 {
		t.Errorf("it asked %d times", len(all))
	}
}

// answers gives each open operation the answer for its tool, and waits for that many.
func (d *fixture) answers(p *process, by map[string]func(human.Operation)) {
	d.t.Helper()
	var open []human.Operation
	d.wait("all rings of "+p.cmd.String(), func() bool {
		open = d.open()
		return len(open) >= len(by) || p.over()
	})
	if len(open) != len(by) {
		d.t.Fatalf("there are %d open operations\n%s", len(open), p)
	}
	for _, op := range open {
		op = d.get(op.ID)
		q := details(d.t, op)
		if by[q.Tool] == nil {
			d.t.Fatalf("it asks about %q", q.Tool)
		}
		by[q.Tool](op)
	}
}

func TestLangGraphTools(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	agent := compiled(t, "adapters", "langgraph-agent")
	yes := func(words string) func(human.Operation) { return func(op human.Operation) { d.approve(op, words) } }
	no := func(words string) func(human.Operation) { return func(op human.Operation) { d.deny(op, words) } }
	for name, tt := range map[string]struct {
		remove, pay func(human.Operation)
		says        []string
		not         []string
	}{
		"both":   {yes("go on"), yes(""), []string{"done: removed old.log", "done: paid 20 to Mei", "outcome: the model heard: "}, nil},
		"edited": {yes(""), yes(`{"euro": 15}`), []string{"done: paid 15 to Mei", "outcome: the model heard: "}, []string{"paid 20"}},
		"one refused, so none runs": {yes(""), no("we have paid her"), []string{"outcome: the model heard: we have paid her"},
			[]string{"done: "}},
		"an edit that is not allowed": {yes(`{"path": "new.log"}`), no(""),
			[]string{`outcome: the model heard: changed to {"path": "new.log"}, but the graph takes no changes; A person said no.`}, []string{"done: "}},
	} {
		t.Run(name, func(t *testing.T) {
			p := d.run(agent, "tools")
			d.answers(p, map[string]func(human.Operation){"remove": tt.remove, "pay": tt.pay})
			out := d.ends(p, 0)
			says(t, out, tt.says...)
			saysNot(t, out, tt.not...)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		out := d.ends(d.run(agent, "tools", "--timeout", "0.3"), 0)
		says(t, out, "outcome: the model heard: ")
		saysNot(t, out, "done: ")
	})
}

// What a graph asks, in each of the spellings, and what it is resumed with: by the adapter in TypeScript, through a graph,
// and by the one in Python.
func TestLangGraphShapes(t *testing.T) {
	ways := map[string]func(t *testing.T) []string{
		"typescript": func(t *testing.T) []string { return append(compiled(t, "adapters", "langgraph-agent"), "ask") },
		"python": func(t *testing.T) []string {
			return []string{"python3", "-B", file(t, "adapters", "langgraph_interrupt.py")}
		},
	}
	for language, how := range ways {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			approve := func(words string) func(human.Operation) { return func(op human.Operation) { d.approve(op, words) } }
			deny := func(words string) func(human.Operation) { return func(op human.Operation) { d.deny(op, words) } }
			tell := func(words string) func(human.Operation) {
				return func(op human.Operation) { d.complete(op, human.Answer{HumanInput: words}) }
			}
			decline := func(op human.Operation) { d.decline(op, "not mine") }
			table := []struct {
				asked  string
				kind   human.Kind
				answer func(human.Operation)
				want   string
			}{
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_accept":true}}`, human.Approve, approve(""), `[{"type":"accept","args":null}]`},
				{`{"action_request":{"action":"mail","arguments":{"to":"a"}},"config":{"allow_accept":true,"allow_edit":true}}`, human.Approve, approve(`{"to":"b"}`),
					`[{"type":"edit","args":{"action":"mail","args":{"to":"b"}}}]`},
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_accept":true}}`, human.Approve, approve(`{"to":"b"}`), `[{"type":"ignore","args":null}]`},
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_accept":true}}`, human.Approve, deny("why?"), `[{"type":"ignore","args":null}]`},
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_accept":true,"allow_edit":true}}`, human.Approve, approve(`{"who":"b"}`), `[{"type":"ignore","args":null}]`},
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_accept":true,"allow_respond":true}}`, human.Approve, deny("why?"), `[{"type":"response","args":"why?"}]`},
				{`{"action_request":{"action":"mail","args":{"to":"a"}},"config":{"allow_edit":true}}`, human.Approve, approve(""), `[{"type":"edit","args":{"action":"mail","args":{"to":"a"}}}]`},
				{`[{"action_request":{"action":"Which?","args":{}},"config":{"allow_respond":true}}]`, human.Feedback, tell("the blue one"), `[{"type":"response","args":"the blue one"}]`},
				{`[{"action_request":{"action":"Which?","args":{}},"config":{"allow_respond":true}}]`, human.Feedback, decline, `[{"type":"ignore","args":null}]`},
				{`{"action_requests":[{"name":"rm","args":{"path":"x"}}],"review_configs":[{"action_name":"rm","allowed_decisions":["approve","reject"]}]}`, human.Approve, approve("fine"), `{"decisions":[{"type":"approve"}]}`},
				{`{"action_requests":[{"name":"rm","arguments":{"path":"x"}}],"review_configs":[{"action_name":"rm","allowed_decisions":["approve","edit","reject"]}]}`, human.Approve, approve(`{"path":"y"}`),
					`{"decisions":[{"type":"edit","edited_action":{"name":"rm","args":{"path":"y"}}}]}`},
				{`{"actionRequests":[{"name":"rm","args":{"path":"x"}}],"reviewConfigs":[{"actionName":"rm","allowedDecisions":["edit","reject"]}]}`, human.Approve, approve(""),
					`{"decisions":[{"type":"edit","editedAction":{"name":"rm","args":{"path":"x"}}}]}`},
				{`{"action_requests":[{"name":"rm","args":{"path":"x"}}],"review_configs":[{"action_name":"rm","allowed_decisions":["approve","reject"]}]}`, human.Approve, approve(`{"path":"y"}`),
					`{"decisions":[{"type":"reject","message":"changed to {\"path\":\"y\"}, but the graph takes no changes"}]}`},
				{`{"action_requests":[{"name":"rm","args":{"path":"x"}}],"review_configs":[]}`, human.Approve, decline, `{"decisions":[{"type":"reject","message":"not mine"}]}`},
				{`{"action_requests":[{"name":"which","args":{}}],"review_configs":[{"action_name":"which","allowed_decisions":["respond"]}]}`, human.Feedback, tell("the blue one"),
					`{"decisions":[{"type":"respond","message":"the blue one"}]}`},
				{`{"question":"Which?","options":["a","b"]}`, human.Feedback, tell("b"), `"b"`},
			}
			var args []string
			for _, tt := range table {
				args = append(args, tt.asked)
			}
			p := d.run(how(t), args...) // one after the other
			for _, tt := range table {
				op := d.asked(p)
				if op.Kind != tt.kind {
					t.Errorf("%s asked as %s", tt.asked, op.Kind)
				}
				tt.answer(op)
			}
			got := strings.Split(strings.TrimSpace(d.ends(p, 0)), "\n")
			if len(got) != len(table) {
				t.Fatalf("of %d answers there are %d\n%s", len(table), len(got), p)
			}
			for i, tt := range table {
				said := strings.TrimPrefix(got[i], "outcome: ")
				if !same(said, tt.want) && `"`+said+`"` != tt.want {
					t.Errorf("%s was resumed with\n%s, not with\n%s", tt.asked, said, tt.want)
				}
			}
		})
	}
}

// same says whether two texts are the same JSON.
func same(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// LangGraph for Python gives all interrupts of a node the same id. A yes to one is none to the next, even of the same words;
// but the answer to one that was asked before a crash is still good.
func TestOneYesForOneCall(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	const program = `
import sys
sys.path[:0] = sys.argv[1:3]
from deskbell import Deskbell
from langgraph_interrupt import answer
action = {"action_request": {"action": "mail", "args": {"to": "a"}}, "config": {"allow_accept": True}}
for _ in range(2):
    print("outcome:", answer(Deskbell.from_env(), "thread", "the-same-id", action)[0]["type"], flush=True)
`
	run := func() *process {
		return d.run([]string{"python3", "-B", "-c", program}, file(t, "python"), file(t, "adapters"))
	}
	p := run()
	op := d.asked(p)
	p.kill()
	d.approve(op, "")
	p = run()
	d.line(p, "outcome: accept") // the answer to the first, given while no one waited
	d.deny(d.asked(p), "")
	says(t, d.ends(p, 0), "outcome: accept\n", "outcome: ignore\n")
	if all := d.all(); len(all) != 2 {
		t.Errorf("it asked %d times", len(all))
	}
}
