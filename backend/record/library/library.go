// Package library gives recordings out: to an operator all of it, to an agent what the operator released
// to it, and to both only as the operator's edits leave it once it leaves the house. It reads; the one who
// makes recordings is package record.
package library

import (
	"io"

	"deskbell/backend/human"
)

// Actions are what was done in a recording, in order, and which of them seem to be steps of the operation's
// checklist.
type Actions struct {
	Actions     []human.Action `json:"actions"`
	Suggestions []Suggestion   `json:"suggestions" doc:"Steps of details.action_sequence that an action seems to have done. Not decided: the operator ticks."`
}

// A Suggestion is an action that seems to have done a step of the operation's checklist.
type Suggestion struct {
	Step     int    `json:"step" doc:"Index into details.action_sequence."`
	ActionID string `json:"action_id"`
	At       int64  `json:"at_ns" doc:"When, in nanoseconds from the start of the recording."`
}

// RecordedEvents are a part of a recording's raw events, in order.
type RecordedEvents struct {
	Events []human.RecordedEvent `json:"events"`
	Next   uint64                `json:"next,omitempty" doc:"The after of the next page; absent on the last, which may grow while the recording runs."`
}

// A Look says how a picture is wanted.
type Look struct {
	Width  int    // pixels, the height follows; 0 or more than it has is its own size
	Format string // png (also "") or jpeg
	Masked bool   // with the edits' masks; an agent gets them in any case
}

// A Picture is a picture that may be read by who asked for it. Nothing is decoded before Encode.
type Picture struct {
	Tag    string // changes whenever the bytes would; fit for an ETag
	Media  string
	Fixed  bool                    // the bytes of this tag never change, and no other tag takes its place
	Encode func(w io.Writer) error // writes it; NotFound where it is not there
}

// An Export is a recording as it leaves, with its edits.
type Export struct {
	Name  string // of a file: letters, digits, dots and dashes only
	Media string
	Write func(w io.Writer) error // may be called once
}

// The formats of an export.
const (
	HTML     = "html"     // one page that needs nothing else
	Markdown = "markdown" // a zip of a page and its pictures
	JSON     = "json"     // the actions, for programs
)

// A ReplayRequest says what to play.
type ReplayRequest struct {
	Actions []string `json:"actions,omitempty" doc:"Ids; absent: all that are not cut."`
	Speed   float64  `json:"speed,omitempty" doc:"2 is twice as fast, at the most 10; absent: 1."`
}

// A ReplayState says how far playing back has come.
type ReplayState struct {
	RecordingID human.RecordingID `json:"recording_id"`
	State       string            `json:"state" enum:"idle,playing,done,stopped,failed" doc:"idle: it was not played since Deskbell started."`
	ActionID    string            `json:"action_id,omitempty" doc:"The action under way, or the last one."`
	Done        int               `json:"done" doc:"Actions played."`
	Total       int               `json:"total"`
	Detail      string            `json:"detail,omitempty" doc:"Why it failed or was stopped."`
}
