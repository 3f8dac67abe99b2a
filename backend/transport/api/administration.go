package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/store/settings"
)

// SessionRequest signs an operator in.
type SessionRequest struct {
	Code     string `json:"code" doc:"A one-time code, or the resume code of a page that was loaded again."`
	Terminal bool   `json:"terminal,omitempty" doc:"Only programs of the terminal that the caller runs in shall use the session, where this system can tell."`
}

// Session is a signed-in operator. Both secrets are shown once.
type Session struct {
	Token    string `json:"token" doc:"For the Authorization header. Keep it in memory only."`
	Resume   string `json:"resume" doc:"A one-time code, good for a minute after this session's last WebSocket closed. Empty for a terminal's session."`
	Operator string `json:"operator"`
	Means    Means  `json:"means" enum:"window,code,terminal,phone" doc:"What it was opened with."`
	Terminal bool   `json:"terminal,omitempty" doc:"Only programs of the caller's terminal can use it."`

	Calls []string `json:"calls,omitempty" doc:"The only calls that it may make, each as a method and a path of this document. Absent: all of an operator's."`
}

// Code is a one-time code for another browser or terminal.
type Code struct {
	Code    string `json:"code"`
	Console string `json:"console" doc:"A link to the console with the code in its fragment."`
}

// Agent is what is known of an agent: of all keys that bear its name.
type Agent struct {
	Name      string     `json:"name"`
	CreatedAt time.Time  `json:"created_at"`
	LastSeen  *time.Time `json:"last_seen,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty" doc:"Once no key of it is good any more."`
	Online    bool       `json:"online" doc:"It waits, or has a live connection."`
	Pending   int        `json:"pending" doc:"Its open operations."`
}

// AgentList is every agent that ever had a key.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

// AgentRequest names a new agent.
type AgentRequest struct {
	Name string `json:"name" doc:"1 to 64 letters, digits, dots, dashes and underscores; the agent's agent_id."`
}

// NewKey is a new key, told once.
type NewKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// SettingList is every setting.
type SettingList struct {
	Settings []settings.Value `json:"settings"`
	Restart  bool             `json:"restart_required,omitempty" doc:"After a change: Deskbell must be started again for it to count."`
}

// DoctorReport is what the doctor found.
type DoctorReport struct {
	Checks []human.DoctorCheck `json:"checks"`
}

// Health says that the server answers.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`

	Warning *human.Sentence `json:"warning,omitempty" doc:"What is missing or damaged in the data. The server works."`
}

// changes are settings by key, in JSON.
type changes map[string]json.RawMessage

// Schema implements huma.SchemaProvider.
func (changes) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "Values by the setting's key."}
}

type nameInput struct {
	Name string `path:"name" doc:"The agent's name."`
}

type codeInput struct {
	Operator string `query:"operator" doc:"Who signs in with it, by name: plans can need several operators to agree. Absent: you."`
	payload[none]
}

// maxOperator is the longest name of an operator, in characters.
const maxOperator = 64

// signing is who is there and how they sign in.
func (s *Server) signing(c catalogue) {
	add(c, route{http.MethodGet, "/healthz", "health", "Is it there?", anyone, 0},
		func(context.Context, *exchange, *none) (*answer[*Health], error) {
			h := &Health{Status: "ok", Version: s.deps.Version}
			if s.deps.Data != nil {
				now, _ := s.deps.Data.State()
				if t := now.Trouble; t != nil {
					return nil, &human.Error{Kind: human.Unavailable, Msg: t.Text, Said: t.Sentence}
				}
				h.Warning = now.Warning()
			}
			return ok(h, nil)
		})
	add(c, route{http.MethodPost, "/api/session", "signIn", "Sign in with a one-time code", anyone, 0},
		func(ctx context.Context, x *exchange, in *payload[SessionRequest]) (*answer[*Session], error) {
			if in.JSON.Code == "" {
				return nil, human.BadField("code", "is missing")
			}
			if err := s.admitCaller(x); err != nil {
				if o, err := s.sessions.signIn(ctx, in.JSON.Code, ""); err == nil { // the code is used up: an agent has it
					s.sessions.close(o.session)
				}
				return nil, err
			}
			return ok(s.signIn(ctx, x.request, in.JSON))
		})
	add(c, route{http.MethodPost, "/api/session/terminal", "showCode", "Draw a one-time code on the terminal that the caller runs in", anyone, 0},
		func(_ context.Context, x *exchange, _ *payload[none]) (*done, error) {
			if err := s.admitCaller(x); err != nil {
				return nil, err
			}
			return &done{}, s.showCode(x.request)
		})
	add(c, route{http.MethodDelete, "/api/session", "signOut", "Sign out", operators, 0},
		func(_ context.Context, x *exchange, _ *none) (*done, error) {
			s.sessions.close(x.session)
			return &done{}, nil
		})
	add(c, route{http.MethodPost, "/api/session/codes", "newCode", "Make a one-time code for another browser or terminal", operators, 0},
		func(_ context.Context, x *exchange, in *codeInput) (*answer[*Code], error) {
			name := cmp.Or(strings.TrimSpace(in.Operator), x.by.Name)
			if utf8.RuneCountInString(name) > maxOperator || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
				return nil, human.BadField("operator", "is longer than %d characters, or has invisible ones", maxOperator)
			}
			code, _ := s.sessions.newCode(name, ByCode, "")
			return ok(&Code{code, s.baseOf(x.request) + "/#code=" + code}, nil)
		})
}

// administration is what operators set up.
func (s *Server) administration(c catalogue) {
	add(c, route{http.MethodGet, "/api/agents", "listAgents", "The agents", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*AgentList], error) {
			list, err := s.agentList(ctx)
			return ok(&AgentList{list}, err)
		})
	add(c, route{http.MethodPost, "/api/agents", "addAgent", "Make a key for an agent", operators, http.StatusCreated},
		func(ctx context.Context, x *exchange, in *payload[AgentRequest]) (*answer[*NewKey], error) {
			ctx, err := s.prove(ctx, x, stepup.Act{Kind: stepup.Key, Subject: in.JSON.Name, Says: "key"}, in.JSON)
			if err != nil {
				return nil, err
			}
			key, err := s.deps.Keys.AddKey(ctx, in.JSON.Name, false)
			if err != nil {
				return nil, err
			}
			return &answer[*NewKey]{http.StatusCreated, &NewKey{in.JSON.Name, key}}, nil
		})
	add(c, route{http.MethodDelete, "/api/agents/{name}", "revokeAgent", "Revoke all keys of an agent", operators, 0},
		func(ctx context.Context, _ *exchange, in *nameInput) (*done, error) {
			n, err := s.deps.Keys.RevokeKey(ctx, in.Name)
			if err == nil && n == 0 {
				err = human.Errorf(human.NotFound, "agent %s has no valid key", in.Name)
			}
			if err != nil {
				return nil, err
			}
			return &done{}, s.revoked(ctx, in.Name)
		})

	settings := c.needs("settings", s.deps.Settings != nil)
	add(settings, route{http.MethodGet, "/api/settings", "getSettings", "All settings, and where each value comes from", operators, 0},
		func(context.Context, *exchange, *none) (*answer[*SettingList], error) {
			return ok(&SettingList{Settings: s.deps.Settings.Values()}, nil)
		})
	add(settings, route{http.MethodPut, "/api/settings", "putSettings", "Change settings, by key, all or none", operators, 0},
		func(ctx context.Context, x *exchange, in *payload[changes]) (*answer[*SettingList], error) {
			if _, err := s.proveSettings(ctx, x, in.JSON); err != nil {
				return nil, err
			}
			restart, err := s.deps.Settings.Update(in.JSON)
			if err != nil {
				return nil, err
			}
			s.phones.changed()
			return ok(&SettingList{s.deps.Settings.Values(), restart}, nil)
		})
	add(c.needs("a doctor", s.deps.Doctor != nil), route{http.MethodGet, "/api/doctor", "doctor", "What works here and what is missing", operators, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*DoctorReport], error) {
			checks, err := s.deps.Doctor(ctx)
			return ok(&DoctorReport{checks}, err)
		})
	add(c.needs("a sample agent", s.deps.Sample != nil), route{http.MethodPost, "/api/sample", "sample", "Start a small agent that sends you requests", operators, 0},
		func(ctx context.Context, _ *exchange, _ *payload[none]) (*done, error) {
			return &done{}, s.deps.Sample(ctx)
		})
}

// agentList joins the keys by name.
func (s *Server) agentList(ctx context.Context) ([]Agent, error) {
	keys, err := s.deps.Keys.Keys(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string]*Agent{}
	good := map[string]bool{}
	for _, k := range keys {
		a := byName[k.Name]
		if a == nil {
			a = &Agent{Name: k.Name, CreatedAt: k.CreatedAt}
			byName[k.Name] = a
		}
		a.LastSeen, a.RevokedAt = later(a.LastSeen, k.LastSeen), later(a.RevokedAt, k.RevokedAt)
		good[k.Name] = good[k.Name] || k.RevokedAt == nil
	}
	list := make([]Agent, 0, len(byName))
	for name, a := range byName {
		if seen := s.lastSeen(name); !seen.IsZero() {
			a.LastSeen = later(a.LastSeen, &seen)
		}
		if good[name] {
			a.RevokedAt = nil
		}
		a.Online, a.Pending = s.deps.Queue.Online(name), s.deps.Queue.PendingOf(name)
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
