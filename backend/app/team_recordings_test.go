package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

const recPath = "/api/recordings/rec_1"

// recorder is the desk of Mei, where the recording rec_1 of an answered operation is.
func recorder(t *testing.T, h *hub.Hub) (*fixture, human.OperationID) {
	t.Helper()
	dir := t.TempDir()
	op := remembered(t, dir, false)
	env := []string{"DESKBELL_KEY=" + key(t, dir, "bot")}
	s := serve(t, dir, nil)
	d := &fixture{s, dir, env, operator(t, s.url, s.code)}
	d.joins(t, h, "Mei", team.OperatorRole)
	return d, op
}

// reaches waits until an operation that is such is here.
func (d *fixture) reaches(t *testing.T, id human.OperationID, is func(human.Operation) bool) (op human.Operation) {
	t.Helper()
	waitFor(t, "operation "+string(id), func() bool {
		op = human.Operation{}
		status, err := d.boss.call("GET", "/api/human/operations/"+string(id), nil, &op)
		return err == nil && status == 200 && is(op)
	})
	return op
}

func there(human.Operation) bool { return true }

// asks asks for rec_1 of an operation.
func (d *fixture) asks(t *testing.T, op human.OperationID, reason string) (h human.RecordingHolder) {
	t.Helper()
	d.reaches(t, op, func(op human.Operation) bool { return len(op.Recordings) == 1 })
	d.boss.good(t, "POST", "/api/human/operations/"+string(op)+"/recordings/rec_1/ask", map[string]string{"reason": reason}, &h)
	return h
}

// decides answers a request.
func (d *fixture) decides(t *testing.T, id human.OperationID, decision human.Decision, note string) {
	t.Helper()
	op := d.reaches(t, id, there)
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": id, "decision": decision, "human_input": note, "digest": op.Digest}, nil)
}

// A member asks another for a recording, and once they agree reads it as it leaves their desk: with its masks, and without what was removed.
func TestAskingForARecording(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	mei, op := recorder(t, h)
	wen, eve := deskOf(t, h, "Wen", team.OperatorRole), deskOf(t, h, "Eve", team.AuditorRole)

	asked := wen.asks(t, op, "I have the same task")
	if asked.Member != "Mei" || asked.Asked == "" || asked.Until != nil {
		t.Fatalf("asking says %+v", asked)
	}
	if again := wen.asks(t, op, "I have the same task, still"); again.Asked != asked.Asked {
		t.Errorf("asked twice: %s, %s", asked.Asked, again.Asked)
	}
	request := mei.reaches(t, asked.Asked, func(op human.Operation) bool { return len(op.Routing) > 0 })
	if request.Kind != human.Approve || request.To != "Mei" || request.RequestedBy != "Wen" || request.AgentID != "@Wen" || !slices.Equal(request.Routing[0].Names, []string{"Mei"}) ||
		request.Description != "Wen asks for the complete recording of: Press it\n\nBecause: I have the same task" {
		t.Errorf("the request is %+v", request)
	}
	if status, _ := wen.boss.call("POST", "/api/human/complete", map[string]any{"operation_id": request.ID, "decision": "approve", "digest": request.Digest}, nil); status != 403 {
		t.Errorf("whoever asks approves it: %d", status)
	}
	if status, text := wen.boss.read(t, recPath); status != 403 || !bytes.Contains(text, []byte("Mei has not agreed")) {
		t.Errorf("before the answer: %d, %s", status, text)
	}
	eve.reaches(t, op, there)
	if status, _ := eve.boss.call("POST", "/api/human/operations/"+string(op)+"/recordings/rec_1/ask", map[string]string{}, nil); status != 403 {
		t.Errorf("an auditor asks: %d", status)
	}

	mei.decides(t, asked.Asked, human.Refused, "not this one")
	denied := wen.reaches(t, asked.Asked, func(op human.Operation) bool { return op.State.Terminal() })
	if denied.Result.HumanInput != "not this one" {
		t.Errorf("the denial is %+v", denied.Result)
	}
	if status, _ := wen.boss.read(t, recPath); status != 403 {
		t.Errorf("after a denial: %d", status)
	}
	second := wen.asks(t, op, "")
	if second.Asked == asked.Asked {
		t.Fatal("a denial cannot be asked about again")
	}

	var edits human.Edits
	var own library.Actions
	mei.boss.good(t, "GET", recPath+"/edits", nil, &edits)
	mei.boss.good(t, "GET", recPath+"/actions?language=zh-CN", nil, &own)
	picture := own.Actions[0].After
	edits.Masks = []human.Mask{{Picture: picture, X: 100, Y: 100, W: 400, H: 300}}
	mei.boss.good(t, "PUT", recPath+"/edits", edits, &edits)
	mei.decides(t, second.Asked, human.Approved, "")
	wen.reaches(t, second.Asked, func(op human.Operation) bool { return op.State.Terminal() })
	if now := wen.asks(t, op, ""); now.Asked != second.Asked || now.Until == nil || time.Until(*now.Until) < 6*24*time.Hour {
		t.Errorf("what was granted: %+v", now)
	}

	var is, want human.Recording
	var seen library.Actions
	wen.boss.good(t, "GET", recPath, nil, &is)
	mei.boss.good(t, "GET", recPath, nil, &want)
	if want.Holder = "Mei"; !reflect.DeepEqual(is, want) {
		t.Errorf("the recording is %+v,\nwant %+v", is, want)
	}
	wen.boss.good(t, "GET", recPath+"/actions?language=zh-CN", nil, &seen)
	if !reflect.DeepEqual(seen.Actions, own.Actions) {
		t.Errorf("its actions are %+v,\nwant %+v", seen.Actions, own.Actions)
	}
	_, raw := mei.boss.read(t, recPath+"/pictures/"+picture)
	_, masked := mei.boss.read(t, recPath+"/pictures/"+picture+"?masked=true")
	for _, query := range []string{"", "?masked=true", "?masked=false"} {
		if status, got := wen.boss.read(t, recPath+"/pictures/"+picture+query); status != 200 || !bytes.Equal(got, masked) || bytes.Equal(got, raw) {
			t.Errorf("its picture %s: %d, %d bytes", query, status, len(got))
		}
	}
	if status, _ := wen.bot(t).read(t, recPath); status != 404 {
		t.Errorf("an agent of the desk reads it: %d", status)
	}

	// What is removed later is gone here, too.
	edits.Cuts = []string{own.Actions[0].ID}
	mei.boss.good(t, "PUT", recPath+"/edits", edits, nil)
	wen.boss.good(t, "GET", recPath+"/actions", nil, &seen)
	if status, _ := wen.boss.read(t, recPath+"/pictures/"+picture); len(seen.Actions) != 0 || status != 404 {
		t.Errorf("after it was removed: %+v, its picture %d", seen.Actions, status)
	}

	mei.stop(t)
	waitFor(t, "the desk to be away", func() bool {
		status, text := wen.boss.read(t, recPath)
		return status == 503 && bytes.Contains(text, []byte("the file is on Mei's desk, which is not connected"))
	})
	mei.server = serve(t, mei.dir, nil)
	mei.boss = operator(t, mei.url, mei.code)
	mei.team(t, online)
	wen.boss.good(t, "GET", recPath, nil, nil)

	// Whoever deletes the request withdraws their consent; a recording that is deleted is nowhere.
	run(t, mei.dir, nil, "delete", string(second.Asked), "--yes", "--code", mei.invite(t)).want(t, 0)
	if status, _ := wen.boss.read(t, recPath); status != 403 {
		t.Errorf("after the request was deleted: %d", status)
	}
	mei.boss.good(t, "DELETE", recPath, nil, nil)
	if status, text := wen.boss.read(t, recPath); status/100 == 2 {
		t.Errorf("after it was deleted: %d, %s", status, text)
	}
	wen.reaches(t, op, func(op human.Operation) bool { return len(op.Recordings) == 0 })
	if status, _ := wen.boss.call("POST", "/api/human/operations/"+string(op)+"/recordings/rec_1/ask", map[string]string{}, nil); status != http.StatusNotFound {
		t.Errorf("asking for one that was deleted: %d", status)
	}
}

// publishes puts events into the team's journal with a desk's own connection, past its Deskbell.
func publishes(t *testing.T, conn *nats.Conn, desk string, c team.Class, id human.OperationID, before uint64, events ...human.Event) {
	t.Helper()
	type wire struct {
		human.Event
		Details []byte `json:"details,omitempty"`
	}
	var all []wire
	for _, e := range events {
		w := wire{Event: e}
		if e.Request != nil {
			w.Details, e.Request.Details = e.Request.Details, nil
		}
		all = append(all, w)
	}
	text, err := json.Marshal(map[string]any{"format": 1, "before": before, "events": all})
	if err == nil {
		_, err = conn.Request(team.Subject(id, desk, c), text, 10*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Nothing but an approval by its owner, with a receipt, of what a person of that desk asked for opens a recording.
func TestARecordingThatIsNotGranted(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	mei, op := recorder(t, h)
	wen, ann, robots := deskOf(t, h, "Wen", team.OperatorRole), deskOf(t, h, "Ann", team.OperatorRole), deskOf(t, h, "Robots", team.AgentRole)
	owner := team.Desk("Mei", 1)
	granted := wen.asks(t, op, "")
	mei.decides(t, granted.Asked, human.Approved, "")
	open := ann.asks(t, op, "")
	mei.reaches(t, open.Asked, there)

	conns, names := map[string]*nats.Conn{}, map[string]string{}
	for who, d := range map[string]*fixture{"Wen": wen, "Ann": ann, "Robots": robots, "Mei": mei} {
		conns[who], names[who] = d.connection(t)
	}
	details, err := json.Marshal(human.RecordingAsk{Operation: op, Recording: "rec_1", Risk: human.MediumRisk})
	if err != nil {
		t.Fatal(err)
	}
	person := func(name string) human.Actor { return human.Actor{Role: human.Operator, Name: name} }
	invoked := func(by human.Actor, agent, requestedBy string) human.Event {
		return human.Event{Type: human.Invoked, At: time.Now(), By: by, Request: &human.Request{
			Kind: human.Approve, Description: "Wen asks for the complete recording of: Press it", Details: details, AgentID: agent, RequestedBy: requestedBy, To: "Mei", Priority: 5,
		}}
	}
	approved := func(by string) human.Event {
		return human.Event{Type: human.Finished, At: time.Now(), By: person(by), Answer: &human.Answer{Decision: human.Approved}}
	}
	agent := func(name string) human.Actor { return human.Actor{Role: human.Agent, Name: name} }
	// None of these counts for anything on any desk.
	forged := map[human.OperationID]func(id human.OperationID){
		"op_agent": func(id human.OperationID) {
			publishes(t, conns["Robots"], names["Robots"], team.ByAgent, id, 0, invoked(agent("@Robots"), "@Robots", "Robots"))
		},
		"op_pretends": func(id human.OperationID) {
			publishes(t, conns["Robots"], names["Robots"], team.ByAgent, id, 0, invoked(person("Robots"), "@Robots", "Robots"))
		},
		"op_ownagent": func(id human.OperationID) {
			publishes(t, conns["Ann"], names["Ann"], team.ByAgent, id, 0, invoked(agent("bot"), "bot", "Ann"))
		},
		"op_othername": func(id human.OperationID) {
			publishes(t, conns["Ann"], names["Ann"], team.ByOperator, id, 0, invoked(person("Wen"), "@Wen", "Wen"))
		},
		"op_noname": func(id human.OperationID) {
			publishes(t, conns["Ann"], names["Ann"], team.ByOperator, id, 0, invoked(person("Wen"), "@Wen", ""))
		},
		"op_forowner": func(id human.OperationID) {
			publishes(t, conns["Ann"], names["Ann"], team.ByOperator, id, 0, invoked(person("Ann"), "@Ann", "Ann"), approved("Mei"))
		},
		"op_byself": func(id human.OperationID) {
			publishes(t, conns["Ann"], names["Ann"], team.ByOperator, id, 0, invoked(person("Ann"), "@Ann", "Ann"), approved("Ann"))
		},
	}
	for id, publish := range forged {
		publish(id)
	}
	// An agent can ask in the same words; then it is an agent that asks, and its approval gives nothing.
	var fake human.Operation
	ann.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "approve", "description": "Wen asks for the complete recording of: Press it", "details": json.RawMessage(details), "session_id": "rec_1"}, &fake)
	mei.decides(t, fake.ID, human.Approved, "")
	for id := range forged {
		if status, err := mei.boss.call("GET", "/api/human/operations/"+string(id), nil, nil); err != nil || status != 404 { // what came after it is here
			t.Errorf("%s is on the owner's desk: %d, %v", id, status, err)
		}
	}
	// The owner's desk knows an approval by its receipt: who only has its credentials cannot make one.
	before := mei.reaches(t, open.Asked, func(op human.Operation) bool { return len(op.Routing) > 0 })
	publishes(t, conns["Mei"], names["Mei"], team.ByOperator, open.Asked, before.Version, approved("Mei"))
	mei.reaches(t, open.Asked, func(op human.Operation) bool { return op.State == human.Completed })

	part := func(id human.RecordingID, what string) json.RawMessage {
		return json.RawMessage(`{"recording":"` + string(id) + `","part":"` + what + `"}`)
	}
	for name, tt := range map[string]struct {
		who  string
		r    team.Reader
		ask  team.Ask
		want human.ErrorKind
	}{
		"what was granted":                  {"Wen", team.AnyReader, team.Ask{Operation: granted.Asked, Recording: part("rec_1", "actions")}, 0},
		"a picture that is not in it":       {"Wen", team.AnyReader, team.Ask{Operation: granted.Asked, Recording: json.RawMessage(`{"recording":"rec_1","part":"picture","picture":"` + strings.Repeat("0", 64) + `"}`)}, human.NotFound},
		"raw events":                        {"Wen", team.AnyReader, team.Ask{Operation: granted.Asked, Recording: part("rec_1", "events")}, human.Invalid},
		"another recording":                 {"Wen", team.AnyReader, team.Ask{Operation: granted.Asked, Recording: part("rec_2", "actions")}, human.Denied},
		"without asking":                    {"Ann", team.AnyReader, team.Ask{Operation: op, Recording: part("rec_1", "actions")}, human.Denied},
		"by what another desk was granted":  {"Ann", team.AnyReader, team.Ask{Operation: granted.Asked, Recording: part("rec_1", "actions")}, human.Denied},
		"by an approval without a receipt":  {"Ann", team.AnyReader, team.Ask{Operation: open.Asked, Recording: part("rec_1", "actions")}, human.Denied},
		"by an agent's request":             {"Ann", team.AnyReader, team.Ask{Operation: fake.ID, Recording: part("rec_1", "actions")}, human.Denied},
		"by a request that is none":         {"Ann", team.AnyReader, team.Ask{Operation: "op_byself", Recording: part("rec_1", "actions")}, human.Denied},
		"an agents' desk, in another's way": {"Robots", team.AnswerReader, team.Ask{Operation: granted.Asked, Recording: part("rec_1", "actions")}, human.Denied},
	} {
		got, err := asksPast(conns[tt.who], names[tt.who], owner, tt.r, tt.ask)
		if err != nil || got.Problem != tt.want || (got.Object != "") != (tt.want == 0) {
			t.Errorf("asked for %s: %+v, %v", name, got, err)
		}
	}
}
