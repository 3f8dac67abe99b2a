package runs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/agent"
	"deskbell/backend/agent/runs"
	"deskbell/backend/human"
)

// asRun makes the test's own binary hold a run, and write to it until it is killed.
const asRun = "RUNS_TEST_AS_RUN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asRun); dir != "" {
		os.Exit(write(dir))
	}
	goleak.VerifyTestMain(m)
}

func write(dir string) int {
	j, err := runs.New(dir).Create("run_1")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for n := 0; ; n++ {
		r := update(fmt.Sprintf("update %d %s", n, strings.Repeat("x", 5000)))
		if n == 0 {
			r = begin("run_1")
		}
		if err := j.Append(context.Background(), r); err != nil {
			return 1
		}
		fmt.Println(n) // it is durable
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func begin(id string) agent.Record {
	return agent.Record{Kind: agent.RunRecord, At: noon, Run: &agent.RunInfo{ID: id, Agent: "a", Task: "do it", At: noon}}
}

func update(text string) agent.Record {
	return agent.Record{Kind: agent.UpdateRecord, At: noon.Add(time.Minute), Update: &agent.Update{Type: agent.StatusUpdate, At: noon.Add(time.Minute), State: agent.Executing, Content: text}}
}

func add(t *testing.T, j *runs.Journal, list ...agent.Record) {
	t.Helper()
	for _, r := range list {
		if err := j.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func create(t *testing.T, s *runs.Store, id string) *runs.Journal {
	t.Helper()
	j, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestAJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agents")
	s := runs.New(dir)
	if list, err := s.List(t.Context(), "run_", 10); err != nil || len(list) != 0 {
		t.Fatalf("before there is a folder: %v, %v", list, err)
	}
	j := create(t, s, "run_1")
	if list, err := s.List(t.Context(), "run_", 10); err != nil || len(list) != 0 {
		t.Errorf("before its first line: %v, %v", list, err)
	}
	want := []agent.Record{
		begin("run_1"), update("one"),
		{Kind: agent.UseRecord, At: noon, Use: &agent.ToolUse{ID: "c1", Name: "shell", Args: json.RawMessage(`{"command":"true"}`)}, Task: "t1"},
		{Kind: agent.DoneRecord, At: noon, Done: &agent.CallDone{CallID: "c1", Text: "ok"}, Spent: &agent.Spent{Steps: 1}},
		update("two"),
	}
	add(t, j, want...)
	run, updates, next, err := read(t.Context(), s, "run_1", 0, 0)
	if err != nil || !run.Alive || run.State != agent.Executing || run.Content != "two" || run.Spent.Steps != 1 || run.Task != "do it" || !run.Last.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v, %v", run, err)
	}
	if len(updates) != 2 || next != 2 || updates[0].Content != "one" {
		t.Errorf("%+v, %d", updates, next)
	}
	// Another process would get an error, and so does another run in this one.
	if _, _, err := s.Resume("run_1"); human.KindOf(err) != human.Conflict {
		t.Errorf("resumed while it runs: %v", err)
	}
	if _, err := s.Create("run_1"); human.KindOf(err) != human.Conflict {
		t.Errorf("made again: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create("run_1"); human.KindOf(err) != human.Conflict {
		t.Errorf("made again after its end: %v", err)
	}
	create(t, s, "run_2").Close() //nolint:errcheck // it has nothing in it
	if list, err := s.List(t.Context(), "run_", 10); err != nil || len(list) != 1 || list[0].Alive || list[0].ID != "run_1" {
		t.Errorf("%+v, %v", list, err)
	}
	j, records, err := s.Resume("run_1")
	if err != nil || !reflect.DeepEqual(records, want) {
		t.Fatalf("%+v, %v", records, err)
	}
	add(t, j, update("three"))
	for _, over := range []bool{false, true} {
		add(t, j, agent.Record{Kind: agent.EndRecord, At: noon, Result: &agent.Result{Over: over}})
		if run, _, _, err := read(t.Context(), s, "run_1", 0, 0); err != nil || run.Over != over {
			t.Errorf("at its end, over is %v: %+v, %v", over, run, err)
		}
	}
	add(t, j, begin("run_1"))
	if run, _, _, err := read(t.Context(), s, "run_1", 0, 0); err != nil || run.Over {
		t.Errorf("as it goes on: %+v, %v", run, err)
	}
	if _, updates, next, err := read(t.Context(), s, "run_1", 2, 0); err != nil || next != 3 || len(updates) != 1 || updates[0].Content != "three" {
		t.Errorf("%+v, %d, %v", updates, next, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "run_1.jsonl"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	for _, id := range []string{"run_9", "../run_1", "RUN_1", "", "run_1.jsonl"} {
		if _, _, _, err := read(t.Context(), s, id, 0, 0); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, _, err := s.Resume(id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q resumed: %v", id, err)
		}
	}
}

// Open removes what a crash leaves of the last line, and reports damage before it.
func TestATornEnd(t *testing.T) {
	whole := func(n int) string {
		var b strings.Builder
		for i := range n {
			r := update(fmt.Sprint(i))
			if i == 0 {
				r = begin("run_1")
			}
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
			b.WriteByte('\n')
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		text string
		left int // records; 0: it cannot continue
	}{
		"whole":                        {whole(3), 3},
		"half a line":                  {whole(3) + `{"kind":"upd`, 3},
		"a line without its end":       {whole(3) + strings.TrimSuffix(whole(1), "\n"), 3},
		"a place that was not written": {whole(3) + strings.Repeat("\x00", 300), 3},
		"the same with a line's end":   {whole(3) + strings.Repeat("\x00", 300) + "\n", 3},
		"damage in the middle":         {whole(2) + "{\"kind\n" + whole(1), 0},
		"nothing":                      {"", 0},
		"half of the first line":       {`{"kind":"run"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "run_1.jsonl")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := runs.New(dir)
			_, before, _, err := read(t.Context(), s, "run_1", 0, 0)
			if err != nil || tt.left > 0 && len(before) != tt.left-1 {
				t.Errorf("read before: %d updates, %v", len(before), err)
			}
			j, records, err := s.Resume("run_1")
			if tt.left == 0 {
				if human.KindOf(err) != human.Invalid {
					t.Errorf("%d records, %v", len(records), err)
				}
				return
			}
			if err != nil || len(records) != tt.left {
				t.Fatalf("%d records, %v", len(records), err)
			}
			add(t, j, update("more"))
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			run, after, _, err := read(t.Context(), s, "run_1", 0, 0)
			if err != nil || len(after) != tt.left || run.Content != "more" {
				t.Errorf("read after: %+v, %v", after, err)
			}
			text, err := os.ReadFile(path)
			if err != nil || strings.ContainsRune(string(text), 0) || strings.Count(string(text), "\n") != tt.left+1 {
				t.Errorf("the file has %q", text)
			}
		})
	}
}

// Whatever was durable is there after a kill, the lock is free again, and nothing is there twice.
func TestAKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asRun+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := runs.New(dir)
	durable := 0
	for lines := bufio.NewScanner(out); lines.Scan(); durable++ {
		if durable == 5 {
			if run, _, _, err := read(t.Context(), s, "run_1", 0, 0); err != nil || !run.Alive {
				t.Errorf("another process's run: %+v, %v", run, err)
			}
			if _, _, err := s.Resume("run_1"); human.KindOf(err) != human.Conflict {
				t.Errorf("resumed while it runs: %v", err)
			}
		}
		if durable == 20 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	j, records, err := s.Resume("run_1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if len(records) < durable {
		t.Errorf("%d records of %d that were durable", len(records), durable)
	}
	for i, r := range records {
		if i > 0 && !strings.HasPrefix(r.Update.Content, fmt.Sprintf("update %d ", i)) {
			t.Fatalf("record %d is %+v", i, r)
		}
	}
}

func TestReadWaits(t *testing.T) {
	s := runs.New(t.TempDir())
	j := create(t, s, "run_1")
	add(t, j, begin("run_1"), update("one"))
	type answer struct {
		updates []agent.Update
		run     agent.RunView
		err     error
	}
	wait := func(after int) <-chan answer {
		got := make(chan answer, 1)
		go func() {
			run, updates, _, err := read(t.Context(), s, "run_1", after, time.Minute)
			got <- answer{updates, run, err}
		}()
		return got
	}
	got := wait(1)
	add(t, j, update("two"))
	if a := <-got; a.err != nil || len(a.updates) != 1 || a.updates[0].Content != "two" {
		t.Errorf("%+v", a)
	}
	// It returns when the process goes, too: at once, where it has gone before it looks.
	got = wait(2)
	other := wait(99)
	closed := make(chan error, 1)
	tick := time.NewTimer(400 * time.Millisecond)
	go func() { <-tick.C; closed <- j.Close() }()
	for _, c := range []<-chan answer{got, other} {
		if a := <-c; a.err != nil || a.run.Alive || len(a.updates) != 0 {
			t.Errorf("%+v", a)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, next, err := read(ctx, s, "run_1", 2, time.Minute); err != nil || next != 2 {
		t.Errorf("%d, %v", next, err)
	}
}

func TestWhatIsLarge(t *testing.T) {
	s := runs.New(t.TempDir())
	j := create(t, s, "run_1")
	defer func() { _ = j.Close() }()
	add(t, j, begin("run_1"))
	for range 1200 {
		add(t, j, update(strings.Repeat("x", 5000)))
	}
	if err := j.Append(t.Context(), update(strings.Repeat("x", 17<<20))); human.KindOf(err) != human.Invalid {
		t.Errorf("a record of 17 MiB: %v", err)
	}
	seen, calls := 0, 0
	for {
		_, updates, next, err := read(t.Context(), s, "run_1", seen, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(updates) == 0 {
			break
		}
		if len(updates) > 500 || next != seen+len(updates) {
			t.Fatalf("%d updates, next is %d", len(updates), next)
		}
		seen, calls = next, calls+1
	}
	if seen != 1200 || calls < 3 {
		t.Errorf("%d updates in %d calls", seen, calls)
	}
}

// A run has the limits that it continued with last.
func TestARunThatGoesOn(t *testing.T) {
	s := runs.New(t.TempDir())
	j := create(t, s, "run_1")
	first, again := begin("run_1"), begin("run_1")
	first.Run.Limits, again.Run.Limits = &agent.Limits{Steps: 5}, &agent.Limits{Steps: 9}
	again.Kind = agent.ResumeRecord
	for _, r := range []agent.Record{first, again} {
		add(t, j, r, agent.Record{Kind: agent.UseRecord, Use: &agent.ToolUse{ID: "c", Name: "read"}, Spent: &agent.Spent{Steps: r.Run.Limits.Steps}})
		run, _, _, err := read(t.Context(), s, "run_1", 0, 0)
		if err != nil || run.Limits == nil || *run.Limits != *r.Run.Limits || run.Spent.Steps != r.Run.Limits.Steps || run.Task != "do it" {
			t.Errorf("%+v, %v", run, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLatestFirst(t *testing.T) {
	dir := t.TempDir()
	s := runs.New(dir)
	for i, id := range []string{"run_a", "run_c", "run_b"} {
		j := create(t, s, id)
		add(t, j, begin(id))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 21, 12, i, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, id+".jsonl"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context(), "run_", 2)
	if err != nil || len(list) != 2 || list[0].ID != "run_b" || list[1].ID != "run_c" || list[0].State != agent.Idle {
		t.Errorf("%+v, %v", list, err)
	}
}

func read(ctx context.Context, s *runs.Store, id string, after int, wait time.Duration) (agent.RunView, []agent.Update, int, error) {
	u, err := s.Read(ctx, id, after, wait)
	return u.Run, u.Updates, u.Next, err
}
