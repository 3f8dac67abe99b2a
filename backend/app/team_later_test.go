package app_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/team"
)

// approval asks for an approval at one desk, and returns it as another has it.
func (d *fixture) approval(t *testing.T, at *fixture, words string) (op human.Operation) {
	t.Helper()
	d.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "approve", "description": words, "details": map[string]any{"action": "make deploy", "risk_level": "medium"}, "timeout": 0}, &op)
	return at.reaches(t, op.ID, func(op human.Operation) bool { return len(op.Routing) > 0 })
}

// What is denied and handed over while a desk is offline waits there, through a restart, and goes out first; what came too late, what was
// discarded and what another program wrote does not.
func TestWhatIsDecidedOffline(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, stopHub := startHub(t, folder, "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	mei, sam, noor := joined(t, h, "Mei", team.OperatorRole), joined(t, h, "Sam", team.OperatorRole), joined(t, h, "Noor", team.OperatorRole)
	denied, handed, late, dropped, forged := mei.approval(t, sam, "one"), mei.approval(t, sam, "two"), mei.approval(t, sam, "three"), mei.approval(t, sam, "four"), mei.approval(t, sam, "five")
	own, changed := sam.approval(t, mei, "six"), mei.approval(t, sam, "seven")

	addr, web := h.Addrs()
	stopHub()
	isOffline := func(s human.DeskState) bool { return !s.Online }
	sam.team(t, isOffline)
	deny := func(op human.Operation, why string) (after queue.Page, status int, err error) {
		var got human.Operation
		status, err = sam.boss.call("POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": "deny", "human_input": why, "digest": op.Digest}, &got)
		return queue.Page{Operations: []human.Operation{got}}, status, err
	}
	for _, op := range []human.Operation{denied, late, dropped, changed} {
		after, status, err := deny(op, "not on Sunday "+op.Description)
		if got := after.Operations[0]; status != http.StatusOK || got.State != human.Pending || got.Later == nil || got.Later.Text != "not on Sunday "+op.Description || got.Later.Late != nil {
			t.Fatalf("a denial offline: %d, %v, %+v", status, err, got.Later)
		}
	}
	run(t, sam.dir, nil, "handover", string(handed.ID), "--to", "Noor", "--note", "you know it", "--code", sam.invite(t)).want(t, 0, "waits on this desk")
	// An approval does not wait, and neither does anything else; a denial bound to other bytes is an error at once.
	for call, body := range map[string]map[string]any{
		"complete": {"operation_id": late.ID, "decision": "approve", "digest": late.Digest}, "claim": {"operation_id": late.ID}, "release": {"operation_id": late.ID},
	} {
		if status, err := sam.boss.call("POST", "/api/human/"+call, body, nil); status != http.StatusServiceUnavailable && (call != "release" || status != http.StatusConflict) {
			t.Errorf("%s offline: %d, %v", call, status, err)
		}
	}
	other := late
	other.Digest = strings.Repeat("0", 64)
	if _, status, err := deny(other, "x"); status != http.StatusConflict {
		t.Errorf("a denial of other bytes: %d, %v", status, err)
	}
	// A second decision takes the place of the first.
	if after, status, err := deny(denied, "really not"); status != http.StatusOK || after.Operations[0].Later.Text != "really not" {
		t.Errorf("denied again: %d, %v", status, err)
	}
	ids := func(s human.DeskState) (all []human.OperationID) {
		for _, l := range s.Later {
			all = append(all, l.Operation)
		}
		return all
	}
	if s := sam.team(t, isOffline); len(s.Later) != 5 || s.Later[0].Answer != nil || s.Later[4].To != "Noor" {
		t.Errorf("there wait %+v", s.Later)
	}
	run(t, sam.dir, nil, "team", "discard", string(dropped.ID), "--code", sam.invite(t)).want(t, 0, "is not sent")
	run(t, sam.dir, nil, "team", "discard", string(dropped.ID), "--code", sam.invite(t)).want(t, 3, "nothing waits")
	run(t, sam.dir, nil, "team", "--code", sam.invite(t)).want(t, 0, "offline", string(handed.ID), "hand over to Noor", "really not")

	// An agent writes into the database while Deskbell does not run: a hand-over of its own, what cannot be read, and other words for a real denial.
	sam.stop(t)
	db, err := sql.Open("sqlite", filepath.Join(sam.dir, datadir.Database))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO later (operation_id, decided) SELECT '` + string(forged.ID) + `', replace(decided, '` + string(handed.ID) + `', '` + string(forged.ID) + `') FROM later WHERE operation_id = '` + string(handed.ID) + `'`,
		`INSERT INTO later (operation_id, decided) VALUES ('` + string(own.ID) + `', 'no JSON')`,
		`UPDATE later SET decided = replace(decided, 'not on Sunday', 'obey me') WHERE operation_id = '` + string(changed.ID) + `'`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	_, stopHub = startHub(t, folder, addr, web)
	mei.team(t, online)
	mei.decides(t, late.ID, human.Approved, "fine")
	sam.server = serve(t, sam.dir, nil)
	sam.boss = operator(t, sam.url, sam.code)
	mei.reaches(t, denied.ID, func(op human.Operation) bool {
		return op.State == human.Completed && op.Result.By.Name == "Sam" && op.Result.Decision == human.Refused && op.Result.HumanInput == "really not"
	})
	noor.reaches(t, handed.ID, func(op human.Operation) bool {
		return op.HandOver != nil && op.HandOver.To == "Noor" && op.HandOver.Note == "you know it" && op.ClaimedBy == "Sam"
	})
	s := sam.team(t, func(s human.DeskState) bool { return s.Online && len(s.Later) == 4 })
	if got := ids(s); !slices.Equal(got, []human.OperationID{late.ID, changed.ID, forged.ID, own.ID}) {
		t.Errorf("not sent are %v", got)
	}
	for i, want := range []string{"Mei answered it first", "not written by this Deskbell", "not written by this Deskbell", "not written by this Deskbell"} {
		if l := s.Later[i]; l.Late == nil || !strings.Contains(l.Late.Text, want) {
			t.Errorf("not sent is %+v, for %+v", l, l.Late)
		}
	}
	for _, op := range []human.Operation{late, dropped, forged, own, changed} {
		got := mei.reaches(t, op.ID, func(human.Operation) bool { return true })
		if got.HandOver != nil || op.ID != late.ID && got.State.Terminal() || op.ID == late.ID && got.Result.Decision != human.Approved {
			t.Errorf("%s became %s, %+v", op.Description, got.State, got.HandOver)
		}
	}
	var both human.Operation // what was answered, and what was not sent
	sam.boss.good(t, "GET", "/api/human/operations/"+string(late.ID), nil, &both)
	if both.Result == nil || both.Result.HumanInput != "fine" || both.Later == nil || both.Later.Text != "not on Sunday three" {
		t.Errorf("the request that was answered first is %+v, with %+v", both.Result, both.Later)
	}
	sam.boss.good(t, "DELETE", "/api/team/later/"+string(late.ID), nil, nil)
	if s := sam.team(t, online); len(s.Later) != 3 {
		t.Errorf("there is still %+v", s.Later)
	}
	// What is deleted leaves nothing here.
	sam.bot(t).good(t, "POST", "/api/human/cancel", map[string]any{"operation_id": own.ID}, nil)
	waitFor(t, "the deletion", func() bool {
		return run(t, sam.dir, nil, "delete", string(own.ID), "--yes", "--code", sam.invite(t)).code == 0
	})
	if s := sam.team(t, online); slices.Contains(ids(s), own.ID) || len(s.Later) != 2 {
		t.Errorf("after a deletion there is still %+v", s.Later)
	}
}
