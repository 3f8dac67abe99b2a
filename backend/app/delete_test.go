package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record"
	"deskbell/backend/record/retention"
	"deskbell/backend/store/attachments"
	"deskbell/backend/store/casts"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/sqlite"
)

// A planted is an operation with words of its own wherever there may be some.
type planted struct {
	op    human.OperationID
	words []string
}

// plant writes a finished operation with everything that can belong to one into a data folder.
func plant(t *testing.T, dir, name string) (p planted) {
	t.Helper()
	ctx, mei, bot := t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}, human.Actor{Role: human.Agent, Name: "bot"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	random := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", name))))
	word := func(what string) string {
		w := fmt.Sprintf("%s%s%012x", name, what, random.Uint64()>>16)
		p.words = append(p.words, w)
		return w
	}
	bytesOf := func(n int) []byte {
		b := make([]byte, n)
		_, _ = random.Read(b) // never fails
		return b
	}
	keys, err := receiptkeys.Open(dir, time.Now)
	must(err)
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Key: keys.Current})
	must(err)
	files := attachments.New(dir, attachments.Options{})
	q := queue.New(store, store, queue.Options{Files: files, MaxPending: 1000, Receipts: &receipt.Maker{Key: keys.Current}})
	must(q.Load(ctx))
	attach := func(by human.Actor) human.AttachmentID {
		file, err := q.Attach(ctx, by, word("file")+".txt", []byte(word("bytes")))
		must(err)
		return file.ID
	}
	op, _, err := q.Ring(ctx, human.Request{
		Kind: human.Desktop, Description: word("description"), AgentID: "bot", Priority: 5, SessionID: word("session"), IdempotencyKey: word("key"),
		Details: json.RawMessage(`{"` + word("member") + `":"` + word("detail") + strings.Repeat(" and more", 3000) + `"}`), Context: json.RawMessage(`{"project":"` + word("project") + `","note":"` + word("context") + `"}`),
		Attachments: []human.Attachment{{ID: attach(bot)}},
	}, false)
	must(err)
	p.op = op.ID
	_, err = q.Claim(ctx, mei, op.ID)
	must(err)
	_, err = q.Reply(ctx, mei, op.ID, word("asked"))
	must(err)
	_, err = q.Reply(ctx, bot, op.ID, word("replied"))
	must(err)
	must(store.Summaries().PutSummary(ctx, human.Summary{ID: human.SummaryID("sum_" + name), OperationID: op.ID, Problem: word("problem")}))

	id := human.RecordingID("rec_" + name)
	_, err = q.RecordingBegan(ctx, mei, op.ID, id)
	must(err)
	rec := human.Recording{ID: id, OperationID: op.ID, By: mei.Name, State: human.RecordingStopped, StartedAt: time.Now()}
	must(store.Recordings().Create(ctx, rec))
	pen, err := pictures.New(dir).Writer(rec.ID)
	must(err)
	pix := bytesOf(4 * 200 * 150)
	picture, _, _, err := pen.Put(&record.Frame{W: 200, H: 150, Scale: 1, Pix: pix})
	must(err)
	must(pen.Close())
	p.words = append(p.words, picture)
	must(store.Recordings().Append(ctx, rec, []human.RecordedEvent{
		{Seq: 1, At: 1e9, Source: human.WindowSource, Type: human.WindowActive, App: &human.App{Name: word("app")}, Window: &human.Window{Title: word("window")}},
		{Seq: 2, At: 2e9, Source: human.ScreenSource, Type: human.PictureTaken, Picture: picture, When: "after", CausedBy: 1},
	}))
	cast, err := casts.New(dir).Create(id)
	must(err)
	_, err = cast.Write([]byte(`[0.1, "o", "` + word("printed") + "\"]\n"))
	must(err)
	must(cast.Close())

	for i := range 20 { // its row grows and shrinks
		_, err = q.SaveInput(ctx, mei, op.ID, &human.Answer{HumanInput: strings.Repeat(word("draft")+" ", i*i%97)})
		must(err)
	}
	_, err = q.Complete(ctx, mei, op.ID, human.Answer{
		HumanInput: word("answer"), ExecutionResult: word("result"), Summary: word("summary"), Attachments: []string{string(attach(mei))},
		Findings: []human.Finding{{Kind: human.FoundDone, Text: word("finding"), Evidence: []human.Ref{{Kind: human.RefAction, Recording: id, ID: "a1"}}}},
	}, "")
	must(err)
	_, err = q.Reply(ctx, mei, op.ID, word("comment"))
	must(err)
	d := service.Decision{
		ID: "dec_" + name, At: time.Now(), Agent: "bot", Session: word("gatesession"), Project: word("gateproject"), Cwd: word("cwd"), Tool: "bash", Call: word("call"), Words: word("effect"),
		Decision: human.Ask, OperationID: op.ID, Outcome: service.Allowed, By: "Mei", Reason: word("reason"), Rules: []string{}, Verbs: []human.EffectVerb{},
	}
	must(store.Gate().PutDecision(ctx, d, nil))
	must(store.Attempts().PutAttempt(ctx, human.Attempt{ID: human.AttemptID("at_" + name), LastAt: time.Now(), Tries: []human.Try{{OperationID: op.ID, Detail: word("tried")}}}))
	must(store.Close())
	return p
}

// folder is all that is in a data folder: every file as it is, and what is compressed in it.
func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	zip, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	all := map[string][]byte{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = []byte(path)
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil && (!e.Type().IsRegular() || errors.Is(err, fs.ErrNotExist)) {
			return nil // the socket, or deleted meanwhile
		}
		all[path] = slices.Concat([]byte(path), text)
		for at := 0; ; at++ {
			i := bytes.Index(text[at:], []byte{0x28, 0xb5, 0x2f, 0xfd})
			if i < 0 {
				return err
			}
			at += i
			if plain, _ := zip.DecodeAll(text[at:], nil); len(plain) > 0 { // what follows the frame is none
				all[path] = append(all[path], plain...)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range all {
		all[path] = bytes.ToLower(all[path])
	}
	return all
}

// where says which files have a word.
func where(all map[string][]byte, word string) (found []string) {
	for path, text := range all {
		if bytes.Contains(text, bytes.ToLower([]byte(word))) {
			found = append(found, filepath.Base(path))
		}
	}
	return found
}

// What is deleted is in no file of the data folder, while Deskbell runs; what is not stays, and so does the proof that there was
// something.
func TestWhatIsDeletedIsInNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone, kept := plant(t, dir, "zqgone"), plant(t, dir, "zqkept")
	pictured := map[string][]byte{}
	for path, text := range folder(t, filepath.Join(dir, "recordings", "rec_zqgone")) {
		if len(text) > 5000 {
			pictured[path] = text[len(text)/2:][:64]
		}
	}
	if len(pictured) == 0 {
		t.Fatal("there is no picture")
	}
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	waitFor(t, "the log", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "human.log"))
		return err == nil && bytes.Count(text, []byte("\n")) == 2
	})
	var open human.Operation
	newCaller(t, s.url, key(t, dir, "bot")).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "bash", "description": "look"}, &open)
	for id, want := range map[human.OperationID]int{open.ID: http.StatusConflict, "op_none": http.StatusNotFound} {
		if status, err := boss.call("POST", "/api/human/delete", map[string]any{"operations": []human.OperationID{gone.op, id}}, nil); err != nil || status != want {
			t.Errorf("deleting %s: %d, %v", id, status, err)
		}
	}
	before := folder(t, dir)
	for _, p := range []planted{gone, kept} {
		for _, w := range p.words {
			if where(before, w) == nil && !strings.Contains(w, "draft") {
				t.Errorf("%s is in no file", w)
			}
		}
	}
	var done retention.Deletion
	boss.good(t, "POST", "/api/human/delete", map[string]any{"operations": []human.OperationID{gone.op}}, &done)
	if !slices.Equal(done.Operations, []human.OperationID{gone.op}) {
		t.Errorf("deleted %+v", done)
	}
	check := func() {
		t.Helper()
		after := folder(t, dir)
		for _, w := range gone.words {
			if found := where(after, w); found != nil {
				t.Errorf("%s is still in %v", w, found)
			}
		}
		for path, part := range pictured {
			if found := where(after, string(part)); found != nil {
				t.Errorf("the picture %s is still in %v", path, found)
			}
		}
		for _, w := range kept.words {
			if where(after, w) == nil && !strings.Contains(w, "draft") {
				t.Errorf("%s is gone, too", w)
			}
		}
	}
	check()
	if text := boss.text(t, "/api/human/operations/"+string(gone.op)); !strings.Contains(text, "was deleted on "+time.Now().UTC().Format(time.DateOnly)+" by ") {
		t.Error(text)
	}
	var audit receipt.Audit
	boss.good(t, "GET", "/api/receipts/audit", nil, &audit)
	if len(audit.Found) > 0 || audit.Removed == 0 || audit.Receipts != 2 {
		t.Errorf("audit: %+v", audit)
	}
	s.stop(t)
	check()
	run(t, dir, nil, "doctor").want(t, 0, "receipts are as they were written")
}

// A deletion that is killed with SIGKILL at a random moment has not begun, or is finished at the next start.
func TestADeletionIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []planted
	for i := range 8 {
		all = append(all, plant(t, dir, fmt.Sprintf("zqkill%c", 'a'+i)))
	}
	begun := 0
	for i, p := range all {
		s := serve(t, dir, nil)
		boss := operator(t, s.url, s.code)
		waitFor(t, "the log", func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "human.log"))
			return err == nil && bytes.Count(text, []byte("\n")) >= len(all)-i
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = boss.call("POST", "/api/human/delete", map[string]any{"operations": []human.OperationID{p.op}}, nil) // it is killed meanwhile
		}()
		<-time.After(time.Duration(i*i) * time.Millisecond)
		s.kill()
		<-ended
		s = serve(t, dir, nil)
		boss = operator(t, s.url, s.code)
		if strings.Contains(boss.text(t, "/api/human/operations/"+string(p.op)), "was deleted on") {
			begun++
			left := map[string][]string{}
			t.Cleanup(func() {
				if len(left) > 0 {
					t.Errorf("still there: %v", left)
				}
			})
			waitFor(t, "the rest of a deletion", func() bool {
				now := folder(t, dir)
				clear(left)
				for _, w := range p.words {
					if found := where(now, w); found != nil {
						left[w] = found
					}
				}
				return len(left) == 0
			})
		} else {
			now := folder(t, dir)
			for _, w := range p.words {
				if where(now, w) == nil && !strings.Contains(w, "draft") {
					t.Errorf("%s is gone, and its operation is not deleted", w)
				}
			}
			boss.good(t, "POST", "/api/human/delete", map[string]any{"operations": []human.OperationID{p.op}}, nil)
		}
		s.kill()
	}
	t.Logf("%d of %d deletions had begun when they were killed", begun, len(all))
	run(t, dir, nil, "doctor").want(t, 0, "receipts are as they were written")
}
