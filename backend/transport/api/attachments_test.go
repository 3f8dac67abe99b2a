package api

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/attachments"
)

// openFiles is a fixture whose files are in a store that prunes when the test says so.
func openFiles(t *testing.T) (*fixture, *attachments.Store) {
	t.Helper()
	var files *attachments.Store
	h := openFixture(t, func(_ *Deps, o *queue.Options) {
		files = attachments.New(t.TempDir(), attachments.Options{Mask: func(text string) (string, int) {
			return strings.ReplaceAll(text, "hunter2", "•••"), strings.Count(text, "hunter2")
		}})
		o.Files = files
	})
	return h, files
}

// attach stores a file and returns what the server says of it.
func (h *fixture) attach(token, name string, data []byte) human.Attachment {
	h.t.Helper()
	r := h.send("POST", "/api/attachments?name="+url.QueryEscape(name), token, string(data), nil)
	if r.status != http.StatusCreated {
		h.t.Fatalf("%d %s", r.status, r.body)
	}
	var a human.Attachment
	r.into(&a)
	return a
}

func smallPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 30))))
	return b.Bytes()
}

func (h *fixture) invokeWith(key, kind, text string, files ...human.Attachment) reply {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{"action_type": kind, "description": text, "details": map[string]string{"action": "rm -rf build"}, "attachments": human.AttachmentIDs(files)})
	must(h.t, err)
	return h.post("/api/human/invoke", key, string(body))
}

// A file goes with a request to the operator, and one goes back with the answer; names, sizes and types are the server's.
func TestAttachmentsBothWays(t *testing.T) {
	t.Parallel()
	h, _ := openFiles(t)
	key := h.agent("bot")
	shot := h.attach(key, "../shot.png", smallPNG(t))
	if shot.Name != "shot.png" || shot.Media != "image/png" || shot.Width != 40 || shot.Height != 30 {
		t.Errorf("%+v", shot)
	}
	op := h.invokeWith(key, "feedback", "Is this right?", shot).operation(201)
	if len(op.Attachments) != 1 || op.Attachments[0] != shot {
		t.Errorf("%+v", op.Attachments)
	}
	seen := h.get("/api/human/operations/"+string(op.ID), h.op).operation(200)
	if len(seen.Attachments) != 1 || seen.Attachments[0] != shot {
		t.Errorf("an operator reads %+v", seen.Attachments)
	}
	r := h.get("/api/attachments/"+string(shot.ID), h.op)
	if r.status != 200 || !bytes.Equal(r.body, smallPNG(t)) || r.header.Get("Content-Type") != "image/png" || r.header.Get("Content-Disposition") != `inline; filename=shot.png` {
		t.Errorf("%d %v", r.status, r.header)
	}
	if again := h.send("GET", "/api/attachments/"+string(shot.ID), h.op, "", func(q *http.Request) { q.Header.Set("If-None-Match", r.header.Get("ETag")) }); again.status != 304 || len(again.body) > 0 {
		t.Errorf("%d %s", again.status, again.body)
	}
	if small := h.get("/api/attachments/"+string(shot.ID)+"?width=20", h.op); small.status != 200 || small.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("%d %v", small.status, small.header)
	}

	log := h.attach(h.op, "日志.txt", []byte("password hunter2"))
	if log.Check != human.CheckMasked || log.Masked != 1 || log.Media != "text/plain" {
		t.Errorf("%+v", log)
	}
	answer := `{"operation_id":"` + string(op.ID) + `","human_input":"see the log","attachments":["` + string(log.ID) + `"]`
	draft := h.post("/api/human/input", h.op, answer+"}").operation(200)
	if draft.Draft == nil || len(draft.Draft.Files) != 1 || draft.Draft.Files[0] != log {
		t.Errorf("the draft has %+v", draft.Draft)
	}
	if r := h.get("/api/attachments/"+string(log.ID), key); r.status != 404 {
		t.Errorf("an agent reads a file of a draft: %d %s", r.status, r.body)
	}
	done := h.post("/api/human/complete", h.op, answer+`,"files":[{"attachment_id":"att_0","name":"lie","media_type":"text/html","size":1,"check":"clean"}]}`).operation(200)
	if len(done.Result.Files) != 1 || done.Result.Files[0] != log {
		t.Errorf("the result has %+v", done.Result.Files)
	}
	r = h.get("/api/attachments/"+string(log.ID), key)
	if r.status != 200 || string(r.body) != "password •••" || r.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(r.header.Get("Content-Disposition"), "attachment; filename*=utf-8''%E6") {
		t.Errorf("%d %q %v", r.status, r.body, r.header)
	}
	var info human.Attachment
	if h.get("/api/attachments/"+string(log.ID)+"/info", key).into(&info); info != log {
		t.Errorf("%+v", info)
	}
}

// No one reads a file that is not theirs, whatever they know of it, and no id leads out of the folder.
func TestAttachmentsOfOthers(t *testing.T) {
	t.Parallel()
	h, _ := openFiles(t)
	bot, spy := h.agent("bot"), h.agent("spy")
	file := h.attach(bot, "plan.bin", []byte{0, 1, 2})
	op := h.invokeWith(bot, "feedback", "Look", file).operation(201)
	for _, path := range []string{"", "/info", "?width=10"} {
		h.get("/api/attachments/"+string(file.ID)+path, spy).problem(404, "")
	}
	// Who knows the bytes' hash has no right to the bytes.
	h.invokeWith(spy, "feedback", "Mine", file).problem(422, "attachments: ")
	own := h.invokeWith(spy, "feedback", "Mine").operation(201)
	// Nor does an operator's answer hand one agent's file to another.
	h.post("/api/human/complete", h.op, `{"operation_id":"`+string(own.ID)+`","human_input":"x","attachments":["`+string(file.ID)+`"]}`).problem(422, "attachments: ")
	h.post("/api/human/input", h.op, `{"operation_id":"`+string(own.ID)+`","human_input":"x","attachments":["`+string(file.ID)+`"]}`).problem(422, "attachments: ")
	h.post("/api/human/complete", h.op, `{"operation_id":"`+string(op.ID)+`","human_input":"x","attachments":["`+string(file.ID)+`"]}`).operation(200) // its own
	// The same bytes, sent by the other: still nothing of the first one's.
	if theirs := h.attach(spy, "other.bin", []byte{0, 1, 2}); theirs.ID != file.ID || theirs.Name != "other.bin" {
		t.Errorf("%+v", theirs)
	}
	loose := h.attach(bot, "loose.bin", []byte{9, 9})
	h.get("/api/attachments/"+string(loose.ID), h.op).problem(404, "") // of no operation yet
	for _, id := range []string{"att_..%2f..%2f..%2fdeskbell.db", "..%2fserver.json", "att_" + strings.Repeat("0", 64), "att_", strings.ToUpper(string(file.ID)), string(file.ID) + "%00"} {
		if r := h.get("/api/attachments/"+id, h.op); r.status != 404 {
			t.Errorf("%s: %d %s", id, r.status, r.body)
		}
	}
	h.get("/api/attachments/"+string(file.ID), "").problem(401, "")
	h.send("POST", "/api/attachments?name=x", "", "x", nil).problem(401, "")
	if twelve := strings.Repeat(`"`+string(file.ID)+`",`, 11); true {
		h.post("/api/human/invoke", bot, `{"action_type":"feedback","description":"x","attachments":[`+twelve[:len(twelve)-1]+`]}`).problem(422, "attachments: ")
	}
}

// What a browser could run is never shown by it: not by its type, its name or what its sender says.
func TestAttachmentsRunNowhere(t *testing.T) {
	t.Parallel()
	h, _ := openFiles(t)
	key := h.agent("bot")
	script := "<script>fetch('/api/settings')</script>"
	for name, data := range map[string][]byte{
		"page.html":    []byte("<!DOCTYPE html>" + script),
		"a.svg":        []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">` + script + `</svg>`),
		"polyglot.png": append(smallPNG(t), script...),
		"gif.js":       append([]byte{0, 1}, script...),
		"a.pdf":        []byte("%PDF-1.7 " + script),
		"x\r\nX-Evil: 1\r\n\r\n" + script + ".txt": []byte("x"),
	} {
		r := h.send("POST", "/api/attachments?name="+url.QueryEscape(name), key, string(data), func(q *http.Request) { q.Header.Set("Content-Type", "text/html") })
		if r.status != 201 {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
		var a human.Attachment
		r.into(&a)
		got := h.get("/api/attachments/"+string(a.ID), key)
		media, shown := got.header.Get("Content-Type"), got.header.Get("Content-Disposition")
		if strings.Contains(media, "html") || strings.Contains(media, "svg") || strings.Contains(media, "xml") || strings.Contains(media, "script") {
			t.Errorf("%s is given out as %s", name, media)
		}
		if inline := strings.HasPrefix(shown, "inline"); inline != (media == "image/png") {
			t.Errorf("%s is given out as %s, %s", name, media, shown)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") || got.header.Get("X-Evil") != "" {
			t.Errorf("%s: %v", name, got.header)
		}
	}
}

func TestAttachmentsTooLarge(t *testing.T) {
	t.Parallel()
	h, _ := openFiles(t)
	key := h.agent("bot")
	for _, token := range []string{key, h.op} {
		h.send("POST", "/api/attachments?name=x", token, strings.Repeat("\x00", 11_000_000), nil).problem(413, "")
		h.send("POST", "/api/attachments?name=x", token, strings.Repeat("\x00", 5_000_001), nil).problem(422, "x ")
		h.send("POST", "/api/attachments?name=x", token, "", nil).problem(422, "x ")
	}
	h.post("/api/human/invoke", key, strings.Repeat(" ", 5<<20)+"{}").problem(413, "") // the others' limit is as it was
}

// An approval is for the files that were shown, too: one with another file is another request, with another digest.
func TestAnApprovalIsBoundToItsFiles(t *testing.T) {
	t.Parallel()
	h, files := openFiles(t)
	key := h.agent("bot")
	good, evil := h.attach(key, "migration.bin", []byte{0, 1}), h.attach(key, "migration.bin", []byte{0, 2})
	ask := func(idem string, attach bool, with ...human.Attachment) reply {
		t.Helper()
		body, err := json.Marshal(map[string]any{
			"action_type": "approve", "description": "Run it", "details": map[string]string{"action": "apply migration.bin"}, "session_id": "s",
			"idempotency_key": idem, "attach": attach, "attachments": human.AttachmentIDs(with),
		})
		must(t, err)
		return h.post("/api/human/invoke", key, string(body))
	}
	first := ask("", true, good).operation(201)
	if joined := ask("", true, good).operation(200); joined.ID != first.ID {
		t.Error("the same request again is another")
	}
	bare, swapped, both := ask("", true).operation(201), ask("", true, evil).operation(201), ask("", true, good, evil).operation(201)
	digests := map[string]bool{}
	for _, op := range []Operation{first, bare, swapped, both} {
		digests[op.Digest] = true
	}
	if len(digests) != 4 {
		t.Errorf("digests: %v", digests)
	}
	yes := func(op Operation, digest string) reply {
		return h.post("/api/human/complete", h.op, `{"operation_id":"`+string(op.ID)+`","decision":"approve","digest":"`+digest+`"}`)
	}
	yes(swapped, first.Digest).problem(409, "")
	yes(bare, first.Digest).problem(409, "")
	if op := yes(first, first.Digest).operation(200); op.Result.Digest != first.Digest {
		t.Errorf("%+v", op.Result)
	}
	ask("once", false, good).operation(201)
	ask("once", false, evil).problem(409, "")
	// The bytes of an id cannot be changed, however often others are sent under the name.
	h.attach(key, "migration.bin", []byte{0, 3})
	if data, err := files.Read(t.Context(), good.ID); err != nil || !bytes.Equal(data, []byte{0, 1}) {
		t.Errorf("%v, %v", data, err)
	}
}

// What operations and drafts name outlives a day, and nothing else does.
func TestAttachmentsThatAreNamedStay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var files *attachments.Store
	h := openFixture(t, func(_ *Deps, o *queue.Options) {
		files = attachments.New(t.TempDir(), attachments.Options{Now: func() time.Time { return now }})
		o.Files = files
	})
	key := h.agent("bot")
	asked, loose := h.attach(key, "a", []byte{0, 1}), h.attach(key, "b", []byte{0, 2})
	drafted, answered := h.attach(h.op, "c", []byte{0, 3}), h.attach(h.op, "d", []byte{0, 4})
	open, other := h.invokeWith(key, "feedback", "One", asked).operation(201), h.invokeWith(key, "feedback", "Two").operation(201)
	h.post("/api/human/input", h.op, `{"operation_id":"`+string(open.ID)+`","human_input":"x","attachments":["`+string(drafted.ID)+`"]}`).operation(200)
	h.post("/api/human/complete", h.op, `{"operation_id":"`+string(other.ID)+`","human_input":"x","attachments":["`+string(answered.ID)+`"]}`).operation(200)
	now = now.Add(48 * time.Hour)
	must(t, files.Prune(t.Context(), h.queue.Names))
	for a, want := range map[human.Attachment]bool{asked: true, loose: false, drafted: true, answered: true} {
		if _, err := files.Read(context.Background(), a.ID); (err == nil) != want {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	// A draft that is forgotten names nothing any more.
	h.post("/api/human/input", h.op, `{"operation_id":"`+string(open.ID)+`"}`).operation(200)
	must(t, files.Prune(t.Context(), h.queue.Names))
	if _, err := files.Read(context.Background(), drafted.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("a forgotten draft's file: %v", err)
	}
}

// The zip of a recording has what came with the request and the answer, under names that are safe and differ.
func TestAnExportHasTheAttachments(t *testing.T) {
	t.Parallel()
	var files *attachments.Store
	var ahead atomic.Int64
	h := openFixture(t, func(_ *Deps, o *queue.Options) {
		files = attachments.New(t.TempDir(), attachments.Options{
			Mask: func(text string) (string, int) {
				return strings.ReplaceAll(text, "hunter2", "•••"), strings.Count(text, "hunter2")
			},
			Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		})
		o.Files = files
	})
	key := h.agent("bot")
	m := h.recorded(key, false)
	sent := []human.Attachment{h.attach(key, "plan.txt", []byte("step one")), h.attach(key, "a <b>?.txt", []byte("odd")), h.attach(key, ".hidden", []byte("dots"))}
	op := h.invokeWith(key, "desktop", "Do it", sent...).operation(201)
	must(t, h.store.Recordings().Create(t.Context(), human.Recording{ID: "rec_own", OperationID: op.ID, By: "ada", State: human.RecordingStopped, StartedAt: time.Now()}))
	log := h.attach(h.op, "PLAN.txt", []byte("password hunter2"))
	h.post("/api/human/complete", h.op, `{"operation_id":"`+string(op.ID)+`","human_input":"done","attachments":["`+string(log.ID)+`","`+string(sent[0].ID)+`"]}`).operation(200)
	exported := func(id human.RecordingID, language string) (page string, all map[string]string) {
		r := h.get("/api/recordings/"+string(id)+"/export?format=markdown&language="+language, h.op)
		z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
		must(t, err)
		all = map[string]string{}
		for _, f := range z.File {
			from, err := f.Open()
			must(t, err)
			text, err := io.ReadAll(from)
			must(t, err)
			if f.Name == "guide.md" {
				page = string(text)
			} else if strings.HasPrefix(f.Name, "attachments/") {
				all[f.Name] = string(text)
			}
		}
		return page, all
	}
	page, all := exported("rec_own", "en")
	want := map[string]string{"attachments/plan.txt": "step one", "attachments/a _b__.txt": "odd", "attachments/file.hidden": "dots", "attachments/PLAN-2.txt": "password •••"}
	if !maps.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
	for _, line := range []string{"## Attachments", `- [plan.txt](attachments/plan.txt) (text/plain, 8 bytes, came with the request)`, "(attachments/a%20_b__.txt)", "(attachments/PLAN-2.txt)", "came with the answer"} {
		if !strings.Contains(strings.ReplaceAll(page, `\`, ""), line) {
			t.Errorf("%q is not in %s", line, page)
		}
	}
	// What retention removed is only named.
	ahead.Store(int64(2 * attachments.Life)) // it removes no young file
	_, err := files.Remove(t.Context(), sent[0].ID, time.Now(), func(context.Context, []human.OperationID) (bool, error) { return true, nil })
	must(t, err)
	if page, all = exported("rec_own", "zh-CN"); len(all) != 3 || !strings.Contains(page, "已不再保存") || !strings.Contains(page, "## 附件") {
		t.Errorf("%q\n%s", all, page)
	}
	if page, all = exported(m.ID, "en"); len(all) != 0 || strings.Contains(page, "Attachments") {
		t.Errorf("%q\n%s", all, page)
	}
}
