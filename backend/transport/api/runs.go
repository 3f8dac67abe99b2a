package api

import (
	"context"
	"net/http"
	"time"

	reference "deskbell/backend/agent"
	"deskbell/backend/human"
)

// A Host runs the agents that Deskbell comes with and that are declared, and reads the journals of their runs and conversations;
// host.Host is one. Errors are of package human.
type Host interface {
	Agents() ([]reference.Profile, error)
	Message(ctx context.Context, by human.Actor, name string, sent reference.Sent) (reference.Response, error)
	Start(ctx context.Context, name, task, folder string) (id string, err error)
	Resume(ctx context.Context, id string) error
	Stop(id string) error
	Silence(session string) error
	List(ctx context.Context, prefix string, most int) ([]reference.RunView, error)
	Read(ctx context.Context, id string, after int, wait time.Duration) (reference.RunUpdates, error)
}

type (
	runsInput struct {
		Limit int `query:"limit" minimum:"1" maximum:"200" doc:"Absent: 50."`
	}
	runID struct {
		ID string `path:"id" doc:"The run's id."`
	}
	runInput struct {
		ID    string  `path:"id" doc:"The id of the run, or of the conversation."`
		After int     `query:"after" minimum:"0" doc:"How many updates you have."`
		Wait  float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for one more, at most."`
	}
	messageInput struct {
		Name string  `path:"name" doc:"The agent's name."`
		Wait float64 `query:"wait" minimum:"0" doc:"Seconds to wait for the answer, at most; absent: as long as it takes. Without one by then the status is working; the same message of the session waits for it again."`
		payload[AgentMessage]
	}
	// RunList are runs, or conversations, of agents.
	RunList struct {
		Runs []reference.RunView `json:"runs"`
	}
	// DeclaredAgents are the agents that there are.
	DeclaredAgents struct {
		Agents []reference.Profile `json:"agents"`
	}
	// An AgentMessage is what an agent is to answer.
	AgentMessage struct{ reference.Sent }
	// An AgentAnswer is what an agent makes of a message.
	AgentAnswer struct{ reference.Response }
	// A RunTask is what an agent is to do.
	RunTask struct {
		Agent  string `json:"agent,omitempty" doc:"Absent: deskbell-agent."`
		Task   string `json:"task"`
		Folder string `json:"folder,omitempty" doc:"Where its tools run, absolute; absent: the agent's own, or your home folder."`
	}
	// A RunBegun is a run that has begun, or continues.
	RunBegun struct {
		ID string `json:"run_id"`
	}
)

func (s *Server) runs(c catalogue) {
	h := s.deps.Host
	add(c, route{http.MethodGet, "/api/agent", "listDeclaredAgents", "The agents that there are; for agents, those that are open to them", signedIn, 0},
		func(_ context.Context, x *exchange, _ *none) (*answer[*DeclaredAgents], error) {
			all, err := h.Agents()
			list := []reference.Profile{}
			for _, a := range all {
				if a.Open || x.by.Role == human.Operator {
					list = append(list, a)
				}
			}
			return ok(&DeclaredAgents{list}, err)
		})
	add(c, route{http.MethodPost, "/api/agent/{name}/messages", "sendMessage", "Have an agent answer a message; blocks until it has, or asks", signedIn, http.StatusAccepted},
		func(ctx context.Context, x *exchange, in *messageInput) (*answer[*AgentAnswer], error) {
			ctx, done := s.held(ctx)
			defer done()
			if in.Wait > 0 {
				short, stop := context.WithTimeout(ctx, seconds(in.Wait))
				defer stop()
				ctx = short
			}
			r, err := h.Message(ctx, x.by, in.Name, in.JSON.Sent)
			if err == nil && r.Status == reference.Working {
				return &answer[*AgentAnswer]{http.StatusAccepted, &AgentAnswer{r}}, nil
			}
			return ok(&AgentAnswer{r}, err)
		})
	s.silence(c)
	s.journals(c, "/api/agent/runs", reference.RunPrefix, "listRuns", "Runs of agents", "getRun", "What a run told about itself; or wait for more")
	s.journals(c, "/api/agent/conversations", reference.ConversationPrefix, "listConversations", "Conversations with agents", "getConversation", "What was said and done in a conversation; or wait for more")
	add(c, route{http.MethodPost, "/api/agent/runs", "startRun", "Have an agent do a task", operators, http.StatusCreated},
		func(ctx context.Context, _ *exchange, in *payload[RunTask]) (*answer[*RunBegun], error) {
			ctx, done := s.held(ctx)
			defer done()
			name := in.JSON.Agent
			if name == "" {
				name = reference.ReferenceAgent
			}
			id, err := h.Start(ctx, name, in.JSON.Task, in.JSON.Folder)
			if err != nil {
				return nil, err
			}
			return &answer[*RunBegun]{http.StatusCreated, &RunBegun{id}}, nil
		})
	add(c, route{http.MethodPost, "/api/agent/runs/{id}/stop", "stopRun", "Stop a run, as Ctrl-C does; it can be resumed", operators, 0},
		func(_ context.Context, _ *exchange, in *runID) (*answer[*RunBegun], error) {
			return ok(&RunBegun{in.ID}, h.Stop(in.ID))
		})
	add(c, route{http.MethodPost, "/api/agent/runs/{id}/resume", "resumeRun", "Continue a run that was interrupted or has failed", operators, 0},
		func(ctx context.Context, _ *exchange, in *runID) (*answer[*RunBegun], error) {
			ctx, done := s.held(ctx)
			defer done()
			return ok(&RunBegun{in.ID}, h.Resume(ctx, in.ID))
		})
}

func (s *Server) silence(c catalogue) {
	add(c, route{http.MethodPost, "/api/agent/conversations/{id}/stop", "stopAnswer", "Stop the answer that an agent is at; the same message continues", operators, 0},
		func(_ context.Context, _ *exchange, in *runID) (*answer[*RunBegun], error) {
			return ok(&RunBegun{in.ID}, s.deps.Host.Silence(in.ID))
		})
}

// journals are the calls that read runs, or conversations.
func (s *Server) journals(c catalogue, path, prefix, listID, list, oneID, one string) {
	add(c, route{http.MethodGet, path, listID, list, operators, 0},
		func(ctx context.Context, _ *exchange, in *runsInput) (*answer[*RunList], error) {
			if in.Limit == 0 {
				in.Limit = 50
			}
			list, err := s.deps.Host.List(ctx, prefix, in.Limit)
			return ok(&RunList{append([]reference.RunView{}, list...)}, err)
		})
	add(c, route{http.MethodGet, path + "/{id}", oneID, one, operators, 0},
		func(ctx context.Context, _ *exchange, in *runInput) (*answer[*reference.RunUpdates], error) {
			ctx, done := s.held(ctx)
			defer done()
			run, err := s.deps.Host.Read(ctx, in.ID, in.After, seconds(in.Wait))
			return ok(&run, err)
		})
}
