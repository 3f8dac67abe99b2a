package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// indexed is how far the full-text index in the file has come.
func (h *history) indexed() (seq uint64) {
	h.Helper()
	if err := h.reads.QueryRow(`SELECT indexed FROM projected`).Scan(&seq); err != nil {
		h.Fatal(err)
	}
	return seq
}

// Search knows every text from its commit on, whether the index has it yet or not, after a kill, too.
func TestSearchBesideTheIndex(t *testing.T) {
	h := newHistory(t, Options{lateTexts: 4})
	check := func(h *history) {
		t.Helper()
		h.wantIDs(queue.Filter{Text: "word"}, "op_3", "op_2", "op_1")
		h.wantIDs(queue.Filter{Text: "thr"}, "op_3")
		h.wantIDs(queue.Filter{Text: "word", Order: queue.Urgent}, "op_1", "op_2", "op_3")
		h.wantIDs(queue.Filter{AgentID: bot.Name, Kind: human.Feedback}, "op_3", "op_2", "op_1")
	}
	h.add("op_1", ring("word one"))
	h.add("op_2", ring("word two"))
	h.add("op_3", ring("word three"))
	if h.indexed() != 0 {
		t.Error("the index was written after three texts")
	}
	check(h)
	killed := &history{TB: t, dir: t.TempDir()}
	for _, name := range []string{FileName, FileName + "-wal"} {
		data, err := os.ReadFile(filepath.Join(h.dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(killed.dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	killed.open(Options{})
	defer killed.Close()
	if killed.indexed() != 0 {
		t.Error("the killed process has indexed something")
	}
	check(killed)

	h.add("op_1", done("ready")) // the same operation's text counts once
	h.add("op_4", ring("last", by("other")))
	if err := h.SetSetting(t.Context(), "after", "the index"); err != nil { // the writer does one thing at a time
		t.Fatal(err)
	}
	if bodies, _ := h.late.snapshot(); h.indexed() != 5 || len(bodies) != 0 {
		t.Errorf("the index has come to %d, not to 5, and lacks %d texts", h.indexed(), len(bodies))
	}
	check(h)
	h.add("op_1", human.Event{Type: human.Commented, By: ann, Text: "afterwards"})
	h.wantIDs(queue.Filter{Text: "afterwards ready"}, "op_1")
	h.wantIDs(queue.Filter{States: []human.State{human.Completed}}, "op_1")
	h.add("op_2", declined("no"))
	h.wantIDs(queue.Filter{Text: "word", States: []human.State{human.Declined, human.Completed}}, "op_2", "op_1")
	check(h)
	h.reopen(Options{})
	if h.indexed() != 7 {
		t.Errorf("after closing the index has come to %d, not to 7", h.indexed())
	}
	check(h)
}

// No list shows an operation before search knows it: an agent may look for it at once.
func TestSearchKnowsWhatIsSeen(t *testing.T) {
	h := newHistory(t, Options{})
	h.late.mu.Lock() // the writer cannot tell search
	added := make(chan error, 1)
	go func() { added <- h.try("op_1", ring("word")) }()
	for range 2000 { // longer than a commit takes
		var n int
		if err := h.reads.QueryRow(`SELECT count(*) FROM operations`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d operations are seen that search does not know, %v", n, err)
			break
		}
	}
	h.late.mu.Unlock()
	if err := <-added; err != nil {
		t.Fatal(err)
	}
	h.wantIDs(queue.Filter{Text: "word"}, "op_1")
}

// The texts of a commit that failed are forgotten, and those they replaced are back.
func TestTextsAreTakenBack(t *testing.T) {
	var l late
	l.set(map[uint64]string{1: "one"})
	l.set(l.set(map[uint64]string{1: "changed", 2: "two"}))
	if bodies, _ := l.snapshot(); len(bodies) != 1 || bodies[1] != "one" || l.bytes != len("one") {
		t.Errorf("%v, %d bytes", bodies, l.bytes)
	}
}

// A text that was changed is not found by what the index still has of it: here, that the answer follows the question.
func TestAnOldTextInTheIndex(t *testing.T) {
	h := newHistory(t, Options{lateTexts: 1})
	newest, recent := queue.Filter{Text: "left-right"}, queue.Filter{Text: "left-right", Since: epoch}
	h.add("op_1", ring("x", by("left"), func(r *human.Request) { r.Details = nil }), done("right"))
	h.wantIDs(newest, "op_1")
	h.wantIDs(recent, "op_1")
	h.dump()
	h.late.most = 1000
	h.add("op_1", human.Event{Type: human.Commented, By: ann, Text: "between"})
	h.wantIDs(newest)
	h.wantIDs(recent)
}

// What another process appends and indexes meanwhile is in the index once.
func TestAnotherProcessIndexes(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	other := &history{TB: t, dir: h.dir, versions: map[human.OperationID]uint64{}}
	other.open(Options{})
	h.add("op_2", ring("two"))
	other.add("op_3", ring("three"))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	h.add("op_4", ring("four"))
	for text, id := range map[string]human.OperationID{"one": "op_1", "two": "op_2", "three": "op_3", "four": "op_4"} {
		h.wantIDs(queue.Filter{Text: text}, id)
	}
	grown := h.dump()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if made := h.dump(); !slices.Equal(grown, made) {
		t.Errorf("the projection made anew:\n%q\ngrown:\n%q", made, grown)
	}
}

// A start looks up what the index lacks; it does not read what is stored.
func TestAStartReadsNoWholeTable(t *testing.T) {
	h := newHistory(t, Options{})
	rows, err := h.reads.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+selectLate)
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	err = eachRow(rows, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		plan = append(plan, step)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(plan, func(step string) bool { return strings.HasPrefix(step, "SEARCH journal USING INTEGER PRIMARY KEY") }) {
		t.Errorf("the journal is not looked up by seq: %q", plan)
	}
	for _, step := range plan {
		if strings.HasPrefix(step, "SCAN") && step != "SCAN projected" && step != "SCAN changed" {
			t.Errorf("a start reads all of a table: %q", plan)
		}
	}
}
