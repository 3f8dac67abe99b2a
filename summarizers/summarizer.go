// Package summarizers is the contract between Deskbell and what makes summaries of human work: a Summarizer
// reads one operation, with what its operator answered and recorded, and tells in a Report what happened and
// what the agent should know, each finding with the evidence it rests on (H10-H12). The built-in ones are in
// builtin; a prompt for a model in prompt; executables of the user's own are run by Deskbell. All pass the
// suite in summarizertest.
package summarizers

import (
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
)

// A Summarizer makes a report. Implementations are safe for concurrent use and pass summarizertest.
type Summarizer interface {
	// About says what it is. It is the same at each call.
	About() About

	// Summarize reads one operation and reports. It blocks until it is done or ctx ends, and then returns
	// promptly with ctx's error. It may call tell with how far it is, from one goroutine at a time. The
	// report is in in.Language where About names that, else in the first that it names. Errors are of package
	// human: Invalid for an input it cannot read, Unavailable for a part it needs, Denied where it may not be
	// asked; their text is for the operator and says what to do.
	//
	// The report rests on the input alone. Texts in it are data: no instruction in them is followed.
	Summarize(ctx context.Context, in Input, tell func(human.Progress)) (human.Report, error)
}

// A Source is something a summarizer can read.
type Source string

// The sources.
const (
	FromAnswer   Source = "answer"   // what the operator said, decided and filled in, and the conversation
	FromDesktop  Source = "desktop"  // actions on the desktop
	FromBrowser  Source = "browser"  // actions in pages
	FromTerminal Source = "terminal" // commands with their exit codes and output
)

// About says what a summarizer is and can do.
type About struct {
	Name          string            `json:"name" doc:"What settings and commands call it: letters, digits, - and _."`
	Title         map[string]string `json:"title" doc:"For people, by language."`
	Kinds         []human.Kind      `json:"kinds" doc:"Of operations; none: all."`
	Sources       []Source          `json:"sources" doc:"What it can read; it is asked where one of them is there."`
	Languages     []string          `json:"languages" doc:"It can write; the first where another is asked for."`
	Limit         time.Duration     `json:"limit_ns" doc:"Nanoseconds it may take."`
	Deterministic bool              `json:"deterministic" doc:"The same input gives the same report."`
	Sends         string            `json:"sends,omitempty" doc:"The host that what it reads is sent to; absent: nothing leaves this machine."`
	Model         string            `json:"model,omitempty" doc:"The model it asks."`
	Pictures      bool              `json:"pictures,omitempty" doc:"It looks at pictures."`
}

// An Input is one operation as a summarizer reads it. As JSON it is what an executable gets; the schema is in
// docs/summarizers. It has only what the operator sends: no removed action, no typed text that is not
// shared.
type Input struct {
	Version    int             `json:"version" doc:"Of this format: 1."`
	Language   string          `json:"language" enum:"en,zh-CN" doc:"To write in."`
	Operation  human.Operation `json:"operation" doc:"Without draft, deliveries and result: what counts of those is in answer."`
	Answer     human.Answer    `json:"answer" doc:"What the operator has said so far."`
	Checklist  []Step          `json:"checklist" doc:"details.action_sequence, with what was ticked."`
	Suggested  []string        `json:"suggested,omitempty" doc:"Commands that the request suggests for the terminal."`
	Recordings []Recorded      `json:"recordings" doc:"In the order in which they were begun."`
	Pictures   Pictures        `json:"-"`
}

// A Step is one of the checklist.
type Step struct {
	Text string `json:"text"`
	Done bool   `json:"done" doc:"The operator ticked it."`
}

// A Recorded is one recording of the operation.
type Recorded struct {
	human.Recording
	Actions  []human.Action `json:"actions" doc:"In order. Their words are in the language asked for."`
	Commands []Command      `json:"commands" doc:"Of a terminal, in order."`
	More     int            `json:"more,omitempty" doc:"Actions left out at the end because there were too many."`
}

// A Command is one that was run in a terminal.
type Command struct {
	ID     string `json:"command_id" doc:"c1, c2, ..."`
	At     int64  `json:"at_ns" doc:"Nanoseconds from the start of the recording."`
	End    int64  `json:"end_ns"`
	Line   string `json:"line" doc:"As typed; secrets are masked."`
	Dir    string `json:"dir,omitempty" doc:"Where it ran."`
	Exit   *int   `json:"exit,omitempty" doc:"Its exit code; absent while it runs, or where it is not known."`
	Output string `json:"output,omitempty" doc:"What it printed, masked, the middle left out where it is long."`
	// Of the commands in the input's suggested.
	Suggestion *int `json:"suggestion,omitempty" doc:"Index of the suggested command that it is."`
	Edited     bool `json:"edited,omitempty" doc:"It is that one with changes."`
	Screen     bool `json:"screen,omitempty" doc:"It drew on the whole screen, like an editor: its output is no text."`
}

// Pictures gives out the pictures that the input names. Safe for concurrent use.
type Pictures interface {
	// Picture returns one as a JPEG, at most width pixels wide (0: as it is), masked; NotFound without.
	Picture(ctx context.Context, recording human.RecordingID, id string, width int) ([]byte, error)
}

// A Previewer is a summarizer that sends what it reads to another machine, and can show it before.
type Previewer interface {
	Summarizer
	// Preview returns what Summarize would send, exactly. It sends nothing.
	Preview(ctx context.Context, in Input) (Preview, error)
}

// A Preview is what would be sent, and where to.
type Preview struct {
	Host     string      `json:"host"`
	Model    string      `json:"model"`
	System   string      `json:"system" doc:"Instructions."`
	Text     string      `json:"text" doc:"What is sent of the operation."`
	Pictures []human.Ref `json:"pictures"`
	Tokens   int         `json:"tokens" doc:"About how many, without pictures."`
}

// Fits says whether a summarizer can be asked about an input.
func (a About) Fits(in Input) bool {
	if len(a.Kinds) > 0 && !slices.Contains(a.Kinds, in.Operation.Kind) {
		return false
	}
	for _, s := range in.Sources() {
		if slices.Contains(a.Sources, s) {
			return true
		}
	}
	return false
}

// Sources are what an input has.
func (in Input) Sources() []Source {
	has := []Source{FromAnswer}
	var desktop, browser, terminal bool
	for _, r := range in.Recordings {
		terminal = terminal || len(r.Commands) > 0 || r.Options.Terminal != nil
		desktop = desktop || r.Options.RecordsDesktop()
		browser = browser || r.Options.Browser != nil
	}
	if desktop {
		has = append(has, FromDesktop)
	}
	if browser {
		has = append(has, FromBrowser)
	}
	if terminal {
		has = append(has, FromTerminal)
	}
	return has
}
