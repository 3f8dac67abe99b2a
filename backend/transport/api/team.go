package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
	"deskbell/backend/queue/asking"
	"deskbell/backend/queue/board"
	"deskbell/backend/queue/routing"
	"deskbell/backend/record/library"
)

// Team is the team that this desk may be in.
type Team interface {
	TeamOffice
	// State is how the desk stands now; changed is closed when that is different.
	State() (now human.DeskState, changed <-chan struct{})
	// Check compares what this desk has with the team's journal; in no team it counts what this desk has of the one that it left.
	Check(ctx context.Context) (human.TeamCheck, error)
	// Join makes this a desk of the team that a link is for, from the next start on.
	Join(ctx context.Context, by human.Actor, link string) error
	// Leave ends that, at once, and says what this desk keeps; everything else counts from the next start on.
	Leave(ctx context.Context, by human.Actor, how human.Leave) (human.LeftTeam, error)
	// Board is how the team and its queue stand at a time, whose location says when days and weeks begin; NotFound in no team.
	Board(ctx context.Context, by human.Actor, at time.Time) (board.TeamBoard, error)
	// Asking is how the asking for a request stands at a time; nil where that is not known.
	Asking(op human.Operation, at time.Time) *asking.Asking
	// Later is what was decided here about a request while the team could not be reached; nil where nothing was. away says whether the request
	// cannot be changed now, because it is the team's and this desk is not connected to it.
	Later(ctx context.Context, id human.OperationID) (decided *human.Later, away bool)
	// Discard deletes it, so that it is not done; NotFound where there is none.
	Discard(ctx context.Context, id human.OperationID) error
	// Frozen says whether an operation is in the journal of a team that this desk left: nothing changes it here.
	Frozen(ctx context.Context, op human.OperationID) bool
	// Rules are the team's.
	Rules() (human.TeamRules, error)
	// SetRules replaces them, where their revision is still the same; only a lead may.
	SetRules(ctx context.Context, by human.Actor, rules human.TeamRules) error
	// SetMember changes what the team knows of a member: a lead of all, others of themselves.
	SetMember(ctx context.Context, by human.Actor, name string, change routing.MemberChange) (routing.Member, error)
	// RecordingHolder says on whose desk a recording is, and how asking for it stands; NotFound where no other desk made it.
	RecordingHolder(ctx context.Context, op human.OperationID, id human.RecordingID) (human.RecordingHolder, error)
	// AskForRecording asks its holder for it, by a request that they alone can answer.
	AskForRecording(ctx context.Context, by human.Actor, op human.OperationID, id human.RecordingID, reason string) (human.RecordingHolder, error)
}

type holderInput struct {
	ID        human.OperationID `path:"id" doc:"The operation's id."`
	Recording human.RecordingID `path:"recording" doc:"The recording's id."`
}

type askInput struct {
	ID        human.OperationID `path:"id" doc:"The operation's id."`
	Recording human.RecordingID `path:"recording" doc:"The recording's id."`
	payload[AskForRecordingRequest]
}

type laterInput struct {
	ID human.OperationID `path:"id" doc:"The operation's id."`
}

// AskForRecordingRequest asks another member for a recording.
type AskForRecordingRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"2000" doc:"What for."`
}

type memberInput struct {
	Name string `path:"name" doc:"The member's name."`
	payload[routing.MemberChange]
}

// JoinRequest has the link that whoever leads the team sent.
type JoinRequest struct {
	Link string `json:"link"`
}

type boardInput struct {
	Zone string `query:"zone" maxLength:"64" doc:"The time zone in which days and weeks begin: a name like Europe/Berlin, or an offset like +02:00; absent: UTC."`
}

// team is how this desk stands with its team.
func (s *Server) team(c catalogue) {
	state := func(err error) (*answer[*human.DeskState], error) {
		now, _ := s.deps.Team.State()
		return ok(&now, err)
	}
	add(c, route{http.MethodGet, "/api/team", "getTeam", "How this desk stands with its team: is it connected, what waits?", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*human.DeskState], error) { return state(nil) })
	add(c, route{http.MethodGet, "/api/team/board", "getTeamBoard", "How the team and its queue stand: people, skills, weeks, claims", operators, 0},
		func(ctx context.Context, x *exchange, in *boardInput) (*answer[*board.TeamBoard], error) {
			zone, err := zoneOf(in.Zone)
			if err != nil {
				return nil, err
			}
			b, err := s.deps.Team.Board(ctx, x.by, s.deps.Now().In(zone))
			return ok(&b, err)
		})
	add(c, route{http.MethodGet, "/api/team/export", "exportTeamBoard", "How the team and its queue stand, as tables for spreadsheets", operators, 0}, s.exportBoard)
	operationAt(c.api.OpenAPI(), http.MethodGet, "/api/team/export").Responses["200"] = &huma.Response{Description: "The file.", Content: map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}
	add(c, route{http.MethodGet, "/api/team/check", "checkTeam", "Compare this desk's copy with the team's journal, by counts and hashes; it may take minutes", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*human.TeamCheck], error) {
			found, err := s.deps.Team.Check(ctx)
			return ok(&found, err)
		})
	add(c, route{http.MethodPost, "/api/team/join", "joinTeam", "Join a team by a one-time link, from the next start on", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[JoinRequest]) (*answer[*human.DeskState], error) {
			if in.JSON.Link == "" {
				return nil, human.BadField("link", "is missing")
			}
			return state(s.deps.Team.Join(ctx, x.by, in.JSON.Link))
		})
	add(c, route{http.MethodPost, "/api/team/leave", "leaveTeam", "Leave the team; what this desk has of it stays here, and can be read", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[human.Leave]) (*answer[*human.LeftTeam], error) {
			done, err := s.deps.Team.Leave(ctx, x.by, in.JSON)
			return ok(&done, err)
		})
	add(c, route{http.MethodDelete, "/api/team/later/{id}", "discardLater", "Discard what was decided about an operation and waits for the team, or came too late", operators, 0},
		func(ctx context.Context, _ *exchange, in *laterInput) (*answer[*human.DeskState], error) {
			return state(s.deps.Team.Discard(ctx, in.ID))
		})
	rules := func(err error) (*answer[*human.TeamRules], error) {
		now, none := s.deps.Team.Rules()
		return ok(&now, cmp.Or(err, none))
	}
	add(c, route{http.MethodGet, "/api/team/rules", "getTeamRules", "The team's rules: who is asked, and where two people approve", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*human.TeamRules], error) { return rules(nil) })
	add(c, route{http.MethodPut, "/api/team/rules", "setTeamRules", "Replace the team's rules, as a lead", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[human.TeamRules]) (*answer[*human.TeamRules], error) {
			return rules(s.deps.Team.SetRules(ctx, x.by, in.JSON))
		})
	add(c, route{http.MethodPut, "/api/team/members/{name}", "setTeamMember", "Change a member's skills, languages, hours or time zone: a lead of all, others their own", operators, 0},
		func(ctx context.Context, x *exchange, in *memberInput) (*answer[*routing.Member], error) {
			now, err := s.deps.Team.SetMember(ctx, x.by, in.Name, in.JSON)
			return ok(&now, err)
		})
	const holder = "/api/human/operations/{id}/recordings/{recording}/ask"
	add(c, route{http.MethodGet, holder, "getRecordingHolder", "On whose desk of the team a recording is, and how asking for it stands", operators, 0},
		func(ctx context.Context, _ *exchange, in *holderInput) (*answer[*human.RecordingHolder], error) {
			h, err := s.deps.Team.RecordingHolder(ctx, in.ID, in.Recording)
			return ok(&h, err)
		})
	add(c, route{http.MethodPost, holder, "askForRecording", "Ask the member of the team on whose desk a recording is to let you read it", operators, 0},
		func(ctx context.Context, x *exchange, in *askInput) (*answer[*human.RecordingHolder], error) {
			h, err := s.deps.Team.AskForRecording(ctx, x.by, in.ID, in.Recording, in.JSON.Reason)
			return ok(&h, err)
		})
}

// exportBoard answers with a file.
func (s *Server) exportBoard(ctx context.Context, x *exchange, in *boardInput) (*stream, error) {
	zone, err := zoneOf(in.Zone)
	if err != nil {
		return nil, err
	}
	b, err := s.deps.Team.Board(ctx, x.by, s.deps.Now().In(zone))
	if err != nil {
		return nil, err
	}
	desk, _ := s.deps.Team.State()
	return &stream{func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		name := "deskbell-team-" + b.At.In(zone).Format(time.DateOnly) + ".csv"
		if err := b.WriteCSV(&fileWriter{ResponseWriter: w, export: library.Export{Name: name, Media: "text/csv; charset=utf-8"}}, desk, zone); err != nil {
			s.note(ctx, r.Method, r.URL.Path, err)
			panic(http.ErrAbortHandler) // the caller must not take what it got for the whole
		}
	}}, nil
}
