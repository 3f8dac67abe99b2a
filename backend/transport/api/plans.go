package api

import (
	"context"
	"net/http"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// Plans has agents' plans confirmed, and follows them; plan.Service is one. A plan goes by its session's id, or by its
// operation's. Errors are of package human.
type Plans interface {
	Submit(ctx context.Context, by human.Actor, s plan.Submission, wait time.Duration) (st plan.Status, created bool, err error)
	Status(ctx context.Context, by human.Actor, session string, wait time.Duration, after uint64) (plan.Status, error)
	Answer(ctx context.Context, by human.Actor, session string, r plan.Response) (human.Operation, human.Answer, error)
	Respond(ctx context.Context, by human.Actor, session string, r plan.Response) (plan.Status, error)
	Progress(ctx context.Context, by human.Actor, session string, p human.TaskProgress, wait time.Duration) (plan.Standing, error)
	Order(ctx context.Context, by human.Actor, session string, o human.Order) (plan.Status, error)
	Assess(ctx context.Context, by human.Actor, session string, tasks []human.Task) (human.TasksSummary, error)
	Try(ctx context.Context, by human.Actor, session, command string) (human.Tried, error)
	History(ctx context.Context, by human.Actor, session string) (plan.History, error)
	Presets(ctx context.Context, by human.Actor) ([]plan.Preset, error)
	PutPreset(ctx context.Context, by human.Actor, p plan.Preset) (plan.Preset, error)
	DropPreset(ctx context.Context, by human.Actor, id string) error
	Statistics(ctx context.Context, by human.Actor, days int) (plan.Statistics, error)
	PlansConfirmed(ctx context.Context) (bool, error)
}

type (
	submitInput struct {
		Wait float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for the operators, at most."`
		Ack  string  `query:"ack" enum:"read,explicit" doc:"What counts as delivery of its end: this answer (read, absent), or only POST /api/human/delivered."`
		payload[plan.Submission]
	}
	planInput struct {
		Session string `path:"session_id" doc:"The session's id, or the operation's."`
	}
	planStatusInput struct {
		Session      string  `path:"session_id" doc:"The session's id, or the operation's."`
		Wait         float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for the version to pass after_version; without one, for the answer."`
		AfterVersion uint64  `query:"after_version" doc:"The version you have."`
		Ack          string  `query:"ack" enum:"read,explicit" doc:"What counts as delivery of its end: this answer (read, absent), or only POST /api/human/delivered."`
	}
	planResponse struct {
		Session string `path:"session_id" doc:"The session's id, or the operation's."`
		payload[plan.Response]
	}
	planProgress struct {
		Session string  `path:"session_id" doc:"The session's id, or the operation's."`
		Wait    float64 `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait, at most, while the plan is paused or an operator is asked about the task."`
		payload[human.TaskProgress]
	}
	planOrder struct {
		Session string `path:"session_id" doc:"The session's id, or the operation's."`
		payload[human.Order]
	}
	planTasks struct {
		Session string `path:"session_id" doc:"The session's id, or the operation's."`
		payload[PlanTasks]
	}
	planCommand struct {
		Session string `path:"session_id" doc:"The session's id, or the operation's."`
		payload[PlanCommand]
	}
	presetInput struct {
		ID string `path:"id" doc:"The preset's id."`
	}
	planStatistics struct {
		Days int `query:"days" minimum:"0" maximum:"365" doc:"0: 30."`
	}
	// PlanTasks are tasks to be looked at.
	PlanTasks struct {
		Tasks []human.Task `json:"tasks"`
	}
	// A PlanCommand is a command to try.
	PlanCommand struct {
		Command string `json:"command" doc:"Of a shell, to be run in the plan's folder."`
	}
	// Presets are lists of tasks to put into plans.
	Presets struct {
		Presets []plan.Preset `json:"presets"`
	}
)

// held is ctx, ended early when the server stops.
func (s *Server) held(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// reads sees to it that the end of an agent's plan counts as read once it has left. The agent's answer is not over before
// that is noted: one that hands in the same plan again then has it asked about anew.
func (s *Server) reads(x *exchange, st plan.Status, ack string) {
	if st.Unread && ack != "explicit" && x.by.Role == human.Agent {
		x.then = func() { s.noteDelivered(x.by, st.OperationID) }
	}
}

func (s *Server) plans(c catalogue) {
	p := s.deps.Plans
	add(c, route{http.MethodPost, "/api/plans", "submitPlan", "Have a plan confirmed before it runs", agents, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *submitInput) (*answer[*plan.Status], error) {
			ctx, done := s.held(ctx)
			defer done()
			st, created, err := p.Submit(ctx, x.by, in.JSON, seconds(in.Wait))
			if err != nil {
				return nil, err
			}
			s.reads(x, st, in.Ack)
			status := http.StatusOK
			if created {
				status = http.StatusCreated
			}
			return &answer[*plan.Status]{status, &st}, nil
		})
	const one = "/api/plans/{session_id}"
	add(c, route{http.MethodGet, one, "getPlan", "How a plan stands; or wait for it to change", signedIn, 0},
		func(ctx context.Context, x *exchange, in *planStatusInput) (*answer[*plan.Status], error) {
			ctx, done := s.held(ctx)
			defer done()
			st, err := p.Status(ctx, x.by, in.Session, seconds(in.Wait), in.AfterVersion)
			s.reads(x, st, in.Ack)
			return ok(&st, err)
		})
	add(c, route{http.MethodPost, one + "/response", "respondToPlan", "Confirm, modify or cancel a plan", operators, 0},
		func(ctx context.Context, x *exchange, in *planResponse) (*answer[*plan.Status], error) {
			ctx, err := s.provePlan(ctx, x, in.Session, in.JSON)
			if err != nil {
				return nil, err
			}
			st, err := p.Respond(ctx, x.by, in.Session, in.JSON)
			return ok(&st, err)
		})
	add(c, route{http.MethodPost, one + "/progress", "progressPlan", "Begin a task of a confirmed plan, or say how it ended", agents, 0},
		func(ctx context.Context, x *exchange, in *planProgress) (*answer[*plan.Standing], error) {
			ctx, done := s.held(ctx)
			defer done()
			st, err := p.Progress(ctx, x.by, in.Session, in.JSON, seconds(in.Wait))
			return ok(&st, err)
		})
	add(c, route{http.MethodPost, one + "/orders", "orderPlan", "Pause, resume, stop or change a plan that runs, or skip a task of it", operators, 0},
		func(ctx context.Context, x *exchange, in *planOrder) (*answer[*plan.Status], error) {
			switch o := in.JSON; { // what was forgotten must not count as an empty list
			case o.Kind == human.Change && o.Tasks == nil:
				return nil, human.BadField("tasks", "is missing; give every task that is still to run, or an empty list for none")
			case o.Kind == human.Skip && o.Task == "":
				return nil, human.BadField("task_id", "is missing; it is the id of the task to skip")
			}
			ctx, err := s.proveOrder(ctx, x, in.Session, in.JSON)
			if err != nil {
				return nil, err
			}
			st, err := p.Order(ctx, x.by, in.Session, in.JSON)
			return ok(&st, err)
		})
	add(c, route{http.MethodPost, one + "/assess", "assessPlan", "What tasks come to: risk, effects, how long; nothing is changed", operators, 0},
		func(ctx context.Context, x *exchange, in *planTasks) (*answer[*human.TasksSummary], error) {
			sum, err := p.Assess(ctx, x.by, in.Session, in.JSON.Tasks)
			return ok(&sum, err)
		})
	add(c, route{http.MethodPost, one + "/try", "tryCommand", "Run a command that only reads, before the plan is answered; confined, so that it changes nothing", operators, 0},
		func(ctx context.Context, x *exchange, in *planCommand) (*answer[*human.Tried], error) {
			tried, err := p.Try(ctx, x.by, in.Session, in.JSON.Command)
			return ok(&tried, err)
		})
	add(c, route{http.MethodGet, one + "/history", "getPlanHistory", "What was decided for plans like this one", operators, 0},
		func(ctx context.Context, x *exchange, in *planInput) (*answer[*plan.History], error) {
			h, err := p.History(ctx, x.by, in.Session)
			return ok(&h, err)
		})
}

// allPlans is what holds for all plans.
func (s *Server) allPlans(c catalogue) {
	p := s.deps.Plans
	add(c, route{http.MethodGet, "/api/plan-confirming", "getPlanConfirming", "Whether agents' plans are confirmed here", signedIn, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*plan.Confirming], error) {
			is, err := p.PlansConfirmed(ctx)
			return ok(&plan.Confirming{ConfirmByHuman: is}, err)
		})
	add(c, route{http.MethodGet, "/api/plan-presets", "listPresets", "Lists of tasks to put into plans", signedIn, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*Presets], error) {
			list, err := p.Presets(ctx, x.by)
			return ok(&Presets{append([]plan.Preset{}, list...)}, err)
		})
	add(c, route{http.MethodPost, "/api/plan-presets", "putPreset", "Keep a preset; with an id that exists, in its place", operators, 0},
		func(ctx context.Context, x *exchange, in *struct{ payload[plan.Preset] }) (*answer[*plan.Preset], error) {
			preset, err := p.PutPreset(ctx, x.by, in.JSON)
			return ok(&preset, err)
		})
	add(c, route{http.MethodDelete, "/api/plan-presets/{id}", "dropPreset", "Delete a preset", operators, 0},
		func(ctx context.Context, x *exchange, in *presetInput) (*done, error) {
			return &done{}, p.DropPreset(ctx, x.by, in.ID)
		})
	add(c, route{http.MethodGet, "/api/plan-statistics", "getPlanStatistics", "How plans were answered, how fast, and what people change", operators, 0},
		func(ctx context.Context, x *exchange, in *planStatistics) (*answer[*plan.Statistics], error) {
			st, err := p.Statistics(ctx, x.by, in.Days)
			return ok(&st, err)
		})
}
