package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
)

// A route is a call, in the words of the description.
type route struct {
	method, path string
	id           string // for generated clients
	summary      string
	who          role
	also         int // a second status that means success
}

// answer is a successful answer; a zero Status is 200.
type answer[T any] struct {
	Status int
	Body   T
}

func ok[T any](body T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{http.StatusOK, body}, nil
}

// none is for calls that take no input.
type none struct{}

// done is an answer without a body.
type done struct{}

// A catalog registers calls and describes them.
type catalogue struct {
	*Server
	api     huma.API
	problem *huma.Response
	missing string // what this Deskbell runs without, and the calls need
}

// needs is the `catalogue` for calls that need something.
func (c catalogue) needs(what string, there bool) catalogue {
	if !there {
		c.missing = what
	}
	return c
}

// add registers a call. do runs once who is allowed and the input was read.
func add[I, O any](c catalogue, r route, do func(context.Context, *exchange, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, Tags: []string{tagOf(r.path)},
		Responses: map[string]*huma.Response{"default": c.problem},
	}
	if r.who == anyone {
		op.Security = []map[string][]string{}
	} else {
		op.Description = "For: " + string(r.who) + "."
	}
	huma.Register(c.api, op, func(ctx context.Context, in *I) (*O, error) {
		x := exchangeOf(ctx)
		err := r.who.allows(x.by)
		if err != nil && r.who == operators {
			var about human.OperationID
			if n, is := any(in).(names); is {
				about = n.operation()
			}
			c.overstepped(ctx, x, about)
		}
		if err == nil && c.missing != "" {
			err = human.Errorf(human.Unavailable, "this Deskbell runs without %s", c.missing)
		}
		if err == nil {
			var out *O
			if out, err = do(ctx, x, in); x.life != nil && x.life.Err() != nil {
				err = context.Cause(x.life) // also of what was read: the key counts no more
			}
			if err == nil {
				return out, nil
			}
		}
		c.note(ctx, r.method, r.path, err)
		return nil, problemOf(err, r.method)
	})
	described := operationAt(c.api.OpenAPI(), r.method, r.path)
	if r.also != 0 {
		described.Responses[strconv.Itoa(r.also)] = described.Responses["200"]
	}
	// Not before: huma would read the body by itself.
	if b, is := any(new(I)).(interface{ bodyType() reflect.Type }); is && b.bodyType() != reflect.TypeFor[none]() {
		schema := c.api.OpenAPI().Components.Schemas.Schema(b.bodyType(), true, "")
		described.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	}
}

func operationAt(o *huma.OpenAPI, method, path string) *huma.Operation {
	item := o.Paths[path]
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
	}[method]
}

func tagOf(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/"); ok {
		tag, _, _ := strings.Cut(rest, "/")
		return tag
	}
	return "health"
}

// register makes all calls and returns their description.
func (s *Server) register() *huma.OpenAPI {
	config := describe(s.deps.Version)
	registry := config.Components.Schemas
	registry.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[map[string]any]())
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An agent's key (dbk_…) or an operator's token (dbo_…)."},
	}
	config.Security = []map[string][]string{{"bearer": {}}}
	problem := registry.Schema(reflect.TypeFor[Problem](), true, "")
	c := catalogue{Server: s, api: humago.New(s.handler, config), problem: &huma.Response{
		Description: "An error; nothing was changed.",
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: problem}},
	}}
	s.operations(c)
	s.statistics(c)
	s.answering(c)
	s.search(c.needs("search", s.deps.Search != nil))
	s.attachments(c)
	s.receipts(c)
	s.changes(c.needs("changes of repositories", s.deps.Changes != nil))
	s.signing(c)
	s.monitoring(c)
	s.administration(c)
	s.agentClients(c.needs("clients", s.deps.Clients != nil))
	s.attempts(c.needs("a check of callers", s.deps.Callers != nil))
	s.evidence(c.needs("recordings", s.deps.Library != nil))
	s.gate(c.needs("a gatekeeper", s.deps.Gate != nil))
	s.attention(c.needs("a gatekeeper", s.deps.Gate != nil))
	s.backups(c.needs("backups", s.deps.Backups != nil))
	s.plans(c.needs("plans", s.deps.Plans != nil))
	s.allPlans(c.needs("plans", s.deps.Plans != nil))
	s.procedures(c.needs("procedures", s.deps.Procedures != nil))
	s.runs(c.needs("agents", s.deps.Host != nil))
	s.recorder(c.needs("a recorder", s.deps.Recorder != nil))
	s.captures(c.needs("captures", s.deps.Capturer != nil))
	s.recordings(c.needs("recordings", s.deps.Library != nil))
	s.terminals(c.needs("terminals", s.deps.Terminals != nil))
	s.replays(c.needs("replay", s.deps.Replay != nil))
	s.summaries(c.needs("summarizers", s.deps.Summaries != nil))
	s.outbox(c.needs("an outbox", s.deps.Outbox != nil))
	s.savedViews(c.needs("saved views", s.deps.Views != nil))
	s.retention(c.needs("retention", s.deps.Retention != nil))
	s.data(c.needs("a database", s.deps.Data != nil))
	s.team(c.needs("a team", s.deps.Team != nil))
	s.teamOffice(c.needs("a team", s.deps.Team != nil))
	s.archives(c.needs("archives", s.deps.Archives != nil))
	s.stepUp(c.needs("step-up", s.deps.StepUp != nil))
	s.phones.routes(c.needs("phones", s.phones != nil))
	s.describeSocket(c)

	c.api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "openapi", Method: http.MethodGet, Path: "/api/openapi.json", Summary: "This description", Tags: []string{"openapi"},
		Security: []map[string][]string{},
		Responses: map[string]*huma.Response{"200": {
			Description: "OpenAPI 3.1", Content: map[string]*huma.MediaType{"application/openapi+json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}},
		}},
	})
	s.handler.HandleFunc("GET /api/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(s.spec) // a caller who has gone needs no description
	})
	s.handler.HandleFunc("GET /api/ws", s.serveSocket)
	s.handler.HandleFunc("/", s.unknown)
	return tidy(c.api.OpenAPI())
}

// unknown answers where no call is, or none with that method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		try := *r
		try.Method = method
		if _, pattern := s.handler.Handler(&try); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.refuse(w, r, human.Errorf(human.NotFound, "there is no call %s; GET /api/openapi.json lists all", r.URL.Path))
		return
	}
	p := newProblem(http.StatusMethodNotAllowed, r.Method+" does not work here; use "+strings.Join(allowed, " or "))
	p.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
	s.refuse(w, r, p)
}

// tidy makes the description say what is so: arrays are never null here, errors are ours and not huma's,
// settings have values of four types, and there may be no recording.
func tidy(o *huma.OpenAPI) *huma.OpenAPI {
	delete(o.Components.Schemas.Map(), "ErrorModel")
	delete(o.Components.Schemas.Map(), "ErrorDetail")
	if setting := o.Components.Schemas.Map()["Setting"]; setting != nil {
		value := &huma.Schema{OneOf: []*huma.Schema{
			{Type: huma.TypeBoolean}, {Type: huma.TypeInteger}, {Type: huma.TypeString}, {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
		}}
		setting.Properties["value"], setting.Properties["default"] = value, value
	}
	if recorder := o.Components.Schemas.Map()["RecorderState"]; recorder != nil {
		current := recorder.Properties["current"]
		recorder.Properties["current"] = &huma.Schema{
			OneOf: []*huma.Schema{{Ref: current.Ref}, {Type: "null"}}, Description: current.Description,
		}
	}
	for _, schema := range o.Components.Schemas.Map() {
		for _, property := range schema.Properties {
			if property.Type == huma.TypeArray {
				property.Nullable = false
			}
		}
	}
	return o
}
