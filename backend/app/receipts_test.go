package app_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// From the answer to a check of its receipt somewhere else, and a change of the database that the doctor finds.
func TestAReceiptIsCheckedElsewhereAndAChangeIsFound(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	elsewhere := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(elsewhere, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ask := func(decision string, code int) (op human.Operation, receipts string) {
		args := []string{"ring", "--type", "approve", "--details", `{"action":"make deploy","risk_level":"low"}`, "Deploy?"}
		d.during(t, args, func(rung human.Operation) {
			op = rung
			d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": decision, "digest": op.Digest, "human_input": "because"}, nil)
		}).want(t, code)
		return op, run(t, d.dir, d.env, "receipts", "show", string(op.ID)).want(t, 0).out
	}
	yes, approved := ask("approve", 0)
	no, denied := ask("deny", 1)
	keys := file("keys.json", run(t, d.dir, nil, "receipts", "key", "--json").want(t, 0).out)

	receipt := file("yes.json", approved)
	run(t, elsewhere, nil, "verify", receipt, "--keys", keys).want(t, 0, string(yes.ID), "approved by", "key class C", "only the server's word")
	for line := range strings.Lines(run(t, elsewhere, nil, "verify", receipt, "--keys", keys, "--audience", "urn:deskbell:agent:bot", "--after", receipt).out) {
		if check, isCheck := strings.CutPrefix(line, "  ok "); isCheck && len(strings.Fields(check)) < 4 {
			t.Errorf("a check does not say what it looks at: %q", line)
		}
	}
	run(t, elsewhere, nil, "verify", receipt, "--keys", keys, "--audience", "urn:deskbell:agent:bot").want(t, 0)
	run(t, elsewhere, nil, "verify", receipt, "--keys", keys, "--audience", "urn:deskbell:agent:other").want(t, 1, "audience")
	run(t, elsewhere, nil, "verify", receipt).want(t, 3, "--keys")
	run(t, elsewhere, nil, "verify", file("not.json", "{}"), "--keys", keys).want(t, 1, "NOT AUTHENTIC")
	run(t, elsewhere, nil, "verify", file("changed.json", strings.Replace(approved, string(yes.ID), string(no.ID), 1)), "--keys", keys, "--json").want(t, 1, `"authentic":false`)
	run(t, elsewhere, nil, "verify", file("no.json", denied), "--keys", keys).want(t, 1, "approves nothing")
	run(t, elsewhere, nil, "verify", file("no.json", denied), "--keys", keys, "--any-decision").want(t, 0)
	run(t, elsewhere, nil, "verify", file("no.json", denied), "--keys", keys, "--any-decision", "--after", receipt).want(t, 0, "2 follows 1", "Number 2 in the log")
	run(t, elsewhere, nil, "verify", receipt, "--keys", keys, "--after", file("no.json", denied)).want(t, 1, "number 1 of the log is not the one after number 2")

	// A key that takes the place of another is known to who knows that one.
	d.boss.good(t, "POST", "/api/receipts/keys", nil, nil)
	again, late := ask("approve", 0)
	later := file("later.json", late)
	newer := file("newer.json", run(t, d.dir, nil, "receipts", "key", "--json").want(t, 0).out)
	run(t, elsewhere, nil, "verify", later, "--keys", keys).want(t, 1, "is not one that you trust")
	run(t, elsewhere, nil, "verify", later, "--keys", keys, "--newer-keys", newer, "--after", file("no.json", denied)).want(t, 0, string(again.ID), "3 follows 2")
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 7 {
		t.Errorf("verify left something behind: %v, %v", left, err)
	}

	run(t, d.dir, nil, "doctor").want(t, 0, "3 receipts are as they were written")
	d.stop(t)
	db, err := sql.Open("sqlite", filepath.Join(d.dir, datadir.Database))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(context.Background(), `UPDATE journal SET payload = replace(payload, '"decision":"deny"', '"decision":"approve"') WHERE operation_id = ?`, string(no.ID))
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	run(t, d.dir, nil, "doctor", "--addr", "127.0.0.1:0").want(t, 1, "journal", "of operation "+string(no.ID)+") was changed")
}
