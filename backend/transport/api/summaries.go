package api

import (
	"context"
	"net/http"

	"deskbell/backend/human"
	"deskbell/backend/summary"
)

// A Summarist makes drafts of summaries for operators. Errors are of package human; summary.Service is one.
type Summarist interface {
	Summarizers(ctx context.Context, by human.Actor) (summary.Summarizers, error)
	// Drafts returns what was made of an operation, and begins what is due.
	Drafts(ctx context.Context, by human.Actor, op human.OperationID) (summary.Drafts, error)
	// Start begins a draft and returns it at once; one that is being made already, as it stands.
	Start(ctx context.Context, by human.Actor, op human.OperationID, r summary.DraftRequest) (human.Summary, error)
	// Stop ends the making of a draft and returns when nothing of it runs any more.
	Stop(ctx context.Context, by human.Actor, op human.OperationID, id human.SummaryID) (human.Summary, error)
	// Preview shows what would be sent to another machine, exactly, and sends nothing.
	Preview(ctx context.Context, by human.Actor, op human.OperationID, r summary.DraftRequest) (summary.Showing, error)
	// Try makes a draft of one recording, waits for it and stores nothing.
	Try(ctx context.Context, by human.Actor, id human.RecordingID, r summary.DraftRequest) (human.Summary, error)
	// Forget takes a consent back.
	Forget(ctx context.Context, by human.Actor, consent string) error
	// Watch calls changed with each draft as it changes, until ctx ends. It blocks; changed may, too.
	Watch(ctx context.Context, changed func(human.Summary))
}

// SummaryChange tells operators on a WebSocket how a draft stands. It is the state of the moment, with no seq,
// sent at every change of state and else a few times a second at most.
type SummaryChange struct {
	Type    string        `json:"type" enum:"summary"`
	Summary human.Summary `json:"summary"`
}

type (
	draftsInput struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
	}
	draftCall struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
		payload[summary.DraftRequest]
	}
	stopCall struct {
		ID      human.OperationID `path:"id" doc:"The operation's id."`
		Summary human.SummaryID   `path:"summary" doc:"The draft's id."`
		payload[none]
	}
	previewInput struct {
		ID       human.OperationID `path:"id" doc:"The operation's id."`
		With     string            `query:"with" doc:"The summarizer's name."`
		Language string            `query:"language" enum:"en,zh-CN" doc:"Absent: as the settings say."`
	}
	consentInput struct {
		ID string `path:"id" doc:"The consent's id."`
	}
)

type draftAnswer = answer[*human.Summary]

func (s *Server) summaries(c catalogue) {
	const of = "/api/human/operations/{id}/summaries"
	add(c, route{http.MethodGet, "/api/summarizers", "listSummarizers", "What can write summaries, how each fared, and what may be sent to models", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*summary.Summarizers], error) {
			all, err := s.deps.Summaries.Summarizers(ctx, x.by)
			return ok(&all, err)
		})
	add(c, route{http.MethodDelete, "/api/summarizers/consents/{id}", "forgetConsent", "Send nothing more to a model by an earlier word", operators, 0},
		func(ctx context.Context, x *exchange, in *consentInput) (*done, error) {
			return &done{}, s.deps.Summaries.Forget(ctx, x.by, in.ID)
		})
	add(c, route{http.MethodGet, of, "getDrafts", "The drafts of summaries of an operation", operators, 0},
		func(ctx context.Context, x *exchange, in *draftsInput) (*answer[*summary.Drafts], error) {
			drafts, err := s.deps.Summaries.Drafts(ctx, x.by, in.ID)
			for i := range drafts.Summaries {
				drafts.Summaries[i] = *draftOf(drafts.Summaries[i])
			}
			return ok(&drafts, err)
		})
	begin := route{http.MethodPost, of, "startDraft", "Have a summary drafted", operators, http.StatusAccepted}
	add(c, begin, func(ctx context.Context, x *exchange, in *draftCall) (*draftAnswer, error) {
		draft, err := s.deps.Summaries.Start(ctx, x.by, in.ID, in.JSON)
		return &draftAnswer{http.StatusAccepted, draftOf(draft)}, err
	})
	add(c, route{http.MethodPost, of + "/{summary}/stop", "stopDraft", "Stop the drafting of a summary", operators, 0},
		func(ctx context.Context, x *exchange, in *stopCall) (*draftAnswer, error) {
			draft, err := s.deps.Summaries.Stop(ctx, x.by, in.ID, in.Summary)
			return ok(draftOf(draft), err)
		})
	add(c, route{http.MethodGet, of + "/preview", "previewDraft", "What would be sent to a model, exactly; nothing is sent", operators, 0},
		func(ctx context.Context, x *exchange, in *previewInput) (*answer[*summary.Showing], error) {
			shown, err := s.deps.Summaries.Preview(ctx, x.by, in.ID, summary.DraftRequest{With: in.With, Language: in.Language})
			shown.Pictures = append([]human.Ref{}, shown.Pictures...)
			return ok(&shown, err)
		})
	add(c, route{http.MethodPost, "/api/recordings/{id}/summary", "trySummarizer", "Have one recording summarized, to see what comes of it; nothing is kept", operators, 0},
		func(ctx context.Context, x *exchange, in *recordingCall[summary.DraftRequest]) (*draftAnswer, error) {
			draft, err := s.deps.Summaries.Try(ctx, x.by, in.ID, in.JSON)
			return ok(draftOf(draft), err)
		})
}

// draftOf is a draft whose lists are never null.
func draftOf(s human.Summary) *human.Summary {
	s.Recordings = append([]human.RecordingID{}, s.Recordings...)
	s.Dropped = append([]human.Dropped{}, s.Dropped...)
	s.Report.Findings = findingsOf(s.Report.Findings)
	s.Report.Suggestions = findingsOf(s.Report.Suggestions)
	return &s
}

func findingsOf(list []human.Finding) []human.Finding {
	out := append([]human.Finding{}, list...)
	for i := range out {
		out[i].Evidence = append([]human.Ref{}, out[i].Evidence...)
	}
	return out
}
