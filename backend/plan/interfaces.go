// Package plan has agents' plans confirmed before they run (P1 to P9): it says what a plan comes to, asks operators in the
// queue, keeps what they changed, follows the run, and learns from earlier plans. It declares here what it asks of the
// queue, of the gatekeeper and of storage. Where the settings do not ask for confirmation it writes nothing at all (P8).
package plan

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"deskbell/backend/human"
)

// Queue is what plans ask of the queue. Errors are of package human.
type Queue interface {
	// Submit takes a plan; the same idempotency key again joins the one that exists. decided, where not nil, ends it at
	// once in the system's name.
	Submit(ctx context.Context, r human.Request, decided *human.Answer) (op human.Operation, created bool, err error)
	// Newest returns an agent's newest plan of a session, or with no agent the newest of anybody's; NotFound without.
	Newest(ctx context.Context, of human.Kind, agent, session string) (human.Operation, error)
	// Recent returns the newest plans, briefly: without details.
	Recent(ctx context.Context, of human.Kind, most int) ([]human.Operation, error)
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	// WaitUntil blocks until enough says so of the operation, or ctx ends, and returns it as it then stands.
	WaitUntil(ctx context.Context, by human.Actor, id human.OperationID, enough func(human.Operation) bool) (human.Operation, error)
	// Complete answers it, or counts the answer where several operators have to agree.
	Complete(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string) (human.Operation, error)
	Cancel(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error)
	// Note adds an event: what the agent says of a task, or an order to it.
	Note(ctx context.Context, by human.Actor, id human.OperationID, e human.Event) (human.Operation, error)
	MarkDelivered(ctx context.Context, by human.Actor, id human.OperationID) error
}

// Store keeps presets. Safe for concurrent use; what it returns from is durable.
type Store interface {
	Presets(ctx context.Context) ([]Preset, error)
	PutPreset(ctx context.Context, p Preset) error
	// DropPreset deletes one; NotFound without.
	DropPreset(ctx context.Context, id string) error
}

// Options are the settings of plans (P1), asked for anew each time.
type Options struct {
	Confirm       bool          // confirm_by_human
	Timeout       time.Duration // confirmation_timeout
	Modify        bool          // allow_task_modification
	AutoSafe      bool          // auto_confirm_safe_tasks
	Confirmations int           // operators that have to agree, at the least; 0 and 1: one
	Operators     []string      // who all have to be among them
}

// Deps are the parts a Service stands on.
type Deps struct {
	Queue   Queue
	Store   Store
	Options func() Options
	// Judge says what a call of a tool would do, with nothing run, logged or asked. A verdict of allow means that the
	// gatekeeper would not ask.
	Judge func(ctx context.Context, call human.ToolCall) (human.Verdict, error)
	// Try runs a command of a shell in a folder, confined so that it changes nothing.
	Try   func(ctx context.Context, command, folder string) (human.Tried, error)
	Mask  func(text string) string
	Now   func() time.Time
	NewID func(prefix string) string
	Log   *slog.Logger
}

// Confirming says whether agents' plans are confirmed here.
type Confirming struct {
	ConfirmByHuman bool `json:"confirm_by_human" doc:"The setting plan.confirm_by_human: plans have to be confirmed before they run."`
}

// A Submission is a plan as an agent hands it in (P2).
type Submission struct {
	SessionID      string          `json:"session_id" doc:"Names the plan from now on. A new plan of the session takes the place of one that is still waiting."`
	Message        string          `json:"message" doc:"What the plan is for, in a line."`
	Tasks          []human.Task    `json:"tasks"`
	Context        json.RawMessage `json:"context,omitempty" doc:"Free-form; context.cwd is the folder it would run in, context.project what it belongs to, context.task what the user asked for."`
	Timeout        float64         `json:"timeout_seconds,omitempty" doc:"Seconds until it is canceled; absent, or longer than the setting confirmation_timeout: that."`
	Priority       *int            `json:"priority,omitempty" minimum:"0" maximum:"9" doc:"Higher rings first; absent: 5."`
	Confirmations  int             `json:"confirmations,omitempty" minimum:"0" maximum:"9" doc:"How many operators have to agree; the settings may ask for more."`
	Operators      []string        `json:"operators,omitempty" doc:"Who has to be among them, beside those of the settings."`
	Why            string          `json:"why,omitempty" doc:"Why there is a new plan."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" doc:"The same key gives the same plan again."`
}

// A Response is what an operator says to a plan (P2).
type Response struct {
	Action     human.PlanAction `json:"action" enum:"confirm,modify,cancel"`
	Tasks      []human.Task     `json:"modified_tasks,omitempty" doc:"Of modify: every task that is to run, in order. One without an id is new."`
	Moved      []string         `json:"moved,omitempty" doc:"Of modify: ids of the tasks that were taken hold of. Where two can be said to have moved, it is these."`
	Message    string           `json:"user_message,omitempty" doc:"Words for the agent; of modify without tasks: what to change."`
	TaskByTask bool             `json:"task_by_task,omitempty" doc:"Each task is confirmed by itself before it runs."`
	Digest     string           `json:"digest,omitempty" doc:"The operation's: what was drawn is what is answered."`
}

// A GivenResponse is a response with what it changed, who gave it and when.
type GivenResponse struct {
	SessionID  string             `json:"session_id"`
	Action     human.PlanAction   `json:"action" enum:"confirm,modify,cancel"`
	Tasks      []human.Task       `json:"modified_tasks,omitempty"`
	Message    string             `json:"user_message,omitempty"`
	TaskByTask bool               `json:"task_by_task,omitempty"`
	Changes    []human.TaskChange `json:"changes,omitempty"`
	By         string             `json:"by,omitempty"`
	At         time.Time          `json:"at"`
}

// A Status is how a plan stands, for its agent and for operators (P3).
type Status struct {
	SessionID   string              `json:"session_id"`
	OperationID human.OperationID   `json:"operation_id,omitempty" doc:"Absent where no operator was asked."`
	Version     uint64              `json:"version,omitempty"`
	Status      human.PlanStatus    `json:"status" enum:"pending,confirmed,modified,cancelled,timeout"`
	CreatedAt   time.Time           `json:"created_at"`
	ExpiresAt   *time.Time          `json:"expires_at,omitempty"`
	Response    *GivenResponse      `json:"user_response,omitempty"`
	Auto        string              `json:"auto,omitempty" enum:"off,safe" doc:"Why no operator was asked: confirming is off, or every task is safe and the settings let such plans pass."`
	Tasks       []human.Task        `json:"tasks" doc:"What may run, in order; empty where nothing may."`
	Summary     *human.TasksSummary `json:"tasks_summary,omitempty"`
	Question    string              `json:"question,omitempty" doc:"What an operator asks the agent; answer with POST /api/human/reply."`
	Votes       []VoteView          `json:"votes,omitempty" doc:"Who said what, where several have to agree."`
	Needs       int                 `json:"confirmations,omitempty" doc:"How many operators have to agree."`
	Run         *human.PlanRun      `json:"run,omitempty" doc:"How far it has come; once confirmed."`
	Message     string              `json:"message" doc:"What to do now, for the agent."`
	Unread      bool                `json:"-"` // it has ended, and its agent has not read that
}

// A VoteView is what one operator said to a plan that needs several.
type VoteView struct {
	By     string           `json:"by"`
	At     time.Time        `json:"at"`
	Action human.PlanAction `json:"action" enum:"confirm,modify,cancel"`
}

// A Standing is the answer to an agent that begins or ends a task.
type Standing struct {
	Go          bool              `json:"go" doc:"Of a task that is to begin: it has begun; do it as task says. False: do not."`
	Why         string            `json:"why,omitempty" enum:"paused,stopped,skipped,changed,begun,asking,refused,unknown" doc:"Why not."`
	Task        *human.Task       `json:"task,omitempty" doc:"The task as it stands, which an operator may have changed."`
	OperationID human.OperationID `json:"operation_id" doc:"The plan's."`
	Asking      human.OperationID `json:"asking,omitempty" doc:"The operation by which an operator is asked about this task."`
	Question    string            `json:"question,omitempty" doc:"What an operator asks the agent about this task; answer with POST /api/human/reply to asking."`
	Run         *human.PlanRun    `json:"run"`
	Message     string            `json:"message" doc:"What to do now, for the agent."`
}

// A Preset is a list of tasks to put into plans, or to begin a plan with.
type Preset struct {
	ID    string       `json:"preset_id,omitempty"`
	Name  string       `json:"name"`
	About string       `json:"about,omitempty" doc:"When to use it."`
	Tasks []human.Task `json:"tasks"`
	By    string       `json:"by,omitempty"`
	At    time.Time    `json:"at,omitzero"`
}

// A History is what was decided for plans like one (P9).
type History struct {
	Alike   []Past        `json:"alike" doc:"The most alike first, at most 8."`
	Counts  Outcomes      `json:"counts" doc:"Of all that are alike."`
	Usual   []UsualChange `json:"usual" doc:"What people changed in them, the most frequent first, at most 5."`
	Presets []Preset      `json:"presets" doc:"That fit, the best first."`
}

// A Past is an earlier plan.
type Past struct {
	OperationID human.OperationID  `json:"operation_id"`
	Description string             `json:"description"`
	AgentID     string             `json:"agent_id"`
	Status      human.PlanStatus   `json:"status" enum:"pending,confirmed,modified,sent_back,cancelled,timeout"`
	At          time.Time          `json:"at"`
	Alike       float64            `json:"alike" doc:"0 to 1."`
	Changes     []human.TaskChange `json:"changes"`
}

// Outcomes count plans by how they ended.
type Outcomes struct {
	Confirmed int `json:"confirmed"`
	Modified  int `json:"modified"`
	SentBack  int `json:"sent_back" doc:"With words that say what to change; nothing of them ran."`
	Cancelled int `json:"cancelled"`
	Timeout   int `json:"timeout"`
	Auto      int `json:"auto" doc:"Of confirmed: no operator was asked."`
}

// A UsualChange is a change that people made more than once, or in the plans most alike.
type UsualChange struct {
	Change human.ChangeKind `json:"change" enum:"added,removed,changed,moved"`
	Text   string           `json:"text" doc:"The task, or the field that was changed."`
	Times  int              `json:"times"`
	Task   *human.Task      `json:"task,omitempty" doc:"Of added: to put it into this plan, too."`
}

// Statistics of confirmations.
type Statistics struct {
	Days     int            `json:"days"`
	Plans    int            `json:"plans"`
	Outcomes Outcomes       `json:"outcomes"`
	Median   float64        `json:"median_seconds" doc:"From the request to the answer, of those that people answered."`
	P90      float64        `json:"p90_seconds"`
	Changes  []UsualChange  `json:"changes" doc:"What people change most, at most 8."`
	PerDay   []DayOutcomes  `json:"per_day" doc:"Oldest first; days without a plan are there, too."`
	Tools    []ToolDuration `json:"tools" doc:"How long tasks take by tool, the most frequent first, at most 12."`
}

// DayOutcomes are one day's, in UTC.
type DayOutcomes struct {
	Day string `json:"day" doc:"2006-01-02."`
	Outcomes
}

// A ToolDuration is how long tasks of one tool take.
type ToolDuration struct {
	Tool   string  `json:"tool"`
	Runs   int     `json:"runs"`
	Failed int     `json:"failed"`
	Median float64 `json:"median_seconds"`
}
