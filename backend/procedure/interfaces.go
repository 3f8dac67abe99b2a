// Package procedure is work that a person showed once and that is done again from then on (issue "Teach once"): it makes procedures
// from recordings, keeps their versions, and runs them. A run never guesses: what is not as it was taught stops it, and a person
// decides. It knows no browser, no SQLite and no HTTP; what it asks of them is declared here.
package procedure

import (
	"context"
	"log/slog"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A Version is one version of a procedure, as it is stored.
type Version struct {
	Name    string          `json:"name"`
	Number  int             `json:"version" doc:"From 1."`
	File    string          `json:"-"` // YAML, as it was saved
	Digest  string          `json:"sha256" doc:"Of its file, in hex."`
	SavedAt time.Time       `json:"saved_at"`
	SavedBy string          `json:"saved_by"`
	Note    string          `json:"note,omitempty" doc:"What is new in it."`
	Content human.Procedure `json:"-"` // what File says
}

// Store keeps procedures and runs. Implementations are safe for concurrent use.
type Store interface {
	// Versions are all versions of a procedure, the newest first; of all procedures where name is "".
	Versions(ctx context.Context, name string) ([]Version, error)
	// Save stores a version whose Number follows the last one; a Conflict error where it does not. It blocks until that is on the disk.
	Save(ctx context.Context, v Version) error
	// Remove deletes a procedure with all versions; NotFound without. Its runs stay with their operations.
	Remove(ctx context.Context, name string) error
	// Runs are the runs of a procedure, the newest first; of all where name is "".
	Runs(ctx context.Context, name string, limit int) ([]human.RunOfProcedure, error)
	// Run is that of an operation; NotFound without.
	Run(ctx context.Context, id human.OperationID) (human.RunOfProcedure, error)
	// Ended are the runs that are over and began from one time to another, the oldest first.
	Ended(ctx context.Context, from, to time.Time) ([]human.RunOfProcedure, error)
	// Open are the runs that are not over, the oldest first.
	Open(ctx context.Context) ([]human.RunOfProcedure, error)
	// Dismissed are what is not to be proposed any more, operations by their ids.
	Dismissed(ctx context.Context) ([]string, error)
	// Dismiss has something not proposed any more. It blocks until that is on the disk.
	Dismiss(ctx context.Context, key string) error
	// PutRun stores a run as it is now. It blocks until that is on the disk.
	PutRun(ctx context.Context, r human.RunOfProcedure) error
	// Agents are the names and patterns of those that can call procedures, by procedure; all can call what is not among them. Remove deletes
	// them, too.
	Agents(ctx context.Context) (map[string]AgentsAllowed, error)
	// PutAgents stores those of a procedure. It blocks until that is on the disk.
	PutAgents(ctx context.Context, name string, a AgentsAllowed) error
	// Unattended is what was given last for a procedure to run without an operator; NotFound without. Remove deletes it, too.
	Unattended(ctx context.Context, name string) (Unattended, error)
	// PutUnattended stores that. It blocks until it is on the disk.
	PutUnattended(ctx context.Context, u Unattended) error
}

// Queue is what is asked of the queue.
type Queue interface {
	Submit(ctx context.Context, r human.Request, decided *human.Answer) (op human.Operation, created bool, err error)
	SubmitClaimed(ctx context.Context, r human.Request, by human.Actor, why string) (op human.Operation, created bool, err error)
	Recent(ctx context.Context, of human.Kind, most int) ([]human.Operation, error)
	Release(ctx context.Context, by human.Actor, id human.OperationID, reason string) (human.Operation, error)
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Claim(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
	Complete(ctx context.Context, by human.Actor, id human.OperationID, a human.Answer, digest string) (human.Operation, error)
	// SaveInput keeps an answer as a draft.
	SaveInput(ctx context.Context, by human.Actor, id human.OperationID, draft *human.Answer) (human.Operation, error)
}

// Recorder is what is asked of the recorder: each run is recorded.
type Recorder interface {
	Start(ctx context.Context, by human.Actor, op human.OperationID, options human.RecordingOptions) (human.Recording, error)
	Stop(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	// Hands are those in the browser of a running recording or, without one, on the desktop.
	Hands(ctx context.Context, by human.Actor, id human.RecordingID) (record.Hands, error)
}

// Recordings is what is asked of the library of recordings.
type Recordings interface {
	// Recordings lists those of an operation, or all (""), the newest first.
	Recordings(ctx context.Context, by human.Actor, op human.OperationID, limit int, cursor string) (record.RecordingPage, error)
	// Taught are a recording and its actions as they leave, without what was removed and with what was masked hidden; NotFound without.
	// title is what its operation asked for.
	Taught(ctx context.Context, by human.Actor, id human.RecordingID) (title string, r human.Recording, list []human.Action, err error)
	// Share lets the agent read the pictures of these actions. It blocks until that is on the disk.
	Share(ctx context.Context, by human.Actor, id human.RecordingID, actions []string) error
}

// Effects looks at what must be true outside of the page.
type Effects interface {
	// Look says what there is of an effect, whose texts hold no parameters any more. It blocks until it knows, a few seconds at most. An
	// error says why it cannot be looked at.
	Look(ctx context.Context, e human.ProcedureEffect, secret func(name string) (string, error)) (Seen, error)
}

// Seen is what there is of an effect.
type Seen struct {
	Items []string // files, rows, messages or answers that are as the effect says: a digest of each, by which it is known again
	All   []string // of files, rows and messages: those that are not as the effect says, too
	// Columns are those of rows of a database; each of Items and All is as Cells writes it then.
	Columns []string
	Said    human.Sentence // what was seen, for people
}

// Deps are what a Service works with.
type Deps struct {
	Store      Store
	Queue      Queue
	Recorder   Recorder   // nil: nothing is run
	Recordings Recordings // nil: nothing is taught
	Effects    Effects
	Profile    func() string                                    // of the browser: kept or throwaway
	Secret     func(name string) (string, error)                // its value in the key store; NotFound without
	Wait       func(ctx context.Context, d time.Duration) error // blocks for d, or until ctx ends, and returns its error then
	Now        func() time.Time
	Log        *slog.Logger
}
