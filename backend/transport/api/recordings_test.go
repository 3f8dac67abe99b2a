package api

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/record/replay"
	"deskbell/backend/store/pictures"
	"deskbell/backend/summary"
	"deskbell/summarizers/builtin"
)

// A hand is a source of input that a test moves.
type hand struct {
	mu   sync.Mutex
	emit func(human.RecordedEvent)
	seen uint64
}

func (*hand) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.InputSource, Status: "complete"}
}

func (h *hand) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	h.mu.Lock()
	h.emit, h.seen = emit, 0
	h.mu.Unlock()
	ready()
	<-ctx.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.emit = nil
	return h.seen, nil
}

// click presses and releases the left button.
func (h *hand) click() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range []human.RecordedType{human.PointerDown, human.PointerUp} {
		_, at := monotonic()
		h.emit(human.RecordedEvent{At: at, Source: human.InputSource, Type: e, Button: 1, X: 5, Y: 5})
		h.seen++
	}
}

var began = time.Now()

func monotonic() (time.Time, int64) { now := time.Now(); return now, int64(now.Sub(began)) }

// openRecordings gives a fixture a recorder with one source, a library and replay.
func (h *fixture) openRecordings(d *Deps) {
	h.pictures, h.input, h.playing = pictures.New(h.t.TempDir()), new(hand), make(chan struct{})
	ids := 0
	h.recorder = record.New(record.Deps{
		Store: h.store.Recordings(), Pictures: h.pictures, Operations: h.queue, Clock: monotonic, Input: h.input, Log: d.Log,
		NewID: func() human.RecordingID {
			ids++
			return human.RecordingID("rec_live_" + string(rune('0'+ids/10)) + string(rune('0'+ids%10)))
		},
	}, record.Options{})
	books := library.New(library.Deps{Store: h.store.Recordings(), Pictures: h.pictures, Operations: h.queue, Files: h.queue, Encode: pictures.Encode})
	h.replays = library.NewReplays(books, func(ctx context.Context, list []human.Action, _ float64, progress func(replay.Played)) error {
		for i, a := range list {
			progress(replay.Played{ActionID: a.ID, State: "playing", Index: i})
			if i < len(list)-1 {
				progress(replay.Played{ActionID: a.ID, State: "skipped", Index: i})
			}
		}
		select {
		case <-h.playing:
			progress(replay.Played{ActionID: list[len(list)-1].ID, State: "done"})
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	var drafts atomic.Int64
	h.summaries = summary.New(summary.Deps{
		Operations: h.queue, Recordings: books, Store: h.store.Summaries(), Operator: human.Actor{Role: human.Operator, Name: "ada"},
		Now: time.Now, Log: d.Log, Folder: "/data/summarizers",
		Registry: func() summary.Registry { return summary.Registry{BuiltIn: builtin.All()} },
		Options:  func() summary.Options { return summary.Options{Language: "request"} },
		NewID: func() human.SummaryID {
			return human.SummaryID(human.SummaryPrefix + strconv.FormatInt(drafts.Add(1), 10))
		},
	})
	d.Procedures = procedure.New(procedure.Deps{Store: h.store.Procedures(), Queue: h.queue, Recordings: books, Now: time.Now, Log: d.Log})
	d.Recorder, d.Library, d.Replay, d.Summaries = h.recorder, books, h.replays, h.summaries
}

// A draft of a recording's summary is made over the API, told on the WebSocket, and can be read afterwards.
func TestDraftsOfSummaries(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	rec := h.recorded(bot, true)
	path := "/api/human/operations/" + string(rec.OperationID) + "/summaries"
	socket := h.dial("", h.op)
	socket.hello()
	var begun human.Summary
	h.send(http.MethodPost, path, h.op, `{"with":"desktop","language":"zh-CN"}`, nil).into(&begun)
	if begun.ID == "" || begun.Summarizer != "desktop" || begun.Language != "zh-CN" || begun.OperationID != rec.OperationID {
		t.Fatalf("begun %+v", begun)
	}
	socket.until("the draft", func(m message) bool {
		return m.Type == "summary" && m.Summary.ID == begun.ID && m.Summary.State == human.SummaryDone
	})
	var drafts summary.Drafts
	h.get(path, h.op).into(&drafts)
	if len(drafts.Summaries) != 1 || drafts.Summaries[0].State != human.SummaryDone || drafts.Summaries[0].Report.Line == "" || drafts.Language != "en" {
		t.Errorf("drafts %+v", drafts)
	}
	var all summary.Summarizers
	h.get("/api/summarizers", h.op).into(&all)
	if len(all.Summarizers) != 5 || !all.Summarizers[0].BuiltIn || all.Folder != "/data/summarizers" {
		t.Errorf("summarizers %+v", all)
	}
	h.send(http.MethodPost, path, h.op, `{"with":"nobody"}`, nil).problem(http.StatusNotFound, "")
	h.send(http.MethodPost, path, h.op, `{"consent":"perhaps"}`, nil).problem(http.StatusUnprocessableEntity, "consent")
	h.get(path+"/preview?with=desktop", h.op).problem(http.StatusUnprocessableEntity, "with")
}

// recordingOf is the recording that runs, begun for an operation where none does.
func (h *fixture) recordingOf(op string) human.RecordingID {
	h.t.Helper()
	if r, runs := h.recorder.Current(); runs {
		return r.ID
	}
	var r human.Recording
	h.post("/api/recordings", h.op, idBody(human.OperationID(op), "")).into(&r)
	return r.ID
}

func (h *fixture) stopRecording() {
	h.t.Helper()
	if r, runs := h.recorder.Current(); runs {
		h.post("/api/recordings/"+string(r.ID)+"/stop", h.op, "")
	}
}

// A made recording has ended: two clicks, with a picture of each.
type made struct {
	human.Recording
	picture string
}

// recorded stores a recording of an operation of the agent with this key, released to it or not, pictures
// included.
func (h *fixture) recorded(key string, release bool) made {
	h.t.Helper()
	ctx, ada := h.t.Context(), human.Actor{Role: human.Operator, Name: "ada"}
	op := h.ring(key, "record this")
	_, err := h.queue.Claim(ctx, ada, op.ID)
	must(h.t, err)
	m := made{Recording: human.Recording{
		ID: human.RecordingID("rec_" + strings.TrimPrefix(string(op.ID), "op_")), OperationID: op.ID, By: "ada",
		State: human.RecordingStopped, StartedAt: time.Now(), System: "linux/x11",
	}}
	_, err = h.queue.RecordingBegan(ctx, ada, op.ID, m.ID)
	must(h.t, err)
	must(h.t, h.store.Recordings().Create(ctx, m.Recording))
	w, err := h.pictures.Writer(m.ID)
	must(h.t, err)
	m.picture, _, _, err = w.Put(&record.Frame{W: 64, H: 32, Scale: 1, Pix: bytes.Repeat([]byte{1, 2, 3, 0}, 64*32)})
	must(h.t, err)
	must(h.t, w.Close())
	var events []human.RecordedEvent
	for i := range uint64(2) {
		press := 5*i + 1
		events = append(events,
			human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 5, Y: 5},
			human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 5, Y: 5},
			human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, Element: &human.Element{Role: "button", Name: []string{"One", "Two"}[i]}, CausedBy: press},
			human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: m.picture, When: "before", CausedBy: press},
			human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: m.picture, When: "after", CausedBy: press})
	}
	for i := range events {
		events[i].Seq, events[i].At = uint64(i+1), int64(i)*int64(time.Second)
	}
	must(h.t, h.store.Recordings().Append(ctx, m.Recording, events))
	if release {
		_, err = h.store.Recordings().SetEdits(ctx, m.ID, human.Edits{SharePictures: true})
		must(h.t, err)
		_, err = h.queue.Complete(ctx, ada, op.ID, human.Answer{HumanInput: "done", Attachments: []string{string(m.ID)}}, "")
		must(h.t, err)
	}
	return m
}

func TestRecordingFromBeginningToEnd(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "do it")
	start := func(more string) reply { t.Helper(); return h.post("/api/recordings", h.op, idBody(op.ID, more)) }

	var state RecorderState
	h.get("/api/recorder", h.op).into(&state)
	if state.Current != nil || len(state.Sources) == 0 {
		t.Errorf("at first the recorder is %+v", state)
	}
	start("").problem(409, "claim")
	h.post("/api/human/claim", h.op, idBody(op.ID, "")).operation(200)
	r := start(`,"options":{"clipboard":"off","pictures":false}`)
	if r.status != 201 {
		t.Fatalf("it began with %d %s", r.status, r.body)
	}
	var rec human.Recording
	r.into(&rec)
	if rec.State != human.RecordingRuns || rec.OperationID != op.ID || rec.By != "ada" || rec.Options.Clipboard != "off" || rec.Options.Pictures == nil {
		t.Errorf("it began as %+v", rec)
	}
	if !bytes.Contains(r.body, []byte(`"gaps":[]`)) || bytes.Contains(r.body, []byte("null")) {
		t.Errorf("a list is null: %s", r.body)
	}
	h.get("/api/recorder", h.op).into(&state)
	if state.Current == nil || state.Current.ID != rec.ID {
		t.Errorf("then the recorder is %+v", state)
	}
	start("").problem(409, string(rec.ID))
	path := "/api/recordings/" + string(rec.ID)
	h.send("DELETE", path, h.op, "", nil).problem(409, "stop it first")
	h.post(path+"/replay", h.op, "{}").problem(409, "stop it first")

	h.input.click()
	h.post(path+"/mark", h.op, `{"text":"look here"}`).into(&rec)
	h.post(path+"/mark", h.op, `{"step":0,"done":true}`).into(&rec)
	h.post(path+"/pause", h.op, "").into(&rec)
	if rec.State != human.RecordingPaused {
		t.Errorf("paused it is %s", rec.State)
	}
	h.post(path+"/resume", h.op, "{}").into(&rec)
	if rec.State != human.RecordingRuns {
		t.Errorf("resumed it is %s", rec.State)
	}
	h.get(path+"/actions", bot).problem(404, "no recording")
	h.post(path+"/stop", h.op, "").into(&rec)
	if rec.State != human.RecordingStopped || rec.Counts.Clicks != 1 {
		t.Errorf("stopped it is %+v", rec)
	}
	var found library.Actions
	h.get(path+"/actions", h.op).into(&found)
	var kinds []string
	for _, a := range found.Actions {
		kinds = append(kinds, string(a.Type))
	}
	if text := strings.Join(kinds, " "); !strings.Contains(text, "click") || !strings.Contains(text, "note") {
		t.Errorf("its actions are %s", text)
	}
	h.get(path+"/actions", bot).problem(404, "no recording")

	h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"done","attachments":["`+string(rec.ID)+`"]`)).operation(200)
	h.get(path+"/actions", bot).into(&found)
	h.get(path, bot).into(&rec)
	if len(found.Actions) != len(kinds) || rec.State != human.RecordingStopped {
		t.Errorf("the agent reads %d actions of %s", len(found.Actions), rec.State)
	}
	if seen := h.get("/api/human/operations/"+string(op.ID), bot).operation(200); len(seen.Recordings) != 1 {
		t.Errorf("the agent's operation names %v", seen.Recordings)
	}
	if r := h.send("DELETE", path, h.op, "", nil); r.status != 204 {
		t.Errorf("deleting: %d %s", r.status, r.body)
	}
	h.get(path, bot).problem(404, "no recording")
	if op := h.get("/api/human/operations/"+string(op.ID), h.op).operation(200); len(op.Recordings) != 0 {
		t.Errorf("the operation still names %v", op.Recordings)
	}
}

func TestAnotherOperatorsOperationIsNotRecorded(t *testing.T) {
	h := openFixture(t, nil)
	op := h.ring(h.agent("bot"), "do it")
	_, err := h.queue.Claim(t.Context(), human.Actor{Role: human.Operator, Name: "bea"}, op.ID)
	must(t, err)
	h.post("/api/recordings", h.op, idBody(op.ID, "")).problem(409, "bea")
}

func TestWhatAnAgentMayNotReadIsNotThere(t *testing.T) {
	h := openFixture(t, nil)
	bot, stranger := h.agent("bot"), h.agent("stranger")
	kept, given := h.recorded(bot, false), h.recorded(bot, true)
	for _, path := range []string{"", "/actions", "/export", "/pictures/" + given.picture} {
		none := h.get("/api/recordings/rec_none"+path, bot).problem(404, "rec_none")
		for _, c := range []struct {
			id  human.RecordingID
			key string
		}{{kept.ID, bot}, {given.ID, stranger}} {
			p := h.get("/api/recordings/"+string(c.id)+path, c.key).problem(404, "")
			if strings.ReplaceAll(p.Detail, string(c.id), "rec_none") != none.Detail {
				t.Errorf("%s tells %q, and of none %q", path, p.Detail, none.Detail)
			}
		}
	}
}

func TestBadRecordingRequests(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	m := h.recorded(bot, true)
	path := "/api/recordings/" + string(m.ID)
	for name, c := range map[string]struct {
		call, body string
		status     int
		says, at   string
	}{
		"no operation":             {"POST /api/recordings", `{}`, 422, "operation_id: is missing", "body.operation_id"},
		"unknown operation":        {"POST /api/recordings", `{"operation_id":"op_none"}`, 404, "op_none", ""},
		"unknown option":           {"POST /api/recordings", `{"operation_id":"op_none","options":{"sound":true}}`, 422, "sound: no such field; there are folders, clipboard, pictures", "body.options.sound"},
		"no body":                  {"POST /api/recordings", ``, 400, "the body is missing", ""},
		"unknown recording":        {"POST /api/recordings/rec_none/pause", ``, 404, "rec_none", ""},
		"a step that is no number": {"POST " + path + "/mark", `{"step":"one"}`, 422, "step: must be a whole number", "body.step"},
		"a cut of nothing":         {"PUT " + path + "/edits", `{"version":1,"cuts":["a99"]}`, 422, `"a99"`, "body.cuts"},
		"a mask of nothing":        {"PUT " + path + "/edits", `{"version":1,"masks":[{"x":0,"y":0,"w":0,"h":5}]}`, 422, "0 by 5", "body.masks"},
		"old edits":                {"PUT " + path + "/edits", `{"version":0}`, 409, "", ""},
		"edits that are a list":    {"PUT " + path + "/edits", `[]`, 422, "JSON object", ""},
		"replay of nothing":        {"POST " + path + "/replay", `{"actions":["a99"]}`, 422, `"a99"`, "body.actions"},
		"replay too fast":          {"POST " + path + "/replay", `{"speed":1000}`, 422, "0.1 to 10", "body.speed"},
		"unknown language":         {"GET " + path + "/actions?language=fr", ``, 422, "language", "query.language"},
		"after nothing":            {"GET " + path + "/actions?after=17", ``, 422, "not the id of an action", "query.after"},
		"after no number":          {"GET " + path + "/events?after=a1", ``, 422, "after", "query.after"},
		"after more than can be":   {"GET " + path + "/events?after=18446744073709551615", ``, 422, "after", "query.after"},
		"too many events":          {"GET " + path + "/events?limit=10001", ``, 422, "limit", "query.limit"},
		"unknown export":           {"GET " + path + "/export?format=pdf", ``, 422, "format", "query.format"},
		"unknown picture":          {"GET " + path + "/pictures/" + strings.Repeat("0", 64), ``, 404, "no picture", ""},
		"a picture by a path":      {"GET " + path + "/pictures/..%2F..%2Fdeskbell.db", ``, 404, "no picture", ""},
		"too wide a picture":       {"GET " + path + "/pictures/" + m.picture + "?width=0", ``, 422, "width", "query.width"},
		"unknown picture format":   {"GET " + path + "/pictures/" + m.picture + "?format=gif", ``, 422, "format", "query.format"},
		"garbage as a cursor":      {"GET /api/recordings?cursor=garbage", ``, 422, "cursor", "query.cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			method, to, _ := strings.Cut(c.call, " ")
			p := h.send(method, to, h.op, c.body, nil).problem(c.status, c.says)
			at := ""
			if len(p.Errors) > 0 {
				at = p.Errors[0].Location
			}
			if at != c.at {
				t.Errorf("the error is at %q, want %q", at, c.at)
			}
		})
	}
}

func TestPicturesAreCachedByTheirBytes(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	m := h.recorded(bot, true)
	path := "/api/recordings/" + string(m.ID) + "/pictures/" + m.picture
	first := h.get(path+"?width=32&masked=true", h.op)
	tag := first.header.Get("ETag")
	size, kind, err := image.DecodeConfig(bytes.NewReader(first.body))
	if err != nil || kind != "png" || size.Width != 32 || size.Height != 16 || first.header.Get("Content-Type") != "image/png" {
		t.Errorf("a picture of 32 pixels is %s %dx%d (%s): %v", kind, size.Width, size.Height, first.header.Get("Content-Type"), err)
	}
	if c := first.header.Get("Cache-Control"); !strings.Contains(c, "private") || first.header.Get("Vary") != "Authorization" {
		t.Errorf("it may be kept as %q, varying by %q", c, first.header.Get("Vary"))
	}
	have := func(r *http.Request) { r.Header.Set("If-None-Match", `"other", W/`+tag) }
	if r := h.send("GET", path+"?width=32&masked=true", h.op, "", have); r.status != 304 || len(r.body) > 0 || r.header.Get("ETag") != tag {
		t.Errorf("what one has is sent again: %d, %d bytes", r.status, len(r.body))
	}
	if r := h.get(path+"?format=jpeg", h.op); r.header.Get("Content-Type") != "image/jpeg" || r.header.Get("ETag") == tag {
		t.Errorf("a JPEG is %s", r.header.Get("Content-Type"))
	}
	if r := h.send("PUT", "/api/recordings/"+string(m.ID)+"/edits", h.op, `{"version":1,"masks":[{"x":0,"y":0,"w":64,"h":16}],"share_pictures":true}`, nil); r.status != 200 {
		t.Fatalf("edits: %s", r.body)
	}
	if r := h.send("GET", path+"?width=32&masked=true", h.op, "", have); r.status != 200 || bytes.Equal(r.body, first.body) {
		t.Errorf("a mask does not change the picture: %d", r.status)
	}
	unmasked := h.get(path, h.op)
	if r := h.get(path+"?masked=false", bot); bytes.Equal(r.body, unmasked.body) {
		t.Error("an agent gets the picture without its masks")
	}
	// The agent's tag must not tell it that it has the bytes of the unmasked one.
	plain := func(r *http.Request) { r.Header.Set("If-None-Match", unmasked.header.Get("ETag")) }
	if r := h.send("GET", path, bot, "", plain); r.status != 200 {
		t.Errorf("status %d", r.status)
	}
}

func TestExportsAreFiles(t *testing.T) {
	h := openFixture(t, nil)
	m := h.recorded(h.agent("bot"), false)
	for format, media := range map[string]string{"": "text/html; charset=utf-8", "html": "text/html; charset=utf-8", "markdown": "application/zip", "json": "application/json"} {
		t.Run(format, func(t *testing.T) {
			query := ""
			if format != "" {
				query = "?format=" + format
			}
			r := h.get("/api/recordings/"+string(m.ID)+"/export"+query, h.op)
			if r.status != 200 || r.header.Get("Content-Type") != media || len(r.body) < 100 {
				t.Errorf("%d %s, %d bytes", r.status, r.header.Get("Content-Type"), len(r.body))
			}
			if name := r.header.Get("Content-Disposition"); !regexp.MustCompile(`^attachment; filename="[A-Za-z0-9_-]+\.(html|zip|json)"$`).MatchString(name) {
				t.Errorf("it is named %s", name)
			}
			if r.header.Get("Cache-Control") != "no-store" {
				t.Errorf("it may be kept: %s", r.header.Get("Cache-Control"))
			}
		})
	}
}

// torn is a library whose exports break.
type torn struct {
	Library
	after int // bytes
}

func (l torn) Export(context.Context, human.Actor, human.RecordingID, string, string) (library.Export, error) {
	return library.Export{Name: "x.html", Media: "text/html", Write: func(w io.Writer) error {
		if _, err := w.Write(bytes.Repeat([]byte("x"), l.after)); l.after > 0 && err != nil {
			return err
		}
		return errors.New("the disk is gone")
	}}, nil
}

func TestABrokenExportIsNotTakenForAWholeOne(t *testing.T) {
	h := openFixture(t, nil)
	m := h.recorded(h.agent("bot"), false)
	serve := func(after int) string {
		s, err := New(Deps{Queue: h.queue, Keys: h.store, Library: torn{h.deps.Library, after}, Log: h.deps.Log})
		must(t, err)
		t.Cleanup(s.Close)
		web := httptest.NewServer(s)
		t.Cleanup(web.Close)
		h.url, h.op = web.URL, s.WindowToken()
		return "/api/recordings/" + string(m.ID) + "/export"
	}
	path := serve(0)
	h.get(path, h.op).problem(500, "its log has the details")
	path = serve(1 << 20)
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.url+path, nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+h.op)
	answer, err := h.http.Do(r)
	if err != nil {
		return // it broke before anything arrived
	}
	defer answer.Body.Close() //nolint:errcheck // it is broken
	if data, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("half an export of %d bytes arrived as if it were whole", len(data))
	}
}

func TestReplayIsStartedWatchedAndStopped(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	m, other := h.recorded(bot, false), h.recorded(bot, false)
	path := "/api/recordings/" + string(m.ID) + "/replay"
	state := func(method, path, body string, status int) (s library.ReplayState) {
		t.Helper()
		r := h.send(method, path, h.op, body, nil)
		if r.status != status {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
		r.into(&s)
		return s
	}
	if s := state("GET", path, "", 200); s.State != "idle" {
		t.Errorf("at first it is %+v", s)
	}
	if s := state("POST", path, `{"speed":2}`, 202); s.State != "playing" || s.Total != 2 {
		t.Errorf("it begins as %+v", s)
	}
	h.post(path, h.op, "{}").problem(409, string(m.ID))
	h.post("/api/recordings/"+string(other.ID)+"/replay", h.op, "{}").problem(409, string(m.ID))
	until(t, "the second action is played", func() bool { return state("GET", path, "", 200).Done == 1 })
	if s := state("DELETE", path, "", 200); s.State != "stopped" || s.Done != 1 || s.Skipped != 1 || s.ActionID != "a6" {
		t.Errorf("stopped it is %+v", s)
	}
	if s := state("DELETE", path, "", 200); s.State != "stopped" {
		t.Errorf("stopped again it is %+v", s)
	}
	state("POST", path, `{"actions":["a6"]}`, 202)
	close(h.playing)
	until(t, "it has played", func() bool { return state("GET", path, "", 200).State == "done" })
	if s := state("GET", path, "", 200); s.Total != 1 || s.Done != 1 || s.ActionID != "a6" {
		t.Errorf("done it is %+v", s)
	}
}

func TestADeskbellWithoutRecordings(t *testing.T) {
	h := openFixture(t, nil)
	s, err := New(Deps{Queue: h.queue, Keys: h.store})
	must(t, err)
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()
	h.url, h.op = web.URL, s.WindowToken()
	tested := 0
	for path, item := range description(t).Paths {
		if !strings.HasPrefix(path, "/api/record") {
			continue
		}
		for method := range item {
			tested++
			body := ""
			if method == "post" || method == "put" {
				body = `{}`
			}
			to := strings.NewReplacer("{id}", "rec_1", "{picture}", "x").Replace(path)
			h.send(strings.ToUpper(method), to, h.op, body, nil).problem(503, "this Deskbell runs without")
		}
	}
	if tested < 19 {
		t.Errorf("only %d calls were tried", tested)
	}
}

func TestRecordingsOnTheSocket(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "do it")
	h.post("/api/human/claim", h.op, idBody(op.ID, "")).operation(200)
	operator, agent := h.dial("", h.op), h.dial("", bot)
	operator.hello()
	agent.hello()
	id := h.recordingOf(string(op.ID))
	operator.until("the recording that runs", func(m message) bool {
		return m.Type == "recording" && m.Recording.ID == id && m.Recording.State == human.RecordingRuns
	})
	late := h.dial("", h.op)
	late.hello()
	late.until("it, for who came later", func(m message) bool { return m.Type == "recording" && m.Recording.ID == id })
	h.post("/api/recordings/"+string(id)+"/pause", h.op, "")
	operator.until("that it is paused", func(m message) bool { return m.Type == "recording" && m.Recording.State == human.RecordingPaused })
	if r := h.post("/api/recordings/"+string(id)+"/discard", h.op, ""); r.status != 204 {
		t.Fatalf("discarding: %d %s", r.status, r.body)
	}
	operator.until("that it is gone", func(m message) bool { return m.Type == "recording_gone" && m.RecordingID == id })

	m := h.recorded(bot, false)
	h.send("DELETE", "/api/recordings/"+string(m.ID), h.op, "", nil)
	operator.until("that a deleted one is gone", func(got message) bool { return got.Type == "recording_gone" && got.RecordingID == m.ID })

	h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"done"`)).operation(200)
	agent.until("the end", func(m message) bool {
		if strings.HasPrefix(m.Type, "recording") {
			t.Errorf("an agent is told of %s", m.Type)
		}
		return m.Type == "completed"
	})
}

func TestTheWindowReadsWhatAFileIsCalled(t *testing.T) {
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.InApp = true })
	m := h.recorded(h.agent("bot"), false)
	r := h.send("GET", "/api/recordings/"+string(m.ID)+"/export", h.op, "", func(r *http.Request) { r.Header.Set("Origin", "wails://wails") })
	if got := r.header.Get("Access-Control-Expose-Headers"); r.status != 200 || !strings.Contains(got, "Content-Disposition") || !strings.Contains(got, "ETag") {
		t.Errorf("the window may read the headers %q", got)
	}
	if policy := h.get("/", "").header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data: blob:;") {
		t.Errorf("a page cannot show the pictures it fetched: %s", policy)
	}
}
