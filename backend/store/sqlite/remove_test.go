package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
)

// longAfter is a time when everything in a history is old, and when it is removed.
var longAfter = epoch.Add(1000 * 24 * time.Hour)

// posted says that all that ended was delivered.
func (h *history) posted() {
	h.Helper()
	head, err := h.Head(h.Context())
	if err == nil {
		err = h.Outbox().Post(h.Context(), head, "", nil, epoch)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// remove removes operations and returns which it did.
func (h *history) remove(ids ...human.OperationID) []human.OperationID {
	h.Helper()
	removed, err := h.RemoveRequests(context.Background(), ids, longAfter, longAfter)
	if err != nil {
		h.Fatal(err)
	}
	return removed
}

func (h *history) scrub() {
	h.Helper()
	none := func(context.Context, func(human.OperationID) (bool, error)) error { return nil }
	if err := h.Scrub(context.Background(), none); err != nil {
		h.Fatal(err)
	}
}

// files are the files of a folder by their names, in lower case.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[filepath.Base(path)], err = os.ReadFile(path)
			all[filepath.Base(path)] = bytes.ToLower(all[filepath.Base(path)])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plant gives an operation words of its own wherever there may be some; each begins with the name given.
func (h *history) plant(id human.OperationID, name string) (words []string) {
	h.Helper()
	ctx := context.Background()
	word := func(what string) string {
		words = append(words, name+what)
		return name + what
	}
	must := func(err error) {
		h.Helper()
		if err != nil {
			h.Fatal(err)
		}
	}
	h.add(id, ring(word("described"), func(r *human.Request) {
		r.Details = json.RawMessage(`{"risk_level":"high","` + word("member") + `":"` + word("detail") + strings.Repeat(" and more", 3000) + `"}`)
		r.Context = json.RawMessage(`{"project":"shop","note":"` + word("context") + `"}`)
		r.SessionID, r.IdempotencyKey = word("session"), word("key")
		r.Attachments = []human.Attachment{{ID: "att_1", Name: word("file")}}
	}))
	h.add(id, asked(word("asked")))
	h.add(id, human.Event{Type: human.Replied, By: bot, Text: word("replied")})
	h.add(id, human.Event{Type: human.Shown, Channel: "card", Text: word("failed")}, human.Event{Type: human.Seen, By: ann, Channel: "console"})
	for i := range 40 { // its row grows and shrinks
		h.add(id, human.Event{Type: human.InputSaved, By: ann, Answer: &human.Answer{HumanInput: strings.Repeat(word(fmt.Sprint("draft", i))+" ", i*i%97)}})
	}
	answered := journaltest.Answered(h, id, h.versions[id]+1)
	answered.Answer.HumanInput, answered.Answer.Summary = word("answer"), word("summary")
	answered.Answer.Findings = []human.Finding{{Kind: human.FoundDone, Text: word("finding")}}
	answered.Answer.Fields = map[string]string{word("fieldname"): word("fieldvalue")}
	h.add(id, answered)
	h.add(id, human.Event{Type: human.Commented, By: ann, Text: word("comment")})
	h.add(id, human.Event{Type: human.Commented, By: ann, Text: "早上好" + word("chinese")})

	at := epoch.Add(time.Minute)
	d := service.Decision{
		ID: "dec_" + string(id), At: epoch, Agent: "bot", Session: word("gatesession"), Project: "shop", Cwd: word("cwd"), Tool: "bash", Call: word("call"), Words: word("effect"),
		Decision: human.Ask, OperationID: id, Outcome: service.Allowed, By: "Ann", AnsweredAt: &at, ReadFor: 2, Reason: word("reason"), Args: json.RawMessage(`{"x":"` + word("args") + `"}`),
		Makes: []string{word("made")}, Effects: []human.Effect{{Verb: "write", Target: word("target")}}, Rules: []string{}, Verbs: []human.EffectVerb{},
	}
	must(h.Gate().PutDecision(ctx, d, d.Makes))
	must(h.Summaries().PutSummary(ctx, human.Summary{ID: "sum_" + human.SummaryID(id), OperationID: id, Problem: word("problem")}))
	must(h.Attempts().PutAttempt(ctx, human.Attempt{
		ID: "at_" + human.AttemptID(id), FirstAt: epoch, LastAt: epoch, DismissedAt: &at, Tries: []human.Try{{OperationID: id, Detail: word("tried")}},
	}))
	h.record("rec_"+human.RecordingID(id), id, window(5, word("window")))
	must(h.Recordings().Expire(ctx, "rec_"+human.RecordingID(id), at, true))
	return words
}

func TestRemovedWordsAreInNoFile(t *testing.T) {
	h := newHistory(t, Options{Key: journaltest.Key, partSize: 8, lateTexts: 4})
	words, ids := map[human.OperationID][]string{}, []human.OperationID{}
	for i := range 24 {
		id := human.OperationID(fmt.Sprintf("op_%02d", i))
		ids = append(ids, id)
		words[id] = h.plant(id, fmt.Sprintf("Zq%cxv", 'a'+i))
	}
	h.posted()
	if err := os.WriteFile(keptAs(h.file, 14), []byte(words["op_01"][0]), 0o600); err != nil { // from before an upgrade
		t.Fatal(err)
	}
	before, err := h.Statistics(t.Context(), queue.Filter{When: queue.Days(30, epoch.Add(24*time.Hour), time.UTC)}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	gone := ids[1:17]
	if removed := h.remove(gone...); !slices.Equal(removed, gone) {
		t.Fatalf("removed %v, want %v", removed, gone)
	}
	h.scrub()
	check := func() {
		t.Helper()
		all := files(t, h.dir)
		for _, id := range ids {
			removed := slices.Contains(gone, id)
			for _, w := range words[id] {
				var found []string
				for name, text := range all {
					if bytes.Contains(text, []byte(strings.ToLower(w))) {
						found = append(found, name)
					}
				}
				switch {
				case removed && found != nil:
					t.Errorf("%s of %s is still in %v", w, id, found)
				case !removed && found == nil && !strings.HasSuffix(w, "window") && !strings.Contains(w, "draft"):
					t.Errorf("%s of %s is in no file", w, id)
				}
			}
			page, err := h.List(t.Context(), queue.Filter{Text: words[id][0]})
			if err != nil || (len(page.Operations) == 0) != removed {
				t.Errorf("a search for %s finds %v, %v", words[id][0], page.Operations, err)
			}
			entries, err := h.Operation(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			_, err = human.Fold(id, entries)
			if removed && (human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), "was removed on 2028-09-28 by retention")) || !removed && err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		after, err := h.Statistics(t.Context(), queue.Filter{When: queue.Days(30, epoch.Add(24*time.Hour), time.UTC)}, epoch)
		if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("statistics were\n%+v, are\n%+v, %v", before, after, err)
		}
		if audit := h.audit(); len(audit.Found) > 0 || audit.Removed != 16*h.versions["op_01"] || audit.Receipts != 24 || !audit.RemovedAt.Equal(longAfter.Truncate(time.Microsecond)) {
			t.Errorf("audit: %+v", audit)
		}
	}
	check()
	if kept, err := h.Setting(t.Context(), scrubKey); err != nil || kept != "" {
		t.Errorf("to be scrubbed again: %q, %v", kept, err)
	}
	d, err := h.Gate().DecisionOf(t.Context(), "op_01")
	if err != nil || d.Outcome != service.Allowed || d.By != "Ann" || d.ReadFor != 2 || d.Call != "" {
		t.Errorf("the decision is %+v, %v", d, err)
	}
	wantKind(t, h.try("op_01", human.Event{Type: human.Commented, By: ann, Text: "more"}), human.Conflict)
	if removed := h.remove("op_01", "op_none"); removed != nil {
		t.Errorf("removed again: %v", removed)
	}
	h.reopen(signing)
	check()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.add("op_new", ring("new"))
	h.add("op_new", journaltest.Answered(t, "op_new", 2))
	if err := h.CheckHead(t.Context()); err != nil {
		t.Error(err)
	}
	if c, err := h.Chain(t.Context(), "op_17", journaltest.Trust()); err != nil || len(c.Found) > 0 || len(c.Neighbors) != 4 {
		t.Errorf("the chain is %+v, %v", c, err)
	}
}

// What is open, recorded, on its way out, changed lately, damaged or under alarm stays.
func TestWhatIsNeededIsNotRemoved(t *testing.T) {
	h := newHistory(t, signing)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []human.OperationID{"op_old", "op_recorded", "op_waits", "op_alarm", "op_damaged"} {
		h.add(id, ring("old"), done("yes"))
	}
	h.add("op_open", ring("open"))
	h.add("op_late", ring("late"), human.Event{Type: human.Finished, By: ann, At: longAfter, Answer: &human.Answer{}})
	h.record("rec_1", "op_recorded", window(5, "Inbox"))
	must(h.Attempts().PutAttempt(ctx, human.Attempt{ID: "at_1", LastAt: epoch, Tries: []human.Try{{OperationID: "op_alarm"}}}))
	h.posted()
	must(h.Outbox().Post(ctx, 13, "op_waits", []string{"folder"}, epoch))
	h.add("op_unread", ring("the outbox has not read that far"), done("yes"))
	h.tamper(`UPDATE journal SET payload = replace(payload, 'yes', 'no') WHERE operation_id = 'op_damaged'`)
	all := []human.OperationID{"op_open", "op_late", "op_recorded", "op_waits", "op_alarm", "op_damaged", "op_unread", "op_old"}
	if removed := h.remove(all...); !slices.Equal(removed, all[7:]) {
		t.Errorf("removed %v", removed)
	}
	var seen []human.OperationID
	must(h.Unchanged(ctx, longAfter, func(op human.Operation, bytes int64) error {
		if seen = append(seen, op.ID); bytes < 100 {
			t.Errorf("%s has %d bytes", op.ID, bytes)
		}
		return nil
	}))
	if want := []human.OperationID{"op_recorded", "op_damaged"}; !slices.Equal(seen, want) {
		t.Errorf("unchanged %v, want %v", seen, want)
	}
}

// What another program does to a journal with removed entries is found.
func TestForgedRemovalsAreFound(t *testing.T) {
	const emptied = "was emptied, and no entry says that Deskbell did it"
	for name, tt := range map[string]struct {
		statements string
		forge      func(h *history)
		says       []string // in order; nil: all is well
	}{
		"nothing":                    {statements: `SELECT 1`},
		"emptied by hand":            {`UPDATE journal SET payload = '', details = NULL, context = NULL WHERE operation_id = 'op_3'`, nil, []string{"entry 7 (version 1 of operation op_3) " + emptied, "entry 8 (version 2 of operation op_3) " + emptied}},
		"emptied but for its JSON":   {`UPDATE journal SET payload = '{}' WHERE seq = 7`, nil, []string{"entry 7 (version 1 of operation op_3) was changed"}},
		"its link changed":           {`UPDATE journal SET link = randomblob(32) WHERE seq = 3`, nil, []string{"entry 3 (version 1 of operation op_1) was emptied by Deskbell on 2028-09-28, and then changed", "entry 4"}},
		"its type changed":           {`UPDATE journal SET type = 'declined' WHERE seq = 4`, nil, []string{"entry 4 (version 2 of operation op_1) was emptied by Deskbell on 2028-09-28, and then changed"}},
		"its time changed":           {`UPDATE journal SET at = at + 1 WHERE seq = 3`, nil, []string{"entry 3"}},
		"given to another":           {`UPDATE journal SET operation_id = 'op_other' WHERE seq = 3`, nil, []string{"entry 3 (version 1 of operation op_other) " + emptied}},
		"other words in it":          {`UPDATE journal SET payload = '{"type":"invoked"}' WHERE seq = 3`, nil, []string{"entry 3 (version 1 of operation op_1) was changed"}},
		"what says so removed":       {`DELETE FROM journal WHERE type = 'removed'`, nil, []string{"entry 3", "entry 4", "entry 13 was removed"}},
		"what says so names more":    {`UPDATE journal SET payload = replace(payload, '"seq":4', '"seq":6') WHERE type = 'removed'`, nil, []string{"entry 3 (version 1 of operation op_1) was emptied, and the entry that says so was not signed", "entry 4", "entry 13", "entry 13 says that operation op_1 was removed, and was not signed"}},
		"what says so on another":    {`UPDATE journal SET operation_id = 'op_3', version = 3 WHERE type = 'removed'; UPDATE journal SET payload = '' WHERE operation_id = 'op_3' AND version < 3`, nil, []string{"entry 3", "entry 4", "entry 7 (version 1 of operation op_3) was emptied, and the entry that says so was not signed", "entry 8", "entry 13", "entry 13"}},
		"its receipt's place":        {`UPDATE receipts SET proof = json_replace(proof, '$.leaf_hash', 'sha256:` + strings.Repeat("0", 64) + `') WHERE seq = 4`, nil, []string{"receipt of entry 4 (number 2) is not authentic", "receipt of entry 6 (number 3) does not follow"}},
		"its receipt's place is out": {`DELETE FROM receipts WHERE seq = 4`, nil, []string{"number 3 of the log of receipts, and number 2 is due"}},
		"the entry before changed, with its link": {``, func(h *history) {
			h.relink(`UPDATE journal SET payload = replace(payload, '"human_input":"yes"', '"human_input":"no"') WHERE seq = 2`, 2, 2)
		}, []string{"receipt of entry 2 (number 1) signed another", "entry 3"}},
		"signed with another key": {``, func(h *history) {
			h.fakeRemoval("op_3", receipt.NewKey(bytes.Repeat([]byte{9}, 64)))
		}, []string{"entry 7 (version 1 of operation op_3) was emptied, and the entry that says so was not signed", "entry 8", "entry 15 says that operation op_3 was removed, and was not signed"}},
		"not signed at all": {``, func(h *history) { h.fakeRemoval("op_3", nil) },
			[]string{"entry 7", "entry 8", "entry 15 says that operation op_3 was removed, and was not signed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := answers(t, 6)
			h.posted()
			if removed := h.remove("op_1"); len(removed) != 1 {
				t.Fatal("nothing was removed")
			}
			h.add("op_open", ring("open"))
			if audit := h.audit(); len(audit.Found) > 0 || audit.Removed != 2 || audit.Entries != 14 || audit.Receipts != 6 || audit.Sound != 6 {
				t.Fatalf("before: %+v", audit)
			}
			if tt.forge != nil {
				tt.forge(h)
			} else {
				h.tamper(tt.statements)
			}
			audit := h.audit()
			var texts []string
			for _, f := range audit.Found {
				texts = append(texts, f.Text)
			}
			fits := len(texts) == len(tt.says)
			for i := 0; fits && i < len(texts); i++ {
				fits = strings.Contains(texts[i], tt.says[i])
			}
			if !fits {
				t.Errorf("found %q,\nwant %q", texts, tt.says)
			}
		})
	}
}

// relink changes the journal and makes the links of some entries again, as another program could.
func (h *history) relink(statements string, from, to uint64) {
	h.Helper()
	h.tamper(statements)
	for seq := from; seq <= to; seq++ {
		var after receipt.Link
		err := h.rows(h.Context(), selectChain+`WHERE seq BETWEEN ? AND ? ORDER BY seq`, []any{int64(seq - 1), int64(seq)}, func(rows *sql.Rows) error {
			var r row
			c, err := r.scanChain(rows)
			if r.entry.Seq < seq {
				copy(after[:], c.link)
			} else {
				after = r.links(after)
			}
			return err
		})
		if err != nil {
			h.Fatal(err)
		}
		h.tamper(fmt.Sprintf(`UPDATE journal SET link = x'%x' WHERE seq = %d`, after, seq))
	}
}

// fakeRemoval removes an operation's words as the server does, with another key.
func (h *history) fakeRemoval(id human.OperationID, key *receipt.Key) {
	h.Helper()
	if err := h.Close(); err != nil {
		h.Fatal(err)
	}
	other := key
	if other == nil {
		other = journaltest.Key()
	}
	h.open(Options{Key: func() *receipt.Key { return other }})
	if len(h.remove(id)) != 1 {
		h.Fatal("nothing was removed")
	}
	if key == nil {
		head, _ := h.Head(h.Context())
		h.relink(`UPDATE journal SET payload = json_remove(payload, '$.removal.signature') WHERE type = 'removed' AND operation_id = '`+string(id)+`'`, head, head)
	}
}

// Whatever is removed, in whatever order, the journal is sound, reads without gaps, and its projection can be made again.
func TestRemovingAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, Options{Key: journaltest.Key, partSize: 5, lateTexts: 3})
		n := rapid.IntRange(1, 20).Draw(rt, "operations")
		left := map[human.OperationID]bool{}
		for i := range n {
			id := human.OperationID(fmt.Sprintf("op_%02d", i))
			left[id] = true
			h.add(id, ring("please", func(r *human.Request) { r.Context = []byte(`{"project":"shop"}`) }))
			switch rapid.IntRange(0, 3).Draw(rt, "end") {
			case 0:
				h.add(id, human.Event{Type: human.Withdrawn, By: bot, Text: "never mind"})
			case 1, 2:
				h.add(id, journaltest.Answered(t, id, 2))
			}
			if i > 0 && rapid.Bool().Draw(rt, "comment") {
				_ = h.try("op_00", human.Event{Type: human.Commented, By: ann, Text: "more"})
			}
		}
		h.posted()
		statistics := func() string {
			s, err := h.Statistics(context.Background(), queue.Filter{When: queue.Days(30, epoch.Add(24*time.Hour), time.UTC), AgentID: "bot"}, epoch)
			if err != nil {
				rt.Fatal(err)
			}
			return fmt.Sprintf("%+v", s)
		}
		counted := statistics()
		for range rapid.IntRange(1, 3).Draw(rt, "runs") {
			ids := rapid.SliceOfDistinct(rapid.Custom(func(rt *rapid.T) human.OperationID {
				return human.OperationID(fmt.Sprintf("op_%02d", rapid.IntRange(0, n-1).Draw(rt, "which")))
			}), rapid.ID[human.OperationID]).Draw(rt, "ids")
			for _, id := range h.remove(ids...) {
				if !left[id] {
					rt.Fatalf("%s was removed twice", id)
				}
				delete(left, id)
			}
			if rapid.Bool().Draw(rt, "scrub") {
				h.scrub()
			}
			if rapid.Bool().Draw(rt, "reopen") {
				h.reopen(Options{Key: journaltest.Key, partSize: 5, lateTexts: 3})
			}
			next := human.OperationID(fmt.Sprintf("op_next%d", h.events))
			h.add(next, ring("next", by("crow")))
			left[next] = true
		}
		if audit := h.audit(); len(audit.Found) > 0 {
			rt.Fatalf("found %+v", audit.Found)
		}
		seq := uint64(0)
		for e, err := range h.Read(context.Background(), 0) {
			if seq++; err != nil || e.Seq != seq {
				rt.Fatalf("entry %d where %d is due, %v", e.Seq, seq, err)
			}
		}
		if head, _ := h.Head(context.Background()); head != seq {
			rt.Fatalf("%d entries of %d were read", seq, head)
		}
		lists := func(when string) {
			for _, f := range []queue.Filter{{Limit: 3}, {Limit: 3, Order: queue.Recent}, {Limit: 2, Text: "please OR next"}, {Limit: 3, Project: "shop"}, {Limit: 3, When: queue.Days(40, epoch.Add(30*24*time.Hour), time.UTC)}} {
				for _, id := range h.ids(f) {
					if !left[id] {
						rt.Fatalf("%s: %s is in the list of %+v", when, id, f)
					}
				}
			}
			if got := h.ids(queue.Filter{Limit: 3}); len(got) != len(left) {
				rt.Fatalf("%s: listed %v, left are %v", when, got, left)
			}
			if got := statistics(); got != counted {
				rt.Fatalf("%s: statistics are\n%s, were\n%s", when, got, counted)
			}
		}
		lists("before")
		if err := h.Rebuild(context.Background()); err != nil {
			rt.Fatal(err)
		}
		lists("rebuilt")
		if err := h.Close(); err != nil {
			rt.Fatal(err)
		}
		h.open(signing)
	})
}

// Removing and writing the file anew disturb neither who appends nor who reads.
func TestRemovingBesideOthers(t *testing.T) {
	h := answers(t, 60)
	h.posted()
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	var appended atomic.Int64
	for worker := range 4 {
		others.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := human.OperationID(fmt.Sprintf("op_beside_%d_%d", worker, i))
				e := ring("beside")
				e.At = epoch
				if _, err := h.Append(context.Background(), id, 0, e); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				appended.Add(1)
			}
		})
		others.Go(func() {
			for ctx.Err() == nil {
				if _, err := h.List(context.Background(), queue.Filter{Text: "answered"}); err != nil {
					t.Errorf("List: %v", err)
				}
				for _, err := range h.Read(context.Background(), 0) {
					if err != nil {
						t.Errorf("Read: %v", err)
					}
				}
			}
		})
	}
	for i := range 6 {
		var ids []human.OperationID
		for n := range 10 {
			ids = append(ids, human.OperationID(fmt.Sprintf("op_%d", i*10+n)))
		}
		if removed := h.remove(ids...); len(removed) != 10 {
			t.Errorf("removed %v", removed)
		}
		h.scrub()
		if audit := h.audit(); len(audit.Found) > 0 || audit.Removed != uint64(20*(i+1)) {
			t.Errorf("%+v", audit)
		}
	}
	stop()
	others.Wait()
	entries := 120 + 60 + uint64(appended.Load())
	if audit := h.audit(); len(audit.Found) > 0 || audit.Entries != entries || audit.Removed != 120 {
		t.Errorf("%+v, want %d entries", audit, entries)
	}
	h.wantIDs(queue.Filter{Text: "answered"})
}
