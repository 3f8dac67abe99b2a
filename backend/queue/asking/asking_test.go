package asking_test

import (
	"context"
	"encoding/json"
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
	rules   routing.Rules
	team    routing.Team
	store   *sqlite.Store
	looked  chan human.OperationID // at which the job does
	changed chan struct{}
}

// Get is what the job looks with.
func (q looking) Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	q.looked <- id
	return q.Queue.Get(ctx, by, id)
}

type looking struct {
	*queue.Queue
	looked chan human.OperationID
}

func newRoom(t *testing.T, members ...routing.Member) *room {
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{T: t, store: store, looked: make(chan human.OperationID, 1000), now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), team: routing.Team{Members: members, Presence: map[string]routing.Presence{}}, changed: make(chan struct{})}
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
		ended <- asking.Run(ctx, asking.Deps{Queue: looking{r.Queue, r.looked}, Team: r.members, Now: r.clock, Log: slog.New(slog.DiscardHandler)})
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
	return r.rules, r.team, r.changed
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
	op, _, err := r.Ring(r.Context(), human.Request{Kind: human.Feedback, Description: "Which color?", AgentID: "bot", Context: json.RawMessage(`{"project":"shop"}`)}, false)
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

// While a desk does not know who is in the team it asks no one, and then asks for what came meanwhile.
func TestNoOneIsAskedWhileTheTeamIsNotKnown(t *testing.T) {
	r := newRoom(t)
	id := r.ring()
	for range 2 { // it looks again
		select {
		case <-r.looked:
			r.after(time.Minute)
		case <-time.After(10 * time.Second):
			t.Fatal("the job does not look at it again")
		}
	}
	r.mu.Lock()
	r.team = routing.Team{Members: []routing.Member{{Name: "Mei", Role: routing.Operator}}, Presence: map[string]routing.Presence{"Mei": {Connected: true}}}
	r.mu.Unlock()
	r.after(time.Minute)
	if got := r.asked(id, 1); !slices.Equal(got[0], []string{"Mei"}) {
		t.Errorf("asked are %v", got)
	}
}

// Who answered before is counted from the desk's own database.
func TestWhoAnsweredBeforeIsAskedFirst(t *testing.T) {
	operator := routing.Operator
	r := newRoom(t, routing.Member{Name: "Bo", Role: operator}, routing.Member{Name: "Mei", Role: operator})
	for range 2 {
		id := r.ring()
		r.asked(id, 1)
		op, err := r.Get(t.Context(), human.Actor{Role: human.System}, id)
		if err == nil {
			_, err = r.Complete(t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}, id, human.Answer{HumanInput: "blue"}, op.Digest)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before, err := r.store.Answered(t.Context(), r.clock().Add(-time.Hour))
	if err != nil || before["shop"]["Mei"] != 2 {
		t.Fatalf("answered before: %v, %v", before, err)
	}
	r.mu.Lock()
	r.team.Before = before
	r.team.Presence = map[string]routing.Presence{"Bo": r.team.Presence["Bo"], "Mei": {Connected: true, Claims: 3}} // the job may read the one from before
	r.rules = routing.Rules{Rules: []routing.Rule{{Project: "shop", Prefer: routing.AnsweredBefore}}}
	r.mu.Unlock()
	if got := r.asked(r.ring(), 1); !slices.Equal(got[0], []string{"Mei"}) {
		t.Errorf("asked are %v", got)
	}
}

// How the asking stands has who is not here, and the next step while it is to come.
func TestHowTheAskingStands(t *testing.T) {
	began := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	team := routing.Team{
		Members:  []routing.Member{{Name: "Bo", Role: routing.Operator}, {Name: "Mei", Role: routing.Operator}, {Name: "Zoe", Role: routing.Lead}},
		Presence: map[string]routing.Presence{"Bo": {Connected: true, Claims: 1}, "Mei": {Connected: true, AwayUntil: began.Add(time.Hour)}, "Zoe": {Connected: true, Claims: 2}},
	}
	rules := routing.Rules{Rules: []routing.Rule{{Names: []string{"Bo", "Mei"}}}}
	op := human.Operation{State: human.Pending, CreatedAt: began, TeamState: human.TeamState{Routing: []human.Routing{{Step: 1, Names: []string{"Bo"}, At: began}}}}
	a := asking.Of(op, rules, team, began.Add(time.Minute))
	if len(a.Away) > 0 || a.Next == nil || a.Next.Step != 2 || !slices.Equal(a.Next.Names, []string{"Mei"}) || !a.Next.At.Equal(began.Add(5*time.Minute)) {
		t.Errorf("after a minute: %+v, %+v", a, a.Next)
	}
	if a = asking.Of(op, rules, team, began.Add(5*time.Minute)); a.Next != nil {
		t.Errorf("what is due is to come: %+v", a.Next)
	}
	op.Routing = append(op.Routing, human.Routing{Step: 2, Names: []string{"Mei"}, At: began.Add(5 * time.Minute)})
	if a = asking.Of(op, rules, team, began.Add(6*time.Minute)); !slices.Equal(a.Away, []string{"Mei"}) || a.Next == nil || !slices.Equal(a.Next.Names, []string{"Zoe"}) {
		t.Errorf("after six minutes: %+v, %+v", a, a.Next)
	}
	op.Routing = append(op.Routing, human.Routing{Step: 3, Names: []string{"Zoe"}, At: began.Add(15 * time.Minute)})
	if a = asking.Of(op, rules, team, began.Add(16*time.Minute)); a.Next != nil {
		t.Errorf("after all steps: %+v", a.Next)
	}
}
