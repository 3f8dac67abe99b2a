package term_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/platform"
	"deskbell/backend/platform/pty"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
	"deskbell/backend/record/library"
	"deskbell/backend/record/masking"
	"deskbell/backend/record/term"
	"deskbell/backend/store/casts"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ada = human.Actor{Role: human.Operator, Name: "ada"}

// operations is one operation that ada has claimed.
type operations struct {
	mu sync.Mutex
	op human.Operation
}

func (o *operations) Get(context.Context, human.Actor, human.OperationID) (human.Operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.op, nil
}

func (o *operations) change(f func(*human.Operation)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(&o.op)
}

func (o *operations) RecordingBegan(_ context.Context, _ human.Actor, _ human.OperationID, id human.RecordingID) (human.Operation, error) {
	o.change(func(op *human.Operation) { op.Recordings = append(op.Recordings, id) })
	return o.op, nil
}

func (o *operations) RecordingDropped(context.Context, human.Actor, human.OperationID, human.RecordingID) error {
	return nil
}

// A workplace is a service over real files and real shells, whose home is empty.
type workplace struct {
	t       testing.TB
	dir     string
	home    string
	ops     *operations
	store   *sqlite.Store
	service *term.Service
	library *library.Library
	stop    func()
}

func open(t testing.TB, details string) *workplace {
	t.Helper()
	d := &workplace{t: t, dir: t.TempDir(), home: t.TempDir(), ops: &operations{}}
	d.ops.op = human.Operation{ID: "op_1", Kind: human.Bash, State: human.Claimed, ClaimedBy: "ada"}
	d.ops.op.Details = []byte(strings.ReplaceAll(details, "HOME", d.home))
	store, err := sqlite.Open(t.Context(), d.dir, sqlite.Options{})
	must(t, err)
	d.store = store
	n := 0
	files := casts.New(d.dir)
	d.service = term.New(term.Deps{
		Operations: d.ops, Store: store.Recordings(), Casts: files, Masker: masking.New(), Clock: platform.Now, Open: pty.Open, Shells: pty.Shells, System: "linux",
		Environ: func() []string {
			return []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "DESKBELL_DATA=" + d.dir, "DESKBELL_KEY=dbk_x", "LANG=C.UTF-8"}
		},
		NewID: func() human.RecordingID { n++; return human.RecordingID("rec_" + string(rune('0'+n))) },
		Judge: func(_ context.Context, _ human.Actor, command, _ string) (human.Verdict, error) {
			if strings.Contains(command, "rm -rf") {
				return human.Verdict{Decision: human.Deny, Risk: human.CriticalRisk, Said: []human.Sentence{{Text: "it deletes"}}}, nil
			}
			return human.Verdict{Decision: human.Allow, Risk: human.NoRisk}, nil
		},
		Log: slog.New(slog.DiscardHandler),
	}, func() term.Options { return term.Options{Shell: "bash"} })
	d.library = library.New(library.Deps{Store: store.Recordings(), Pictures: pictures.New(d.dir), Casts: files, Operations: d.ops, Encode: pictures.Encode})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.service.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	t.Cleanup(func() { d.stop(); must(t, store.Close()) })
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A page reads a terminal as the console does.
type page struct {
	*workplace
	c *term.Connection

	mu     sync.Mutex
	seen   strings.Builder
	events []term.Event
	more   chan struct{}
	over   chan struct{}
}

func (d *workplace) start(r term.Request) *page {
	d.t.Helper()
	r.Cols, r.Rows = 96, 24
	_, err := d.service.Start(d.t.Context(), ada, "op_1", r)
	must(d.t, err)
	return d.connect()
}

func (d *workplace) connect() *page {
	d.t.Helper()
	c, err := d.service.Connect(d.t.Context(), ada, "op_1")
	must(d.t, err)
	p := &page{workplace: d, c: c, more: make(chan struct{}, 1), over: make(chan struct{})}
	go func() {
		defer close(p.over)
		for {
			out, event, ok := c.Next(context.Background())
			if !ok {
				return
			}
			p.mu.Lock()
			if event != nil {
				p.events = append(p.events, *event)
			}
			p.seen.Write(out)
			p.mu.Unlock()
			if err := c.Ack(len(out)); err != nil {
				d.t.Errorf("ack: %v", err)
			}
			select {
			case p.more <- struct{}{}:
			default:
			}
		}
	}()
	d.t.Cleanup(func() { c.Close(); <-p.over })
	return p
}

// until waits for something in what came.
func (p *page) until(what string, is func(seen string, events []term.Event) bool) {
	p.t.Helper()
	late := time.After(20 * time.Second)
	for {
		p.mu.Lock()
		seen, events := p.seen.String(), slices.Clone(p.events)
		p.mu.Unlock()
		if is(seen, events) {
			return
		}
		select {
		case <-p.more:
		case <-late:
			p.t.Fatalf("never: %s; seen %q, events %+v", what, seen, events)
		}
	}
}

func (p *page) sees(text string) {
	p.t.Helper()
	p.until(text, func(seen string, _ []term.Event) bool { return strings.Contains(seen, text) })
}

// ended are the commands that have ended.
func ended(events []term.Event) (all []term.Command) {
	for _, e := range events {
		if e.Type == "command" && e.Command.EndedAt != nil {
			all = append(all, *e.Command)
		}
	}
	return all
}

// does types a command and waits for its end.
func (p *page) does(line string) term.Command {
	p.t.Helper()
	n := 0
	p.until("a prompt", func(seen string, events []term.Event) bool {
		n = len(ended(events))
		return strings.Count(seen, "\x1b]133;B\a") > n
	})
	p.c.Write([]byte(line + "\r"))
	return p.ends(n + 1)
}

func (p *page) ends(n int) (c term.Command) {
	p.t.Helper()
	p.until("the end of command", func(_ string, events []term.Event) bool {
		all := ended(events)
		if len(all) >= n {
			c = all[n-1]
		}
		return len(all) >= n
	})
	return c
}

// finish ends the terminal and returns what was recorded.
func (d *workplace) finish() (human.Recording, []human.Action) {
	d.t.Helper()
	st, err := d.service.Stop(d.t.Context(), ada, "op_1")
	must(d.t, err)
	return d.recorded(st.RecordingID)
}

func (d *workplace) recorded(id human.RecordingID) (human.Recording, []human.Action) {
	d.t.Helper()
	rec, err := d.store.Recordings().Recording(d.t.Context(), id)
	must(d.t, err)
	all, err := actions.From(d.store.Recordings().Events(d.t.Context(), id, 0), "en")
	must(d.t, err)
	return rec, all
}

// cast is the stored file.
func (d *workplace) cast(id human.RecordingID) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "recordings", string(id), "terminal.cast"))
	must(d.t, err)
	return string(text)
}

// nowhere checks that a text is in no file of the data folder, once everything is written.
func (d *workplace) nowhere(secret string) {
	d.t.Helper()
	must(d.t, filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), secret) {
			d.t.Errorf("%s has the secret", path)
		}
		return err
	}))
	for ev, err := range d.store.Recordings().Events(d.t.Context(), "rec_1", 0) { // they are packed in the file
		must(d.t, err)
		if ev.Command != nil && strings.Contains(ev.Command.Text+ev.Command.Output+ev.Command.Folder, secret) {
			d.t.Errorf("event %d has the secret", ev.Seq)
		}
	}
}

var _ record.Casts = (*casts.Store)(nil)
