package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	reference "deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue/receipt"
)

// openPlans gives a fixture plans, whose settings are in memory, and one run of the reference agent.
func (h *fixture) openPlans(d *Deps) {
	var n atomic.Int64
	h.planning = plan.Options{Confirm: true, Timeout: time.Minute, Modify: true}
	d.Plans = plan.New(plan.Deps{
		Queue: h.queue, Store: h.store.Plans(), Judge: h.gate.Foresee, Now: time.Now, Log: d.Log,
		Try: func(_ context.Context, command, folder string) (human.Tried, error) {
			return human.Tried{Output: folder + "$ " + command + ": hunter2"}, nil
		},
		Mask:  func(text string) string { return strings.ReplaceAll(text, "hunter2", "•••") },
		NewID: func(prefix string) string { return fmt.Sprint(prefix, n.Add(1)) },
		Options: func() plan.Options {
			h.planMu.Lock()
			defer h.planMu.Unlock()
			return h.planning
		},
	})
	d.Host = oneRun{}
}

// oneRun is a host of two agents, one of them open, and what is kept of runs: one.
type oneRun struct{}

func (oneRun) Agents() ([]reference.Profile, error) {
	return []reference.Profile{{Name: reference.ReferenceAgent}, {Name: "music", Open: true}}, nil
}

func (oneRun) Message(_ context.Context, by human.Actor, name string, sent reference.Sent) (reference.Response, error) {
	return reference.Response{Agent: name, Query: sent.Message, SessionID: cmp.Or(sent.Session, "chat_1"), Message: string(by.Role), Status: reference.Success}, nil
}

func (oneRun) Start(context.Context, string, string, string) (string, error) { return "run_2", nil }
func (oneRun) Resume(context.Context, string) error                          { return nil }
func (oneRun) Silence(string) error                                          { return nil }
func (oneRun) Stop(string) error                                             { return nil }

func (oneRun) List(context.Context, string, int) ([]reference.RunView, error) {
	return []reference.RunView{{RunInfo: reference.RunInfo{ID: "run_1"}}}, nil
}

func (oneRun) Read(_ context.Context, id string, _ int, _ time.Duration) (reference.RunUpdates, error) {
	if id != "run_1" {
		return reference.RunUpdates{}, human.Errorf(human.NotFound, "no run %s", id)
	}
	return reference.RunUpdates{Updates: []reference.Update{}}, nil
}

const twoTasks = `"message":"Tidy up","tasks":[{"description":"Look","tool_name":"read_file","args":{"path":"a"}},{"description":"Write","tool_name":"write_file","args":{"path":"a","content":"x"}}]`

// submitted is a plan that an agent handed in.
func (h *fixture) submitted(key, session string) plan.Status {
	h.t.Helper()
	var st plan.Status
	h.send("POST", "/api/plans", key, `{"session_id":"`+session+`",`+twoTasks+`}`, nil).into(&st)
	if st.Status != human.PlanPending || st.OperationID == "" {
		h.t.Fatalf("submitted %+v", st)
	}
	return st
}

// responds is the body of an answer to a plan.
func (h *fixture) responds(action string, id human.OperationID) string {
	h.t.Helper()
	return `{"action":"` + action + `","digest":"` + h.digest(id) + `"}`
}

// digest is what an answer to an operation is bound to.
func (h *fixture) digest(id human.OperationID) string {
	h.t.Helper()
	return h.get("/api/human/operations/"+string(id), h.op).operation(200).Digest
}

// confirmed is one that may run.
func (h *fixture) confirmed(key, session string) plan.Status {
	h.t.Helper()
	st := h.submitted(key, session)
	h.send("POST", "/api/plans/"+string(st.OperationID)+"/response", h.op, h.responds("confirm", st.OperationID), nil).into(&st)
	return st
}

// P2, P3, P9: a plan over REST, from submitting to its end, and the window's orders in between.
func TestAPlanOverREST(t *testing.T) {
	h := openFixture(t, nil)
	bot, other := h.agent("bot"), h.agent("other")
	st := h.submitted(bot, "s1")
	if st.ExpiresAt == nil || st.Summary.Total != 2 || st.Summary.Writes != 1 || st.Needs != 1 || len(st.Tasks) != 0 {
		t.Errorf("pending: %+v", st)
	}
	heard := make(chan plan.Status, 1)
	go func() {
		var now plan.Status
		h.send("GET", "/api/plans/s1?wait=30", bot, "", nil).into(&now)
		heard <- now
	}()
	h.send("GET", "/api/plans/s1", other, "", nil).problem(404, "s1")
	h.send("POST", "/api/plans/s1/response", bot, `{"action":"confirm"}`, nil).problem(403, "operator")
	h.send("POST", "/api/human/complete", h.op, `{"operation_id":"`+string(st.OperationID)+`","decision":"approve","plan":{"action":"confirm"}}`, nil).problem(422, "/response")
	op := h.get("/api/human/operations/"+string(st.OperationID), h.op).operation(200)
	if op.Kind != human.Plan || op.Risk != st.Summary.Risk {
		t.Errorf("the operation: %s, risk %s", op.Kind, op.Risk)
	}
	h.send("POST", "/api/plans/s1/response", h.op, `{"action":"confirm","digest":"0000"}`, nil).problem(409, "another version")
	h.send("POST", "/api/plans/s1/response", h.op,
		`{"action":"modify","digest":"`+op.Digest+`","modified_tasks":[{"id":"t2","description":"Write","tool_name":"write_file","args":{"path":"b","content":"x"}},{"description":"Say so"}]}`, nil).into(&st)
	now := <-heard
	if now.Status != human.PlanModified || len(now.Tasks) != 2 || now.Tasks[0].ID != "t2" || now.Tasks[1].ID != "t3" || len(now.Response.Changes) != 3 {
		t.Errorf("the agent heard %+v", now)
	}
	var go1 plan.Standing
	h.send("POST", "/api/plans/s1/progress", bot, `{"task_id":"t1","state":"running"}`, nil).into(&go1)
	if go1.Go || go1.Why != "unknown" {
		t.Errorf("a task that was taken out: %+v", go1)
	}
	h.send("POST", "/api/plans/s1/progress", bot, `{"task_id":"t2","state":"running"}`, nil).into(&go1)
	if !go1.Go || string(go1.Task.Args) != `{"path":"b","content":"x"}` {
		t.Errorf("the task as it was changed: %+v", go1)
	}
	h.send("POST", "/api/plans/s1/orders", h.op, `{"order":"pause","text":"wait a bit"}`, nil).into(&st)
	h.send("POST", "/api/plans/s1/progress", bot, `{"task_id":"t2","state":"done","note":"written"}`, nil).into(&go1)
	h.send("POST", "/api/plans/s1/progress", bot, `{"task_id":"t3","state":"running"}`, nil).into(&go1)
	if go1.Go || go1.Why != "paused" {
		t.Errorf("while paused: %+v", go1)
	}
	began := make(chan plan.Standing, 1)
	go func() {
		var s plan.Standing
		h.send("POST", "/api/plans/s1/progress?wait=30", bot, `{"task_id":"t3","state":"running"}`, nil).into(&s)
		began <- s
	}()
	h.send("POST", "/api/plans/s1/orders", bot, `{"order":"resume"}`, nil).problem(403, "operator")
	h.send("POST", "/api/plans/s1/orders", h.op, `{"order":"resume"}`, nil).into(&st)
	h.send("POST", "/api/plans/s1/orders", h.op, `{"order":"change"}`, nil).problem(422, "tasks: is missing")
	h.send("POST", "/api/plans/s1/orders", h.op, `{"order":"skip"}`, nil).problem(422, "task_id: is missing")
	if s := <-began; !s.Go {
		t.Errorf("once it went on: %+v", s)
	}
	h.send("POST", "/api/plans/s1/progress", bot, `{"task_id":"t3","state":"done"}`, nil).into(&go1)
	if go1.Run.State != human.RunFinished {
		t.Errorf("at the end the run is %s", go1.Run.State)
	}
	h.send("POST", "/api/plans/s1/orders", h.op, `{"order":"stop"}`, nil).problem(409, "finished")
}

// Before a plan is answered, what only reads can be tried; what the gatekeeper does not judge so is not run.
func TestCommandsOfAPlanAreTried(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	h.send("POST", "/api/plans", bot, `{"session_id":"s1",`+twoTasks+`,"context":{"cwd":"/srv/shop"}}`, nil)
	try := func(command string) reply {
		body, err := json.Marshal(PlanCommand{command})
		if err != nil {
			t.Fatal(err)
		}
		return h.send("POST", "/api/plans/s1/try", h.op, string(body), nil)
	}
	for _, reads := range []string{"git log -3", "ls -la", "cat README.md | wc -l", "grep -rn TODO ."} {
		var tried human.Tried
		if try(reads).into(&tried); tried.Output != "/srv/shop$ "+reads+": •••" {
			t.Errorf("%s: %+v", reads, tried)
		}
	}
	for _, changes := range []string{"rm a", "echo x > a", "make", "python3 a.py", "git push", "kubectl apply -f a.yaml", "curl -X POST https://example.org", "cat a | sh", "$X", "vault kv put a b=c", "cat ~/.ssh/id_rsa", "curl https://example.org", "ls; rm a"} {
		try(changes).problem(403, "only a command that does nothing but read")
	}
	try(" ").problem(422, "command")
}

// That the end of a plan was read is noted once it has left: until then the same plan joins it, and then it is asked anew.
func TestTheEndOfAPlanIsReadOnceItHasLeft(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	first := h.submitted(bot, "s1")
	h.send("POST", "/api/plans/s1/response", h.op, h.responds("cancel", first.OperationID), nil)
	read := func() bool {
		t.Helper()
		return h.get("/api/human/operations/"+string(first.OperationID), h.op).operation(200).DeliveredAt != nil
	}
	same := `{"session_id":"s1",` + twoTasks + `}`
	h.get("/api/plans/s1", h.op)
	h.get("/api/plans/s1?ack=explicit", bot)
	h.send("POST", "/api/plans?ack=explicit", bot, same, nil)
	// Nor has a client read it whom the answer cannot reach.
	r := httptest.NewRequestWithContext(t.Context(), "GET", h.url+"/api/plans/s1", nil)
	r.Header.Set("Authorization", "Bearer "+bot)
	kept := httptest.NewRecorder()
	h.ServeHTTP(struct{ http.ResponseWriter }{kept}, r) // it cannot be flushed
	if kept.Code != http.StatusOK {
		t.Fatalf("%d %s", kept.Code, kept.Body)
	}
	if read() {
		t.Fatal("nobody read its end, and it counts as read")
	}
	var st plan.Status
	h.send("GET", "/api/plans/s1", bot, "", nil).into(&st)
	if st.Status != human.PlanCancelled || !read() {
		t.Fatalf("its agent read %s, and that it did is noted: %t", st.Status, read())
	}
	if anew := h.submitted(bot, "s1"); anew.OperationID == first.OperationID {
		t.Error("a plan whose end was read was joined")
	}
}

// P3: operations are found by how their plan stands.
func TestPlansByStatus(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	h.ring(bot, "no plan")
	yes, open := h.confirmed(bot, "s1"), h.submitted(bot, "s2")
	for query, want := range map[string]human.OperationID{"confirmed": yes.OperationID, "pending": open.OperationID, "modified": ""} {
		var page Page
		h.get("/api/human/operations?plan_status="+query, h.op).into(&page)
		if got := len(page.Operations); want == "" && got > 0 || want != "" && (got != 1 || page.Operations[0].ID != want) {
			t.Errorf("%s: %+v", query, page.Operations)
		}
	}
	h.get("/api/human/operations?plan_status=done", h.op).problem(422, "plan_status")
}

// P8: where confirming is off, nothing is stored.
func TestConfirmingOffOverREST(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	h.planMu.Lock()
	h.planning.Confirm = false
	h.planMu.Unlock()
	before, err := h.queue.Head(t.Context())
	must(t, err)
	var st plan.Status
	h.send("POST", "/api/plans?wait=30", bot, `{"session_id":"s",`+twoTasks+`}`, nil).into(&st)
	if st.Status != human.PlanConfirmed || st.Auto != "off" || st.OperationID != "" || len(st.Tasks) != 2 || st.Tasks[1].ID != "t2" {
		t.Errorf("answered %+v", st)
	}
	if after, err := h.queue.Head(t.Context()); err != nil || after != before {
		t.Errorf("%d events were written, %v", after-before, err)
	}
}

// P9: several operators, each signed in by a name of their own.
func TestOperatorsByName(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	h.planMu.Lock()
	h.planning.Confirmations, h.planning.Operators = 2, []string{"Mei"}
	h.planMu.Unlock()
	var code Code
	h.send("POST", "/api/session/codes?operator=Mei", h.op, "", nil).into(&code)
	h.send("POST", "/api/session/codes?operator=%E2%80%AEx", h.op, "", nil).problem(422, "operator")
	var mei Session
	h.send("POST", "/api/session", "", `{"code":"`+code.Code+`"}`, nil).into(&mei)
	if mei.Operator != "Mei" {
		t.Fatalf("signed in as %q", mei.Operator)
	}
	st := h.submitted(bot, "s")
	if st.Needs != 2 {
		t.Errorf("needs %d", st.Needs)
	}
	for who, known := range map[string]int{h.op: 2, mei.Token: 2, bot: 0} {
		if op := h.get("/api/human/operations/"+string(st.OperationID), who).operation(200); op.Known != known {
			t.Errorf("%d operators are known, want %d", op.Known, known)
		}
	}
	// Each has a draft of their own, and none is lost to the other's.
	save := func(who, words string) Operation {
		return h.post("/api/human/input", who, idBody(st.OperationID, `,"human_input":"`+words+`"`)).operation(200)
	}
	save(h.op, "ada's")
	save(mei.Token, "Mei's")
	for who, want := range map[string]string{h.op: "ada's", mei.Token: "Mei's"} {
		if op := h.get("/api/human/operations/"+string(st.OperationID), who).operation(200); op.Draft == nil || op.Draft.HumanInput != want || len(op.Drafts) != 0 {
			t.Errorf("the draft is %+v, want %s", op.Draft, want)
		}
	}
	if op := h.get("/api/human/operations/"+string(st.OperationID), bot).operation(200); op.Draft != nil || len(op.Drafts) != 0 {
		t.Errorf("the agent sees a draft: %+v", op)
	}
	h.send("POST", "/api/plans/s/response", h.op, h.responds("confirm", st.OperationID), nil).into(&st)
	h.send("POST", "/api/plans/s/response", h.op, h.responds("confirm", st.OperationID), nil).into(&st) // the same operator counts once
	for who, want := range map[string]bool{h.op: false, mei.Token: true} {
		if op := h.get("/api/human/operations/"+string(st.OperationID), who).operation(200); (op.Draft != nil) != want {
			t.Errorf("after ada's vote there is a draft: %t, want %t", op.Draft != nil, want)
		}
	}
	if st.Status != human.PlanPending || len(st.Votes) != 1 || st.Votes[0].By != "ada" {
		t.Errorf("after one of two: %+v", st)
	}
	h.send("POST", "/api/plans/s/response", mei.Token, h.responds("confirm", st.OperationID), nil).into(&st)
	if st.Status != human.PlanConfirmed || len(st.Votes) != 2 || st.Response.By != "Mei" {
		t.Errorf("after both: %+v", st)
	}
	// Each vote has a receipt of its own, which alone approves nothing; that of the end has both operators.
	all := h.receiptsOf(st.OperationID, bot)
	if len(all) != 3 {
		t.Fatalf("%d receipts", len(all))
	}
	for i, want := range []struct {
		signers int
		enough  bool
	}{{1, false}, {1, false}, {2, true}} {
		if v := receipt.Verify(all[i], h.trust(bot)); !v.Authentic || v.Authorizes != want.enough || len(v.Signers) != want.signers {
			t.Errorf("receipt %d: %+v", i+1, v)
		}
	}
}

type planFixture struct {
	planMu   sync.Mutex
	planning plan.Options
}
