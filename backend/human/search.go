package human

import (
	"context"
	"time"
)

// HitGroup is what a search found something among.
type HitGroup string

// The groups, in the order in which they are shown.
const (
	FoundOperations HitGroup = "operations"
	FoundRecordings HitGroup = "recordings"
	FoundFindings   HitGroup = "findings"
	FoundDecisions  HitGroup = "decisions" // of the gatekeeper
)

// HitGroups lists them all.
var HitGroups = []HitGroup{FoundOperations, FoundRecordings, FoundFindings, FoundDecisions}

// A SearchQuery asks for what has all words of a text, the last also as the beginning of a longer one.
type SearchQuery struct {
	Text  string
	Group HitGroup // only this one; "" is all
	Limit int      // hits of a group, at most MaxHits
}

// MaxHits is how many hits of a group one search returns at most. So many are also the candidates that are ranked, so more than
// these are never counted.
const MaxHits = 100

// A Hit is one thing that was found. Which fields are set follows from its group.
type Hit struct {
	Operation OperationID `json:"operation_id,omitempty" doc:"Of a decision: the question that was asked, if one was."`
	Recording RecordingID `json:"recording_id,omitempty"`
	Decision  string      `json:"decision_id,omitempty"`
	Kind      Kind        `json:"action_type,omitempty"`
	State     State       `json:"state,omitempty" enum:"pending,claimed,in_progress,waiting_input,completed,cancelled,declined"`
	Answer    Decision    `json:"answer,omitempty" enum:"approve,deny" doc:"Of an approval that was answered."`
	Ruling    Ruling      `json:"decision,omitempty" enum:"allow,ask,deny" doc:"Of the gatekeeper."`
	Risk      Risk        `json:"risk,omitempty" enum:"none,low,medium,high,critical"`
	Agent     string      `json:"agent_id,omitempty"`
	Title     string      `json:"title" doc:"Plain text."`
	Excerpt   string      `json:"excerpt,omitempty" doc:"Where the words stand, if not in the title."`
	At        time.Time   `json:"at" doc:"When it last changed, began or was decided."`
	Evidence  int         `json:"evidence,omitempty" doc:"Of a finding: how many pieces of evidence it rests on."`
	Offset    int64       `json:"offset_ns,omitempty" doc:"Of a recording: where in it, in nanoseconds from its start."`
}

// A HitList is what was found in one group, the best first.
type HitList struct {
	Group HitGroup `json:"group" enum:"operations,recordings,findings,decisions"`
	Count int      `json:"count" doc:"How many were found, at most 100."`
	More  bool     `json:"more,omitempty" doc:"There may be more than count."`
	Hits  []Hit    `json:"hits"`
}

// A Searcher finds things by their words. Implementations are safe for concurrent use.
type Searcher interface {
	// Search returns the groups that have something, in the order of HitGroups. It stops at a time limit of its own and then
	// says More of what it had not finished, also where nothing was found by then. Invalid for a text that is too long.
	Search(ctx context.Context, q SearchQuery) ([]HitList, error)
}
