// Package service is the gatekeeper at work: it takes calls of tools before they run, has them judged, asks the operator
// in the queue where that is called for, does what the operator chose, and keeps the log that trust is made of. It
// declares here what it asks of the queue, of storage and of the machine.
package service

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// Queue is what the gatekeeper asks of the queue. Errors are of package human.
type Queue interface {
	// Submit asks an operator; the same idempotency key again joins the question that exists. decided is nil.
	Submit(ctx context.Context, r human.Request, decided *human.Answer) (op human.Operation, created bool, err error)
	// Get returns the operation as by sees it; NotFound without.
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	// WaitFor blocks until enough says so of the operation, or ctx ends, and returns it as it then stands.
	WaitFor(ctx context.Context, by human.Actor, id human.OperationID, enough func(human.Operation) bool) (human.Operation, error)
	// Complete answers it.
	Complete(ctx context.Context, by human.Actor, id human.OperationID, answer human.Answer, digest string) (human.Operation, error)
	// Cancel withdraws a question in the name of its agent.
	Cancel(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error)
	// MarkDelivered notes that the agent has the end of it.
	MarkDelivered(ctx context.Context, by human.Actor, id human.OperationID) error
	// Deserted says whether no one has waited for it for so long.
	Deserted(id human.OperationID, since time.Duration) bool
	// Head is the seq of the last event; Follow yields every event after one, as it is committed, until ctx ends.
	Head(ctx context.Context) (uint64, error)
	Follow(ctx context.Context, by human.Actor, after uint64) iter.Seq2[human.Entry, error]
	// OpenOf returns the open operations of a kind.
	OpenOf(ctx context.Context, of human.Kind) ([]human.Operation, error)
}

// Store keeps the log and the operators' rules. Safe for concurrent use; what it returns from is durable.
type Store interface {
	// PutDecision adds a line to the log; files that the call makes, where it may run, are remembered as its session's.
	PutDecision(ctx context.Context, d Decision, made []string) error
	// EndDecision writes down how the decision of a question ended: all of it but what identifies it is replaced.
	EndDecision(ctx context.Context, d Decision, made []string) error
	// DecisionOf returns the decision of a question; NotFound without.
	DecisionOf(ctx context.Context, id human.OperationID) (Decision, error)
	// Decisions returns a page of the log, newest first.
	Decisions(ctx context.Context, f LogFilter) (LogPage, error)
	// Waiting returns the decisions whose question has no end yet.
	Waiting(ctx context.Context) ([]Decision, error)
	// Answered returns every decision since a time that an operator answered, oldest first.
	Answered(ctx context.Context, since time.Time) ([]Decision, error)
	// Asked gives each every decision that was a question, the oldest first. each must not call the store.
	Asked(ctx context.Context, each func(Decision)) error
	// Ruled gives each what was let through from one time to another, where a rule of one's own took part; and it may give some others.
	// each must not call the store.
	Ruled(ctx context.Context, from, to time.Time, each func(Decision)) error
	// Projects returns the roots in which calls were judged, the latest first.
	Projects(ctx context.Context, most int) ([]string, error)
	// Made says whether a session made the file at an absolute path.
	Made(ctx context.Context, session, path string) (bool, error)
	// Count says how many decisions of each kind there were since a time.
	Count(ctx context.Context, since time.Time) (Counts, error)

	// Rules returns the operators' rules.
	Rules(ctx context.Context) ([]human.GateRule, error)
	// Uses says how often each rule was used, by its id: those of operators and of files.
	Uses(ctx context.Context) (map[string]Use, error)
	PutRule(ctx context.Context, r human.GateRule) error
	// DropRule takes one away; NotFound without.
	DropRule(ctx context.Context, id string) error
	// Tools returns what is known of MCP servers' tools, in the order in which it became known.
	Tools(ctx context.Context) ([]ToolKnown, error)
	PutTool(ctx context.Context, t ToolKnown) error
	// Dismissed are the keys of proposals that operators do not want to see again.
	Dismissed(ctx context.Context) ([]string, error)
	Dismiss(ctx context.Context, key string) error
}

// Facts is the evidence about where one call would run: lazy, and bounded in time.
type Facts interface {
	gate.Evidence
	gate.Recorder
	// Judged returns the files that the verdict rests on, each with all of its text where that is short, as it was when it
	// was read for the verdict.
	Judged() []human.JudgedFile
	// FileCounts says what there is at an absolute path.
	FileCounts(abs string) human.FileCounts
	Project() human.ProjectInfo
}

// Files makes copies, and tells what a call would change.
type Files interface {
	// Backup copies what the effects of a call would remove, checks the copies against the originals byte for byte, and
	// says where they are. An error means that there is no copy, and that the call must not run. It blocks.
	Backup(ctx context.Context, call gate.Call, v human.Verdict) (human.Backup, error)
	// Difference says what the call would change, for people.
	Difference(ctx context.Context, call gate.Call, v human.Verdict) (Difference, error)
	// PutBack writes a file as it was shown before, where it is still as the operator sees it now: a Conflict error else.
	PutBack(f ShownFile) error
}

// Model judges what is ambiguous. It never sees what tools put out.
type Model interface {
	// Name is the model's, for people.
	Name() string
	// Ask sends a text and returns the reply, JSON of a schema (not checked). It blocks, for the time that ctx has at most.
	Ask(ctx context.Context, system, user string, schema json.RawMessage) (string, error)
}

// A File is gate.toml as it is read now.
type File struct {
	Path    string
	Rules   *rules.Set
	Config  rules.Config
	Problem string // why what is written there does not count; then the stricter of the last good one and the default does
}

// Deps are the parts a Service stands on. Model may be nil.
type Deps struct {
	Queue Queue
	Store Store
	File  func() File // asked again each time
	// Project returns the rules with those of the project's own file, where it has one.
	Project func(File, string) *rules.Set
	// SetPolicy writes the policy into gate.toml.
	SetPolicy func(gate.Policy) error
	// Root finds the root of the working tree that a folder is in; the folder itself without one. It starts no process.
	Root func(cwd string) string
	// Facts returns the evidence for one call; made says which files its session made.
	Facts func(ctx context.Context, call gate.Call, made func(abs string) bool) Facts
	Files Files
	Model Model
	// Boxes are where calls can run instead. Without Command there are none, and none are spoken of.
	Boxes Boxes
	// Client finds the program that asks through a process and its parent, or is the process; Alive says whether it still
	// runs. Both may be nil.
	Client func(process, parent int) (human.ProcessID, bool)
	Alive  func(human.ProcessID) bool
	// Mask returns what hides secrets in texts that are made of parts of a whole, were they cut.
	Mask func(whole string) func(text string) string
	// ProjectFile is the project's own file of rules, from the root of its working tree.
	ProjectFile string
	Guard       string // Deskbell's own folder, which no call may change
	Operator    human.Actor
	Now         func() time.Time
	NewID       func(prefix string) string
	Log         *slog.Logger
}

// A Difference is what a call would change, for people.
type Difference struct {
	Files []FileDifference `json:"files"`
	More  int              `json:"more,omitempty" doc:"How many more files there are than those listed."`
	Text  string           `json:"text,omitempty" doc:"What there is to say beside it."`
}

// A FileDifference is what happens to one file.
type FileDifference struct {
	Path string `json:"path"`
	What string `json:"what" enum:"added,changed,deleted,moved"`
	Diff string `json:"diff,omitempty" doc:"Unified; secrets are masked."`
	human.FileCounts
}

// A Decision is a line of the log.
type Decision struct {
	ID          string             `json:"decision_id"`
	At          time.Time          `json:"at"`
	Agent       string             `json:"agent_id"`
	Session     string             `json:"session_id,omitempty"`
	Client      string             `json:"client,omitempty"`
	Project     string             `json:"project,omitempty" doc:"The root of the working tree."`
	Cwd         string             `json:"cwd,omitempty"`
	Tool        string             `json:"tool"`
	Call        string             `json:"call" doc:"The command, or the arguments, in a line; secrets are masked."`
	Words       string             `json:"words" doc:"The most severe effect in a sentence."`
	Decision    human.Ruling       `json:"decision" enum:"allow,ask,deny"`
	Risk        human.Risk         `json:"risk" enum:"none,low,medium,high,critical"`
	HardLimit   bool               `json:"floor,omitempty"`
	Rule        string             `json:"rule_id" doc:"The one that counted most."`
	Rules       []string           `json:"rule_ids"`
	Verbs       []human.EffectVerb `json:"verbs" doc:"Of the effects that do more than look."`
	Digest      string             `json:"digest"`
	Micros      int64              `json:"micros" doc:"How long judging took, in microseconds."`
	OperationID human.OperationID  `json:"operation_id,omitempty"`
	Outcome     Outcome            `json:"outcome,omitempty" enum:"allowed,refused,expired,withdrawn,waiting" doc:"Of what was asked."`
	Choice      human.ChoiceAction `json:"choice,omitempty" enum:"allow,deny,backup,difference,instead,change,box"`
	By          string             `json:"by,omitempty"`
	AnsweredAt  *time.Time         `json:"answered_at,omitempty"`
	ReadFor     float64            `json:"read_for,omitempty" doc:"Seconds between the question being seen and the answer."`
	Reason      string             `json:"reason,omitempty" doc:"The operator's own words."`
	Because     []human.Because    `json:"because,omitempty"`
	Effects     []human.Effect     `json:"effects,omitempty" doc:"The most severe, at most 20; secrets are masked."`

	Args  json.RawMessage `json:"args,omitempty" doc:"The call's arguments, secrets masked; absent where they are long."`
	Makes []string        `json:"makes,omitempty" doc:"Files that were not there before it."`
}

// Asking is how an operator is asked.
type Asking struct {
	Question human.OperationID // continue waiting for this one's answer
	Wait     time.Duration     // for an answer, now
	Timeout  time.Duration     // that the client can wait in all; at most, and with 0, it is Config.Timeout

	// Process is the number of the process that asks, on this machine; 0 where it is not known. Parent is that of its parent,
	// where that asks through it and nothing else: when the connection breaks, or the parent ends, no one waits.
	Process, Parent int

	client *human.ProcessID // found out already
}

// Outcome is how a question ended.
type Outcome string

// The outcomes.
const (
	Allowed   Outcome = "allowed"
	Refused   Outcome = "refused"
	Expired   Outcome = "expired"
	Withdrawn Outcome = "withdrawn"
	Waiting   Outcome = "waiting"
)

// A LogFilter selects lines of the log; zero fields select all.
type LogFilter struct {
	Decision human.Ruling
	Project  string
	Agent    string
	Text     string // is in the call
	Since    time.Time
	Limit    int    // 1 to 500; 0 is 50
	Cursor   string // LogPage.Next of the page before
}

// A LogPage is a part of the log.
type LogPage struct {
	Decisions []Decision `json:"decisions"`
	Next      string     `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// A ToolKnown is what an MCP server said of a tool when an agent first called it, or when an operator allowed a call of it.
type ToolKnown struct {
	Agent, Tool string
	At          time.Time
	Definition  string // see gate.Definition
}

// Use is how often a rule was used, and when last.
type Use struct {
	Times int
	Last  time.Time
}

// Counts are of decisions.
type Counts struct {
	Allowed int `json:"allowed"`
	Asked   int `json:"asked"`
	Refused int `json:"refused"`
}

// A State is how the gatekeeper stands.
type State struct {
	Policy   gate.Policy `json:"policy" enum:"permissive,balanced,strict"`
	File     string      `json:"file" doc:"Where gate.toml is, or would be."`
	Problem  string      `json:"problem,omitempty" doc:"Why what gate.toml says does not count."`
	Model    string      `json:"model,omitempty" doc:"Which model is asked about what is ambiguous; absent: none."`
	Today    Counts      `json:"today"`
	Rules    RuleCounts  `json:"rules"`
	Projects []string    `json:"projects" doc:"Roots of the working trees in which calls were judged, the latest first."`
}

// RuleCounts say how many rules there are.
type RuleCounts struct {
	Operator int `json:"operator"`
	File     int `json:"file"`
}

// A TrustReport is how trust moved.
type TrustReport struct {
	Operator string      `json:"operator"`
	Project  string      `json:"project"`
	From     time.Time   `json:"from"`
	To       time.Time   `json:"to"`
	Initial  float64     `json:"initial"`
	High     float64     `json:"high" doc:"Over it, low risk needs no confirmation."`
	Low      float64     `json:"low" doc:"Under it, everything does."`
	Lines    []TrustLine `json:"lines" doc:"One for each kind of effect that was answered for."`
}

// A TrustLine is the trust in one kind of effect.
type TrustLine struct {
	Verb   human.EffectVerb `json:"verb"`
	Points []TrustPoint     `json:"points" doc:"In order; the last is that of now."`
}

// A TrustPoint is trust at a time.
type TrustPoint struct {
	At     time.Time `json:"at"`
	Value  float64   `json:"value"`
	Before float64   `json:"before" doc:"Just before the answer; the value where there is none."`
	Why    string    `json:"why,omitempty" enum:"allowed,refused,too_fast,bulk,floor" doc:"What the answer at that time counted as; absent: only time passed."`
}

// A RulePreview says what a rule would have matched.
type RulePreview struct {
	Rule    human.GateRule   `json:"rule"`
	Days    int              `json:"days"`
	Total   int              `json:"total"`
	Refused int              `json:"refused" doc:"How many of them an operator denied."`
	Calls   []PastCall       `json:"calls" doc:"The most frequent first, at most 20."`
	LeftOut []human.Sentence `json:"left_out,omitempty" doc:"What of the call no rule may cover, and why."`
}

// A PastCall is a call that was made before, as often as it was.
type PastCall struct {
	Call    string    `json:"call"`
	Times   int       `json:"times"`
	Outcome Outcome   `json:"outcome" enum:"allowed,refused,expired,withdrawn,waiting"`
	Last    time.Time `json:"last"`
}

// A Proposal is a rule that the operator's own answers suggest.
type Proposal struct {
	Key       string         `json:"key"`
	Rule      human.GateRule `json:"rule"`
	Times     int            `json:"times" doc:"How often it was allowed, every time it was asked."`
	LeastRead float64        `json:"least_read" doc:"Seconds that the fastest of the answers took."`
}

// An AnswerRequest is an operator's answer to a question of the gatekeeper.
type AnswerRequest struct {
	Choice human.ChoiceAction `json:"choice" enum:"allow,deny,backup,instead,change,box"`
	Reason string             `json:"reason,omitempty" doc:"Words for the agent."`
	Digest string             `json:"digest" doc:"The operation's: what was drawn is what is answered."`
	Typed  string             `json:"typed,omitempty" doc:"What was typed where the verdict's form is input."`
	Check  human.EffectVerb   `json:"check,omitempty" doc:"The answer to the question's check, where it has one."`
	Args   json.RawMessage    `json:"args,omitempty" doc:"Of change: the arguments that it may run with."`
	Rule   *human.GateRule    `json:"rule,omitempty" doc:"Of allow and deny: a rule to make with the answer."`
}

// A QuestionView is a question as its operator sees it.
type QuestionView struct {
	human.Question
	Standing *RulePreview `json:"standing,omitempty" doc:"The rule that 'always allow' would make; absent where none may be made."`
	Box      *BoxState    `json:"box,omitempty" doc:"Whether the call can run in a box instead; absent where no box has to do with it."`
	PutBack  bool         `json:"put_back,omitempty" doc:"The files that changed since you were asked can be put back as you were shown them."`
}

// A Trial is what would be decided about a call. Nothing is run, logged or asked.
type Trial struct {
	Verdict human.Verdict     `json:"verdict"`
	Micros  int64             `json:"micros"`
	Policy  gate.Policy       `json:"policy" enum:"permissive,balanced,strict" doc:"It was judged by, after what the project's importance and its own file change."`
	Agent   string            `json:"agent" doc:"It was judged as a call of."`
	Project string            `json:"project,omitempty" doc:"The root of the working tree it was judged in."`
	Parts   []*rules.CallPart `json:"parts" doc:"What runs what, and what is decided about each part."`
}
