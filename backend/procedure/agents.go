package procedure

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

const (
	everyone  = "*"
	callersOf = 30 * 24 * time.Hour
	named     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-*" // what agents' names have, and the star
)

// AgentsAllowed says which agents can call a procedure. It is not in the procedure's file, which others can have.
type AgentsAllowed struct {
	Agents []string `json:"agents" doc:"Their names, in which * stands for any letters: * alone is all agents, and an empty list is none."`
	// Pictures lets them have pictures of the outputs.
	Pictures bool `json:"pictures,omitempty" doc:"They get a picture of each output: that of the page or window where it was picked, or of the click that a file came by."`
}

// A Caller is an agent that a procedure was run for.
type Caller struct {
	Agent string    `json:"agent"`
	Runs  int       `json:"runs"`
	Last  time.Time `json:"last" doc:"When the last one began."`
}

// ProcedureAgents are those that can call a procedure, and those that did.
type ProcedureAgents struct {
	AgentsAllowed
	Callers []Caller `json:"callers" doc:"The agents it was run for in the last 30 days, who called most first."`
}

// SetAgents says which agents can call a procedure from now on. It blocks until that is on the disk.
func (s *Service) SetAgents(ctx context.Context, by human.Actor, called string, a AgentsAllowed) (ProcedureAgents, error) {
	if by.Role != human.Operator {
		return ProcedureAgents{}, human.Errorf(human.Denied, "only an operator can say which agents call a procedure")
	}
	names := []string{}
	for _, name := range a.Agents {
		if name == "" || len(name) > 64 || strings.Trim(name, named) != "" {
			return ProcedureAgents{}, human.BadField("agents", "%q is no agent's name; write names, in which * stands for any letters", human.OneLine(name, 60))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > mostListed {
		return ProcedureAgents{}, human.BadField("agents", "has %d names; name %d at most, or use * for any letters", len(names), mostListed)
	}
	if slices.Contains(names, everyone) {
		names = []string{everyone}
	}
	versions, runs, err := s.history(ctx, called)
	if err != nil {
		return ProcedureAgents{}, err
	}
	if err := s.d.Store.PutAgents(ctx, versions[0].Name, AgentsAllowed{names, a.Pictures}); err != nil {
		return ProcedureAgents{}, err
	}
	s.d.Log.Info("other agents can call a procedure", "procedure", called, "agents", names, "pictures", a.Pictures, "by", by.Name)
	return s.agents(ctx, called, runs)
}

// agents are those of a procedure; runs are its, the newest first.
func (s *Service) agents(ctx context.Context, called string, runs []human.RunOfProcedure) (ProcedureAgents, error) {
	allowed, err := s.d.Store.Agents(ctx)
	a := ProcedureAgents{AgentsAllowed{Agents: []string{everyone}}, []Caller{}}
	if of, kept := allowed[called]; kept {
		a.AgentsAllowed = of
	}
	since := s.d.Now().Add(-callersOf)
	for _, r := range runs {
		if r.Agent == "" || strings.HasPrefix(r.Agent, human.PersonID("")) || r.StartedAt.Before(since) {
			continue
		}
		i := slices.IndexFunc(a.Callers, func(c Caller) bool { return c.Agent == r.Agent })
		if i < 0 {
			i, a.Callers = len(a.Callers), append(a.Callers, Caller{Agent: r.Agent, Last: r.StartedAt})
		}
		a.Callers[i].Runs++
	}
	slices.SortStableFunc(a.Callers, func(x, y Caller) int { return cmp.Compare(y.Runs, x.Runs) })
	return a, err
}

// callable tells of a procedure whether an agent can call it. A person can, whom agent names or who is "".
func (s *Service) callable(ctx context.Context, agent string) (func(called string) bool, error) {
	allowed, err := s.d.Store.Agents(ctx)
	return func(called string) bool {
		of, kept := allowed[called]
		return !kept || agent == "" || strings.HasPrefix(agent, human.PersonID("")) ||
			slices.ContainsFunc(of.Agents, func(pattern string) bool { return human.Glob(pattern, agent) })
	}, err
}

// mayCall is a Denied error where an agent cannot call a procedure.
func (s *Service) mayCall(ctx context.Context, agent, called string) error {
	can, err := s.callable(ctx, agent)
	if err == nil && !can(called) {
		err = human.Errorf(human.Denied, "agent %s cannot call procedure %s; an operator can let it, under Agents on the procedure's page", agent, called)
	}
	return err
}

// caller is the name of an agent, or "" for a person.
func caller(by human.Actor) string {
	if by.Role == human.Agent {
		return by.Name
	}
	return ""
}
