package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/client"
)

func (h *fixture) client(token string) *client.Client {
	c := client.New(h.url, token)
	h.t.Cleanup(c.Close)
	return c
}

func TestClientSpeaksTheWholeAPI(t *testing.T) {
	h := openFixture(t, full)
	ctx := t.Context()
	session, err := client.Login(ctx, h.url, h.NewCode())
	must(t, err)
	ada := h.client(session.Token)
	key, err := ada.AddAgent(ctx, "bot")
	must(t, err)
	bot := h.client(key)

	details := json.RawMessage(`{"action":"make  deploy", "x":"<&>"}`)
	priority, never := 7, 0.0
	ring := client.Ring{
		Kind: human.Approve, Description: "deploy?", Details: details, Context: json.RawMessage(`{"a":1}`), SessionID: "s", IdempotencyKey: "k",
		Priority: &priority, Timeout: &never, OnTimeout: human.Cancel,
	}
	op, created, err := bot.Invoke(ctx, ring)
	must(t, err)
	if !created || string(op.Details) != string(details) || op.Priority != 7 || op.ExpiresAt != nil || op.OnTimeout != human.Cancel || op.SessionID != "s" {
		t.Errorf("rang %+v", op)
	}
	if _, created, err = bot.Invoke(ctx, ring); created || err != nil {
		t.Errorf("the same key again: created %v, %v", created, err)
	}
	step := func(name string, want human.State, do func() (human.Operation, error)) {
		t.Helper()
		got, err := do()
		if err != nil || got.State != want || got.ID != op.ID {
			t.Errorf("%s: %s, %v; want %s", name, got.State, err, want)
		}
	}
	step("claim", human.Claimed, func() (human.Operation, error) { return ada.Claim(ctx, op.ID) })
	step("release", human.Pending, func() (human.Operation, error) { return ada.Release(ctx, op.ID, "later") })
	step("start", human.InProgress, func() (human.Operation, error) { return ada.Start(ctx, op.ID) })
	step("ask", human.WaitingInput, func() (human.Operation, error) { return ada.Reply(ctx, op.ID, "which branch?") })
	step("wait", human.WaitingInput, func() (human.Operation, error) { return bot.Wait(ctx, op.ID, 1, time.Minute) })
	step("answer", human.InProgress, func() (human.Operation, error) { return bot.Reply(ctx, op.ID, "main") })
	step("complete", human.Completed, func() (human.Operation, error) {
		return ada.Complete(ctx, op.ID, human.Answer{Decision: human.Approved, HumanInput: "fine", KeyFindings: []string{"a"}, Fields: map[string]string{"f": "v"}}, op.Digest)
	})
	step("read", human.Completed, func() (human.Operation, error) { return bot.Operation(ctx, op.ID) })
	must(t, bot.MarkDelivered(ctx, op.ID))
	final, err := ada.Operation(ctx, op.ID)
	must(t, err)
	if final.DeliveredAt == nil || final.Result.HumanInput != "fine" || final.Result.Fields["f"] != "v" || len(final.Messages) != 2 {
		t.Errorf("in the end %+v", final)
	}
	entries, err := ada.History(ctx, op.ID)
	must(t, err)
	if again, err := human.Fold(op.ID, entries); err != nil || again.Version != final.Version || again.Digest != final.Digest {
		t.Errorf("the history folds to version %d, %v; want %d", again.Version, err, final.Version)
	}

	second, _, err := bot.Invoke(ctx, client.Ring{Kind: human.Bash, Description: "second"})
	must(t, err)
	_, err = bot.Cancel(ctx, second.ID, "changed my mind")
	must(t, err)
	third, _, err := bot.Invoke(ctx, client.Ring{Kind: human.Review, Description: "third"})
	must(t, err)
	page, err := ada.List(ctx, client.Filter{Open: true})
	must(t, err)
	if len(page.Operations) != 1 || page.Operations[0].ID != third.ID {
		t.Errorf("open: %+v", page)
	}
	page, err = bot.List(ctx, client.Filter{States: []human.State{human.Cancelled, human.Completed}, Kind: human.Bash, Order: "recent", Limit: 5, Text: "second", AgentID: "bot"})
	must(t, err)
	if len(page.Operations) != 1 || page.Operations[0].ID != second.ID {
		t.Errorf("found: %+v", page)
	}
	_, err = ada.Decline(ctx, third.ID, "no time")
	must(t, err)
	sum, err := bot.Summary(ctx, 2, time.Now().Add(-time.Hour), 0)
	must(t, err)
	if len(sum.Operations) != 2 || !strings.Contains(sum.Text, "no time") {
		t.Errorf("summary %+v", sum)
	}

	restart, err := ada.SetSettings(ctx, map[string]any{"ui.theme": "light"})
	if err != nil || !restart {
		t.Errorf("settings: restart %v, %v", restart, err)
	}
	code, link, err := ada.NewCode(ctx, "")
	must(t, err)
	if !strings.HasSuffix(link, "#code="+code) {
		t.Errorf("link %q for %q", link, code)
	}
}

func TestClientErrors(t *testing.T) {
	h := openFixture(t, func(_ *Deps, q *queue.Options) { q.MaxPending = 1 })
	ctx := t.Context()
	bot, ada := h.client(h.agent("bot")), h.client(h.op)
	op, _, err := bot.Invoke(ctx, client.Ring{Kind: human.Approve, Description: "x"})
	must(t, err)
	_, err = ada.Decline(ctx, op.ID, "no")
	must(t, err)
	if op, _, err = bot.Invoke(ctx, client.Ring{Kind: human.Approve, Description: "y"}); err != nil {
		t.Fatal(err)
	}
	away := client.New("http://127.0.0.1:1", "x")
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	short, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	for name, c := range map[string]struct {
		err   error
		kind  human.ErrorKind
		field string
		says  string
	}{
		"invalid":      {second(ada.Complete(ctx, op.ID, human.Answer{Decision: "maybe"}, "")), human.Invalid, "decision", "approve, deny"},
		"not found":    {second(bot.Operation(ctx, "op_none")), human.NotFound, "", "op_none"},
		"denied":       {second(bot.Claim(ctx, op.ID)), human.Denied, "", "only an operator"},
		"unauthorized": {second(h.client("dbk_x").Operation(ctx, op.ID)), human.Unauthorized, "", "not a Deskbell key"},
		"exhausted":    {failed(bot.Invoke(ctx, client.Ring{Kind: human.Approve, Description: "z"})), human.Exhausted, "", "max_pending_requests"},
		"conflict":     {second(ada.Release(ctx, op.ID, "")), human.Conflict, "", "not claimed"},
		"unavailable":  {second(ada.SetSettings(ctx, map[string]any{})), human.Unavailable, "", "without settings"},
		"away":         {second(away.Operation(ctx, op.ID)), human.Unavailable, "", "deskbell serve"},
		"no time":      {second(bot.Operation(short, op.ID)), human.Unavailable, "", "in time"},
		"no Deskbell":  {second(client.New(stranger.URL, "x").Operation(ctx, op.ID)), human.Invalid, "", "not Deskbell"},
		"no address":   {second(client.New("http://[", "x").Operation(ctx, op.ID)), human.Invalid, "", "not the address"},
		"no login":     {second(client.Login(ctx, h.url, "AAAAA-AAAAA")), human.Unauthorized, "", "wrong, used or expired"},
	} {
		var ours *human.Error
		if human.KindOf(c.err) != c.kind || !strings.Contains(human.SafeText(c.err), c.says) {
			t.Errorf("%s: kind %d, %v", name, human.KindOf(c.err), c.err)
		} else if e, ok := c.err.(*human.Error); ok { //nolint:errorlint // it is what the client promises
			if ours = e; ours.Field != c.field {
				t.Errorf("%s: field %q, want %q", name, ours.Field, c.field)
			}
		}
	}
}

func second[T any](_ T, err error) error         { return err }
func failed[T, U any](_ T, _ U, err error) error { return err }

func TestClientFollowsOverBreaks(t *testing.T) {
	const rings = 120
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.Hosts = []string{"127.0.0.1"} })
	bot := h.agent("bot")
	link := newWeakLink(t, h.url)
	ada := client.New("http://"+link.Addr().String(), h.op)
	defer ada.Close()
	go func() {
		for i := range rings {
			h.ring(bot, fmt.Sprint("ring ", i))
		}
	}()
	var want uint64
	for e, err := range ada.Follow(t.Context(), 0) {
		must(t, err)
		if want++; e.Seq != want || e.Event.Request == nil {
			t.Fatalf("entry %s, want seq %d", e, want)
		}
		if want%40 == 0 {
			link.cut()
		}
		if want == rings {
			break
		}
	}
	if want != rings {
		t.Errorf("the line ended after %d of %d", want, rings)
	}
	for _, err := range ada.Follow(t.Context(), rings+1) {
		if human.KindOf(err) != human.Invalid || !strings.Contains(human.SafeText(err), "last event here") {
			t.Errorf("a seq that never was: %v", err)
		}
	}
	for _, err := range client.New(h.url, "dbk_x").Follow(t.Context(), 0) {
		if human.KindOf(err) != human.Unauthorized {
			t.Errorf("a wrong key: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ringing sync.WaitGroup
	defer ringing.Wait()
	ringing.Go(func() {
		until(t, "the agent is online", func() bool { return h.queue.Online("bot") })
		h.ring(bot, "after")
	})
	for e, err := range h.client(bot).Follow(ctx, client.FromNow) {
		must(t, err)
		if e.Event.Request.Description != "after" {
			t.Errorf("from now on began with %s", e)
		}
		cancel()
	}
}

func TestClientSpeaksOfRecordings(t *testing.T) {
	h := openFixture(t, nil)
	ctx := t.Context()
	key := h.agent("bot")
	ada, bot := h.client(h.op), h.client(key)
	op := h.ring(key, "record it")
	_, err := ada.StartRecording(ctx, op.ID, human.RecordingOptions{})
	if human.KindOf(err) != human.Conflict {
		t.Errorf("of an operation that nobody claimed: %v", err)
	}
	_, err = ada.Claim(ctx, op.ID)
	must(t, err)
	rec, err := ada.StartRecording(ctx, op.ID, human.RecordingOptions{Clipboard: "off"})
	must(t, err)
	state, err := ada.Recorder(ctx)
	if err != nil || state.Current == nil || state.Current.ID != rec.ID || state.Current.Options.Clipboard != "off" {
		t.Errorf("the recorder: %+v, %v", state, err)
	}
	for what, err := range map[string]error{
		"pick": ada.PickField(ctx, rec.ID, human.PickRequest{Field: "price"}), "show": ada.ShowBrowser(ctx, rec.ID),
	} {
		if human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), "has no browser") {
			t.Errorf("%s without a browser: %v", what, err)
		}
	}
	for _, c := range []struct {
		name string
		do   func() (human.Recording, error)
		want human.RecordingState
	}{
		{"pause", func() (human.Recording, error) { return ada.PauseRecording(ctx, rec.ID) }, human.RecordingPaused},
		{"resume", func() (human.Recording, error) { return ada.ResumeRecording(ctx, rec.ID) }, human.RecordingRuns},
		{"stop", func() (human.Recording, error) { return ada.StopRecording(ctx, rec.ID) }, human.RecordingStopped},
		{"read", func() (human.Recording, error) { return ada.Recording(ctx, rec.ID) }, human.RecordingStopped},
	} {
		if got, err := c.do(); err != nil || got.State != c.want || got.ID != rec.ID {
			t.Errorf("%s: %s %s, %v; want %s", c.name, got.ID, got.State, err, c.want)
		}
	}
	must(t, ada.DeleteRecording(ctx, rec.ID))
	if _, err := ada.Recording(ctx, rec.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("a deleted one: %v", err)
	}
	rec, err = ada.StartRecording(ctx, op.ID, human.RecordingOptions{})
	must(t, err)
	must(t, ada.DiscardRecording(ctx, rec.ID))

	m := h.recorded(key, true)
	h.recorded(key, false)
	page, err := ada.Recordings(ctx, m.OperationID, 5, "")
	if err != nil || len(page.Recordings) != 1 || page.Recordings[0].ID != m.ID {
		t.Errorf("the operation's recordings: %+v, %v", page, err)
	}
	if page, err = ada.Recordings(ctx, "", 1, ""); err == nil && page.Next != "" {
		page, err = ada.Recordings(ctx, "", 1, page.Next)
	}
	if err != nil || len(page.Recordings) != 1 || page.Recordings[0].ID != m.ID || page.Next != "" {
		t.Errorf("the second page of recordings: %+v, %v", page, err)
	}
	found, err := bot.Actions(ctx, m.ID, "zh-CN", "a1")
	if err != nil || len(found.Actions) != 1 || found.Actions[0].ID != "a6" {
		t.Errorf("actions after the first: %+v, %v", found, err)
	}
	edits, err := ada.Edits(ctx, m.ID)
	must(t, err)
	edits.Cuts = []string{"a1"}
	next, err := ada.SetEdits(ctx, m.ID, edits)
	if err != nil || next.Version != edits.Version+1 || len(next.Cuts) != 1 {
		t.Errorf("edits %+v, %v", next, err)
	}
	if _, err := ada.SetEdits(ctx, m.ID, edits); human.KindOf(err) != human.Conflict {
		t.Errorf("old edits: %v", err)
	}
	small, err := ada.Picture(ctx, m.ID, m.picture, library.Look{Width: 8, Format: "jpeg", Masked: true})
	if size, kind, decodeErr := image.DecodeConfig(bytes.NewReader(small)); err != nil || decodeErr != nil || kind != "jpeg" || size.Width != 8 {
		t.Errorf("a small picture: %s %v, %v, %v", kind, size, err, decodeErr)
	}
	if _, err := ada.Picture(ctx, m.ID, strings.Repeat("0", 64), library.Look{}); human.KindOf(err) != human.NotFound {
		t.Errorf("no picture: %v", err)
	}
	file, err := ada.Export(ctx, m.ID, library.JSON, "en")
	must(t, err)
	data, err := io.ReadAll(file)
	if err != nil || !strings.HasSuffix(file.Name, ".json") || !json.Valid(data) || file.Close() != nil {
		t.Errorf("an export: %s, %s, %v", file.Name, data, err)
	}
	if _, err := ada.Export(ctx, "rec_none", library.JSON, "en"); human.KindOf(err) != human.NotFound {
		t.Errorf("an export of nothing: %v", err)
	}
}

func TestClientFollowsEventsPastRecordings(t *testing.T) {
	h := openFixture(t, nil)
	key := h.agent("bot")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	op := h.ring(key, "record it")
	h.post("/api/human/claim", h.op, idBody(op.ID, "")).operation(200)
	id := h.recordingOf(string(op.ID))
	h.post("/api/recordings/"+string(id)+"/discard", h.op, "")
	var got []string
	for e, err := range h.client(h.op).Follow(ctx, 0) {
		must(t, err)
		text := string(e.Event.Type)
		if e.Event.Recording != "" {
			text += " " + string(e.Event.Recording)
		}
		got = append(got, text)
		if e.Event.Type == human.Unrecorded {
			break
		}
	}
	if want := "invoked, claimed, recording_began " + string(id) + ", recording_dropped " + string(id); strings.Join(got, ", ") != want {
		t.Errorf("the client was told %s, want %s", strings.Join(got, ", "), want)
	}
}
