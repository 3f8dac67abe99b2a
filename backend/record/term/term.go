// Package term is the terminal that an operator works in on an operation: a shell of this machine on a pseudo-terminal, which
// lives while the operation is claimed, and the recording of what was run in it. The shell's integration tells commands, exit
// codes and folders apart; what is secret is hidden before anything is stored. It knows nothing of HTTP, of how a system makes
// a pseudo-terminal, or of how the gatekeeper judges.
package term

import (
	"context"
	"io"
	"log/slog"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A PTY is a program on a pseudo-terminal. Its methods are safe for concurrent use.
type PTY interface {
	io.ReadWriter // Read blocks, and fails once the program has ended and all was read
	Resize(cols, rows int) error
	// Echo says whether the terminal shows what is typed. A program that asks for a password switches that off while it takes
	// whole lines; shells and editors take single keys and draw them themselves, which counts as shown. known is false where
	// the system does not tell.
	Echo() (on, known bool)
	// Wait blocks until the program has ended and returns its exit code, as shells tell it. It is called once.
	Wait() int
	// Hangup tells all that runs in the terminal that it is gone; Kill ends all of it.
	Hangup()
	Kill()
	// Close lets go of the terminal. A Read that waits returns.
	Close() error
}

// A Program is what is started on a pseudo-terminal.
type Program struct {
	Path       string
	Args       []string // without the program's own name
	Env        []string
	Dir        string
	Cols, Rows int
}

// A Shell is one that is installed.
type Shell struct {
	Name    string // bash, zsh, fish, pwsh, or another's file name
	Path    string
	Version string // empty where it is not known
}

// Deps are the parts a Service stands on. All are needed but Casts and Store, without which nothing is recorded.
type Deps struct {
	Operations Operations
	Store      record.Store
	Casts      record.Casts
	Masker     Masker
	Clock      record.Clock
	NewID      func() human.RecordingID
	Open       func(Program) (PTY, error)
	Shells     func() []Shell // the operator's own first
	Environ    func() []string
	// Judge says what the gatekeeper thinks of a command in a folder. Nothing is run, logged or asked.
	Judge   func(ctx context.Context, by human.Actor, command, folder string) (human.Verdict, error)
	Changed func(human.Recording) // after each change of a recording's state; may be nil
	Log     *slog.Logger
	System  string // operating system
}

// Operations is what the terminal asks of the queue.
type Operations interface {
	record.Operations
	// Get returns an operation as by may see it.
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
}

// A Masker hides known secret shapes in texts.
type Masker interface {
	record.Masker
	// Within returns what hides the secrets of whole in other texts, too. Not safe for concurrent use.
	Within(whole string) func(text string) string
}

// A Request starts a terminal.
type Request struct {
	Cols   int    `json:"cols" minimum:"2" maximum:"1000"`
	Rows   int    `json:"rows" minimum:"1" maximum:"1000"`
	Shell  string `json:"shell,omitempty" doc:"One of shells; absent: as in the setting recording.terminal.shell."`
	Record *bool  `json:"record,omitempty" doc:"Absent: true."`
}

// A State is how the terminal of an operation stands.
type State struct {
	Running     bool              `json:"running"`
	ExitCode    *int              `json:"exit_code,omitempty" doc:"Of the shell, once it ended by itself."`
	RecordingID human.RecordingID `json:"recording_id,omitempty" doc:"Absent: it is not recorded."`
	Shell       string            `json:"shell,omitempty" doc:"Name and version."`
	Folder      string            `json:"folder" doc:"Where the shell is, or will be started."`
	Shells      []string          `json:"shells" doc:"That may be asked for."`
	Told        bool              `json:"told" doc:"The shell tells commands apart; else the recording has the output alone."`
	Echo        bool              `json:"echo" doc:"What is typed is shown. False at a prompt for a password."`
	EchoKnown   bool              `json:"echo_known" doc:"False where the system does not tell about the echo: then what is typed without echo cannot be told from the rest. It is never recorded in any case."`
	Commands    []Command         `json:"commands" doc:"The last 500."`
	Suggestions []Suggestion      `json:"suggestions" doc:"The request's commands. None is run by Deskbell."`
	Masked      int               `json:"masked" doc:"Secrets that were hidden in the recording."`
	OutputBytes int64             `json:"output_bytes"`
	OutputLines int64             `json:"output_lines"`
	Problem     *human.Sentence   `json:"problem,omitempty" doc:"Why nothing can be started, or why the recording stopped while the terminal continues."`
}

// A Command is one that was run.
type Command struct {
	ID        string     `json:"id" doc:"The id of its action in the recording."`
	Text      string     `json:"text" doc:"Secrets are masked; empty where the shell did not keep it."`
	Folder    string     `json:"folder,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	ExitCode  *int       `json:"exit_code,omitempty"`
	Duration  *int64     `json:"duration_ms,omitempty"`
	Masked    int        `json:"masked,omitempty"`
	Lines     int        `json:"output_lines"`

	Suggestion *int `json:"suggestion,omitempty" doc:"Index into suggestions: the command is that one."`
	Edited     bool `json:"edited,omitempty" doc:"It is that one with changes."`
}

// A Suggestion is a command of the request, with what the gatekeeper thinks of it.
type Suggestion struct {
	Text     string           `json:"text" doc:"Exactly as sent: look out for control characters."`
	Decision string           `json:"decision" enum:"allow,ask,block"`
	Risk     human.Risk       `json:"risk" enum:"none,low,medium,high,critical"`
	Reasons  []human.Sentence `json:"reasons"`
	Problem  string           `json:"problem,omitempty" doc:"Why it could not be judged."`
}

// An Event is what happens in a terminal besides output.
type Event struct {
	Type     string   `json:"type" enum:"command,echo,state"`
	Command  *Command `json:"command,omitempty" doc:"command: when it starts, and again when it has ended."`
	On       *bool    `json:"on,omitempty" doc:"echo"`
	Running  *bool    `json:"running,omitempty" doc:"state"`
	ExitCode *int     `json:"exit_code,omitempty" doc:"state"`
}

// Limits.
const (
	maxOutput   = 8 << 20   // bytes of output in one recording
	maxHead     = 256 << 10 // of one command's output from its beginning, and as much from its end
	maxCommands = 500       // that State lists
	maxRecorded = 5000      // commands of one recording
	maxPending  = 4 << 20   // bytes that wait to be masked
	maxUnacked  = 32 << 10  // bytes before the page: what a key prints comes after them
	maxSnapshot = 256 << 10 // of the last output, for who connects
	flushPause  = 2 * time.Second
	echoPause   = 100 * time.Millisecond
	killAfter   = 2 * time.Second
	storeTime   = 10 * time.Second
)
