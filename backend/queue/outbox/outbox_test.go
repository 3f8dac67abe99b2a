package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/sqlite"
)

var (
	mei = human.Actor{Role: human.Operator, Name: "Mei"}
	bot = human.Actor{Role: human.Agent, Name: "bot"}
)

// A place is a sink that keeps what it is given, or fails.
type place struct {
	mu    sync.Mutex
	fail  func(outbox.Document) error
	got   []outbox.Document
	text  []string
	tries int
}

func (p *place) Put(_ context.Context, d outbox.Document, text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	if p.fail != nil {
		if err := p.fail(d); err != nil {
			return err
		}
	}
	p.got, p.text = append(p.got, d), append(p.text, string(text))
	return nil
}

// works has it take what comes from now on.
func (p *place) works() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = nil
}

func (p *place) ids() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, d := range p.got {
		all = append(all, d.Request.Description)
	}
	slices.Sort(all) // what failed less often comes first
	return strings.Join(all, " ")
}

type fixture struct {
	*testing.T
	store *sqlite.Store
	q     *queue.Queue
	on    atomic.Pointer[map[string]outbox.On]
	s     *outbox.Service
	stop  func()
}

// open runs a queue and an outbox over the SQLite file of a folder.
func open(t *testing.T, dir string, on map[string]outbox.On) *fixture {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	q := queue.New(store, store, queue.Options{Receipts: &receipt.Maker{Key: journaltest.Key}})
	if err := q.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, store: store, q: q}
	f.on.Store(&on)
	f.s = outbox.New(outbox.Deps{
		Queue: q, Store: store.Outbox(), Operator: mei, Sinks: func() map[string]outbox.On { return *f.on.Load() }, Mask: masking.New().Text,
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = q.Run(ctx) })
	running.Go(func() {
		if err := f.s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	f.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// pass lets time go by, on the clock of synctest.
func pass(d time.Duration) { <-time.After(d) }

// answered has a request answered.
func (f *fixture) answered(description string, answer human.Answer) human.Operation {
	f.Helper()
	op, _, err := f.q.Ring(f.Context(), human.Request{Kind: human.Feedback, Description: description, AgentID: bot.Name, Details: json.RawMessage(`{"password": "correct-horse-9", "n": 1}`)}, false)
	if err == nil {
		op, err = f.q.Complete(f.Context(), mei, op.ID, answer, op.Digest)
	}
	if err != nil {
		f.Fatal(err)
	}
	return op
}

func (f *fixture) state(name string) outbox.SinkState {
	f.Helper()
	all, err := f.s.States(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	f.Fatalf("no %s among %+v", name, all)
	return outbox.SinkState{}
}

func TestWhatEndsIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := &place{}, &place{}
		f := open(t, t.TempDir(), map[string]outbox.On{"log": {Sink: log}, "webhook": {Sink: hook, To: "example.org"}})
		defer f.stop()
		op := f.answered("one", human.Answer{HumanInput: "Use token ghp_012345678901234567890123456789abcdef", KeyFindings: []string{"It is red"}})
		declined, _, err := f.q.Ring(t.Context(), human.Request{Kind: human.Feedback, Description: "two", AgentID: bot.Name}, false)
		if err == nil {
			_, err = f.q.Decline(t.Context(), mei, declined.ID, "Ask Lin")
		}
		if err == nil {
			_, _, err = f.q.Ring(t.Context(), human.Request{Kind: human.Feedback, Description: "open", AgentID: bot.Name}, false)
		}
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, p := range []*place{log, hook} {
			if p.ids() != "one two" {
				t.Fatalf("delivered %q", p.ids())
			}
			d := p.got[0]
			if d.ID != "human_operation_"+string(op.ID) || d.Category != "human_actions" || d.AgentID != "bot" || d.State != human.Completed || d.Result.By != mei ||
				len(d.Result.KeyFindings) != 1 || !strings.HasPrefix(d.Text, "one – ") {
				t.Errorf("%+v", d)
			}
			if d := p.got[1]; d.Ended == nil || d.Ended.Reason != "Ask Lin" || d.Text != "two – declined: Ask Lin" {
				t.Errorf("%+v", d)
			}
			if text := p.text[0]; strings.Contains(text, "correct-horse-9") || strings.Contains(text, "ghp_0123") || !strings.Contains(text, `"n":1`) {
				t.Errorf("secrets are in %s", text)
			}
		}
		if s := f.state("webhook"); !s.On || s.To != "example.org" || s.Waiting != 0 || s.Problem != "" {
			t.Errorf("%+v", s)
		}
		if s := f.state("folder"); s.On || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A sink that is away gets all of it once it is back, also after a restart, and delays neither an answer nor the other sinks.
func TestASinkThatIsAwayLosesNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log, hook := &place{}, &place{fail: func(outbox.Document) error { return errors.New("connection refused") }}
		on := map[string]outbox.On{"log": {Sink: log}, "webhook": {Sink: hook}}
		f := open(t, dir, on)
		f.answered("one", human.Answer{HumanInput: "a"})
		f.answered("two", human.Answer{HumanInput: "b"})
		pass(time.Hour)
		if log.ids() != "one two" || hook.ids() != "" || hook.tries < 8 || hook.tries > 40 {
			t.Errorf("log %q, webhook %q after %d tries", log.ids(), hook.ids(), hook.tries)
		}
		if s := f.state("webhook"); s.Waiting != 2 || s.Since == nil || s.Problem == "" {
			t.Errorf("%+v", s)
		}
		f.stop()
		hook.fail = nil
		f = open(t, dir, on)
		synctest.Wait()
		f.answered("three", human.Answer{HumanInput: "c"})
		pass(time.Hour)
		if hook.ids() != "one three two" || log.ids() != "one three two" {
			t.Errorf("log %q, webhook %q", log.ids(), hook.ids())
		}
		f.stop()
	})
}

// A document that is never taken keeps back none of those that come after it.
func TestOneThatIsNeverTakenKeepsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &place{fail: func(d outbox.Document) error {
			if d.Request.Description == "bad" {
				return human.Errorf(human.Unavailable, "the webhook answered 400")
			}
			return nil
		}}
		f := open(t, t.TempDir(), map[string]outbox.On{"webhook": {Sink: hook}})
		defer f.stop()
		f.answered("bad", human.Answer{HumanInput: "a"})
		pass(24 * time.Hour)
		f.answered("good", human.Answer{HumanInput: "b"})
		pass(time.Minute)
		if hook.ids() != "good" {
			t.Errorf("delivered %q", hook.ids())
		}
		if s := f.state("webhook"); s.Waiting != 1 || !strings.Contains(s.Problem, "400") {
			t.Errorf("%+v", s)
		}
	})
}

// What ends while a sink is off does not come to it later, and what waits is dropped once it is switched off.
func TestASinkThatIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &place{fail: func(outbox.Document) error { return errors.New("away") }}
		f := open(t, t.TempDir(), map[string]outbox.On{"webhook": {Sink: hook}})
		defer f.stop()
		f.answered("before", human.Answer{HumanInput: "a"})
		pass(time.Minute)
		f.on.Store(&map[string]outbox.On{})
		f.s.Recheck()
		pass(time.Hour)
		f.answered("while off", human.Answer{HumanInput: "b"})
		synctest.Wait()
		hook.works()
		f.on.Store(&map[string]outbox.On{"webhook": {Sink: hook}})
		f.s.Recheck()
		synctest.Wait()
		f.answered("after", human.Answer{HumanInput: "c"})
		pass(time.Hour)
		if hook.ids() != "after" {
			t.Errorf("delivered %q", hook.ids())
		}
	})
}

func TestATry(t *testing.T) {
	hook := &place{}
	f := open(t, t.TempDir(), map[string]outbox.On{"webhook": {Sink: hook}})
	if err := f.s.Try(t.Context(), "webhook"); err != nil || len(hook.got) != 1 || hook.got[0].Result == nil {
		t.Errorf("%v, %+v", err, hook.got)
	}
	if err := f.s.Try(t.Context(), "log"); human.KindOf(err) != human.NotFound {
		t.Errorf("a sink that is off: %v", err)
	}
}

func TestBodies(t *testing.T) {
	d := outbox.Document{Text: `Deploy <!channel> & "go"?`, Kind: human.Approve, Result: &human.Result{}}
	for body, want := range map[string]string{
		`{"text": {{json .Text}}}`:                  `{"text": "Deploy \u003c!channel\u003e \u0026 \"go\"?"}`,
		`{"text": {{json (escape .Text)}}}`:         `{"text": "Deploy \u0026lt;!channel\u0026gt; \u0026amp; \"go\"?"}`,
		`{"kind": {{json .Kind}}, "n": [1]}`:        `{"kind": "approve", "n": [1]}`,
		`{{if .Result}}{"a": 1}{{else}}null{{end}}`: `{"a": 1}`,
		`{"decision": {{json .Result.Decision}}}`:   `{"decision": ""}`,
		`{"text": "{{.Text}}"}`:                     "not JSON",
		`{"text": {{json .Nothing}}}`:               "does not fit",
		`{"text": {{json .Text}`:                    "does not fit",
	} {
		text, err := outbox.Body(body, d)
		if err == nil && string(text) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %s, %v", body, text, err)
		}
	}
	if err := outbox.CheckBody(`{"chat_id": 1, "text": {{json .Text}}}`); err != nil {
		t.Error(err)
	}
}
