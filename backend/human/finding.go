package human

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// RefKind is what a Ref points at.
type RefKind string

// What a finding can rest on.
const (
	RefAction  RefKind = "action"  // ID is the action's
	RefPicture RefKind = "picture" // ID is the picture's
	RefCommand RefKind = "command" // ID is the command's, of a terminal's recording
	RefField   RefKind = "field"   // ID is the name of a field of the answer
	RefStep    RefKind = "step"    // ID is the index in details.action_sequence
	RefMessage RefKind = "message" // ID is the index in the operation's messages
	RefAnswer  RefKind = "answer"  // ID is human_input, execution_result or decision
	RefRequest RefKind = "request" // ID is description, or the name of a part of details, such as expected_outcome
)

// RefKinds lists them all.
var RefKinds = []RefKind{RefAction, RefPicture, RefCommand, RefField, RefStep, RefMessage, RefAnswer, RefRequest}

// A Ref points at one piece of evidence in an operation.
type Ref struct {
	Kind      RefKind     `json:"kind" enum:"action,picture,command,field,step,message,answer,request"`
	Recording RecordingID `json:"recording_id,omitempty" doc:"Of an action, picture or command: the recording it is in."`
	ID        string      `json:"id" doc:"What it is called there: the id of an action, picture or command; the name of a field; the index of a step or message; the part of the answer or request."`
}

// Recorded says whether it points into a recording.
func (r Ref) Recorded() bool {
	return r.Kind == RefAction || r.Kind == RefPicture || r.Kind == RefCommand
}

// FindingKind is what a finding is about.
type FindingKind string

// The kinds of findings.
const (
	FoundValue   FindingKind = "value"   // something that was read: a field, a table
	FoundOutcome FindingKind = "outcome" // what came of it, as expected or not
	FoundError   FindingKind = "error"   // a dialog, a page or a command that failed on the way
	FoundDetour  FindingKind = "detour"  // a way that was tried and given up, a retry
	FoundUndone  FindingKind = "undone"  // what was asked for and is not there
	FoundSlow    FindingKind = "slow"    // what took long
	FoundDone    FindingKind = "done"    // what was changed: a file, a setting, a download
	FoundUnseen  FindingKind = "unseen"  // what cannot be known: gaps, hidden text, excluded windows
	FoundNote    FindingKind = "note"    // what the operator said
)

// FindingKinds lists them all.
var FindingKinds = []FindingKind{FoundValue, FoundOutcome, FoundError, FoundDetour, FoundUndone, FoundSlow, FoundDone, FoundUnseen, FoundNote}

// A Finding is one thing an agent should know, with what it rests on.
type Finding struct {
	ID         string      `json:"finding_id,omitempty" doc:"f1, f2, ... in the summary that drafted it; absent for one the operator added."`
	Kind       FindingKind `json:"kind" enum:"value,outcome,error,detour,undone,slow,done,unseen,note"`
	Text       string      `json:"text"`
	Evidence   []Ref       `json:"evidence" doc:"The most telling first. None where the operator says it themselves."`
	Confidence float64     `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"Absent for what the operator says."`
	ByHand     bool        `json:"by_hand,omitempty" doc:"The operator wrote it, or changed its words."`
	Cut        bool        `json:"cut,omitempty" doc:"In a draft: the operator left it out. It never reaches an agent."`
}

// A Report is what a summarizer makes of an operation. Texts are plain, findings in the order of their weight.
type Report struct {
	Line        string    `json:"line" doc:"One line."`
	Text        string    `json:"text" doc:"A longer account; paragraphs are separated by an empty line."`
	Findings    []Finding `json:"findings"`
	Suggestions []Finding `json:"suggestions" doc:"What the agent could do next, resting on what was seen."`
}

// SummaryID names one draft of a summary, for ever. It sorts by the time it was begun.
type SummaryID string

// SummaryPrefix is how every SummaryID begins.
const SummaryPrefix = "sum_"

// SummaryState is where the making of a summary stands.
type SummaryState string

// The states of a summary.
const (
	SummaryRuns    SummaryState = "running"
	SummaryDone    SummaryState = "done"
	SummaryFailed  SummaryState = "failed"        // Problem says why; another summary serves in its place
	SummaryStopped SummaryState = "stopped"       // the operator stopped it, or Deskbell ended
	SummaryAsks    SummaryState = "needs_consent" // nothing was sent; the operator has to agree first
)

// A Summary is a draft that a summarizer made for the operator. It never changes once it is done: what the
// operator makes of it stands in their answer, and the difference is how a summarizer is judged.
type Summary struct {
	ID          SummaryID     `json:"summary_id"`
	OperationID OperationID   `json:"operation_id"`
	Recordings  []RecordingID `json:"recordings"`
	Summarizer  string        `json:"summarizer"`
	Language    string        `json:"language" enum:"en,zh-CN"`
	State       SummaryState  `json:"state" enum:"running,done,failed,stopped,needs_consent"`
	Progress    Progress      `json:"progress,omitzero"`
	StartedAt   time.Time     `json:"started_at"`
	Took        int64         `json:"took_ns,omitempty" doc:"Nanoseconds."`
	Report      Report        `json:"report"`
	Dropped     []Dropped     `json:"dropped" doc:"Findings that did not stand on their evidence."`
	Problem     string        `json:"problem,omitempty" doc:"Why it failed, and what to do."`
	Edits       string        `json:"edits,omitempty" doc:"Changes when something was removed, masked, reworded or shared in the recordings."`
	InsteadOf   string        `json:"instead_of,omitempty" doc:"The summarizer that failed, where this one serves in its place."`
	Model       string        `json:"model,omitempty" doc:"The model that wrote it."`
	TokensIn    int           `json:"tokens_in,omitempty" doc:"That the model counted of what it was sent."`
	TokensOut   int           `json:"tokens_out,omitempty" doc:"That it counted of its answer."`
}

// Progress is how far a summary is.
type Progress struct {
	Share float64 `json:"share" minimum:"0" maximum:"1" doc:"How much is done; 0 where that cannot be told."`
	Note  string  `json:"note,omitempty" doc:"What is being done, or the text so far."`
}

// A Dropped is a finding that was left out of a draft, and why.
type Dropped struct {
	Text string `json:"text"`
	Why  string `json:"why" doc:"What its evidence does not have."`
}

// Evidence are the pieces of evidence that an answer's findings rest on, then those of its fields, each once, in the order in which an
// agent reads of them. The first is called e1.
func (a Answer) Evidence() []Ref {
	var out []Ref
	known := map[Ref]bool{}
	for _, f := range slices.Concat(a.Findings, a.Suggestions) {
		for _, r := range f.Evidence {
			if !f.Cut && !known[r] {
				known[r] = true
				out = append(out, r)
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(a.FieldSources)) {
		if r := a.FieldSources[field].Ref(); !known[r] {
			known[r] = true
			out = append(out, r)
		}
	}
	return out
}

// Labels are what an agent calls each piece of evidence of an answer: e1, e2, ...
func (a Answer) Labels() map[Ref]string {
	labels := map[Ref]string{}
	for i, r := range a.Evidence() {
		labels[r] = "e" + strconv.Itoa(i+1)
	}
	return labels
}

// Kept is an answer as it leaves: without the findings that were cut, and with key_findings that say the same
// as the rest.
func (a Answer) Kept() Answer {
	all := a.Findings
	a.Findings, a.Suggestions = kept(a.Findings), kept(a.Suggestions)
	switch {
	case len(a.Findings) > 0:
		a.KeyFindings = make([]string, len(a.Findings))
		for i, f := range a.Findings {
			a.KeyFindings[i] = f.Text
		}
	case len(all) > 0: // all were cut: none may stay under its other name
		a.KeyFindings = slices.DeleteFunc(slices.Clone(a.KeyFindings), func(text string) bool {
			return slices.ContainsFunc(all, func(f Finding) bool { return f.Text == text })
		})
	}
	return a
}

func kept(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Cut })
}

// ForAgent is an answer as the operation's agent may see it: without what was removed, and without the field that only names
// the summary it was drafted from. It does not change the answer it is given.
func (a Answer) ForAgent() Answer {
	a = a.Kept()
	a.SummaryID = ""
	for _, list := range [][]Finding{a.Findings, a.Suggestions} {
		for i := range list {
			list[i].ID = "" // a gap in their numbers would show that one was removed
		}
	}
	return a
}
