package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
	"deskbell/backend/record/library"
)

// Procedures keeps and runs procedures; procedure.Service is one. Errors are of package human.
type Procedures interface {
	List(ctx context.Context, by human.Actor) ([]procedure.Listed, error)
	Get(ctx context.Context, by human.Actor, name string, version int) (procedure.Shown, error)
	Draft(ctx context.Context, by human.Actor, of procedure.DraftOf) (procedure.ProcedureDraft, error)
	Check(ctx context.Context, by human.Actor, c procedure.Change) (procedure.ProcedureDraft, error)
	Save(ctx context.Context, by human.Actor, c procedure.Change) (procedure.Shown, error)
	Remove(ctx context.Context, by human.Actor, name string) error
	Tools(ctx context.Context, by human.Actor) ([]procedure.Tool, error)
	SetAgents(ctx context.Context, by human.Actor, name string, a procedure.AgentsAllowed) (procedure.ProcedureAgents, error)
	Ask(ctx context.Context, by human.Actor, name string, c procedure.Call) (procedure.Asked, error)
	Run(ctx context.Context, by human.Actor, id human.OperationID) (human.RunOfProcedure, error)
	Unaided(ctx context.Context, by human.Actor, from, to time.Time) ([]human.Spared, error)
	State(ctx context.Context, by human.Actor, id human.OperationID) (human.RunOfProcedure, error)
	Order(ctx context.Context, by human.Actor, id human.OperationID, o procedure.RunOrder) (human.RunOfProcedure, error)
	Correction(ctx context.Context, by human.Actor, id human.OperationID) (procedure.ProcedureDraft, error)
	Offers(ctx context.Context, by human.Actor, id human.OperationID) ([]procedure.Offer, error)
	Take(ctx context.Context, by human.Actor, id human.OperationID, o procedure.OfferTaken) (human.RunOfProcedure, error)
	Proposals(ctx context.Context, by human.Actor) ([]procedure.RepeatedWork, error)
	Dismiss(ctx context.Context, by human.Actor, id human.OperationID) error
	Unattended(ctx context.Context, by human.Actor, name string) (procedure.UnattendedState, error)
	LetUnattended(ctx context.Context, by human.Actor, name string, g procedure.UnattendedGrant) (procedure.UnattendedState, error)
	StopUnattended(ctx context.Context, by human.Actor, name string) (procedure.UnattendedState, error)
	Stopped(by human.Actor) (runs []procedure.StoppedRun, changed <-chan struct{})
}

// StoppedRuns tells an operator on a WebSocket which runs wait for them: at first where there are any, and whenever those are others. It has no
// seq.
type StoppedRuns struct {
	Type string                 `json:"type" enum:"stopped_runs"`
	Runs []procedure.StoppedRun `json:"runs"`
}

type (
	procedureInput struct {
		Name string `path:"name" doc:"The procedure's name."`
	}
	procedureVersion struct {
		Name    string `path:"name" doc:"The procedure's name."`
		Version int    `query:"version" minimum:"0" doc:"Absent: the newest."`
	}
	procedureCall struct {
		Name string `path:"name" doc:"The procedure's name."`
		payload[procedure.Call]
	}
	unattendedGrant struct {
		Name string `path:"name" doc:"The procedure's name."`
		payload[procedure.UnattendedGrant]
	}
	procedureAgents struct {
		Name string `path:"name" doc:"The procedure's name."`
		payload[procedure.AgentsAllowed]
	}
	runOrder struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
		payload[procedure.RunOrder]
	}
	// ProcedureList are all procedures.
	ProcedureList struct {
		Procedures []procedure.Listed `json:"procedures"`
	}
	// ProcedureTools are the procedures that an agent can ask for.
	ProcedureTools struct {
		Tools []procedure.Tool `json:"tools"`
	}
	// ProcedureProposals are what people did by hand again and again.
	ProcedureProposals struct {
		Proposals []procedure.RepeatedWork `json:"proposals"`
	}
	// ProcedureOffers are the procedures that cover what a request asks for.
	ProcedureOffers struct {
		Offers []procedure.Offer     `json:"offers"`
		Run    *human.RunOfProcedure `json:"run,omitempty" doc:"The one that an operator began for it."`
	}
	offerTaken struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
		payload[procedure.OfferTaken]
	}
	operationPath struct {
		ID human.OperationID `path:"id" doc:"The operation's id."`
	}
)

func (in operationPath) operation() human.OperationID { return in.ID }
func (in *runOrder) operation() human.OperationID     { return in.ID }
func (in *offerTaken) operation() human.OperationID   { return in.ID }

// proposals are the calls about work that is worth teaching.
func (s *Server) proposals(c catalogue) {
	p := s.deps.Procedures
	const proposals = "/api/procedure-proposals"
	add(c, route{http.MethodGet, proposals, "listProcedureProposals", "Similar work that people did by hand three times or more in 90 days, and that no procedure covers", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*ProcedureProposals], error) {
			list, err := p.Proposals(ctx, x.by)
			return ok(&ProcedureProposals{list}, err)
		})
	add(c, route{http.MethodDelete, proposals + "/{id}", "dismissProcedureProposal", "Do not propose to teach such work again", operators, 0},
		func(ctx context.Context, x *exchange, in *operationPath) (*done, error) {
			return nil, p.Dismiss(ctx, x.by, in.ID)
		})
}

// offers are the calls about procedures that cover requests of other kinds.
func (s *Server) offers(c catalogue) {
	p := s.deps.Procedures
	const offers = "/api/operations/{id}/offers"
	add(c, route{http.MethodGet, offers, "listProcedureOffers", "The procedures that cover what a request for work asks for", operators, 0},
		func(ctx context.Context, x *exchange, in *operationPath) (*answer[*ProcedureOffers], error) {
			list, err := p.Offers(ctx, x.by, in.ID)
			all := ProcedureOffers{Offers: list}
			if err == nil && len(list) == 0 {
				if r, err := p.State(ctx, x.by, in.ID); err == nil {
					all.Run = &r
				} else if human.KindOf(err) != human.NotFound {
					return nil, err
				}
			}
			return ok(&all, err)
		})
	add(c, route{http.MethodPost, offers, "takeProcedureOffer", "Run a procedure for a request for work, which its outputs answer", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *offerTaken) (*answer[*human.RunOfProcedure], error) {
			ctx, err := s.proveTake(ctx, x, in.ID, in.JSON)
			if err != nil {
				return nil, err
			}
			r, err := p.Take(ctx, x.by, in.ID, in.JSON)
			return &answer[*human.RunOfProcedure]{http.StatusCreated, &r}, err
		})
}

func (s *Server) procedures(c catalogue) {
	p := s.deps.Procedures
	const all, one = "/api/procedures", "/api/procedures/{name}"
	add(c, route{http.MethodGet, all, "listProcedures", "The procedures that were taught", operators, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*ProcedureList], error) {
			list, err := p.List(ctx, x.by)
			return ok(&ProcedureList{list}, err)
		})
	add(c, route{http.MethodPost, all, "saveProcedure", "Save a procedure, or its next version", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *payload[procedure.Change]) (*answer[*procedure.Shown], error) {
			shown, err := p.Save(ctx, x.by, in.JSON)
			return &answer[*procedure.Shown]{http.StatusCreated, &shown}, err
		})
	add(c, route{http.MethodPost, "/api/procedure-drafts", "draftProcedure", "Make a procedure from recordings, without saving it", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[procedure.DraftOf]) (*answer[*procedure.ProcedureDraft], error) {
			draft, err := p.Draft(ctx, x.by, in.JSON)
			return ok(&draft, err)
		})
	add(c, route{http.MethodPost, "/api/procedure-checks", "checkProcedure", "Read a procedure and say what it does not cover, without saving it", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[procedure.Change]) (*answer[*procedure.ProcedureDraft], error) {
			draft, err := p.Check(ctx, x.by, in.JSON)
			return ok(&draft, err)
		})
	add(c, route{http.MethodGet, "/api/procedure-tools", "listProcedureTools", "The procedures that an agent can ask for, as tools", signedIn, 0},
		func(ctx context.Context, x *exchange, _ *none) (*answer[*ProcedureTools], error) {
			tools, err := p.Tools(ctx, x.by)
			return ok(&ProcedureTools{tools}, err)
		})
	add(c, route{http.MethodGet, one, "getProcedure", "A procedure with its versions and runs", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureVersion) (*answer[*procedure.Shown], error) {
			shown, err := p.Get(ctx, x.by, in.Name, in.Version)
			return ok(&shown, err)
		})
	add(c, route{http.MethodGet, one + "/file", "exportProcedure", "A procedure as its file: YAML", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureVersion) (*stream, error) {
			shown, err := p.Get(ctx, x.by, in.Name, in.Version)
			if err != nil {
				return nil, err
			}
			return &stream{func(hc huma.Context) {
				_, w := humago.Unwrap(hc)
				f := &fileWriter{ResponseWriter: w, export: library.Export{Name: shown.Procedure.Name + ".yaml", Media: "application/yaml"}}
				if _, err := io.WriteString(f, shown.File); err != nil {
					panic(http.ErrAbortHandler) // the caller must not take what it got for the whole
				}
			}}, nil
		})
	operationAt(c.api.OpenAPI(), http.MethodGet, one+"/file").Responses["200"] = &huma.Response{Description: "The file.", Content: map[string]*huma.MediaType{
		"application/yaml": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}
	add(c, route{http.MethodDelete, one, "deleteProcedure", "Delete a procedure with all its versions", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureInput) (*done, error) {
			return nil, p.Remove(ctx, x.by, in.Name)
		})
	add(c, route{http.MethodPut, one + "/agents", "setProcedureAgents", "Say which agents can call a procedure", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureAgents) (*answer[*procedure.ProcedureAgents], error) {
			now, err := p.SetAgents(ctx, x.by, in.Name, in.JSON)
			return ok(&now, err)
		})
	add(c, route{http.MethodPost, one + "/runs", "askForProcedureRun", "Ask for a run of a procedure", signedIn, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *procedureCall) (*answer[*procedure.Asked], error) {
			asked, err := p.Ask(ctx, x.by, in.Name, in.JSON)
			return &answer[*procedure.Asked]{http.StatusCreated, &asked}, err
		})
	s.procedureRuns(c)
	s.offers(c)
	s.proposals(c)
	s.unattended(c)
}

// unattended are the calls about procedures that run without an operator.
func (s *Server) unattended(c catalogue) {
	p := s.deps.Procedures
	const unattended = "/api/procedures/{name}/unattended"
	type state = answer[*procedure.UnattendedState]
	add(c, route{http.MethodGet, unattended, "getUnattended", "Whether agents can run a procedure unattended", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureInput) (*state, error) {
			now, err := p.Unattended(ctx, x.by, in.Name)
			return ok(&now, err)
		})
	add(c, route{http.MethodPut, unattended, "letUnattended", "Let agents run a procedure unattended, within limits", operators, 0},
		func(ctx context.Context, x *exchange, in *unattendedGrant) (*state, error) {
			ctx, err := s.proveUnattended(ctx, x, in.Name, in.JSON)
			if err != nil {
				return nil, err
			}
			now, err := p.LetUnattended(ctx, x.by, in.Name, in.JSON)
			return ok(&now, err)
		})
	add(c, route{http.MethodDelete, unattended, "stopUnattended", "Let agents run a procedure unattended no more", operators, 0},
		func(ctx context.Context, x *exchange, in *procedureInput) (*state, error) {
			now, err := p.StopUnattended(ctx, x.by, in.Name)
			return ok(&now, err)
		})
}

func (s *Server) procedureRuns(c catalogue) {
	p := s.deps.Procedures
	const run = "/api/operations/{id}/procedure"
	add(c, route{http.MethodPost, run, "startProcedureRun", "Run the procedure that an operation asks for", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *operationPath) (*answer[*human.RunOfProcedure], error) {
			ctx, err := s.proveRun(ctx, x, in.ID)
			if err != nil {
				return nil, err
			}
			r, err := p.Run(ctx, x.by, in.ID)
			return &answer[*human.RunOfProcedure]{http.StatusCreated, &r}, err
		})
	add(c, route{http.MethodGet, run, "getProcedureRun", "How far a run of a procedure has come", operators, 0},
		func(ctx context.Context, x *exchange, in *operationPath) (*answer[*human.RunOfProcedure], error) {
			r, err := p.State(ctx, x.by, in.ID)
			return ok(&r, err)
		})
	add(c, route{http.MethodPost, run + "/orders", "orderProcedureRun", "Pause, continue, take over or end a run of a procedure", operators, 0},
		func(ctx context.Context, x *exchange, in *runOrder) (*answer[*human.RunOfProcedure], error) {
			r, err := p.Order(ctx, x.by, in.ID, in.JSON)
			return ok(&r, err)
		})
	add(c, route{http.MethodGet, run + "/correction", "correctProcedure", "What an operator did by hand in a run, as the next version of its procedure, without saving it", operators, 0},
		func(ctx context.Context, x *exchange, in *operationPath) (*answer[*procedure.ProcedureDraft], error) {
			draft, err := p.Correction(ctx, x.by, in.ID)
			return ok(&draft, err)
		})
}
