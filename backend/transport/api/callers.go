package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
)

// AttemptList is what agents tried that only a person may do.
type AttemptList struct {
	Attempts []human.Attempt `json:"attempts"`
}

// AttemptChange tells operators on a WebSocket of an attempt, when it begins and as it is tried again. It has no seq.
type AttemptChange struct {
	Type    string        `json:"type" enum:"attempt"`
	Attempt human.Attempt `json:"attempt"`
}

type (
	attemptsInput struct {
		All bool `query:"all" doc:"Those that operators dismissed, too."`
	}
	attemptCall struct {
		ID human.AttemptID `path:"id" doc:"The attempt's id."`
		payload[none]
	}
)

// attempts are what agents tried.
func (s *Server) attempts(c catalogue) {
	add(c, route{http.MethodGet, "/api/attempts", "listAttempts", "What agents tried that only a person may do, the newest first", operators, 0},
		func(ctx context.Context, _ *exchange, in *attemptsInput) (*answer[*AttemptList], error) {
			list, err := s.deps.Callers.Attempts(ctx, in.All)
			return ok(&AttemptList{list}, err)
		})
	add(c, route{http.MethodPost, "/api/attempts/{id}/dismiss", "dismissAttempt", "Note that you have seen an attempt", operators, 0},
		func(ctx context.Context, x *exchange, in *attemptCall) (*done, error) {
			return &done{}, s.deps.Callers.Dismiss(ctx, x.by, in.ID)
		})
}

// withCaller is the context of a new connection's requests.
func (s *Server) withCaller(ctx context.Context, conn net.Conn) context.Context {
	n, is := conn.(*connection)
	if s.deps.Callers == nil || !is {
		return ctx
	}
	return callers.NewContext(ctx, s.deps.Callers.Caller(n.Conn))
}

// meet notes which process used an agent's key.
func (s *Server) meet(r *http.Request, x *exchange) {
	how := human.MarkKey
	switch r.URL.Path {
	case "/api/gate/evaluate":
		how = human.MarkHook
	case "/mcp":
		how = human.MarkMCP
	}
	s.deps.Callers.Used(callers.Of(r.Context()), x.by.Name, how)
}

// admitCaller blocks operators' calls, and signing in, from a process that descends from an agent: a token or a code that it has is
// not its own.
func (s *Server) admitCaller(x *exchange) error {
	r := x.request
	return s.deps.Callers.Admit(r.Context(), trialOf(r), callOf(r), func() human.OperationID { return s.existing(r.Context(), aboutOf(r)) })
}

// overstepped notes an operator's call that was made with an agent's key, where it would answer, or make a key or a code.
func (s *Server) overstepped(ctx context.Context, x *exchange, about human.OperationID) {
	if what := trialOf(x.request); what != human.TryOperate {
		t := human.Try{What: what, Limit: "key." + string(what), Detail: callOf(x.request), OperationID: s.existing(ctx, cmp.Or(about, pathAbout(x.request)))}
		s.deps.Callers.Failed(ctx, x.by.Name, t)
	}
}

// failed notes a wrong code or PIN.
func (s *Server) failed(r *http.Request, what human.Trial) {
	s.deps.Callers.Failed(r.Context(), "", human.Try{What: what, Limit: "caller." + string(what), Detail: callOf(r)})
}

func callOf(r *http.Request) string { return r.Method + " " + r.URL.Path }

// trialOf is what an operator's call is for.
func trialOf(r *http.Request) human.Trial {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet:
	case path == "/api/session":
		return human.TrySignIn
	case strings.HasPrefix(path, "/api/session/"):
		return human.TryInvite
	case path == "/api/agents":
		return human.TryKey
	case strings.HasPrefix(path, "/api/human/") || pathAbout(r) != "":
		return human.TryAnswer
	}
	return human.TryOperate
}

// pathAbout is the operation that a call answers, where its path says that.
func pathAbout(r *http.Request) human.OperationID {
	for _, before := range []string{"/api/gate/questions/", "/api/plans/"} {
		if rest, is := strings.CutPrefix(r.URL.Path, before); is {
			id, _, _ := strings.Cut(rest, "/")
			return human.OperationID(id)
		}
	}
	return ""
}

// aboutOf is the operation that a call is about which was denied. It reads the body, which is of no use any more.
func aboutOf(r *http.Request) human.OperationID {
	var body OperationRequest
	if trialOf(r) == human.TryAnswer && pathAbout(r) == "" {
		_ = json.NewDecoder(io.LimitReader(r.Body, maxAbout)).Decode(&body) // what is no JSON names no operation
	}
	return cmp.Or(pathAbout(r), body.OperationID)
}

// maxAbout is how much of a body is read for the operation that it names, in bytes.
const maxAbout = 64 << 10

// existing is an operation's id, and empty where there is none of that name.
func (s *Server) existing(ctx context.Context, id human.OperationID) human.OperationID {
	if id != "" {
		if _, err := s.deps.Queue.Get(ctx, human.Actor{Role: human.Operator, Name: s.deps.Operator}, id); err == nil {
			return id
		}
	}
	return ""
}

// sendAttempts sends attempts as they change.
func (k *socket) sendAttempts(ctx context.Context) {
	defer k.cancel()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.deps.Callers.Watch(ctx, func(a human.Attempt) {
		if k.send(AttemptChange{"attempt", a}) != nil {
			cancel()
		}
	})
}
