package api

import (
	"context"
	"time"

	"deskbell/backend/human"
)

// An agent is what is known of an agent that calls. The Server's mu guards it.
type agent struct {
	requests int // under way, sockets included
	bytes    int // of their bodies
	seen     time.Time
	stored   time.Time
	life     context.Context // of its requests and sockets; ends when its keys are revoked
	end      context.CancelCauseFunc
}

func (a *agent) begin() { a.life, a.end = context.WithCancelCause(context.Background()) }

// enter counts a request of an agent in, until leave is called. life ends before that when its keys are revoked. One agent cannot use up all connections, and
// all agents together leave some to operators.
func (s *Server) enter(name string) (a *agent, life context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.agents[name]; a == nil {
		a = &agent{}
		a.begin()
		s.agents[name] = a
	}
	if a.requests >= s.deps.MaxConns/2 {
		return nil, nil, nil, human.Errorf(human.Exhausted, "%s has %d requests under way, the most allowed; wait until some of them end", name, a.requests)
	}
	if s.busy >= s.deps.MaxConns-max(s.deps.MaxConns/8, 1) {
		return nil, nil, nil, human.Errorf(human.Exhausted, "agents have %d requests under way, the most allowed; wait until some of them end", s.busy)
	}
	a.requests++
	s.busy++
	a.seen = s.deps.Now().UTC()
	return a, a.life, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.requests--
		s.busy--
		a.seen = s.deps.Now().UTC()
	}, nil
}

// revoked ends all that an agent whose keys were revoked has under way: its requests, streams and sockets; then its open
// operations, which no one would read the end of.
func (s *Server) revoked(ctx context.Context, name string) error {
	s.mu.Lock()
	if a := s.agents[name]; a != nil && a.requests > 0 {
		a.end(human.Errorf(human.Unauthorized, "the key of %s was revoked; ask the operator for a new one (deskbell keys add %s)", name, name))
		a.begin()
	}
	s.mu.Unlock()
	return s.deps.Queue.Withdraw(ctx, name, "the key of "+name+" was revoked")
}

// findRevoked does the same for keys that another process revoked, and for what an agent asked at the very moment.
func (s *Server) findRevoked(ctx context.Context) {
	names, err := s.deps.Keys.RevokedAgents(ctx)
	for _, name := range names {
		if err == nil {
			err = s.revoked(ctx, name)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.deps.Log.Warn("what agents without a key left could not be ended", "err", err)
	}
}
