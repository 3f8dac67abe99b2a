package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/record/retention"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/summary"
	"deskbell/backend/transport/api"
	"deskbell/summarizers/builtin"
)

// A pointer is a source that can be listened to and tells nothing.
type pointer struct{}

func (pointer) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.InputSource, Status: "partial", Code: "wayland", Detail: "nothing \x1b[2Jbeyond this window", Fix: "log in to X11"}
}

func (pointer) Run(ctx context.Context, ready func(), _ func(human.RecordedEvent)) (uint64, error) {
	ready()
	<-ctx.Done()
	return 0, nil
}

// A fixture is a server over a real file, and the command line in front of it.
type fixture struct {
	t     *testing.T
	store *sqlite.Store
	queue *queue.Queue
	op    human.Operation
	began time.Time
	kept  oneSession

	removal retention.Removal // what retention would remove
	ran     int
	files   *pictures.Store
}

// Preview implements api.Retention.
func (d *fixture) Preview(context.Context) (retention.Removal, error) { return d.removal, nil }

// Delete implements api.Retention.
func (d *fixture) Delete(_ context.Context, _ human.Actor, ids []human.OperationID, _ bool) (retention.Deletion, error) {
	d.ran++
	return retention.Deletion{Operations: ids, Copies: retention.Copies{Backups: []string{"2026-11-28T030000Z"}, Files: []string{"/data/deskbell.db.rescued-1"}}}, nil
}

// Remove implements api.Retention.
func (d *fixture) Remove(context.Context) (retention.Removal, error) { d.ran++; return d.removal, nil }

func newFixture(t *testing.T) *fixture {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	d := &fixture{t: t, store: store, queue: queue.New(store, store, queue.Options{Log: log}), began: time.Now()}
	must(t, d.queue.Load(t.Context()))
	files := pictures.New(dir)
	d.files = files
	recorder := record.New(record.Deps{
		Store: store.Recordings(), Pictures: files, Operations: d.queue, Input: pointer{}, Log: log,
		Clock: func() (time.Time, int64) { now := time.Now(); return now, int64(now.Sub(d.began)) },
		NewID: func() human.RecordingID { return "rec_live" },
	}, record.Options{})
	books := library.New(library.Deps{Store: store.Recordings(), Pictures: files, Operations: d.queue, Encode: pictures.Encode})
	drafts := summary.New(summary.Deps{
		Operations: d.queue, Recordings: books, Store: store.Summaries(), Operator: human.Actor{Role: human.Operator, Name: "ada"}, Now: time.Now, Log: log, Folder: "/data/summarizers",
		Registry: func() summary.Registry {
			return summary.Registry{BuiltIn: builtin.All(), Problems: []summary.Unusable{{Name: "mine", Text: "its manifest\x1b has no command"}}}
		},
		Options: func() summary.Options { return summary.Options{Language: "request"} },
		NewID:   func() human.SummaryID { return "sum_1" },
	})
	t.Cleanup(drafts.Close)
	server, err := api.New(api.Deps{Queue: d.queue, Keys: store, Operator: "ada", Log: log, Recorder: recorder, Library: books, Summaries: drafts, Retention: d})
	must(t, err)
	web := httptest.NewServer(server)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = recorder.Run(ctx) })
	running.Go(func() { _ = d.queue.Run(ctx) })
	t.Cleanup(func() {
		web.Close()
		server.Close()
		stop()
		running.Wait()
		must(t, store.Close())
	})
	t.Setenv("DESKBELL_URL", web.URL)
	d.kept = oneSession(server.WindowToken())
	t.Setenv("DESKBELL_KEY", "")
	d.op, _, err = d.queue.Ring(t.Context(), human.Request{Kind: human.Desktop, Description: "do it", AgentID: "bot", Priority: 5}, false)
	must(t, err)
	_, err = d.queue.Claim(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, d.op.ID)
	must(t, err)
	return d
}

// oneSession is one that this terminal has.
type oneSession string

func (k oneSession) Load(context.Context, string) (string, error) { return string(k), nil }
func (k oneSession) Save(context.Context, string, string) error   { return nil }
func (k oneSession) Remove(context.Context, string) error         { return nil }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command line and checks its exit code.
func (d *fixture) run(code int, args ...string) (out, errs string) {
	d.t.Helper()
	var stdout, stderr bytes.Buffer
	if got := Execute(d.t.Context(), Program{Version: "test", Sessions: d.kept}, args, strings.NewReader(""), &stdout, &stderr); got != code {
		d.t.Errorf("deskbell %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	for _, text := range []string{stdout.String(), stderr.String()} {
		if strings.ContainsAny(text, "\x1b\x00\u202e") {
			d.t.Errorf("deskbell %s prints what a terminal obeys: %q", strings.Join(args, " "), text)
		}
	}
	return stdout.String(), stderr.String()
}

// says runs a command and checks that it prints something.
func (d *fixture) says(want string, args ...string) {
	d.t.Helper()
	if out, errs := d.run(exitYes, args...); !strings.Contains(out+errs, want) {
		d.t.Errorf("deskbell %s prints %q, which does not say %q", strings.Join(args, " "), out+errs, want)
	}
}

// made stores a recording of the operation that has ended: a click on a button with an unfriendly name.
func (d *fixture) made(id human.RecordingID) {
	d.t.Helper()
	rec := human.Recording{
		ID: id, OperationID: d.op.ID, By: "ada\x1b[31m", State: human.RecordingStopped, Reason: "limit", StartedAt: d.began, Elapsed: int64(63 * time.Second),
		System: "linux/x11", Gaps: []human.Gap{{From: 0, To: int64(time.Second), Reason: "paused"}}, Bytes: 1_500_000,
	}
	must(d.t, d.store.Recordings().Create(d.t.Context(), rec))
	must(d.t, d.store.Recordings().Append(d.t.Context(), rec, []human.RecordedEvent{
		{Seq: 1, At: int64(61 * time.Second), Source: human.InputSource, Type: human.PointerDown, Button: 1},
		{Seq: 2, At: int64(61 * time.Second), Source: human.InputSource, Type: human.PointerUp, Button: 1},
		{Seq: 3, At: int64(61 * time.Second), Source: human.ElementSource, Type: human.ElementSeen, CausedBy: 1, Element: &human.Element{Role: "button", Name: "Sa\x1bve\u202e"}},
	}))
}

func TestRecordingInATerminal(t *testing.T) {
	d := newFixture(t)
	op := string(d.op.ID)
	d.says("Nothing is being recorded", "record", "status")
	d.says("log in to X11", "record", "status")
	if _, errs := d.run(exitError, "record", "stop"); !strings.Contains(errs, "nothing is being recorded") {
		t.Errorf("stopping nothing prints %q", errs)
	}
	d.says("log in to X11", "record", "start", op, "--clipboard", "off", "--no-pictures", "--folder", ".")
	state := decoded[struct {
		Current human.Recording
		Sources []human.SourceState
	}](d, "record", "status", "--json")
	here, err := os.Getwd()
	must(t, err)
	o := state.Current.Options
	if len(state.Sources) == 0 || o.Clipboard != "off" || o.Pictures == nil || *o.Pictures || len(o.Folders) != 1 || o.Folders[0] != here {
		t.Errorf("it was begun with %+v", o)
	}
	d.says("rec_live of "+op+": recording", "record", "status")
	d.says("paused", "record", "pause")
	d.says("recording", "record", "resume", "rec_live")
	if r := decoded[human.Recording](d, "record", "stop", "--json"); r.State != human.RecordingStopped {
		t.Errorf("stopped it is %s", r.State)
	}
	d.says("rec_live deleted", "recordings", "delete", "rec_live")
	d.run(exitYes, "record", "start", op)
	if gone := decoded[struct {
		ID    string `json:"recording_id"`
		State string
	}](d, "record", "discard", "--json"); gone.ID != "rec_live" || gone.State != "discarded" {
		t.Errorf("discarding prints %+v", gone)
	}
	d.kept = ""
	if _, errs := d.run(exitError, "record", "start", op); !strings.Contains(errs, "only an operator") {
		t.Errorf("without a session it prints %q", errs)
	}
}

// decoded runs a command and reads the JSON it prints.
func decoded[T any](d *fixture, args ...string) (v T) {
	d.t.Helper()
	out, _ := d.run(exitYes, args...)
	if err := json.Unmarshal([]byte(out), &v); err != nil || strings.Count(out, "\n") != 1 {
		d.t.Errorf("deskbell %s prints %q: %v", strings.Join(args, " "), out, err)
	}
	return v
}

func TestRecordingsInATerminal(t *testing.T) {
	d := newFixture(t)
	d.says("There are no recordings", "recordings", "list")
	d.made("rec_1")
	d.made("rec_2")
	d.says("rec_1  "+string(d.op.ID), "recordings", "list")
	if out, errs := d.run(exitYes, "recordings", "list", "--limit", "1"); strings.Count(out, "\n") != 1 || !strings.Contains(errs, "--cursor") {
		t.Errorf("a page of one prints %q, %q", out, errs)
	}
	if page := decoded[record.RecordingPage](d, "recordings", "list", "--operation", "op_none", "--json"); len(page.Recordings) != 0 {
		t.Errorf("another operation has %+v", page)
	}
	for _, want := range []string{"1:03", "1.5 MB", "ended by limit", "not complete", "gap from 0:00 to 0:01: paused", "1:01  a1"} {
		d.says(want, "recordings", "show", "rec_1")
	}
	shown := decoded[struct {
		Recording human.Recording
		Actions   []human.Action
	}](d, "recordings", "show", "rec_1", "--json", "--language", "zh-CN")
	if shown.Recording.ID != "rec_1" || len(shown.Actions) != 1 || shown.Actions[0].Type != human.Click {
		t.Errorf("as JSON it is %+v", shown)
	}
	if _, errs := d.run(exitError, "recordings", "show", "rec_none"); !strings.Contains(errs, "no recording rec_none") {
		t.Errorf("one that is not there prints %q", errs)
	}
}

func TestExportsInATerminal(t *testing.T) {
	d := newFixture(t)
	d.made("rec_1")
	t.Chdir(t.TempDir())
	files := func() (names []string) {
		t.Helper()
		entries, err := os.ReadDir(".")
		must(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	out, _ := d.run(exitYes, "recordings", "export", "rec_1")
	name := strings.TrimSpace(out)
	if page, err := os.ReadFile(name); err != nil || !bytes.Contains(page, []byte("<html")) || filepath.Ext(name) != ".html" {
		t.Errorf("the page %q: %v", name, err)
	}
	if _, errs := d.run(exitError, "recordings", "export", "rec_1"); !strings.Contains(errs, "is there already") {
		t.Errorf("a second time it prints %q", errs)
	}
	must(t, os.WriteFile("guide.zip", []byte("old"), 0o600))
	told := decoded[struct {
		File  string
		Bytes int64
	}](d, "recordings", "export", "rec_1", "--format", "markdown", "-o", "guide.zip", "--json")
	z, err := zip.OpenReader("guide.zip")
	must(t, err)
	must(t, z.Close())
	if info, err := os.Stat("guide.zip"); err != nil || told.File != "guide.zip" || told.Bytes != info.Size() {
		t.Errorf("it tells of %+v: %v", told, err)
	}
	if out, _ := d.run(exitYes, "recordings", "export", "rec_1", "--format", "json", "-o", "-"); !json.Valid([]byte(out)) {
		t.Errorf("on standard output: %q", out)
	}
	before := files()
	for _, args := range [][]string{{"rec_none"}, {"rec_1", "--format", "pdf"}, {"rec_1", "-o", "no/such/folder.html"}} {
		d.run(exitError, append([]string{"recordings", "export"}, args...)...)
	}
	if after := files(); len(after) != 2 || len(before) != 2 {
		t.Errorf("what failed left files behind: %v", after)
	}
}

func TestAnAgentReadsARecordingInATerminal(t *testing.T) {
	d := newFixture(t)
	d.made("rec_1")
	ada := human.Actor{Role: human.Operator, Name: "ada"}
	_, err := d.queue.RecordingBegan(t.Context(), ada, d.op.ID, "rec_1")
	must(t, err)
	key, err := d.store.AddKey(t.Context(), "bot", false)
	must(t, err)
	d.kept = ""
	t.Setenv("DESKBELL_KEY", key)
	if _, errs := d.run(exitError, "recordings", "show", "rec_1"); !strings.Contains(errs, "no recording rec_1") {
		t.Errorf("before it is given: %q", errs)
	}
	_, err = d.queue.Complete(t.Context(), ada, d.op.ID, human.Answer{HumanInput: "done", Attachments: []string{"rec_1"}}, "")
	must(t, err)
	d.says("a1", "recordings", "show", "rec_1")
	d.says("action", "recordings", "export", "rec_1", "--format", "json", "-o", "-")
	if _, errs := d.run(exitError, "recordings", "delete", "rec_1"); !strings.Contains(errs, "only an operator") {
		t.Errorf("deleting prints %q", errs)
	}
}
