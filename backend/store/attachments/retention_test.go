package attachments_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

// A file that retention removed is nowhere to be had, says when it went, and can be sent again; half a removal is finished.
func TestRemoved(t *testing.T) {
	r := open(t, 0)
	ctx := t.Context()
	a := r.put(ada, "a.txt", []byte("kept for long"))
	if _, err := r.Keep(ctx, ada, "op_1", a.ID); err != nil {
		t.Fatal(err)
	}
	yes := func(_ context.Context, ops []human.OperationID) (bool, error) {
		return slices.Equal(ops, []human.OperationID{"op_1"}), nil
	}
	no := func(context.Context, []human.OperationID) (bool, error) { return false, nil }
	stays := func(may func(context.Context, []human.OperationID) (bool, error), want error) {
		t.Helper()
		if is, err := r.Remove(ctx, a.ID, r.now, may); is || !errors.Is(err, want) {
			t.Errorf("removed: %v, %v", is, err)
		}
		if text := r.read(a.ID); string(text) != "kept for long" {
			t.Errorf("it reads %q", text)
		}
	}
	stays(yes, nil) // it is young
	r.now = r.now.Add(72 * time.Hour)
	stays(no, nil)
	stays(func(context.Context, []human.OperationID) (bool, error) { return true, os.ErrDeadlineExceeded }, os.ErrDeadlineExceeded)
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	data := filepath.Join(r.dir, "attachments", strings.TrimPrefix(string(a.ID), human.AttachmentPrefix), "data")
	gone := func() {
		t.Helper()
		for what, err := range map[string]error{
			"read": func() error { _, err := r.Read(ctx, a.ID); return err }(),
			"keep": func() error { _, err := r.Keep(ctx, ada, "op_2", a.ID); return err }(),
		} {
			if human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), "was removed on 2026-11-20 by retention") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if when, err := r.Removed(ctx, a.ID); err != nil || when == nil || !when.Equal(at) {
			t.Errorf("removed at %v, %v", when, err)
		}
	}
	if is, err := r.Remove(ctx, a.ID, at, yes); !is || err != nil {
		t.Fatalf("removed: %v, %v", is, err)
	}
	gone()
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its bytes are there: %v", err)
	}
	// As a kill after the note leaves it.
	if err := os.WriteFile(data, []byte("kept for long"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone()
	held, err := r.Held(ctx)
	if err != nil || len(held) != 1 || !held[0].Removed || held[0].Bytes == 0 {
		t.Fatalf("held: %+v, %v", held, err)
	}
	if is, err := r.Remove(ctx, a.ID, r.now, nil); !is || err != nil {
		t.Errorf("finished: %v, %v", is, err)
	}
	gone()
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its bytes are still there: %v", err)
	}
	if again := r.put(ada, "b.txt", []byte("kept for long")); again.ID != a.ID || string(r.read(a.ID)) != "kept for long" {
		t.Errorf("sent again it is %+v", again)
	}
	if when, err := r.Removed(ctx, a.ID); when != nil || err != nil {
		t.Errorf("sent again it was removed at %v, %v", when, err)
	}
}
