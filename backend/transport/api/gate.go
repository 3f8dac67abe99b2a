package api

import (
	"context"
	"net/http"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A Gatekeeper judges calls of tools for agents, and shows operators what it does. Errors are of package human;
// service.Service is one.
type Gatekeeper interface {
	// Evaluate judges a call and, where an operator has to be asked, asks and waits.
	Evaluate(ctx context.Context, by human.Actor, call human.ToolCall, how service.Asking) (human.Judgement, error)
	// Try judges a call; nothing is run, logged or asked.
	Try(ctx context.Context, by human.Actor, call human.ToolCall, policy gate.Policy) (service.Trial, error)

	State(ctx context.Context, by human.Actor) (service.State, error)
	SetPolicy(ctx context.Context, by human.Actor, policy gate.Policy) (service.State, error)
	Question(ctx context.Context, by human.Actor, id human.OperationID) (service.QuestionView, error)
	Difference(ctx context.Context, by human.Actor, id human.OperationID) (service.Difference, error)
	Answer(ctx context.Context, by human.Actor, id human.OperationID, r service.AnswerRequest) (human.Operation, error)
	PutBack(ctx context.Context, by human.Actor, id human.OperationID, digest string) (human.Operation, error)
	Log(ctx context.Context, by human.Actor, f service.LogFilter) (service.LogPage, error)
	Trust(ctx context.Context, by human.Actor, project string, days int) (service.TrustReport, error)
	Rules(ctx context.Context, by human.Actor) ([]human.GateRule, error)
	AddRule(ctx context.Context, by human.Actor, r human.GateRule) (human.GateRule, error)
	DropRule(ctx context.Context, by human.Actor, id string) error
	PreviewRule(ctx context.Context, by human.Actor, r human.GateRule) (service.RulePreview, error)
	Proposals(ctx context.Context, by human.Actor) ([]service.Proposal, error)
	DismissProposal(ctx context.Context, by human.Actor, key string) error
	Spared(ctx context.Context, by human.Actor, from, to time.Time) ([]human.Spared, error)
	Unchanged(ctx context.Context, by human.Actor, from, to time.Time) ([]service.UnchangedQuestion, error)
}

// Backups are the copies that were made before calls ran; *backups.Store is one.
type Backups interface {
	// List returns them, the newest first.
	List() ([]human.Backup, error)
	// Show returns one with what is in it.
	Show(id string) (human.BackupContents, error)
	// Restore puts back what it holds, and overwrites nothing: a Conflict names what is in the way.
	Restore(ctx context.Context, id string) (human.Restored, error)
}

// An Evaluation asks the gatekeeper about a call of a tool.
type Evaluation struct {
	human.ToolCall
	OperationID human.OperationID `json:"operation_id,omitempty" doc:"Continue waiting for this question's answer; the call must be the same."`
	Timeout     float64           `json:"timeout,omitempty" doc:"Seconds that the client can wait in all; then the question ends as a refusal. Absent: as gate.toml says."`
	Process     int               `json:"process_id,omitempty" doc:"The process that asks, where it runs on Deskbell's machine. When it ends, the request is withdrawn."`
	Parent      int               `json:"parent_id,omitempty" doc:"Of a hook: its parent, which leads to the agent's client. When the client ends or the connection breaks, the request is withdrawn."`
}

type (
	evaluateInput struct {
		Wait float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for an operator, at most."`
		payload[Evaluation]
	}
	// TrialCall is a call to be judged for a look.
	TrialCall struct {
		human.ToolCall
		Policy gate.Policy `json:"policy,omitempty" enum:"permissive,balanced,strict" doc:"Absent: the one that holds."`
	}
	// PolicyChange is the gatekeeper's new policy.
	PolicyChange struct {
		Policy gate.Policy `json:"policy" enum:"permissive,balanced,strict"`
	}
	questionInput struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
	}
	questionAnswer struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
		payload[service.AnswerRequest]
	}
	// ShownVersions asks for the versions of files that a question before this one showed.
	ShownVersions struct {
		Digest string `json:"digest" doc:"The operation's: what is there now is as that says."`
	}
	shownInput struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
		payload[ShownVersions]
	}
	logInput struct {
		Decision human.Ruling `query:"decision" enum:"allow,ask,deny"`
		Project  string       `query:"project" doc:"The root of a working tree."`
		Agent    string       `query:"agent_id"`
		Text     string       `query:"q" doc:"Is in the call."`
		Since    time.Time    `query:"since"`
		Limit    int          `query:"limit" minimum:"0" maximum:"500" doc:"0: 50."`
		Cursor   string       `query:"cursor" doc:"The next of the page before."`
	}
	trustInput struct {
		Project string `query:"project" doc:"The root of a working tree; empty: where calls were judged last."`
		Days    int    `query:"days" minimum:"0" maximum:"365" doc:"0: 30."`
	}
	ruleInput struct {
		ID string `path:"id" doc:"The rule's id."`
	}
	proposalInput struct {
		Key string `path:"key" doc:"The proposal's key."`
	}
	backupInput struct {
		ID string `path:"id" doc:"The backup's id."`
	}
	// BackupList is the copies that there are.
	BackupList struct {
		Backups []human.Backup `json:"backups"`
	}
	// GateRules are rules of the user's own.
	GateRules struct {
		Rules []human.GateRule `json:"rules"`
	}
	// Proposals are rules that the operator's own answers suggest.
	Proposals struct {
		Proposals []service.Proposal `json:"proposals"`
	}
)

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func (s *Server) gate(c catalogue) {
	g := s.deps.Gate
	add(c, route{http.MethodPost, "/api/gate/evaluate", "evaluateCall", "Judge a call of a tool before it runs; where an operator has to be asked, ask", agents, 0},
		func(ctx context.Context, x *exchange, in *evaluateInput) (*answer[*human.Judgement], error) {
			call := in.JSON
			j, err := g.Evaluate(ctx, x.by, call.ToolCall, service.Asking{
				Question: call.OperationID, Wait: seconds(in.Wait), Timeout: seconds(call.Timeout), Process: call.Process, Parent: call.Parent,
			})
			return ok(&j, err)
		})
	add(c, route{http.MethodPost, "/api/gate/try", "tryCall", "What would be decided about a call; nothing is run, logged or asked", operators, 0},
		func(ctx context.Context, x *exchange, in *struct{ payload[TrialCall] }) (*answer[*service.Trial], error) {
			t, err := g.Try(ctx, x.by, in.JSON.ToolCall, in.JSON.Policy)
			return ok(&t, err)
		})
	add(c, route{http.MethodGet, "/api/gate", "getGate", "How the gatekeeper stands", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*service.State], error) {
			state, err := g.State(ctx, x.by)
			return ok(&state, err)
		})
	add(c, route{http.MethodPut, "/api/gate/policy", "setGatePolicy", "Change the policy, in gate.toml", operators, 0},
		func(ctx context.Context, x *exchange, in *struct{ payload[PolicyChange] }) (*answer[*service.State], error) {
			ctx, err := s.provePolicy(ctx, x, in.JSON.Policy)
			if err != nil {
				return nil, err
			}
			state, err := g.SetPolicy(ctx, x.by, in.JSON.Policy)
			return ok(&state, err)
		})
	const questions = "/api/gate/questions/{id}"
	add(c, route{http.MethodGet, questions, "getQuestion", "What an operation of kind permission asks", operators, 0},
		func(ctx context.Context, x *exchange, in *questionInput) (*answer[*service.QuestionView], error) {
			q, err := g.Question(ctx, x.by, in.ID)
			return ok(&q, err)
		})
	add(c, route{http.MethodGet, questions + "/difference", "getDifference", "What the call would change", operators, 0},
		func(ctx context.Context, x *exchange, in *questionInput) (*answer[*service.Difference], error) {
			d, err := g.Difference(ctx, x.by, in.ID)
			return ok(&d, err)
		})
	add(c, route{http.MethodPost, questions + "/answer", "answerQuestion", "Answer it, after doing what the choice needs", operators, 0},
		func(ctx context.Context, x *exchange, in *questionAnswer) (*operationAnswer, error) {
			ctx, err := s.provePermission(ctx, x, in.ID, in.JSON)
			if err != nil {
				return nil, err
			}
			op, err := g.Answer(ctx, x.by, in.ID, in.JSON)
			return ok(s.view(x.by, op), err)
		})
	add(c, route{http.MethodPost, questions + "/put-back", "putBackShown", "Put files back as you were shown them before they changed, and be asked again; nothing runs", operators, 0},
		func(ctx context.Context, x *exchange, in *shownInput) (*operationAnswer, error) {
			op, err := g.PutBack(ctx, x.by, in.ID, in.JSON.Digest)
			return ok(s.view(x.by, op), err)
		})
	add(c, route{http.MethodGet, "/api/gate/decisions", "listDecisions", "The log of decisions", operators, 0},
		func(ctx context.Context, x *exchange, in *logInput) (*answer[*service.LogPage], error) {
			page, err := g.Log(ctx, x.by, service.LogFilter(*in))
			return ok(&page, err)
		})
	add(c, route{http.MethodGet, "/api/gate/trust", "getTrust", "How trust moved", operators, 0},
		func(ctx context.Context, x *exchange, in *trustInput) (*answer[*service.TrustReport], error) {
			report, err := g.Trust(ctx, x.by, in.Project, in.Days)
			return ok(&report, err)
		})
	s.gateRules(c)
}

// gateRules are the operator's own rules, and those that are proposed.
func (s *Server) gateRules(c catalogue) {
	g := s.deps.Gate
	add(c, route{http.MethodGet, "/api/gate/rules", "listGateRules", "Rules of files and of operators", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*GateRules], error) {
			list, err := g.Rules(ctx, x.by)
			return ok(&GateRules{append([]human.GateRule{}, list...)}, err)
		})
	add(c, route{http.MethodPost, "/api/gate/rules", "addGateRule", "Make a rule that allows, asks or blocks", operators, 0},
		func(ctx context.Context, x *exchange, in *struct{ payload[human.GateRule] }) (*answer[*human.GateRule], error) {
			ctx, err := s.proveRule(ctx, x, in.JSON)
			if err != nil {
				return nil, err
			}
			rule, err := g.AddRule(ctx, x.by, in.JSON)
			return ok(&rule, err)
		})
	add(c, route{http.MethodDelete, "/api/gate/rules/{id}", "dropGateRule", "Delete a rule", operators, 0},
		func(ctx context.Context, x *exchange, in *ruleInput) (*done, error) {
			ctx, err := s.proveDrop(ctx, x, in.ID)
			if err != nil {
				return nil, err
			}
			return &done{}, g.DropRule(ctx, x.by, in.ID)
		})
	add(c, route{http.MethodPost, "/api/gate/rules/preview", "previewGateRule", "Which past calls a rule would have matched", operators, 0},
		func(ctx context.Context, x *exchange, in *struct{ payload[human.GateRule] }) (*answer[*service.RulePreview], error) {
			p, err := g.PreviewRule(ctx, x.by, in.JSON)
			return ok(&p, err)
		})
	add(c, route{http.MethodGet, "/api/gate/proposals", "listProposals", "Rules that the operator's own answers suggest", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*Proposals], error) {
			list, err := g.Proposals(ctx, x.by)
			return ok(&Proposals{append([]service.Proposal{}, list...)}, err)
		})
	add(c, route{http.MethodDelete, "/api/gate/proposals/{key}", "dismissProposal", "Do not propose this again", operators, 0},
		func(ctx context.Context, x *exchange, in *proposalInput) (*done, error) {
			return &done{}, g.DismissProposal(ctx, x.by, in.Key)
		})
}

// backups are the copies that "back up, then allow" made.
func (s *Server) backups(c catalogue) {
	add(c, route{http.MethodGet, "/api/backups", "listBackups", "Backups that were made before calls ran, the newest first", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*BackupList], error) {
			list, err := s.deps.Backups.List()
			return ok(&BackupList{append([]human.Backup{}, list...)}, err)
		})
	add(c, route{http.MethodGet, "/api/backups/{id}", "getBackup", "A backup and what is in it", operators, 0},
		func(_ context.Context, _ *exchange, in *backupInput) (*answer[*human.BackupContents], error) {
			contents, err := s.deps.Backups.Show(in.ID)
			return ok(&contents, err)
		})
	add(c, route{http.MethodPost, "/api/backups/{id}/restore", "restoreBackup", "Restore what a backup holds; nothing that is there is overwritten", operators, 0},
		func(ctx context.Context, x *exchange, in *backupInput) (*answer[*human.Restored], error) {
			restored, err := s.deps.Backups.Restore(ctx, in.ID)
			s.deps.Log.Info("a backup was restored", "backup", in.ID, "by", x.by.Name, "files", restored.Files, "err", err)
			return ok(&restored, err)
		})
}
