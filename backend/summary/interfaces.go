// Package summary makes drafts of summaries: it gathers what an operator did, asks the summarizers that were
// chosen, holds what they say against the evidence, and keeps the drafts for the operator, who alone decides
// what an agent gets. It declares here what it asks of the queue, of recordings and of storage.
package summary

import (
	"context"
	"log/slog"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// Operations are the queue's.
type Operations interface {
	// Get returns an operation as by sees it; NotFound without.
	Get(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error)
}

// Recordings are the library's.
type Recordings interface {
	// Recording returns a recording as it stands; NotFound without.
	Recording(ctx context.Context, by human.Actor, id human.RecordingID) (human.Recording, error)
	// Edits returns what is removed and masked in a recording, and whether its texts are shared.
	Edits(ctx context.Context, by human.Actor, id human.RecordingID) (human.Edits, error)
	// Summarized returns what a summarizer may read of a recording: at most so many actions from its beginning
	// with words in a language, as its agent would get them but with their pictures and with gaps where some were
	// removed, how many more there are, and the steps that were ticked.
	Summarized(ctx context.Context, id human.RecordingID, language string, most int) (actions []human.Action, more int, ticked []int, err error)
	// JPEG returns a picture, masked, at most width pixels wide (0: as it is); NotFound without.
	JPEG(ctx context.Context, id human.RecordingID, picture string, width int) ([]byte, error)
}

// Store keeps drafts and consents. Safe for concurrent use; what it returns from is durable. The drafts of a
// recording that is deleted go with it.
type Store interface {
	// PutSummary stores a draft that is done, failed, stopped or asks. NotFound where a recording of it is gone.
	PutSummary(ctx context.Context, s human.Summary) error
	// Summaries returns the drafts of an operation, oldest first.
	Summaries(ctx context.Context, op human.OperationID) ([]human.Summary, error)
	// Recent returns the drafts that are done, newest first, at most so many.
	Recent(ctx context.Context, most int) ([]human.Summary, error)

	Consents(ctx context.Context) ([]Consent, error)
	// PutConsent stores a consent; one with the same ID is replaced.
	PutConsent(ctx context.Context, c Consent) error
	// DropConsent takes one back; NotFound without.
	DropConsent(ctx context.Context, id string) error
}

// A Consent is an operator's word that what a scope's operations have may be sent to a model.
type Consent struct {
	ID         string    `json:"consent_id"`
	Scope      string    `json:"scope" doc:"project: and its name, or agent: and its name."`
	Summarizer string    `json:"summarizer"`
	Host       string    `json:"host"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
}

// A Registry has the summarizers there are now, and what is wrong with those that cannot be used.
type Registry struct {
	BuiltIn  []summarizers.Summarizer
	Others   []summarizers.Summarizer
	Problems []Unusable
}

// An Unusable is a summarizer that cannot be used, and why.
type Unusable struct {
	Name string `json:"name"`
	Text string `json:"text" doc:"What is wrong and what to do."`
}

// Options are what the settings say.
type Options struct {
	Auto     bool   // make drafts by themselves when work ends
	Language string // of drafts: en, zh-CN, or request: that of the agent's words
	Rules    []Rule
}

// Deps are the parts a Service stands on. All are needed.
type Deps struct {
	Operations Operations
	Recordings Recordings
	Store      Store
	Registry   func() Registry // asked anew each time
	Options    func() Options  // likewise
	Folder     string          // where users put their own
	Operator   human.Actor     // in whose name drafts are made by themselves
	Now        func() time.Time
	NewID      func() human.SummaryID
	Log        *slog.Logger
}

// A DraftRequest asks for a draft.
type DraftRequest struct {
	With     string `json:"with,omitempty" doc:"The summarizer's name; absent: the one that is chosen for such operations."`
	Language string `json:"language,omitempty" enum:"en,zh-CN" doc:"Absent: as the settings say."`
	Consent  string `json:"consent,omitempty" enum:"once,always" doc:"Where what it reads leaves this machine: agree for this time, or always for the operation's project (without one, for its agent)."`
}

// Drafts are what was made of an operation.
type Drafts struct {
	Summaries []human.Summary   `json:"summaries" doc:"Oldest first; those that run, too."`
	Chosen    []string          `json:"chosen" doc:"The summarizers that are chosen for it; the first one's draft is shown first."`
	Fitting   []string          `json:"fitting" doc:"All that could be asked."`
	Stale     []human.SummaryID `json:"stale" doc:"Drafts from before the operator last cut, masked, reworded or shared something in the recordings; they may tell what is no longer to leave."`
	Language  string            `json:"language" doc:"The settings' for this operation." enum:"en,zh-CN"`
}

// A Showing is what would be sent to another machine, and what was agreed about it.
type Showing struct {
	summarizers.Preview
	Scope     string `json:"scope" doc:"What 'always' would cover: project: and its name, or agent: and its name."`
	Consented bool   `json:"consented" doc:"The operator has agreed for that scope."`
}

// A Known is a summarizer there is, and how it fared.
type Known struct {
	summarizers.About
	BuiltIn bool  `json:"built_in"`
	Score   Score `json:"score"`
}

// A Score is how operators took a summarizer's drafts: of the drafts that were released, how many findings
// went out as they were, with other words, and not at all, and how many the operator had to add.
type Score struct {
	Drafts   int `json:"drafts" doc:"Of the latest 500 of all."`
	Released int `json:"released"`
	Kept     int `json:"kept"`
	Edited   int `json:"edited"`
	Cut      int `json:"cut"`
	Added    int `json:"added"`
	Dropped  int `json:"dropped" doc:"Findings that did not stand on their evidence."`
	Failed   int `json:"failed"`
}

// Summarizers are all there are.
type Summarizers struct {
	Summarizers []Known    `json:"summarizers"`
	Problems    []Unusable `json:"problems"`
	Consents    []Consent  `json:"consents"`
	Folder      string     `json:"folder" doc:"Where your own ones are put."`
}
