package sqlite

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestAttemptsAreKept(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	at := epoch.UTC().Truncate(time.Microsecond)
	attempt := func(n int) human.Attempt {
		return human.Attempt{
			ID: human.AttemptID(fmt.Sprint("at_", n)), AgentID: fmt.Sprint("bot", n), How: human.MarkHook, FirstAt: at, LastAt: at.Add(time.Duration(n) * time.Minute), Count: 1,
			Tries: []human.Try{{At: at, What: human.TrySignIn, Limit: "caller.sign_in", Line: []human.Ancestor{{PID: 7, StartedAt: at, Command: "sh -c x", Agent: true}}}},
		}
	}
	put := func(a human.Attempt) {
		t.Helper()
		if err := h.Attempts().PutAttempt(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	list := func(all bool) []human.Attempt {
		t.Helper()
		found, err := h.Attempts().Attempts(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	put(attempt(1))
	put(attempt(2))
	first := attempt(1)
	first.Count, first.LastAt = 9, at.Add(time.Hour)
	put(first)
	h.reopen(Options{})
	if got := list(false); !reflect.DeepEqual(got, []human.Attempt{first, attempt(2)}) {
		t.Errorf("%+v", got)
	}
	first.DismissedAt, first.DismissedBy = &at, "Ann"
	put(first)
	if got := list(false); len(got) != 1 || got[0].ID != "at_2" {
		t.Errorf("%+v", got)
	}
	if got := list(true); !reflect.DeepEqual(got[0], first) {
		t.Errorf("%+v", got)
	}
	for n := range mostAttempts {
		put(attempt(n + 10))
	}
	all := list(true)
	if len(all) != mostAttempts || all[len(all)-1].ID != "at_10" {
		t.Errorf("%d, the last is %s", len(all), all[len(all)-1].ID)
	}
}
