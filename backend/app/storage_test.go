package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/api"
)

// TestStorageFaults has another program delete, replace and shorten the files of a running server while requests come in. What was
// answered with 201 is in the rescued file, nothing is answered with 201 after the fault, and Deskbell starts with the rescued file.
func TestStorageFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(dir, file string) error{
		"the database is deleted": func(_, file string) error { return os.Remove(file) },
		"the folder is deleted":   deleteFolder,
		"an older copy takes its place": func(dir, file string) error {
			return os.Rename(filepath.Join(dir, "older"), file)
		},
		"the log is emptied":      func(_, file string) error { return os.Truncate(file+"-wal", 0) },
		"the log is deleted":      func(_, file string) error { return os.Remove(file + "-wal") },
		"the database is emptied": func(_, file string) error { return os.Truncate(file, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			keys := []string{key(t, dir, "agent-0"), key(t, dir, "agent-1"), key(t, dir, "agent-2")}
			file := filepath.Join(dir, sqlite.FileName)
			older, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "older"), older, 0o600); err != nil {
				t.Fatal(err)
			}
			s := serve(t, dir, []string{"DESKBELL_HUMAN_MAX_PENDING_REQUESTS=100000"})
			rung := ringUntilStopped(t, s, keys, func() error { return fault(dir, file) })
			var saved []string
			waitFor(t, "the rescued file", func() bool {
				saved, err = filepath.Glob(file + ".rescued-*Z*")
				return err == nil && len(saved) == 1 && !strings.HasSuffix(saved[0], ".part")
			})
			waitFor(t, "its name in the words of a 503", func() bool {
				status, words := newCaller(t, s.url, "").problem(t, "GET", "/healthz")
				return status == 503 && strings.Contains(words, saved[0]) && strings.Contains(words, "Stop Deskbell")
			})
			s.interrupt(t)
			if log := s.errs.String(); strings.Count(log, "the database failed") > 2 {
				t.Errorf("the log repeats itself: %s", log)
			}
			if strings.HasSuffix(saved[0], ".jsonl") { // pages that nothing had read since the start are in no memory
				if name != "the database is emptied" {
					t.Errorf("there is only %s", saved[0])
				}
				text, err := os.ReadFile(saved[0])
				for _, id := range rung {
					if err != nil || !strings.Contains(string(text), string(id)) {
						t.Fatalf("%s is not in %s: %v", id, saved[0], err)
					}
				}
				return
			}
			for _, left := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(file + left); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			if err := os.Rename(saved[0], file); err != nil {
				t.Fatal(err)
			}
			s = serve(t, dir, nil)
			boss := operator(t, s.url, s.code)
			for _, id := range rung {
				var op human.Operation
				boss.good(t, "GET", "/api/human/operations/"+string(id), nil, &op)
			}
			s.stop(t)
		})
	}
}

// TestTheStateOfTheData puts an older copy in the place of a database: until an operator notes it, it is said what is missing.
func TestTheStateOfTheData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	bot := key(t, dir, "bot")
	file := filepath.Join(dir, sqlite.FileName)
	older, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, nil)
	for range 3 {
		newCaller(t, s.url, bot).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "lost"}, nil)
	}
	s.stop(t)
	if err := os.WriteFile(file, older, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = serve(t, dir, nil)
		boss := operator(t, s.url, s.code)
		health := func() (h api.Health) { newCaller(t, s.url, "").good(t, "GET", "/healthz", nil, &h); return h }
		var now human.DataState
		boss.good(t, "GET", "/api/data", nil, &now)
		if now.State != "loss" || len(now.Losses) != 1 || now.Losses[0].First != 1 || now.Losses[0].Last != 3 || now.Losses[0].Operations != 3 {
			t.Fatalf("three entries are lost: %+v", now)
		}
		if h := health(); h.Status != "ok" || h.Warning == nil || !strings.Contains(h.Warning.Text, "is missing") {
			t.Errorf("healthz says %+v", h)
		}
		waitFor(t, "the check", func() bool {
			boss.good(t, "GET", "/api/data", nil, &now)
			return !now.Check.Finished.IsZero() && !now.Check.Journal.IsZero()
		})
		if now.Check.Done != now.Check.Total || now.Check.Pages == 0 {
			t.Errorf("after the check: %+v", now.Check)
		}
		if t.Failed() {
			return
		}
		if older != nil { // the first time
			older = nil
			s.interrupt(t)
			continue
		}
		now = human.DataState{}
		boss.good(t, "POST", "/api/data/noted", nil, &now)
		if h := health(); now.State != "ok" || now.Losses != nil || h.Warning != nil {
			t.Errorf("after it was noted: %+v, %+v", now, h)
		}
		s.interrupt(t)
	}
}

// interrupt stops a server that has written errors to its log.
func (s *server) interrupt(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.ended
}

// deleteFolder deletes a folder into which a program still writes.
func deleteFolder(dir, _ string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

// ringUntilStopped has each agent ring until it gets another answer than 201, which must not be long after the fault, and returns what
// got 201. What was sent after the fault gets none.
func ringUntilStopped(t *testing.T, s *server, keys []string, fault func() error) (rung []human.OperationID) {
	t.Helper()
	var mu sync.Mutex
	// The fault is between requests: a log that is shortened in the microseconds in which SQLite writes to it shows no sign of that.
	var between sync.RWMutex
	faulty := false
	var agents sync.WaitGroup
	for i, k := range keys {
		me := newCaller(t, s.url, k)
		agents.Go(func() {
			for n := 0; ; n++ {
				between.RLock()
				late := faulty
				var op human.Operation
				status, err := me.call("POST", "/api/human/invoke", map[string]any{
					"action_type": "feedback", "description": fmt.Sprintf("ring %d of %d", n, i), "details": map[string]any{"text": strings.Repeat("x", 1000)},
				}, &op)
				between.RUnlock()
				if err != nil || status != 201 {
					// Damage that is found while reading has words of its own until the reason is known, a moment later.
					if err != nil || status < 500 || !late {
						t.Errorf("a ring gets %d, %v; after the fault: %v", status, err, late)
					}
					return
				}
				if late {
					t.Errorf("a ring that was sent after the fault got 201")
				}
				mu.Lock()
				rung = append(rung, op.ID)
				mu.Unlock()
			}
		})
	}
	waitFor(t, "rings", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(rung) >= 150
	})
	between.Lock()
	if err := fault(); err != nil {
		t.Error(err)
	}
	faulty = true
	between.Unlock()
	agents.Wait()
	return rung
}

// problem makes a call and returns its status and the detail of its problem.
func (c *caller) problem(t *testing.T, method, path string) (status int, detail string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var p struct{ Detail string }
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, p.Detail
}
