package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// TestMain is also the process of an agent, that answers the nth message of a session with n; "slow" once another message comes.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" && os.Args[2] == "serve" {
		serve()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "agent" && os.Args[2] == "resume" {
		return // at once
	}
	os.Exit(m.Run())
}

func serve() {
	write := func(r agent.Return) {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
	write(agent.Return{})
	said := map[string]int{}
	lines := bufio.NewScanner(os.Stdin)
	var waiting []agent.Order
	for lines.Scan() {
		var o agent.Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			panic(err)
		}
		if o.Message.Text == "slow" {
			waiting = append(waiting, o)
			continue
		}
		for _, w := range append(waiting, o) { // a message lets those that wait be answered
			said[w.Message.Session]++
			write(agent.Return{N: w.N, Response: &agent.Response{Status: agent.Success, SessionID: w.Message.Session, Message: fmt.Sprint(said[w.Message.Session])}})
		}
		waiting = nil
	}
}

// journals know every session.
type journals struct{ Journals }

func (journals) Read(_ context.Context, id string, _ int, _ time.Duration) (agent.RunUpdates, error) {
	return agent.RunUpdates{Run: agent.RunView{RunInfo: agent.RunInfo{ID: id, Cwd: os.TempDir()}}}, nil
}

func testHost(t *testing.T) *Host {
	n := 0
	h := New(Deps{
		Program: []string{os.Args[0]}, Folder: os.TempDir(), Log: slog.New(slog.DiscardHandler), Runs: journals{},
		Agents:  func() ([]agent.Profile, error) { return []agent.Profile{{Name: "music", Open: true}}, nil },
		Started: func(int, string) {},
		NewID:   func(prefix string) string { n++; return prefix + fmt.Sprint(n) },
	})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

var person = human.Actor{Role: human.Operator, Name: "ana"}

func say(t *testing.T, h *Host, text, session, key string) agent.Response {
	t.Helper()
	r, err := h.Message(t.Context(), person, "music", agent.Sent{Message: text, Session: session, Key: key})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// unwaited sends a message that no one waits for, until its answer is there.
func unwaited(t *testing.T, h *Host, text, session, key string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	r, err := h.Message(ctx, person, "music", agent.Sent{Message: text, Session: session, Key: key})
	if err != nil || r.Status != agent.Working || r.SessionID != session {
		t.Fatalf("%+v, %v", r, err)
	}
	h.mu.Lock()
	j := h.jobs[session]
	h.mu.Unlock()
	for !j.isOver() { // the other one may come first
		say(t, h, "go", "another", "")
	}
}

// An answer that its sender did not wait for is there for the same message again, once.
func TestAnAnswerThatWasNotWaitedFor(t *testing.T) {
	h := testHost(t)
	if r := say(t, h, "hello", "chat_a", ""); r.Message != "1" {
		t.Errorf("the first: %+v", r)
	}
	unwaited(t, h, "slow", "chat_a", "")
	if err := h.Silence("chat_a"); human.KindOf(err) != human.Conflict {
		t.Errorf("what is answered is stopped: %v", err)
	}
	if r := say(t, h, "slow", "chat_a", ""); r.Message != "2" {
		t.Errorf("its answer: %+v", r)
	}
	if r := say(t, h, "hello", "chat_a", ""); r.Message != "3" {
		t.Errorf("another: %+v", r)
	}
	unwaited(t, h, "slow", "chat_a", "one")
	unwaited(t, h, "slow", "chat_a", "two") // the same words again are another message
	if r := say(t, h, "slow", "chat_a", "two"); r.Message != "5" {
		t.Errorf("the answer to the second: %+v", r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.jobs) != 0 {
		t.Errorf("%d answers are kept that were returned", len(h.jobs))
	}
}

// It is not kept for ever.
func TestAnAnswerThatIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Deps{})
		j := &job{message: agent.Message{Session: "chat_a"}, done: make(chan struct{})}
		h.jobs["chat_a"] = j
		h.over(j)
		kept := func(after time.Duration) int {
			<-time.After(after)
			synctest.Wait()
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.jobs)
		}
		if kept(idle-time.Second) != 1 {
			t.Fatal("it is gone early")
		}
		if kept(2*time.Second) != 0 {
			t.Error("it is kept")
		}
	})
}

// A first message that is sent again with its key finds the conversation that it began.
func TestAFirstMessageWithAKey(t *testing.T) {
	h := testHost(t)
	first := say(t, h, "hello", "", "k")
	if again := say(t, h, "hello", "", "k"); again.SessionID != first.SessionID || !strings.HasPrefix(first.SessionID, agent.ConversationPrefix) {
		t.Errorf("%q, then %q", first.SessionID, again.SessionID)
	}
	other, err := h.Message(t.Context(), human.Actor{Role: human.Agent, Name: "ana"}, "music", agent.Sent{Message: "hello", Key: "k"})
	if err != nil || other.SessionID == first.SessionID {
		t.Errorf("another sender with the same key: %+v, %v", other, err)
	}
	if a, b := say(t, h, "hello", "", ""), say(t, h, "hello", "", ""); a.SessionID == b.SessionID {
		t.Error("without keys, two conversations are one")
	}
}

// quick is a run that ends between two looks at it: the second finds it as it was before, the third at its end.
type quick struct {
	Journals
	looks  int
	ending agent.RunView
}

func (q *quick) Read(ctx context.Context, _ string, _ int, _ time.Duration) (agent.RunUpdates, error) {
	if q.looks++; q.looks > 2 {
		return agent.RunUpdates{Run: q.ending}, nil
	}
	return agent.RunUpdates{Run: agent.RunView{Last: time.Unix(1, 0)}}, nil
}

// A run that was resumed and ended before it was seen alive has begun; one that wrote nothing has not.
func TestARunThatEndsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		ending agent.RunView
		begun  bool
	}{
		"it is done":           {agent.RunView{Last: time.Unix(2, 0), Over: true}, true},
		"it was stopped again": {agent.RunView{Last: time.Unix(2, 0)}, true},
		"it wrote nothing":     {agent.RunView{Last: time.Unix(1, 0)}, false},
	} {
		h := testHost(t)
		h.d.Runs = &quick{ending: tt.ending}
		if err := h.Resume(t.Context(), "run_1"); (err == nil) != tt.begun {
			t.Errorf("%s: %v", name, err)
		}
	}
}
