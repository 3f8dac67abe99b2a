package api

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/store/backups"
	"deskbell/backend/workspace"
)

// openGate gives a fixture a gatekeeper, whose file is in memory.
func (h *fixture) openGate(d *Deps) {
	var mu sync.Mutex
	config := rules.Defaults()
	file := func() service.File {
		mu.Lock()
		defer mu.Unlock()
		set, err := rules.Compile(config, nil)
		must(h.t, err)
		return service.File{Path: "gate.toml", Rules: set, Config: config}
	}
	var n atomic.Int64
	var err error
	copies := backups.New(h.t.TempDir(), time.Now, nil, func(dir string) (backups.Tree, error) { return workspace.Open(dir) })
	d.Backups = copies
	h.gate, err = service.New(h.t.Context(), service.Deps{
		Queue: h.queue, Store: h.store.Gate(), Operator: human.Actor{Role: human.Operator, Name: "ada"}, Now: time.Now, Log: d.Log,
		Files: copies,
		File:  file, Project: func(f service.File, _ string) *rules.Set { return f.Rules }, Root: workspace.Root,
		SetPolicy: func(p gate.Policy) error {
			mu.Lock()
			defer mu.Unlock()
			config.Policy = p
			return nil
		},
		Facts: func(ctx context.Context, call gate.Call, made func(string) bool) service.Facts {
			return workspace.New(ctx, call, made)
		},
		Mask:  func(string) func(string) string { return func(s string) string { return s } },
		NewID: func(prefix string) string { return fmt.Sprint(prefix, n.Add(1)) },
	})
	must(h.t, err)
	d.Gate = h.gate
}

// permission is a question that an agent's call makes.
func (h *fixture) permission(key string) human.Judgement {
	h.t.Helper()
	r := h.send("POST", "/api/gate/evaluate", key, `{"tool":"bash","args":{"command":"frobnicate it"}}`, nil)
	var j human.Judgement
	r.into(&j)
	if j.Decision != human.Ask || j.OperationID == "" {
		h.t.Fatalf("judged %+v", j)
	}
	return j
}

// G9: an agent asks over REST, an operator answers, and the agent that waits hears at once.
func TestACallIsJudgedOverREST(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	var j human.Judgement
	h.send("POST", "/api/gate/evaluate", bot, `{"tool":"bash","args":{"command":"ls"}}`, nil).into(&j)
	if j.Decision != human.Allow {
		t.Errorf("ls: %+v", j)
	}
	j = h.permission(bot)
	heard := make(chan human.Judgement, 1)
	go func() {
		var now human.Judgement
		h.send("POST", "/api/gate/evaluate?wait=30", bot, `{"tool":"bash","args":{"command":"frobnicate it"},"operation_id":"`+string(j.OperationID)+`"}`, nil).into(&now)
		heard <- now
	}()
	op := h.send("GET", "/api/human/operations/"+string(j.OperationID), h.op, "", nil).operation(200)
	h.send("POST", "/api/human/complete", h.op, `{"operation_id":"`+string(op.ID)+`","decision":"approve","choice":"allow"}`, nil).problem(422, "choice")
	h.send("POST", "/api/gate/questions/"+string(op.ID)+"/answer", h.op, `{"choice":"deny","reason":"not here","digest":"`+op.Digest+`"}`, nil).operation(200)
	if now := <-heard; now.Decision != human.Deny || !strings.Contains(now.Message, "not here") {
		t.Errorf("the agent heard %+v", now)
	}
	h.send("POST", "/api/gate/evaluate", bot, `{"tool":"bash","args":{"command":"ls"},"unknown":1}`, nil).problem(422, "")
	h.send("POST", "/api/gate/evaluate", bot, `{"args":{"command":"ls"}}`, nil).problem(422, "tool")
	h.send("POST", "/api/human/invoke", bot, `{"action_type":"permission","description":"let me"}`, nil).problem(422, "action_type")
}

// "Back up, then allow" holds what it says: after the call has run, the operator gets back what it deleted.
func TestABackupIsRestored(t *testing.T) {
	h := openFixture(t, nil)
	dir := t.TempDir()
	lost := filepath.Join(dir, "fixtures", "one.json")
	must(t, os.Mkdir(filepath.Dir(lost), 0o755))
	must(t, os.WriteFile(lost, []byte("1"), 0o600))
	call, err := json.Marshal(map[string]any{"tool": "bash", "cwd": dir, "args": map[string]string{"command": "rm -rf fixtures"}})
	must(t, err)
	bot := h.agent("bot")
	var j human.Judgement
	h.send("POST", "/api/gate/evaluate", bot, string(call), nil).into(&j)
	op := h.get("/api/human/operations/"+string(j.OperationID), h.op).operation(200)
	op = h.send("POST", "/api/gate/questions/"+string(op.ID)+"/answer", h.op, `{"choice":"backup","digest":"`+op.Digest+`"}`, nil).operation(200)
	b := op.Result.Backup
	if b == nil || b.ID == "" {
		t.Fatalf("the backup is %+v", b)
	}
	must(t, os.RemoveAll(filepath.Dir(lost)))

	var list BackupList
	h.get("/api/backups", h.op).into(&list)
	if len(list.Backups) != 1 || list.Backups[0] != *b {
		t.Errorf("listed %+v, want %+v", list.Backups, b)
	}
	var contents human.BackupContents
	h.get("/api/backups/"+b.ID, h.op).into(&contents)
	if len(contents.Items) != 2 || contents.Items[1].Path != lost || contents.Items[1].Size != 1 {
		t.Errorf("it holds %+v", contents)
	}
	restore := func() reply { return h.send("POST", "/api/backups/"+b.ID+"/restore", h.op, "", nil) }
	var back human.Restored
	restore().into(&back)
	if data, err := os.ReadFile(lost); err != nil || string(data) != "1" || back != (human.Restored{Files: 1, Bytes: 1}) {
		t.Errorf("restored %+v: %q, %v", back, data, err)
	}
	must(t, os.WriteFile(lost, []byte("2"), 0o600))
	restore().problem(409, "one.json")
	if data, err := os.ReadFile(lost); err != nil || string(data) != "2" {
		t.Errorf("what is there became %q, %v", data, err)
	}
	h.send("POST", "/api/backups/"+b.ID+"/restore", bot, "", nil).problem(403, "")
}

// A trial tells what runs what and what decides about each part, under each policy, and for whom and where it was judged.
func TestATrialTellsOfParts(t *testing.T) {
	h := openFixture(t, nil)
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "src", "a.go"), []byte("1"), 0o600))
	try := func(command, policy string) (out service.Trial) {
		t.Helper()
		call := map[string]any{"tool": "bash", "cwd": dir, "root": dir, "client": "claude-code", "args": map[string]string{"command": command}}
		if policy != "" {
			call["policy"] = policy
		}
		body, err := json.Marshal(call)
		must(t, err)
		h.send("POST", "/api/gate/try", h.op, string(body), nil).into(&out)
		return out
	}
	got := try("sudo env A=1 bash -c 'rm -rf src'", "")
	if got.Agent != "claude-code" || got.Project != dir || got.Policy != gate.Balanced || len(got.Parts) != 1 {
		t.Fatalf("judged %+v", got)
	}
	deepest := got.Parts[0]
	for len(deepest.Runs) > 0 {
		if deepest = deepest.Runs[0]; deepest.Whole.Decision != human.Ask || deepest.Whole.Risk != human.HighRisk {
			t.Errorf("%s: %+v", deepest.Text, deepest.Whole)
		}
	}
	last := deepest.Checks[len(deepest.Checks)-1]
	if deepest.Text != "rm -rf src" || last.By != rules.CheckPolicy || !last.Decided || deepest.Effects[0].Files != 1 || deepest.Effects[0].Kept != human.KeptNowhere {
		t.Errorf("the deepest part is %+v", deepest)
	}
	if got := try("echo $(rm -rf x", ""); !got.Parts[0].Unparsed || got.Parts[0].Decision != human.Ask || got.Verdict.Decision != human.Ask {
		t.Errorf("what does not parse: %+v", got.Parts[0])
	}
	for policy, want := range map[string]human.Ruling{"permissive": human.Allow, "balanced": human.Ask, "strict": human.Ask} {
		got := try("pip install requests", policy)
		if got.Verdict.Decision != want || got.Parts[0].Whole.Decision != want || string(got.Policy) != policy {
			t.Errorf("%s: %+v", policy, got)
		}
	}
	var rule human.GateRule
	h.send("POST", "/api/gate/rules", h.op, `{"rule_id":"","source":"operator","matched":0,"decision":"deny","command":"git push **","agent_id":"claude-code"}`, nil).into(&rule)
	got = try("ls && git push", "permissive")
	if c := got.Parts[0].Runs[1].Checks[0]; got.Verdict.Decision != human.Deny || c.By != rules.CheckRule || c.Rule != "rule."+rule.ID || !c.Decided {
		t.Errorf("a rule for the agent: %+v", c)
	}
	h.send("POST", "/api/gate/try", h.op, `{"tool":"bash","args":{"command":"ls"},"policy":"lax"}`, nil).problem(422, "policy")
}
