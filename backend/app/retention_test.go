package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// A keptWork is an approval with a recording and a file, in a data folder.
type keptWork struct {
	op      human.OperationID
	rec     human.RecordingID
	picture string
	file    human.AttachmentID
	age     int // days since its end; below 0: open
}

// oldWork writes approvals of several ages, with receipts, into a data folder.
func oldWork(t *testing.T, dir string, ages ...int) (all []keptWork) {
	t.Helper()
	ctx, mei := t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now()
	keys, err := receiptkeys.Open(dir, time.Now)
	must(err)
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Key: keys.Current})
	must(err)
	files := attachments.New(dir, attachments.Options{})
	q := queue.New(store, store, queue.Options{
		Files: files, Now: func() time.Time { return at }, MaxPending: 1000,
		Receipts: &receipt.Maker{Key: keys.Current},
	})
	must(q.Load(ctx))
	random := rand.New(rand.NewPCG(1, 2))
	for i, age := range ages {
		at = time.Now().Add(-time.Duration(max(age, 0)) * 24 * time.Hour).Add(-time.Hour)
		w := keptWork{age: age, rec: human.RecordingID(fmt.Sprintf("rec_%03d", i))}
		op, _, err := q.Ring(ctx, human.Request{Kind: human.Desktop, Description: fmt.Sprintf("Press it %03d", i), AgentID: "bot", Priority: 5}, false)
		must(err)
		w.op = op.ID
		_, err = q.Claim(ctx, mei, op.ID)
		must(err)
		_, err = q.RecordingBegan(ctx, mei, op.ID, w.rec)
		must(err)
		rec := human.Recording{ID: w.rec, OperationID: op.ID, By: mei.Name, State: human.RecordingStopped, StartedAt: at}
		must(store.Recordings().Create(ctx, rec))
		pen, err := pictures.New(dir).Writer(rec.ID)
		must(err)
		pix := make([]byte, 4*200*150)
		events := []human.RecordedEvent{
			{Seq: 1, At: 1e9, Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 5, Y: 5},
			{Seq: 2, At: 2e9, Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 5, Y: 5},
		}
		for range 4 {
			for i := range pix {
				pix[i] = byte(random.Uint32())
			}
			w.picture, _, _, err = pen.Put(&record.Frame{W: 200, H: 150, Scale: 1, Pix: pix})
			must(err)
		}
		must(pen.Close())
		must(store.Recordings().Append(ctx, rec, append(events, human.RecordedEvent{Seq: 3, At: 3e9, Source: human.ScreenSource, Type: human.PictureTaken, Picture: w.picture, When: "after", CausedBy: 1})))
		cast, err := casts.New(dir).Create(w.rec)
		must(err)
		_, err = cast.Write([]byte("{\"version\": 3}\n"))
		must(err)
		must(cast.Close())
		file, err := q.Attach(ctx, mei, "note.txt", fmt.Appendf(nil, "note %d", i))
		must(err)
		w.file = file.ID
		answer := human.Answer{HumanInput: "done", Attachments: []string{string(file.ID)}, Findings: []human.Finding{
			{Kind: human.FoundDone, Text: "It was pressed", Evidence: []human.Ref{{Kind: human.RefAction, Recording: w.rec, ID: "a1"}}},
		}}
		if age < 0 {
			_, err = q.SaveInput(ctx, mei, op.ID, &answer)
		} else {
			_, err = q.Complete(ctx, mei, op.ID, answer, "")
		}
		must(err)
		all = append(all, w)
	}
	must(store.Close())
	old := time.Now().Add(-48 * time.Hour)
	must(filepath.WalkDir(filepath.Join(dir, "attachments"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = os.Chtimes(path, old, old)
		}
		return err
	}))
	return all
}

// check compares what the API says of a piece of work with itself: what is not there is nowhere shown as being there. It returns
// what is left.
func (w keptWork) check(t *testing.T, boss *caller) (rec human.Recording, file human.Attachment) {
	t.Helper()
	for range 2 { // retention runs meanwhile: what was read first may be older than the rest
		boss.good(t, "GET", "/api/recordings/"+string(w.rec), nil, &rec)
		boss.good(t, "GET", "/api/attachments/"+string(w.file)+"/info", nil, &file)
		text := func(path string) string { return boss.text(t, path) }
		picture, cast := text("/api/recordings/"+string(w.rec)+"/pictures/"+w.picture), text("/api/recordings/"+string(w.rec)+"/cast")
		actions, data := text("/api/recordings/"+string(w.rec)+"/actions"), text("/api/attachments/"+string(w.file))
		var op human.Operation
		boss.good(t, "GET", "/api/human/operations/"+string(w.op), nil, &op)
		named, _ := op.Attached(w.file)
		evidence := ""
		if w.age >= 0 {
			evidence = text("/api/human/operations/" + string(w.op) + "/evidence/e1")
		}
		var again human.Recording
		var after human.Attachment
		boss.good(t, "GET", "/api/recordings/"+string(w.rec), nil, &again)
		boss.good(t, "GET", "/api/attachments/"+string(w.file)+"/info", nil, &after)
		if (again.PicturesRemoved == nil) != (rec.PicturesRemoved == nil) || (again.Removed == nil) != (rec.Removed == nil) || (after.Removed == nil) != (file.Removed == nil) {
			continue
		}
		for what, is := range map[string]bool{
			"picture":  strings.Contains(picture, "by retention") == (rec.PicturesRemoved != nil),
			"cast":     strings.Contains(cast, "by retention") == (rec.PicturesRemoved != nil),
			"actions":  strings.Contains(actions, "by retention") == (rec.Removed != nil) && strings.Contains(actions, w.picture) == (rec.PicturesRemoved == nil),
			"file":     strings.Contains(data, "by retention") == (file.Removed != nil) && strings.HasPrefix(data, "note ") == (file.Removed == nil),
			"name":     named.ID == w.file && (named.Removed == nil) == (file.Removed == nil),
			"evidence": w.age < 0 || strings.Contains(evidence, "by retention") == (rec.PicturesRemoved != nil),
		} {
			if !is {
				t.Errorf("the %s of %+v does not go with %v, %v, %v:\n%.300q\n%.300q\n%.300q\n%.300q\n%.300q", what, w, rec.PicturesRemoved, rec.Removed, file.Removed, picture, cast, actions, data, evidence)
			}
		}
		return rec, file
	}
	return rec, file
}

// text is the body of an answer, good or not.
func (c *caller) text(t *testing.T, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Retention that is killed with SIGKILL at random moments shows nothing half removed, and comes to its end; receipts and journal
// are as they were.
func TestRetentionIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ages []int
	for i := range 24 {
		ages = append(ages, 40, 20)
		if i%8 == 0 {
			ages = append(ages, 2, -1)
		}
	}
	all := oldWork(t, dir, ages...)
	env := []string{"DESKBELL_RETENTION_PICTURES_DAYS=10", "DESKBELL_RETENTION_RECORDINGS_DAYS=30"}
	midway := 0
	for range 12 {
		s := serve(t, dir, env)
		<-time.After(time.Duration(rand.IntN(400)) * time.Millisecond)
		s.kill()
		s = serve(t, dir, []string{"DESKBELL_RETENTION_PICTURES_DAYS=0"}) // it only finishes what was noted
		boss := operator(t, s.url, s.code)
		gone := 0
		for _, w := range all {
			if rec, _ := w.check(t, boss); rec.PicturesRemoved != nil {
				gone++
			}
		}
		if gone > 0 && gone < 48 {
			midway++
		}
		s.kill()
		if gone == 48 || t.Failed() {
			break
		}
	}
	t.Logf("killed in the middle %d times", midway)
	s := serve(t, dir, env)
	boss := operator(t, s.url, s.code)
	var plan retention.Removal
	waitFor(t, "retention", func() bool {
		boss.good(t, "GET", "/api/retention/preview", nil, &plan)
		return len(plan.Items) == 0
	})
	for _, w := range all {
		rec, file := w.check(t, boss)
		if (rec.PicturesRemoved != nil) != (w.age >= 10) || (rec.Removed != nil) != (w.age >= 30) || (file.Removed != nil) != (w.age >= 10) {
			t.Errorf("%+v: pictures %v, all %v, file %v", w, rec.PicturesRemoved, rec.Removed, file.Removed)
		}
		if left, err := pictures.New(dir).Bytes(w.rec); err != nil || (left == 0) != (w.age >= 10) {
			t.Errorf("%+v has %d bytes: %v", w, left, err)
		}
	}
	var done retention.Removal
	if boss.good(t, "POST", "/api/retention/run", map[string]any{}, &done); len(done.Items) > 0 || done.Off {
		t.Errorf("there was more to remove: %+v", done)
	}
	run(t, dir, nil, "doctor").want(t, 0, "receipts are as they were written")
	s.stop(t)
}

// Removing words that is killed with SIGKILL at random moments has removed all of a request or nothing, and comes to its end: they are
// in no file any more, and the journal and all receipts that are left verify.
func TestRemovalOfWordsIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ages []int
	for i := range 150 {
		if ages = append(ages, 40); i%20 == 0 {
			ages = append(ages, 32, 20, 2, -1)
		}
	}
	all := oldWork(t, dir, ages...)
	env := []string{"DESKBELL_RETENTION_PICTURES_DAYS=10", "DESKBELL_RETENTION_RECORDINGS_DAYS=30", "DESKBELL_RETENTION_REQUESTS_DAYS=35"}
	words := func(i int) string { return fmt.Sprintf("Press it %03d", i) }
	count := func(boss *caller) (gone int) {
		for i, w := range all {
			var op human.Operation
			text := boss.text(t, "/api/human/operations/"+string(w.op))
			switch removed := strings.Contains(text, "was removed on "); {
			case removed && (w.age < 35 || strings.Contains(text, words(i))):
				t.Errorf("%+v: %s", w, text)
			case removed:
				gone++
			case json.Unmarshal([]byte(text), &op) != nil || op.Description != words(i) || w.age >= 0 && (op.Result == nil || op.Result.HumanInput != "done"):
				t.Errorf("%+v: %s", w, text)
			}
		}
		return gone
	}
	midway, gone := 0, 0
	for round := range 12 {
		s := serve(t, dir, env)
		if round%2 == 0 {
			<-time.After(time.Duration(rand.IntN(400)) * time.Millisecond)
		} else { // right after the first were removed
			boss, first := operator(t, s.url, s.code), slices.IndexFunc(all, func(w keptWork) bool { return w.age >= 35 })
			waitFor(t, "the first removal", func() bool {
				return strings.Contains(boss.text(t, "/api/human/operations/"+string(all[first].op)), "was removed on ")
			})
		}
		s.kill()
		s = serve(t, dir, nil) // retention is off; it only finishes what was begun
		gone = count(operator(t, s.url, s.code))
		s.kill()
		if gone > 0 && gone < 150 {
			midway++
		}
		if gone == 150 || t.Failed() {
			break
		}
	}
	t.Logf("%d were removed, killed in the middle %d times", gone, midway)
	s := serve(t, dir, env)
	boss := operator(t, s.url, s.code)
	waitFor(t, "retention", func() bool {
		var plan, done retention.Removal
		boss.good(t, "POST", "/api/retention/run", map[string]any{}, &done)
		boss.good(t, "GET", "/api/retention/preview", nil, &plan)
		return len(plan.Items) == 0 && count(boss) == 150
	})
	for i, w := range all {
		if text := boss.text(t, "/api/human/operations/"+string(w.op)+"/receipts"); strings.Contains(text, "receipt_id") != (w.age < 35 && w.age >= 0) {
			t.Errorf("the receipts of %+v are %s", w, text)
		}
		if text := boss.text(t, "/api/human/operations?q="+url.QueryEscape(fmt.Sprintf("%03d", i))); strings.Contains(text, words(i)) != (w.age < 35) {
			t.Errorf("a search for %+v gives %s", w, text)
		}
	}
	run(t, dir, nil, "doctor").want(t, 0, "the words of 600 of these entries were removed")
	s.stop(t)
	found := map[int][]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for i := range all {
			if strings.Contains(string(text), words(i)) {
				found[i] = append(found[i], filepath.Base(path))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range all {
		if (found[i] == nil) != (w.age >= 35) || w.age >= 0 && w.age < 35 && !slices.Contains(found[i], "human.log") {
			t.Errorf("the words of %+v are in %v", w, found[i])
		}
	}
}
