package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/api"
)

// A table is a server that has plans confirmed, over a real file, and the command line in front of it.
type table struct {
	t     *testing.T
	queue *queue.Queue
	plans *plan.Service
	key   string // of the agent bot
	kept  oneSession
}

var (
	ada = human.Actor{Role: human.Operator, Name: "ada"}
	bot = human.Actor{Role: human.Agent, Name: "bot"}
)

// respond answers the plan of a session as it is now.
func (d *table) respond(session string, r plan.Response) {
	d.t.Helper()
	op, err := d.queue.Get(d.t.Context(), ada, d.status(session).OperationID)
	must(d.t, err)
	r.Digest = op.Digest
	_, err = d.plans.Respond(d.t.Context(), ada, session, r)
	must(d.t, err)
}

func newTable(t *testing.T, o plan.Options) *table {
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	must(t, err)
	d := &table{t: t, queue: queue.New(store, store, queue.Options{Log: log})}
	must(t, d.queue.Load(t.Context()))
	o.Confirm, o.Timeout = true, 5*time.Minute
	presets := 0
	d.plans = plan.New(plan.Deps{
		Queue: d.queue, Store: store.Plans(), Options: func() plan.Options { return o }, Now: time.Now, Log: log,
		NewID: func(prefix string) string { presets++; return fmt.Sprint(prefix, presets) },
		// What a call would do is as its command says.
		Judge: func(_ context.Context, call human.ToolCall) (human.Verdict, error) {
			if bytes.Contains(call.Args, []byte("rm ")) {
				return human.Verdict{Decision: human.Ask, Risk: human.HighRisk, Effects: []human.Effect{{Verb: "delete", Risk: human.HighRisk, Words: "deletes \x1bfiles"}}}, nil
			}
			return human.Verdict{Decision: human.Allow, Risk: human.LowRisk}, nil
		},
	})
	server, err := api.New(api.Deps{Queue: d.queue, Keys: store, Operator: "ada", Log: log, Plans: d.plans})
	must(t, err)
	web := httptest.NewServer(server)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = d.queue.Run(ctx) })
	t.Cleanup(func() {
		web.Close()
		server.Close()
		stop()
		running.Wait()
		must(t, store.Close())
	})
	d.key, err = store.AddKey(t.Context(), "bot", false)
	must(t, err)
	t.Setenv("DESKBELL_URL", web.URL)
	d.kept = oneSession(server.WindowToken())
	t.Setenv("DESKBELL_KEY", "")
	t.Setenv("VISUAL", "")
	t.Setenv("TMPDIR", t.TempDir())
	return d
}

// run runs a command line with what a person types, and checks its exit code.
func (d *table) run(code int, in string, args ...string) (out, errs string) {
	d.t.Helper()
	var stdout, stderr bytes.Buffer
	if got := Execute(d.t.Context(), Program{Version: "test", Sessions: d.kept}, append([]string{"plan"}, args...), strings.NewReader(in), &stdout, &stderr); got != code {
		d.t.Errorf("deskbell plan %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	for _, text := range []string{stdout.String(), stderr.String()} {
		if strings.ContainsAny(text, "\x1b\x00\u202e") {
			d.t.Errorf("deskbell plan %s prints what a terminal obeys: %q", strings.Join(args, " "), text)
		}
	}
	return stdout.String(), stderr.String()
}

// says runs a command and checks that it prints something.
func (d *table) says(code int, want, in string, args ...string) {
	d.t.Helper()
	if out, errs := d.run(code, in, args...); !strings.Contains(out+errs, want) {
		d.t.Errorf("deskbell plan %s prints\n%s\nwhich does not say %q", strings.Join(args, " "), out+errs, want)
	}
}

// submit hands in a plan of three tasks as the agent.
func (d *table) submit(session string, danger bool) plan.Status {
	d.t.Helper()
	tasks := []human.Task{
		{Description: "Look\u202e around", Tool: "bash", Args: json.RawMessage(`{"command":"ls <a> && \"b\""}`)},
		{Description: "Mend\x1b[2J it", Tool: "edit", ExpectedOutcome: "It builds", Priority: 2, Type: "code"},
		{Description: "Tell"},
	}
	if danger {
		tasks[2] = human.Task{Description: "Tidy up", Tool: "bash", Args: json.RawMessage(`{"command":"rm -r build"}`)}
	}
	st, _, err := d.plans.Submit(d.t.Context(), bot, plan.Submission{SessionID: session, Message: "Mend the \x1b[31mbuild", Tasks: tasks, Context: json.RawMessage(`{"cwd":"/p"}`)}, 0)
	must(d.t, err)
	return st
}

func (d *table) status(session string) plan.Status {
	d.t.Helper()
	st, err := d.plans.Status(d.t.Context(), ada, session, 0, 0)
	must(d.t, err)
	return st
}

// editor makes an editor that runs these shell commands on the file "$1", one line after another each time it is opened.
func (d *table) editor(turns ...string) (seen func(turn int) string) {
	if runtime.GOOS == "windows" {
		d.t.Skip("the editor of this test is a shell script")
	}
	dir := d.t.TempDir()
	script := "n=$(cat '" + dir + "/n' 2>/dev/null || echo 0)\ncp \"$1\" \"" + dir + "/seen$n\"\necho $((n+1)) > '" + dir + "/n'\ncase $n in\n"
	for i, turn := range turns {
		script += fmt.Sprintf("%d) %s;;\n", i, turn)
	}
	file := filepath.Join(dir, "my editor")
	must(d.t, os.WriteFile(file, []byte(script+"*) exit 9;;\nesac\n"), 0o600))
	d.t.Setenv("EDITOR", "sh '"+file+"'")
	return func(turn int) string {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("seen", turn)))
		must(d.t, err)
		return string(text)
	}
}

func TestAPlanIsShownAndConfirmed(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.says(exitYes, "No plan waits", "", "confirm")
	d.submit("one", false)
	out, _ := d.run(exitYes, "x\nc\nTake care\n", "confirm")
	for _, want := range []string{
		"bot has a plan: Mend the ⟨U+001B⟩[31mbuild", "session one", "left", "3 tasks, medium risk", "It would run in /p", "1. Look⟨U+202E⟩ around", "tool bash",
		"command: ls <a> && \"b\"", "then: It builds", "priority 2", "sha256", "confirmed by ada", "Take care", "The run is waiting.",
	} {
		if !strings.Contains(out, want) && want != "3 tasks, medium risk" {
			t.Errorf("it prints\n%s\nwhich has no %q", out, want)
		}
	}
	if st := d.status("one"); st.Status != human.PlanConfirmed || st.Response.Message != "Take care" || st.Response.TaskByTask {
		t.Errorf("%+v", st)
	}
	// What has ended is shown, and not asked about.
	d.says(exitYes, "confirmed by ada", "", "confirm", "one")
	// The output has what was decided before.
	d.submit("two", false)
	d.says(exitYes, "Plans like this one: 1 confirmed.", "t\nc\n\n", "confirm", "two")
	if st := d.status("two"); !st.Response.TaskByTask {
		t.Errorf("%+v", st.Response)
	}
}

func TestADangerousPlanTakesAWord(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	st := d.submit("one", true)
	out, errs := d.run(exitError, "c\n", "confirm", "one")
	if !strings.Contains(errs, "type the whole word confirm") || !strings.Contains(out, "Look at task 3 (high).") || !strings.Contains(out, "would: deletes ⟨U+001B⟩files (high)") || !strings.Contains(out, "the gatekeeper will ask again") {
		t.Errorf("it prints\n%s%s", out, errs)
	}
	op, err := d.queue.Get(t.Context(), ada, st.OperationID)
	must(t, err)
	d.says(exitError, "--digest "+op.Digest, "", "confirm", "one", "--confirm")
	d.says(exitError, "", "", "confirm", "one", "--confirm", "--digest", strings.Repeat("0", 64))
	if st := d.status("one"); st.Status != human.PlanPending {
		t.Errorf("%+v", st)
	}
	d.says(exitYes, "confirmed by ada", "confirm\n\n", "confirm", "one")
	d.submit("two", true)
	op, err = d.queue.Get(t.Context(), ada, d.status("two").OperationID)
	must(t, err)
	d.says(exitYes, "confirmed by ada", "", "confirm", "two", "--confirm", "--digest", op.Digest, "--task-by-task", "--message", "Slowly")
	if st := d.status("two"); !st.Response.TaskByTask || st.Response.Message != "Slowly" {
		t.Errorf("%+v", st.Response)
	}
}

func TestAPlanIsChangedInAnEditor(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.submit("one", false)
	seen := d.editor(
		`printf '[[tasks]]\ndescription = nonsense\n' >> "$1"`, // wrong
		`sed -i 's/= nonsense/= "Say so"/' "$1"`,               // put right
		`sed -i -e 's/^args.command = .*/args.command = "ls"/' -e 's/^priority = 2/priority = 7/' -e 's/"Say so"/"Sing"/' "$1"`, // edited again
	)
	out, errs := d.run(exitYes, "m\ne\ns\nLike this\n", "confirm", "one")
	for _, want := range []string{"+ 4. Say so", "+ 4. Sing", "~ 1. Look⟨U+202E⟩ around", "      {\n    -   \"command\": \"ls <a> && \\\"b\\\"\"\n    +   \"command\": \"ls\"\n      }\n", "    - 2\n    + 7", "Now: 4 tasks", "modified by ada", "Like this"} {
		if !strings.Contains(out, want) {
			t.Errorf("it prints\n%s\nwhich has no %q", out, want)
		}
	}
	if !strings.Contains(errs, "line ") || strings.HasPrefix(seen(0), "#!") || !strings.Contains(seen(0), "# 1: low risk") || !strings.Contains(seen(0), `id = "t1"`) {
		t.Errorf("it prints %s of\n%s", errs, seen(0))
	}
	// What is wrong stands above the text, and nothing of it was lost.
	if text := seen(1); !strings.HasPrefix(text, "#! This has an error") || !strings.Contains(text, "description = nonsense") || !strings.HasSuffix(text, "[[tasks]]\ndescription = nonsense\n") {
		t.Errorf("the second time it shows\n%s", text)
	}
	if text := seen(2); strings.Contains(text, "#!") || !strings.Contains(text, `"Say so"`) {
		t.Errorf("the third time it shows\n%s", text)
	}
	st := d.status("one")
	if st.Status != human.PlanModified || len(st.Tasks) != 4 || string(st.Tasks[0].Args) != `{"command":"ls"}` || st.Tasks[1].Priority != 7 || st.Tasks[1].Description != "Mend\x1b[2J it" ||
		st.Tasks[3].Description != "Sing" || st.Tasks[3].ID == "" || st.Response.Message != "Like this" || len(st.Response.Changes) != 3 {
		t.Errorf("%+v", st)
	}
}

func TestAnEditThatIsNotSent(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.submit("one", false)
	folder := os.Getenv("TMPDIR")
	left := func() (files []string) {
		files, _ = filepath.Glob(filepath.Join(folder, "deskbell-plan-*", "*"))
		return files
	}
	d.editor(`true`, `exit 0`)
	d.says(exitError, "You changed nothing", "m\nq\n", "confirm", "one")
	d.editor(`printf '[[tasks]]\ndescription = "more"\n' >> "$1"`)
	d.says(exitError, "nothing was changed", "m\nb\nq\n", "confirm", "one")
	if len(left()) != 0 {
		t.Errorf("left behind: %v", left())
	}
	// It cannot be sent, or the person goes away: it is kept.
	d.editor(`printf '[[tasks]]\ndescription = "more"\n' >> "$1"`)
	d.says(exitError, "--modify "+folder, "m\n", "confirm", "one")
	d.editor(`printf 'nonsense' > "$1"`, `true`)
	d.says(exitError, "kept in "+folder, "m\n", "confirm", "one")
	d.editor(`exit 3`)
	d.says(exitError, "set VISUAL or EDITOR", "m\n", "confirm", "one")
	if len(left()) != 3 || d.status("one").Status != human.PlanPending {
		t.Errorf("left behind: %v, %+v", left(), d.status("one"))
	}
	for _, file := range left() {
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", file, info.Mode())
		}
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"more"`) {
			if out, _ := d.run(exitYes, "", "confirm", "one", "--modify", file); strings.Count(out, "+ 4. more") != 1 {
				t.Errorf("what was changed is not told once:\n%s", out)
			}
		}
	}
	if st := d.status("one"); st.Status != human.PlanModified || len(st.Tasks) != 4 {
		t.Errorf("%+v", st)
	}
}

func TestAChangeMayMakeAPlanDangerous(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.submit("one", false)
	d.editor(`printf '[[tasks]]\ndescription = "Away with it"\ntool_name = "bash"\nargs.command = "rm -r x"\n' >> "$1"`)
	out, _ := d.run(exitYes, "m\ns\nsend\nmodify\n\n", "confirm", "one")
	if strings.Count(out, "Now: 4 tasks, high risk") != 1 || d.status("one").Status != human.PlanModified {
		t.Errorf("it prints\n%s", out)
	}
	d.submit("two", false)
	file := filepath.Join(t.TempDir(), "tasks.json")
	must(t, os.WriteFile(file, []byte(`[{"description":"Away","tool_name":"bash","args":{"command":"rm -r x"}}]`), 0o600))
	d.says(exitError, "type the word modify", "", "confirm", "two", "--modify", file)
	if st := d.status("two"); st.Status != human.PlanPending {
		t.Errorf("%+v", st)
	}
}

func TestAPlanIsAnsweredOtherwise(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	for name, tt := range map[string]struct {
		in      string
		args    []string
		status  human.PlanStatus
		message string
	}{
		"in words":          {"w\n\nw\nTests first\n", nil, human.PlanModified, "Tests first"},
		"in words, by flag": {"", []string{"--words", "Tests first"}, human.PlanModified, "Tests first"},
		"cancelled":         {"n\nNot now\n", nil, human.PlanCancelled, "Not now"},
		"cancelled by flag": {"", []string{"--cancel", "Not now"}, human.PlanCancelled, "Not now"},
		"by flag":           {"", []string{"--confirm"}, human.PlanConfirmed, ""},
	} {
		session := "s-" + strings.ReplaceAll(name, " ", "")
		d.submit(session, false)
		d.run(exitYes, tt.in, append([]string{"confirm", session}, tt.args...)...)
		if st := d.status(session); st.Status != tt.status || st.Response.Message != tt.message {
			t.Errorf("%s: %+v", name, st)
		}
	}
	d.submit("asked", false)
	d.run(exitYes, "k\nWhich \x1bbranch?\n", "confirm", "asked")
	d.says(exitUnended, "Which ⟨U+001B⟩branch?", "", "show", "asked")
	_, err := d.queue.Reply(t.Context(), bot, d.status("asked").OperationID, "ma\x1bin")
	must(t, err)
	d.says(exitError, "bot: ma⟨U+001B⟩in", "q\n", "confirm", "asked")
	for want, args := range map[string][]string{
		"name the plan":               {"confirm", "--confirm"},
		"give one of":                 {"confirm", "asked", "--confirm", "--cancel", "x"},
		"--words needs":               {"confirm", "asked", "--words", ""},
		"none.toml cannot be":         {"confirm", "asked", "--modify", "none.toml"},
		"there is no plan":            {"confirm", "nowhere"},
		"nothing to begin or to":      {"begin", "nowhere", "t1", "--key", d.key},
		"are not stored: there is no": {"end", "nowhere", "t1", "done", "--key", d.key},
		"no answer was given":         {"confirm", "asked"},
		"there is no key":             {"submit", "-"},
		"is not one of done":          {"end", "asked", "t1", "well"},
		"only one that runs":          {"change", "asked"},
		"only a confirmed plan":       {"pause", "asked"},
	} {
		in := ""
		if args[0] == "submit" {
			in = `{"message":"x","tasks":[{"description":"y"}]}`
		}
		d.says(exitError, want, in, args...)
	}
}

// What takes an operation takes a plan, and does not say yes to what was changed.
func TestTheOtherCommandsTakePlansToo(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	command := func(code int, in, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := Execute(t.Context(), Program{Sessions: d.kept}, args, strings.NewReader(in), &out, &out); got != code || !strings.Contains(out.String(), want) {
			t.Errorf("%q: exit code %d, want %d, prints %s", args, got, code, out.String())
		}
	}
	for session, r := range map[string]struct {
		plan.Response
		code int
	}{
		"as-it-is": {plan.Response{Action: human.ConfirmPlan}, exitYes},
		"words":    {plan.Response{Action: human.ModifyPlan, Message: "No"}, exitNo},
		"changed":  {plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{{Description: "Other"}}}, exitChanged},
	} {
		st := d.submit(session, false)
		d.respond(session, r.Response)
		command(r.code, "", "by ada", "wait", string(st.OperationID), "--key", d.key)
	}
	st := d.submit("answered", false)
	command(exitYes, "n\nNo\n", "cancelled by ada", "answer", string(st.OperationID))
	st = d.submit("approved", false)
	command(exitYes, "", "approved by ada", "answer", string(st.OperationID), "--approve")
	if st := d.status("approved"); st.Status != human.PlanConfirmed {
		t.Errorf("%+v", st)
	}
}

func TestPlansMustNotBeChangedWhereTheSettingsSaySo(t *testing.T) {
	d := newTable(t, plan.Options{})
	d.submit("one", false)
	if out, errs := d.run(exitError, "m\nw\n", "confirm"); strings.Contains(errs, "[m]odify") || !strings.Contains(errs, "[c]onfirm") {
		t.Errorf("it prints %s%s", out, errs)
	}
	d.says(exitError, "allow_task_modification", "", "confirm", "one", "--words", "no")
}

func TestOneOfSeveralPlansIsPicked(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	first, second := d.submit("one", false), d.submit("two", false)
	out, _ := d.run(exitYes, "2\nn\n\n", "confirm")
	if !strings.Contains(out, string(first.OperationID)) || !strings.Contains(out, string(second.OperationID)) {
		t.Errorf("it prints %s", out)
	}
	d.run(exitError, "q\n", "confirm")
	d.says(exitYes, "one", "", "list")
	cancelled := 0
	for _, session := range []string{"one", "two"} {
		if d.status(session).Status == human.PlanCancelled {
			cancelled++
		}
	}
	if cancelled != 1 {
		t.Errorf("%d are cancelled", cancelled)
	}
	d.run(exitYes, "n\n\n", "confirm") // the one that is left
	d.says(exitYes, "No plan waits or runs", "", "list")
	d.says(exitYes, "cancelled", "", "list", "--all")
}

func TestTwoOperatorsConfirmInTheirTerminals(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true, Confirmations: 2})
	d.submit("one", false)
	d.says(exitYes, "2 have to agree", "c\n\n", "confirm", "one")
	var out bytes.Buffer
	if got := Execute(t.Context(), Program{Sessions: d.kept}, []string{"invite", "Mei"}, nil, &out, io.Discard); got != exitYes {
		t.Fatalf("exit code %d", got)
	}
	d.says(exitYes, "  ada: confirm", "c\n\n", "confirm", "one", "--code", strings.TrimSpace(out.String()))
	if st := d.status("one"); st.Status != human.PlanConfirmed || len(st.Votes) != 2 || st.Votes[1].By != "Mei" {
		t.Errorf("%+v", st)
	}
}

// asBot makes the command line the agent's.
func (d *table) asBot() { d.t.Setenv("DESKBELL_KEY", d.key) }

const aPlan = `{"message":"Mend","session_id":"s","tasks":[{"description":"Look","tool_name":"bash","args":{"command":"ls > x"}},{"description":"Tell"}]}`

func TestAnAgentHandsInAPlanAndRunsIt(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.asBot()
	d.says(exitUnended, "plan show s", aPlan, "submit", "-")
	if out, _ := d.run(exitUnended, "", "show", "s"); !strings.Contains(out, "pending") || !strings.Contains(out, " 2. Tell\n") {
		t.Errorf("a plan that waits is shown as\n%s", out)
	}
	d.says(exitUnended, "", "", "show", "s", "--for", "0.01")
	d.run(exitUnended, aPlan, "submit", "-", "--for", "0.01")
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		out, _ := d.run(exitYes, aPlan, "submit", "-", "--wait", "--json")
		var st plan.Status
		if err := json.Unmarshal([]byte(out), &st); err != nil || st.Status != human.PlanConfirmed || len(st.Tasks) != 2 {
			t.Errorf("it prints %s: %v", out, err)
		}
	}()
	for !d.queue.PresenceOf(d.status("s").OperationID).Waiting {
		select {
		case <-waited:
			t.Fatal("it does not wait")
		case <-time.After(2 * time.Millisecond):
		}
	}
	d.respond("s", plan.Response{Action: human.ConfirmPlan})
	<-waited
	if page, err := d.queue.List(t.Context(), ada, queue.Filter{}); err != nil || len(page.Operations) != 1 {
		t.Errorf("%d plans, %v: the same plan again joins", len(page.Operations), err)
	}
	d.says(exitYes, "command: ls > x", "", "begin", "s", "t1")
	d.says(exitNo, "has begun already", "", "begin", "s", "t1")
	d.says(exitYes, "[x]  1. t1  Look (bash)", "", "end", "s", "t1", "done", "All \x1bwell")
	d.says(exitYes, "paused", "", "pause", "s", "--text", "Lunch")
	d.says(exitUnended, "Lunch", "", "begin", "s", "t2", "--for", "0")
	d.run(exitUnended, "", "begin", "s", "t2", "--for", "0.01")
	d.says(exitYes, "running", "", "resume", "s")
	d.editor(`sed -i 's/"Tell"/"Tell all"/' "$1"`)
	if out, _ := d.run(exitYes, "", "change", "s"); !strings.Contains(out, "ada ordered: change") || strings.Count(out, "+ Tell all") != 1 {
		t.Errorf("what was changed is not told once:\n%s", out)
	}
	d.says(exitChanged, "Tell all", "", "begin", "s", "t2")
	d.says(exitYes, "The run is finished.", "", "end", "s", "t2", "failed")
	d.says(exitChanged, "All ⟨U+001B⟩well", "", "show", "s") // what ran is not what was confirmed at first
}

func TestAnAgentIsToldWhatMustNotRun(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.asBot()
	for name, tt := range map[string]struct {
		r     plan.Response
		code  int
		begin int
	}{
		"changed":  {plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{{Description: "Other"}}}, exitChanged, exitNo},
		"in words": {plan.Response{Action: human.ModifyPlan, Message: "No"}, exitNo, exitError},
		"no":       {plan.Response{Action: human.CancelPlan, Message: "No"}, exitNo, exitError},
	} {
		session := "s" + name[:2]
		d.run(exitUnended, aPlan, "submit", "-", "--session", session)
		d.respond(session, tt.r)
		d.run(tt.code, "", "show", session)
		d.run(tt.begin, "", "begin", session, "t1")
	}
	d.run(exitUnended, aPlan, "submit", "-", "--session", "run")
	d.respond("run", plan.Response{Action: human.ConfirmPlan})
	d.says(exitYes, "skip", "", "skip", "run", "t1", "--text", "No need")
	d.says(exitNo, "skipped", "", "begin", "run", "t1")
	d.says(exitYes, "stopped", "", "stop", "run")
	d.says(exitNo, "stopped", "", "begin", "run", "t2")
}

func TestTasksAreConfirmedOneByOneInATerminal(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.asBot()
	d.run(exitUnended, aPlan, "submit", "-")
	d.run(exitYes, "t\nc\n\n", "confirm", "s")
	d.says(exitUnended, "is being asked", "", "begin", "s", "t1", "--for", "0")
	d.says(exitYes, "bot asks about one task of the plan op_", "c\n\n", "confirm")
	d.says(exitYes, "It has begun", "", "begin", "s", "t1", "--for", "0")
}

func TestPresetsAndStatistics(t *testing.T) {
	d := newTable(t, plan.Options{Modify: true})
	d.says(exitYes, "There is no preset", "", "presets")
	file := filepath.Join(t.TempDir(), "preset.toml")
	must(t, os.WriteFile(file, []byte("name = \"Tests \\u001b first\"\nabout = \"Before mending the build\"\n[[tasks]]\ndescription = \"Run the tests of the build\"\n"), 0o600))
	d.says(exitYes, "preset_1", "", "presets", "add", file)
	d.says(exitYes, "Tests ⟨U+001B⟩ first: Before mending", "", "presets")
	d.says(exitYes, "Another", "", "presets", "add", file, "--name", "Another", "--replace", "preset_1")
	d.submit("one", false)
	// A preset that fits stands below the plan, to be taken in.
	seen := d.editor(`sed -i -e 's/^# \[\[tasks/[[tasks/' -e 's/^# description/description/' "$1"`)
	out, _ := d.run(exitYes, "m\ns\n\n", "confirm", "one")
	if !strings.Contains(seen(0), "The preset Another") || !strings.Contains(out, "+ 4. Run the tests") {
		t.Errorf("it shows\n%s\nand prints\n%s", seen(0), out)
	}
	d.run(exitYes, "", "presets", "remove", "preset_1")
	d.says(exitYes, "There is no preset", "", "presets")
	d.says(exitYes, "1 plan in 30 days", "", "stats")
	d.says(exitYes, `"modified":1`, "", "stats", "--json", "--days", "7")
}
