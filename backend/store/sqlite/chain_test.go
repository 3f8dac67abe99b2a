package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
)

var signing = Options{Key: journaltest.Key}

// answers makes a file with n answered operations: entries 1 and 2 are op_0's, and so on.
func answers(t *testing.T, n int) *history {
	t.Helper()
	h := newHistory(t, signing)
	for i := range n {
		id := human.OperationID(fmt.Sprintf("op_%d", i))
		h.add(id, ring("answered"))
		h.add(id, journaltest.Answered(t, id, 2))
	}
	return h
}

// tamper changes the file as another program would, while no Deskbell runs.
func (h *history) tamper(statements string) {
	h.Helper()
	if err := h.Close(); err != nil {
		h.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(h.dir, FileName))
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		h.Fatal(err)
	}
	h.open(Options{Key: journaltest.Key, unchecked: true}) // the audit is what these are of
}

func (h *history) audit() receipt.Audit {
	h.Helper()
	audit, err := h.Audit(context.Background(), journaltest.Trust())
	if err != nil {
		h.Fatal(err)
	}
	return audit
}

// forge makes the whole chain again without its key, as another program could.
func (h *history) forge() {
	h.Helper()
	h.tamper(`UPDATE journal SET link = NULL`)
}

func TestAuditFindsWhatWasChanged(t *testing.T) {
	const swap = `UPDATE journal SET seq = -4 WHERE seq = 4; UPDATE journal SET seq = 4 WHERE seq = 6; UPDATE journal SET seq = 6 WHERE seq = -4;`
	for name, tt := range map[string]struct {
		statements string
		forged     bool
		says       []string // one finding each, in order
	}{
		"an answer's words":         {`UPDATE journal SET payload = replace(payload, '"human_input":"yes"', '"human_input":"no"') WHERE seq = 4`, false, []string{"entry 4 (version 2 of operation op_1) was changed"}},
		"an answer's time":          {`UPDATE journal SET at = at + 1 WHERE seq = 4`, false, []string{"entry 4 (version 2"}},
		"a request":                 {`UPDATE journal SET payload = replace(payload, '"description":"answered"', '"description":"granted"') WHERE seq = 3`, false, []string{"entry 3 (version 1"}},
		"details added":             {`UPDATE journal SET details = x'7b7d' WHERE seq = 3`, false, []string{"entry 3 (version 1"}},
		"an answer removed":         {`DELETE FROM journal WHERE seq = 4`, false, []string{"entry 4 was removed", "number 3 of the log of receipts, and number 2 is due", "1 receipts have no entry"}},
		"an answer and its receipt": {`DELETE FROM journal WHERE seq = 4; DELETE FROM receipts WHERE seq = 4`, false, []string{"entry 4 was removed", "number 3 of the log of receipts, and number 2 is due"}},
		"two answers exchanged": {swap, false, []string{
			"entry 4 (version 2 of operation op_2) was changed", "receipt of entry 4 (number 2) signed another", "receipt of entry 4 (number 2) is not authentic", "entry 5 (version 1",
			"entry 6 (version 2 of operation op_1)", "receipt of entry 6 (number 3) signed another", "receipt of entry 6 (number 3) is not authentic",
		}},
		"an answer's receipt removed": {`DELETE FROM receipts WHERE seq = 4`, false, []string{"receipt of entry 4 was removed from the log", "number 3 of the log of receipts, and number 2 is due"}},
		"a receipt of another":        {`UPDATE receipts SET proof = (SELECT proof FROM receipts WHERE seq = 2) WHERE seq = 4`, false, []string{"number 1 of the log of receipts, and number 2 is due", "not authentic", "number 3 of the log of receipts, and number 2 is due"}},
		"an answer's words, chain made again": {`UPDATE journal SET payload = replace(payload, '"human_input":"yes"', '"human_input":"no"') WHERE seq = 4`, true,
			[]string{"receipt of entry 4 (number 2) signed another journal", "receipt of entry 6 (number 3) signed another journal"}},
		"a receipt in an answer, chain made again": {`UPDATE journal SET payload = replace(payload, '"answered"', '"approved"') WHERE seq = 4`, true,
			[]string{"receipt of entry 4 (number 2) signed another journal", "not authentic", "receipt of entry 6 (number 3) signed another journal"}},
		"an answer's receipt taken out of it, chain made again": {`UPDATE journal SET payload = json_remove(payload, '$.receipt') WHERE seq = 4; DELETE FROM receipts WHERE seq = 4`, true,
			[]string{"the answer of entry 4 has no receipt", "number 3 of the log of receipts, and number 2 is due"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := answers(t, 3)
			if audit := h.audit(); len(audit.Found) > 0 || audit.Entries != 6 || audit.Receipts != 3 || audit.Sound != 3 || audit.Head == nil || audit.Head.TreeSize != 3 || audit.SoundHead != audit.Head {
				t.Fatalf("before: %+v", audit)
			}
			h.tamper(tt.statements)
			if tt.forged {
				h.forge()
			}
			audit := h.audit()
			if sound := map[string]uint64{"a request": 1, "two answers exchanged": 1, "an answer removed": 1}[name]; sound > 0 && audit.Sound != sound {
				t.Errorf("sound to %d", audit.Sound)
			}
			if audit.Sound > 0 && (audit.SoundHead == nil || audit.SoundHead.TreeSize != audit.Sound) {
				t.Errorf("sound to %d with the head %+v", audit.Sound, audit.SoundHead)
			}
			var texts []string
			for _, f := range audit.Found {
				texts = append(texts, f.Text)
				if f.Code == "" {
					t.Errorf("%q can be said in English only", f.Text)
				}
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

func TestAChainShowsTheNeighborsAndWhatIsBroken(t *testing.T) {
	const changed = `UPDATE journal SET payload = replace(payload, '"human_input":"yes"', '"human_input":"no"') WHERE seq = `
	for name, tt := range map[string]struct {
		statements string
		of         human.OperationID
		numbers    []uint64
		sound      uint64
		says       string // of the first finding; "": whole
	}{
		"in the middle":                     {`SELECT 1`, "op_3", []uint64{2, 3, 4, 5}, 0, ""},
		"the first":                         {`SELECT 1`, "op_0", []uint64{1, 2}, 0, ""},
		"the third":                         {`SELECT 1`, "op_2", []uint64{1, 2, 3, 4}, 0, ""},
		"the last":                          {`SELECT 1`, "op_5", []uint64{4, 5, 6}, 0, ""},
		"none":                              {`SELECT 1`, "op_open", nil, 0, ""},
		"its answer was changed":            {changed + `8`, "op_3", []uint64{2, 3, 4, 5}, 3, "entry 8 (version 2 of operation op_3) was changed"},
		"its request was changed":           {`UPDATE journal SET payload = replace(payload, 'answered', 'granted') WHERE seq = 7`, "op_3", []uint64{2, 3, 4, 5}, 3, "entry 7 (version 1"},
		"the answer before was changed":     {changed + `6`, "op_3", []uint64{2, 3, 4, 5}, 2, "entry 6 (version 2 of operation op_2) was changed"},
		"the answer before was removed":     {`DELETE FROM journal WHERE seq = 6; DELETE FROM receipts WHERE seq = 6`, "op_3", []uint64{1, 2, 4, 5}, 2, "entry 6 was removed"},
		"the receipt before was removed":    {`DELETE FROM receipts WHERE seq = 6`, "op_3", []uint64{1, 2, 4, 5}, 2, "receipt of entry 6 was removed"},
		"the answer after was removed":      {`DELETE FROM journal WHERE seq = 10`, "op_3", []uint64{2, 3, 4, 5}, 4, "entry 10 was removed"},
		"all before were removed":           {`DELETE FROM journal WHERE seq < 7; DELETE FROM receipts WHERE seq < 7`, "op_3", []uint64{4, 5}, 0, "entries 1 to 6 were removed"},
		"one far away was changed":          {changed + `2`, "op_5", []uint64{4, 5, 6}, 0, ""}, // a Watch finds it
		"its receipt is no JSON":            {`UPDATE receipts SET proof = '?' WHERE seq = 6`, "op_3", []uint64{1, 2, 4, 5}, 2, "receipt of entry 6 was removed from the log"},
		"its own receipt names none before": {`UPDATE receipts SET proof = json_remove(proof, '$.checkpoint.prev_receipt_hash') WHERE seq = 8`, "op_3", []uint64{2, 3, 4, 5}, 3, "is not authentic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := answers(t, 6)
			h.add("op_open", ring("open"))
			h.tamper(tt.statements)
			c, err := h.Chain(t.Context(), tt.of, journaltest.Trust())
			if err != nil || c.Receipts != 6 {
				t.Fatalf("%+v, %v", c, err)
			}
			var numbers []uint64
			for i, n := range c.Neighbors {
				numbers = append(numbers, n.Number)
				if i > 0 && tt.says == "" && n.Follows != c.Neighbors[i-1].Hash {
					t.Errorf("%d does not follow %d: %+v", n.Number, n.Number-1, c.Neighbors)
				}
			}
			if !slices.Equal(numbers, tt.numbers) {
				t.Errorf("neighbors %d, want %d", numbers, tt.numbers)
			}
			if tt.says == "" && len(c.Found) > 0 || tt.says != "" && (len(c.Found) == 0 || !strings.Contains(c.Found[0].Text, tt.says) || c.Sound != tt.sound) {
				t.Errorf("sound to %d, found %+v", c.Sound, c.Found)
			}
			if tt.says == "is not authentic" && c.Found[0].Params["3.code"] == "" {
				t.Errorf("the reason can be said in English only: %+v", c.Found[0])
			}
		})
	}
}

// A finding says when, and which operation, so that the operator can look into a backup.
func TestAFindingSaysWhereAndWhen(t *testing.T) {
	h := answers(t, 2)
	entries, err := h.Operation(t.Context(), "op_1")
	if err != nil {
		t.Fatal(err)
	}
	h.tamper(`UPDATE journal SET type = 'declined' WHERE seq = 4`)
	found := h.audit().Found
	if len(found) != 1 || found[0].Seq != 4 || found[0].Operation != "op_1" || !found[0].At.Equal(entries[1].Event.At) {
		t.Errorf("found %+v", found)
	}
}

func TestCheckHeadSeesAChangedEnd(t *testing.T) {
	for statements, bad := range map[string]bool{
		`SELECT 1`: false,
		`UPDATE journal SET payload = replace(payload, '"human_input":"yes"', '"human_input":"no"') WHERE seq = 4`: true,
		`DELETE FROM journal WHERE seq = 4`:         true,
		`UPDATE journal SET link = NULL`:            false, // made again, and the same
		`UPDATE journal SET at = 1, link = NULL`:    true,
		`DELETE FROM journal; DELETE FROM receipts`: false, // an empty journal is whole; who has a receipt of it knows more
	} {
		h := answers(t, 2)
		h.tamper(statements)
		if err := h.CheckHead(t.Context()); (err != nil) != bad {
			t.Errorf("after %q: %v", statements, err)
		}
	}
}

// What an older version wrote gets its links once, in as many transactions as it takes, and continues from there.
func TestAnOlderJournalIsLinked(t *testing.T) {
	h := newHistory(t, signing)
	for i := range 40 {
		h.add(human.OperationID(fmt.Sprintf("op_%d", i)), ring("old"), asked("what?"), done("this"))
	}
	links := func() (all []string) {
		if err := h.rows(t.Context(), `SELECT hex(link) FROM journal ORDER BY seq`, nil, func(rows *sql.Rows) error {
			var link string
			err := rows.Scan(&link)
			all = append(all, link)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := links()
	h.tamper(`DROP INDEX journal_removed; ALTER TABLE journal DROP COLUMN link; DROP TABLE receipts; DROP TABLE gate_tools; DROP TABLE decided_parts; DROP TABLE recorded_texts; DROP TABLE recorded_search; DROP TABLE outbox; DROP TABLE outbox_read; DROP TABLE facts; DROP TABLE fact_names; DROP TABLE gaps; DROP TABLE team; DROP TABLE team_operations; DROP TABLE team_waiting; DROP TABLE later; DROP TABLE procedures; DROP TABLE procedure_runs; DROP TABLE unattended; ALTER TABLE projected DROP COLUMN without_facts; PRAGMA user_version = 8`)
	if got := links(); !slices.Equal(got, want) || len(got) != 120 {
		t.Errorf("linked again, the journal has other links: %d", len(got))
	}
	h.tamper(`UPDATE journal SET link = NULL WHERE seq > 60`) // it was killed half-way
	if got := links(); !slices.Equal(got, want) {
		t.Error("linking did not go on where it ended")
	}
	h.add("op_new", ring("new"))
	h.add("op_new", journaltest.Answered(t, "op_new", 2))
	if audit := h.audit(); len(audit.Found) > 0 || audit.Entries != 122 || audit.Receipts != 1 {
		t.Errorf("%+v", audit)
	}
}

func TestAReceiptNeedsAKey(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	wantKind(t, h.try("op_1", journaltest.Answered(t, "op_1", 2)), human.Internal)
	h.add("op_1", done("without"))
	if audit := h.audit(); len(audit.Found) > 0 || audit.Entries != 2 {
		t.Errorf("%+v", audit)
	}
}
