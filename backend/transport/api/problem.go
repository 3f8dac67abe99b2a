package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"syscall"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/queue/stepup"
)

// A Problem is an error on the wire (RFC 9457).
type Problem struct {
	Type   string         `json:"type"`
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail" doc:"What, where, and what to do. Fit to show."`
	Kind   string         `json:"kind" enum:"invalid,not_found,conflict,denied,exhausted,internal,unavailable,unauthorized"`
	Errors []FieldError   `json:"errors,omitempty"`
	Code   human.Code     `json:"code,omitempty" doc:"Names detail, without the field, for clients that say it in another language."`
	Params human.Params   `json:"params,omitempty" doc:"The values in the sentence's places."`
	Proof  *stepup.Needed `json:"proof,omitempty" doc:"Of the code proof_needed: what proves that you are there."`

	header http.Header
}

// A FieldError names a part of the request that is at fault.
type FieldError struct {
	Message  string `json:"message"`
	Location string `json:"location" doc:"Such as body.description or query.limit."`
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// ErrorDetail implements huma.ErrorDetailer.
func (p *Problem) ErrorDetail() *huma.ErrorDetail {
	d := &huma.ErrorDetail{Message: p.Detail}
	if len(p.Errors) > 0 {
		d.Location = p.Errors[0].Location
	}
	return d
}

// kinds is how an error's kind looks in HTTP.
var kinds = map[human.ErrorKind]struct {
	status int
	word   string
}{
	human.Invalid:      {http.StatusUnprocessableEntity, "invalid"},
	human.NotFound:     {http.StatusNotFound, "not_found"},
	human.Conflict:     {http.StatusConflict, "conflict"},
	human.Denied:       {http.StatusForbidden, "denied"},
	human.Exhausted:    {http.StatusTooManyRequests, "exhausted"},
	human.Internal:     {http.StatusInternalServerError, "internal"},
	human.Unavailable:  {http.StatusServiceUnavailable, "unavailable"},
	human.Unauthorized: {http.StatusUnauthorized, "unauthorized"},
}

// problemOf is an error of package human, or any other, as a problem of a request.
func problemOf(err error, method string) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	kind := kinds[human.KindOf(err)]
	if kind.status == 0 {
		kind = kinds[human.Internal]
	}
	p = newProblem(kind.status, human.SafeText(err))
	p.Kind = kind.word
	var ours *human.Error
	if errors.As(err, &ours) {
		p.Code, p.Params = ours.Said.Code, ours.Said.Params
	}
	if ours != nil && ours.Field != "" {
		in := "body."
		if method == http.MethodGet {
			in = "query."
		}
		p.Errors = []FieldError{{Message: ours.Msg, Location: in + ours.Field}}
	}
	errors.As(err, &p.Proof)
	if diskFull(err) {
		p.Status, p.Title = http.StatusInsufficientStorage, http.StatusText(http.StatusInsufficientStorage)
	}
	if p.Status == http.StatusUnauthorized {
		p.header = http.Header{"Www-Authenticate": {`Bearer realm="Deskbell"`}}
	}
	return p
}

// diskFull says whether a full disk is behind an error: as the system says it, or SQLite (SQLITE_FULL is 13).
func diskFull(err error) bool {
	var coded interface{ Code() int }
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, &coded) && coded.Code()&0xff == 13
}

// newProblem is a problem that HTTP has a number for and the queue no kind.
func newProblem(status int, detail string) *Problem {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Kind: "invalid"}
	for _, k := range kinds {
		if k.status == status {
			p.Kind = k.word
		}
	}
	switch {
	case status == http.StatusRequestTimeout:
		p.Kind = "unavailable"
	case status >= 500 && p.Kind == "invalid":
		p.Kind = "internal"
	}
	return p
}

// fromHuma is what huma refuses by itself: parameters, and what our own body reader hands it.
func fromHuma(m *huma.ErrorModel) *Problem {
	p := newProblem(m.Status, m.Detail)
	if m.Status >= 500 {
		p.Detail = human.SafeText(nil)
		return p
	}
	var details []string
	for _, e := range m.Errors {
		p.Errors = append(p.Errors, FieldError{Message: e.Message, Location: e.Location})
		name := e.Location[strings.LastIndexByte(e.Location, '.')+1:]
		if name != "" && !strings.HasPrefix(e.Message, name+":") && strings.HasPrefix(e.Location, "query.") {
			details = append(details, name+": "+e.Message)
		} else {
			details = append(details, e.Message)
		}
	}
	if len(details) > 0 {
		p.Detail = strings.Join(details, "; ")
	}
	if len(p.Errors) > 0 && p.Errors[0].Location == "" {
		p.Errors = nil
	}
	return p
}

// refuse answers a request with an error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.note(r.Context(), r.Method, r.URL.Path, err)
	send(w, problemOf(err, r.Method))
}

func send(w http.ResponseWriter, p *Problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = write(w, p) // the caller may have gone, and nobody else can be told
}

// note logs what is our fault. What is the caller's, it only tells who looks closely.
func (s *Server) note(ctx context.Context, method, path string, err error) {
	level := slog.LevelDebug
	if p := problemOf(err, method); p.Status >= 500 && p.Kind == "internal" {
		level = slog.LevelError
	}
	s.deps.Log.Log(ctx, level, "a request failed", "method", method, "path", path, "err", err)
}
