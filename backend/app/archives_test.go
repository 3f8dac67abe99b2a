package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/sqlite"
)

// Work with receipts, recordings and files is in a backup that a running server makes, comes back as a whole and one by one, and the
// journal is intact each time. Only an operator can do any of it.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	all := oldWork(t, dir, 3, 2, -1)
	sound := func(dir string) {
		t.Helper()
		keys, err := receiptkeys.Public(dir)
		if err != nil {
			t.Fatal(err)
		}
		store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		audit, err := store.Audit(t.Context(), receipt.TrustIn(keys))
		if err != nil || len(audit.Found) > 0 {
			t.Errorf("%+v, %v", audit, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	var made human.Archive
	boss.good(t, "POST", "/api/archives?folder="+folder, nil, &made)
	if made.Database.Operations != 3 || made.Database.Recordings != 3 {
		t.Errorf("%+v", made)
	}
	run(t, dir, nil, "backup", "--to", folder).want(t, 3, "only an operator")
	run(t, dir, nil, "restore", made.ID, string(all[0].op), "--from", folder).want(t, 3, "only an operator")
	run(t, dir, nil, "restore", made.ID, "--all", "--from", folder).want(t, 3, "another Deskbell holds the data folder")
	run(t, dir, nil, "backup", "verify", "--from", folder).want(t, 0, made.ID, "is complete")
	s.stop(t)

	// Into an empty folder, as on a new machine.
	fresh := t.TempDir()
	run(t, fresh, nil, "restore", made.ID, "--all", "--from", folder).want(t, 0, "Restored "+made.ID)
	sound(fresh)
	s = serve(t, fresh, nil)
	boss = operator(t, s.url, s.code)
	for _, w := range all {
		w.check(t, boss)
	}
	s.stop(t)

	// One by one, while a server runs on a folder that lost everything but its keys.
	keys, err := os.ReadFile(filepath.Join(dir, receiptkeys.FileName))
	if err != nil {
		t.Fatal(err)
	}
	lost := t.TempDir()
	if err := os.WriteFile(filepath.Join(lost, receiptkeys.FileName), keys, 0o600); err != nil {
		t.Fatal(err)
	}
	s = serve(t, lost, nil)
	boss = operator(t, s.url, s.code)
	var d human.ArchiveDifference
	boss.good(t, "GET", "/api/archives/"+made.ID+"?folder="+folder, nil, &d)
	if len(d.Missing) != 3 {
		t.Errorf("%+v", d)
	}
	body := map[string]any{"operations": []human.OperationID{all[0].op, all[1].op, all[2].op}}
	var r human.ArchiveRestored
	boss.good(t, "POST", "/api/archives/"+made.ID+"/restore?folder="+folder, body, &r)
	for _, w := range all {
		w.check(t, boss)
	}
	var open human.Operation
	if boss.good(t, "GET", "/api/human/operations/"+string(all[2].op), nil, &open); open.State != human.Cancelled {
		t.Errorf("what was open is %s", open.State)
	}
	s.stop(t)
	sound(lost)

	// A restore that was interrupted is finished by the next start, which says so.
	note, err := json.Marshal(map[string]any{"before": "before-restore-1", "old": []string{"views.json"}, "new": []string{"config.toml"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"restore.json": string(note), "views.json": "{}", "restore.part/config.toml": ""} {
		path = filepath.Join(lost, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, lost, nil, "serve", "--addr", "127.0.0.1:0").want(t, 3, "start Deskbell again")
	s = serve(t, lost, nil)
	s.stop(t)
}
