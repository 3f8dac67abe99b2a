package asking_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/asking"
	"deskbell/backend/queue/routing"
	"deskbell/backend/store/sqlite"
)

// A room is a queue on a real database, a team, and a clock that the test moves.
type room struct {
	*testing.T
	*queue.Queue

	mu      sync.Mutex
	now     time.Time
	team    routing.Team
	changed chan struct{}
}

func newRoom(t *testing.T, members ...routing.Member) *room {
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{T: t, now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), team: routing.Team{Members: members, Presence: map[string]routing.Presence{}}, changed: make(chan struct{})}
	for _, m := range members {
		r.team.Presence[m.Name] = routing.Presence{Connected: true}
	}
	r.Queue = queue.New(store, store, queue.Options{Now: r.clock, Member: func() string { return "Ann" }})
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- asking.Run(ctx, asking.Deps{Queue: r.Queue, Team: r.members, Now: r.clock, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *room) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *room) members() (routing.Rules, routing.Team, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return routing.Rules{}, r.team, r.changed
}

// after moves the clock, and has the job look at it.
func (r *room) after(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
	close(r.changed)
	r.changed = make(chan struct{})
}

// asked waits until so many steps were noted, and returns whom each asked.
func (r *room) asked(id human.OperationID, steps int) (names [][]string) {
	r.Helper()
	op, err := r.WaitUntil(r.Context(), human.Actor{Role: human.System}, id, func(op human.Operation) bool { return len(op.Routing) >= steps })
	if err != nil || len(op.Routing) != steps {
		r.Fatalf("%d steps, want %d: %+v, %v", len(op.Routing), steps, op.Routing, err)
	}
	for _, step := range op.Routing {
		slices.Sort(step.Names)
		names = append(names, step.Names)
	}
	return names
}

func (r *room) ring() human.OperationID {
	r.Helper()
	op, _, err := r.Ring(r.Context(), human.Request{Kind: human.Feedback, Description: "Which color?", AgentID: "bot"}, false)
	if err != nil {
		r.Fatal(err)
	}
	return op.ID
}

func TestMoreAreAskedWithTime(t *testing.T) {
	operator, lead := routing.Operator, routing.Lead
	r := newRoom(t, routing.Member{Name: "Ann", Role: operator}, routing.Member{Name: "Bo", Role: operator}, routing.Member{Name: "Mei", Role: operator}, routing.Member{Name: "Zoe", Role: lead})
	id := r.ring()
	if got := r.asked(id, 1); len(got[0]) != 1 || got[0][0] == "Ann" {
		t.Errorf("first asked are %v", got)
	}
	r.after(5 * time.Minute)
	got := r.asked(id, 2)
	all := slices.Concat(got...)
	slices.Sort(all)
	if slices.Contains(all, "Ann") || len(all) != 3 {
		t.Errorf("asked after five minutes are %v", got)
	}
	// Once someone has it, no one else is asked.
	if _, err := r.Claim(t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}, id); err != nil {
		t.Fatal(err)
	}
	other := r.ring()
	r.after(time.Hour)
	r.asked(other, 2)
	r.asked(id, 2)
}

func TestWhoFallsSilentIsNotAskedFirst(t *testing.T) {
	r := newRoom(t, routing.Member{Name: "Bo", Role: routing.Operator}, routing.Member{Name: "Mei", Role: routing.Operator})
	r.mu.Lock()
	r.team.Presence = map[string]routing.Presence{"Mei": {Connected: true}}
	r.mu.Unlock()
	if got := r.asked(r.ring(), 1); !slices.Equal(got[0], []string{"Mei"}) {
		t.Errorf("asked are %v", got)
	}
}
