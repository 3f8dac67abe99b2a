// Package agent is Deskbell's reference agent: a tool-calling agent that asks for what it is not told (ToolAgent, M1 to
// M6), and over it an engine that reasons, plans, has its plan confirmed, carries it out, and plans anew when something
// fails or an operator changes the plan (Engine, P5). Every call of a tool passes the gatekeeper where there is one. The
// package declares here what it asks of models, tools, the gatekeeper, the queue and its journal, and does no I/O itself.
//
// The loop of thought, action and observation is that of S. Yao et al., "ReAct: Synergizing Reasoning and Acting in
// Language Models", ICLR 2023.
package agent

import (
	"context"
	"encoding/json"
	"time"

	"deskbell/backend/human"
)

// A Role says whose a turn is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolTurn  Role = "tool"
)

// A Turn is one turn of the conversation with a model.
type Turn struct {
	Role    Role       `json:"role"`
	Text    string     `json:"text,omitempty"`
	Calls   []ToolUse  `json:"calls,omitempty"`   // of the assistant
	Results []CallDone `json:"results,omitempty"` // of tools: one for each call of the turn before, in its order

	// Kept is the Kept of the reply that an assistant's turn was made of. Models that think before they call a tool return an
	// error for a turn with results that lacks what they thought.
	Kept json.RawMessage `json:"kept,omitempty"`
}

// A ToolUse is a call that the model asks for.
type ToolUse struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // an object; as the model wrote it, so perhaps no JSON
}

// A CallDone is what came of a call.
type CallDone struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// A ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments: an object
}

// A Prompt is what a model is asked.
type Prompt struct {
	System string
	Turns  []Turn
	Tools  []ToolSpec
	Tokens int // of the answer, at most; 0: the model's own limit
}

// A Reply is a model's whole answer.
type Reply struct {
	Text      string    `json:"text,omitempty"`
	Calls     []ToolUse `json:"calls,omitempty"`
	Cut       bool      `json:"cut,omitempty"` // by the limit of tokens
	Model     string    `json:"model,omitempty"`
	TokensIn  int       `json:"tokens_in"`
	TokensOut int       `json:"tokens_out"`

	// Kept is for the model alone: what it wants back in the turn that this reply becomes. It may be empty.
	Kept json.RawMessage `json:"kept,omitempty"`
}

// A Model answers. Implementations stream: tell is called with the text that has come so far, on the caller's goroutine.
// They try again by themselves what may work the second time. Errors are of package human, as prompt.Model has them;
// where ctx ends, the error is ctx's.
type Model interface {
	Name() string
	Chat(ctx context.Context, p Prompt, tell func(soFar string)) (Reply, error)
}

// A Category is a sort of tool (M5); an agent may use those of the categories that it declares.
type Category string

// The categories of the tools that come with Deskbell.
const (
	Shell  Category = "shell"
	Files  Category = "files"
	Web    Category = "web"
	Remote Category = "mcp"
	People Category = "people"
)

// A Tool does something. Run blocks until that is done or ctx ends. The model gets what it returns; an error says that
// the tool does not work at all, and the model gets it as a failed call, too.
type Tool interface {
	Spec() ToolSpec
	Category() Category
	Run(ctx context.Context, args json.RawMessage) (Output, error)
}

// An Output is what a tool returned.
type Output struct {
	Text   string
	Failed bool
}

// A Gatekeeper judges a call before it runs, and asks an operator where that is called for. It blocks until that is
// decided. An error means that the call must not run.
type Gatekeeper interface {
	Check(ctx context.Context, call human.ToolCall) (human.Judgement, error)
}

// Plans has a plan confirmed and follows its run. A nil Plans is confirming switched off: nothing is asked or written.
// All calls are made by one goroutine, and its functions are called back on it. An error that is not ctx's ends the run.
type Plans interface {
	// Confirm submits a plan and blocks until it is decided. asked is called with what an operator asks meanwhile, and
	// its answer is sent. started is called once the plan is in the queue, and not where it is decided at once. The same
	// Proposal.Key again joins the plan that there is: a resumed run asks again for what it had asked for.
	Confirm(ctx context.Context, p Proposal, started func(Confirmation), asked func(question string) string) (Confirmation, error)
	// Begin says that a task begins, and blocks while the plan is paused or an operator is asked about the task. A task
	// that is running already is this run's own, which was stopped before it could note that: Go.
	Begin(ctx context.Context, task string) (Standing, error)
	// End says how a task that began has ended, or that one that has not begun is given up (skipped). Of a task that has
	// ended already it says nothing more, and that is no error.
	End(ctx context.Context, p human.TaskProgress) (Standing, error)
	// Stopped says that the agent ends in the middle of a task, which it can continue with when it is resumed; why is for
	// people. GoesOn says that it does. Neither blocks for long, and where they cannot be told that changes nothing.
	Stopped(ctx context.Context, task, why string)
	GoesOn(ctx context.Context, task string)
}

// A Proposal is a plan to be confirmed.
type Proposal struct {
	Key     string       `json:"key"` // the same is the same plan; for the idempotency key
	Message string       `json:"message"`
	Tasks   []human.Task `json:"tasks"`           // each has an id
	Why     string       `json:"why,omitempty"`   // of a new plan: what became of the one before
	Calls   []string     `json:"calls,omitempty"` // the model proposed nothing: the calls it made, which the tasks are
}

// A Confirmation is how a plan was decided.
type Confirmation struct {
	OperationID human.OperationID   `json:"operation_id,omitempty"`
	Status      human.PlanStatus    `json:"status"`
	Tasks       []human.Task        `json:"tasks"` // that may run, in order
	Message     string              `json:"message,omitempty"`
	Changes     []human.TaskChange  `json:"changes,omitempty"`
	Summary     *human.TasksSummary `json:"tasks_summary,omitempty"`
	ExpiresAt   *time.Time          `json:"expires_at,omitempty"`
	Auto        string              `json:"auto,omitempty"`
}

// A Standing is whether a task may run, and how the plan stands then.
type Standing struct {
	Go      bool
	Why     string          // a value of plan.Standing.Why
	Task    human.Task      // of Go: as it is to be done
	Tasks   []human.TaskRun // the whole plan as it is now
	Message string
}

// An Asker has people answer questions. Ask blocks; asked is called, on the same goroutine, with what an operator asks
// back (M6), and its answer is sent. The same question again, while its answer was not delivered, rings no one twice.
type Asker interface {
	Ask(ctx context.Context, question string, asked func(question string) string) (answer string, err error)
}

// A Journal keeps a run, so that it can continue after a crash. What Append returned from is durable. Where it fails the run
// stops there: no call runs that is not in the journal.
type Journal interface {
	Append(ctx context.Context, r Record) error
}

// A Record is one line of a run's journal. Which of the others are set follows from Kind. Readers that only show a run
// need the kinds run, update and end.
type Record struct {
	Kind     RecordKind          `json:"kind"`
	At       time.Time           `json:"at"`
	Run      *RunInfo            `json:"run,omitempty"` // of resume: as it goes on
	Update   *Update             `json:"update,omitempty"`
	Turn     *Turn               `json:"turn,omitempty"`
	Proposal *Proposal           `json:"proposal,omitempty"`
	Plan     *Confirmation       `json:"plan,omitempty"`
	Task     string              `json:"task,omitempty"`     // that the record is about
	Doing    *human.Task         `json:"doing,omitempty"`    // of a task that begins: as it is to be done
	Progress *human.TaskProgress `json:"progress,omitempty"` // how a task ended, or is about to be reported
	Tasks    []human.TaskRun     `json:"tasks,omitempty"`    // of change: the whole plan as it is now
	Text     string              `json:"text,omitempty"`     // words that go with it
	Key      string              `json:"key,omitempty"`      // of answer: the sender's name for the message
	Use      *ToolUse            `json:"use,omitempty"`      // a call that is about to run
	Done     *CallDone           `json:"done,omitempty"`     // what came of it
	Outcome  string              `json:"outcome,omitempty"`  // of done and finish: how it ended
	Spent    *Spent              `json:"spent,omitempty"`    // so far
	Result   *Result             `json:"result,omitempty"`
	Cut      *Cut                `json:"cut,omitempty"`
	Masked   bool                `json:"masked,omitempty"` // secrets were taken out, so nothing of it may run again
}

// RecordKind is what a line of a journal is about.
type RecordKind string

// The kinds of records.
const (
	RunRecord      RecordKind = "run"      // Run: the first
	UpdateRecord   RecordKind = "update"   // Update: what was told
	TurnRecord     RecordKind = "turn"     // Turn, Spent: of the conversation with the model
	AsideRecord    RecordKind = "aside"    // Turn, Text, Spent: of what an operator asked back, and the model's answer
	CutRecord      RecordKind = "cut"      // Cut, Spent: the conversation was made shorter
	ProposalRecord RecordKind = "proposal" // Proposal: is about to be submitted
	PlanRecord     RecordKind = "plan"     // Plan: how it was decided
	TaskRecord     RecordKind = "task"     // Task, and Doing as it begins or Progress as it ended
	ChangeRecord   RecordKind = "change"   // Tasks, Text: an operator changed the plan while it ran
	UseRecord      RecordKind = "use"      // Use, Task: before a call
	DoneRecord     RecordKind = "done"     // Done, Outcome, Task, Spent: after it, or where it did not run
	FinishRecord   RecordKind = "finish"   // Done, Text, Outcome: the model says that the run is done or failed
	AnswerRecord   RecordKind = "answer"   // Text, Key, Spent: a message was answered, with this Status
	EndRecord      RecordKind = "end"      // Result
	ResumeRecord   RecordKind = "resume"   // Run: a run that was broken off, or has ended and is not over, continues
)

// An Ending is why a run ended, or a conversation stands where it does.
type Ending string

// The endings. A run whose ending is done or denied cannot be resumed.
const (
	EndDone        Ending = "done"
	EndFailed      Ending = "failed"      // the task could not be done
	EndNeedsInput  Ending = "needs_input" // it asks, and there is no one who can be asked
	EndDenied      Ending = "denied"      // an operator ended it, or its plan was not confirmed in time
	EndInterrupted Ending = "interrupted" // by a signal or a limit, or because the model or Deskbell did not answer
)

// Over says whether what ended like this cannot be resumed.
func (e Ending) Over() bool { return e == EndDone || e == EndDenied }

// A Result is how a run ended.
type Result struct {
	RunID   string          `json:"run_id"`
	Ending  Ending          `json:"ending" enum:"done,failed,needs_input,denied,interrupted"`
	Status  Status          `json:"status" enum:"completed,failed,waiting_input"`
	Message string          `json:"message" doc:"For people: what came of it; of a failed run why, and how far it came."`
	Prompt  string          `json:"prompt,omitempty" doc:"Of waiting_input: what the agent asks."`
	Tasks   []human.TaskRun `json:"tasks,omitempty" doc:"Of the last plan."`
	Spent   Spent           `json:"spent"`
	Over    bool            `json:"over,omitempty" doc:"It cannot be resumed: it is completed, or an operator ended it."`
}

// A RunInfo is what a run was begun with, and the first record of its journal. The model and the limits are those it
// continued with last.
type RunInfo struct {
	ID     string    `json:"run_id" doc:"Also the session's, of its plans and questions."`
	Agent  string    `json:"agent"`
	Task   string    `json:"task" doc:"What it was told to do."`
	Cwd    string    `json:"cwd,omitempty"`
	By     string    `json:"by,omitempty" doc:"Of a conversation: the agent that began it; absent: a person."`
	Model  string    `json:"model,omitempty"`
	At     time.Time `json:"at"`
	Limits *Limits   `json:"limits,omitempty" doc:"Absent: not known, of a run of an earlier version."`
}

// Spent is what a run has used.
type Spent struct {
	Steps     int           `json:"steps" doc:"Calls of tools that ran."`
	TokensIn  int           `json:"tokens_in"`
	TokensOut int           `json:"tokens_out"`
	Time      time.Duration `json:"time_ns" doc:"Nanoseconds, of models and tools; waiting for people is not counted."`
	Money     float64       `json:"money,omitempty" doc:"In the currency of the prices."`
}

// Limits end a run that goes too far; zero fields are no limit.
type Limits struct {
	Steps  int           `json:"steps,omitempty" doc:"Calls of tools."`
	Tokens int           `json:"tokens,omitempty" doc:"In and out."`
	Time   time.Duration `json:"time_ns,omitempty" doc:"Nanoseconds, of models and tools."`
	Money  float64       `json:"money,omitempty" doc:"In the currency of the prices."`
	In     float64       `json:"price_in,omitempty" doc:"Of a million tokens of input."`
	Out    float64       `json:"price_out,omitempty" doc:"Of a million tokens of output."`

	Currency string `json:"currency,omitempty" doc:"Of the prices, ISO 4217; absent: not known."`
	Plans    int    `json:"plans,omitempty" doc:"How often it may plan anew."`

	// Context ends nothing: of a longer conversation the model is sent a part.
	Context int `json:"context,omitempty" doc:"Tokens of the conversation that the model is sent at once."`
}

// A State is where the engine is (P5).
type State string

// The states.
const (
	Idle                 State = "idle"
	Reasoning            State = "reasoning"
	Planning             State = "planning"
	AwaitingConfirmation State = "awaiting_confirmation"
	Executing            State = "executing"
	Evaluating           State = "evaluating"
	Replanning           State = "replanning"
	Completed            State = "completed"
	Failed               State = "failed"
)

// UpdateType is what an update is about (P5).
type UpdateType string

// The types of updates.
const (
	StatusUpdate           UpdateType = "status_update"
	ConfirmationRequest    UpdateType = "confirmation_request"
	TaskPlan               UpdateType = "task_plan"
	TaskInit               UpdateType = "task_init"
	SubTaskResult          UpdateType = "sub_task_result"
	ConfirmationTimeout    UpdateType = "confirmation_timeout"
	ConfirmationError      UpdateType = "confirmation_error"
	ConversationalResponse UpdateType = "conversational_response"
	FinalResult            UpdateType = "final_result"
	ErrorUpdate            UpdateType = "error"
	UserMessage            UpdateType = "user_message" // of a conversation
)

// An Update is one thing that a run tells about itself.
type Update struct {
	Type      UpdateType `json:"type" enum:"status_update,confirmation_request,task_plan,task_init,sub_task_result,confirmation_timeout,confirmation_error,conversational_response,final_result,error,user_message"`
	At        time.Time  `json:"at"`
	SessionID string     `json:"session_id"`
	State     State      `json:"state" enum:"idle,reasoning,planning,awaiting_confirmation,executing,evaluating,replanning,completed,failed"`
	Content   string     `json:"content" doc:"For people."`

	Said []human.Sentence `json:"said,omitempty" doc:"The sentences of content that are Deskbell's, in order, for clients that say them in another language."`

	Plan    *Confirmation `json:"plan,omitempty" doc:"Of confirmation_request and task_plan."`
	TaskID  string        `json:"task_id,omitempty"`
	Tool    string        `json:"tool,omitempty"`
	Call    string        `json:"call,omitempty" doc:"What the tool is called with, in a line."`
	Outcome string        `json:"outcome,omitempty" enum:"done,failed,refused,skipped,asks"`
	Spent   *Spent        `json:"spent,omitempty"`
}
