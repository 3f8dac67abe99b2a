package agent

import (
	"slices"
	"time"

	"deskbell/backend/human"
)

// About is what an agent says of itself (M5).
type About struct {
	Name         string
	Description  string
	Capabilities []string
	Categories   []Category // of the tools that it may use
	System       string     // what the model gets beside all that, in its declarer's words
}

// Deps are the parts an agent stands on. Model, Now and NewID are required; the rest may stay zero.
type Deps struct {
	Model Model
	Tools []Tool
	Gate  Gatekeeper // judges each call; nil: none is judged
	Judge Judge      // of asking; nil: StructuredJudge

	Limits Limits // of a run; of a ToolAgent, of one message, where Plans does not count
	Cwd    string // the folder that tools run in; absolute. The model and the gatekeeper get it.
	Output int    // characters of what a tool returned that the model is given, at most; 0: 20,000

	Now   func() time.Time
	NewID func(prefix string) string // unique, and not to be guessed

	// Both are called on the caller's goroutine.
	Tell func(soFar string) // what the model says, as it comes
	Emit func(Update)       // in order, after the journal has it

	Mask func(text string) (string, bool) // hides secrets in updates and in the journal, and says whether it hid any

	// Of a ToolAgent.
	TTL      time.Duration // how long a session without a message is kept; 0: 30 minutes
	Store    Sessions      // nil: in memory
	Sessions int           // that are kept in memory at the same time; the one unused for longest goes first; 0: 1,000

	// Of an Engine.
	About   About // where it has no categories, all tools may be used
	Plans   Plans // nil: confirming is switched off
	Asker   Asker // nil: a run that has to ask ends as waiting_input
	Journal Journal
}

// Status is how a conversation with a ToolAgent, or a run of an Engine, ended (M2).
type Status string

// The statuses.
const (
	Success      Status = "success"       // the first message of a session was answered
	WaitingInput Status = "waiting_input" // it asks; the next message continues from here
	Done         Status = "completed"     // a later one was; or a run that is done
	NotDone      Status = "failed"
	Working      Status = "working" // the answer is not there yet; the same message again waits for it
)

// A Response is what a ToolAgent makes of a message (M2).
type Response struct {
	Agent     string       `json:"agent"`
	Status    Status       `json:"status" enum:"success,waiting_input,completed,failed,working"`
	Query     string       `json:"query"`
	Message   string       `json:"message" doc:"For the user."`
	Prompt    string       `json:"prompt,omitempty" doc:"Of waiting_input: what it asks."`
	SessionID string       `json:"session_id" doc:"Send the next message with it."`
	Data      ResponseData `json:"data"`
}

// ResponseData is what a Response holds beside its words.
type ResponseData struct {
	History []Turn `json:"conversation_history"`
}

// A Judge tells asking from answering (M3). Implementations are safe for concurrent use and do no I/O.
type Judge interface {
	// Tool is what the model is offered to ask with; nil where only its words are judged.
	Tool() *ToolSpec
	// Asks returns what a reply asks its user, and whether it asks at all. worked says that tools ran since the user last
	// said something: what follows then is more likely to be an answer.
	Asks(r Reply, worked bool) (question string, asks bool)
}

// has says whether the agent may use tools of a category.
func (a About) has(c Category) bool { return slices.Contains(a.Categories, c) }

// requires says, as an Internal error, which part is missing.
func (d Deps) requires() error {
	if d.Model == nil || d.Now == nil || d.NewID == nil {
		return human.Errorf(human.Internal, "an agent needs a model, a clock and a source of ids")
	}
	return nil
}
