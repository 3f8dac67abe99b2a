// Package asking notes who of a team is asked for the requests of this desk's agents, as their routes and time demand it.
package asking

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/routing"
)

// Queue is what is asked for; *queue.Queue is one.
type Queue interface {
	Head(ctx context.Context) (uint64, error)
	Follow(ctx context.Context, by human.Actor, after uint64) iter.Seq2[human.Entry, error]
	List(ctx context.Context, by human.Actor, f queue.Filter) (queue.Page, error)
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Route(ctx context.Context, id human.OperationID, step human.Routing) (human.Operation, error)
}

// Deps are what the job works with.
type Deps struct {
	Queue Queue
	// Team is who could be asked, and how; changed is closed when that is different. That a member leaves need not close it.
	Team func() (rules routing.Rules, team routing.Team, changed <-chan struct{})
	Now  func() time.Time
	Log  *slog.Logger
}

// Times between two looks at all requests that wait: for members who left, and after an error.
const (
	lookEvery  = 15 * time.Second
	retryAfter = time.Second
)

var system = human.Actor{Role: human.System}

// Run notes steps until ctx ends; then it returns nil. Requests of other desks' agents are those desks' to route.
func Run(ctx context.Context, d Deps) error {
	r := &router{Deps: d, due: map[human.OperationID]time.Time{}}
	head, err := d.Queue.Head(ctx)
	if err != nil {
		return err
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	entries := make(chan human.OperationID)
	ended := make(chan error, 1)
	following, stop := context.WithCancel(ctx)
	go func() {
		defer close(entries)
		for e, err := range d.Queue.Follow(following, system, head) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case entries <- e.ID:
			case <-following.Done():
				return
			}
		}
	}()
	defer func() {
		stop()
		for range entries { // until the goroutine has ended
		}
	}()
	for {
		_, _, changed := d.Team()
		timer := time.NewTimer(r.round(ctx))
		select {
		case id, more := <-entries:
			if !more && ctx.Err() == nil {
				timer.Stop()
				return <-ended
			}
			if more {
				r.due[id] = time.Time{}
			}
		case <-changed:
			r.all()
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// A router knows when it has to look at which operation; the zero time is now. Operations that need no one asked are not in it.
type router struct {
	Deps
	due    map[human.OperationID]time.Time
	looked time.Time // at all of them
}

// open begins with the operations that are open.
func (r *router) open(ctx context.Context) error {
	f := queue.Filter{Open: true, Limit: queue.MaxPage}
	for {
		page, err := r.Queue.List(ctx, system, f)
		if err != nil {
			return err
		}
		for _, op := range page.Operations {
			r.due[op.ID] = time.Time{}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return nil
		}
	}
}

// all has every operation looked at.
func (r *router) all() {
	for id := range r.due {
		r.due[id] = time.Time{}
	}
}

// round looks at what is due, and returns how long until more is.
func (r *router) round(ctx context.Context) time.Duration {
	now := r.Now()
	if now.Sub(r.looked) >= lookEvery {
		r.looked = now
		r.all()
	}
	next := r.looked.Add(lookEvery)
	rules, team, _ := r.Team()
	for id, at := range r.due {
		if at.After(now) {
			next = earlier(next, at)
			continue
		}
		again, err := r.look(ctx, id, rules, team)
		switch {
		case err != nil && ctx.Err() == nil:
			r.Log.Warn("who is asked for a request could not be noted; trying again", "operation_id", id, "err", err)
			again = now.Add(retryAfter)
		case err != nil:
			return 0
		case again.IsZero():
			delete(r.due, id)
			continue
		}
		r.due[id] = again
		next = earlier(next, again)
	}
	return max(next.Sub(r.Now()), 0)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// look notes the steps of an operation that are due, and returns when the next one is; the zero time says that there is none to wait for.
func (r *router) look(ctx context.Context, id human.OperationID, rules routing.Rules, team routing.Team) (time.Time, error) {
	for {
		op, err := r.Queue.Get(ctx, system, id)
		if err != nil {
			if human.KindOf(err) == human.NotFound {
				return time.Time{}, nil
			}
			return time.Time{}, err
		}
		if op.Desk != "" || op.State != human.Pending {
			return time.Time{}, nil // another desk's, or someone has it
		}
		now := r.Now()
		if len(team.Members) == 0 {
			return now.Add(lookEvery), nil // it is not known who is in the team
		}
		step := next(op, rules, team, now)
		if step == nil {
			return time.Time{}, nil
		}
		if step.At.After(now) {
			return step.At, nil
		}
		if _, err := r.Queue.Route(ctx, id, human.Routing{Step: len(op.Routing) + 1, Names: step.Names, Reason: step.Reason}); err != nil {
			return time.Time{}, err
		}
	}
}

// next is the first step that was not noted; nil where there is none.
func next(op human.Operation, rules routing.Rules, team routing.Team, now time.Time) *routing.Step {
	from := op.CreatedAt
	if first := op.FirstApproval(now); first != nil {
		from = first.At
	}
	done := 0
	for _, step := range op.Routing {
		if !step.At.Before(from) {
			done++
		}
	}
	route := rules.Route(routing.AskOf(op, now), team, from)
	if done >= len(route.Steps) {
		return nil
	}
	return &route.Steps[done]
}

// An Asking is how the asking for a request stands.
type Asking struct {
	Away []string       `json:"away,omitempty" doc:"Who of those who are asked is not connected, away, or outside of their hours."`
	Next *human.Routing `json:"next,omitempty" doc:"Who is asked next, and when, if no one claims it before."`
}

// Of says how the asking for a request stands that no one has claimed.
func Of(op human.Operation, rules routing.Rules, team routing.Team, now time.Time) *Asking {
	a, asked := &Asking{}, op.Asked()
	for _, m := range team.Members {
		if !team.Here(m, now) && slices.Contains(asked, m.Name) {
			a.Away = append(a.Away, m.Name)
		}
	}
	if step := next(op, rules, team, now); step != nil && step.At.After(now) {
		a.Next = &human.Routing{Step: len(op.Routing) + 1, Names: step.Names, Reason: step.Reason, At: step.At}
	}
	return a
}
