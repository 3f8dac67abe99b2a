package api

import (
	"context"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"deskbell/backend/human"
)

// Metrics are what monitoring scrapes.
type Metrics struct {
	http.Handler
	Token string // of the scraper; an operator may read them, too
}

// readyEvery is how often at most it is tried out whether requests can be stored, and readyTime how long that may take.
const (
	readyEvery = time.Second
	readyTime  = 4 * time.Second
)

// readiness remembers what was tried last: anyone may ask.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// Ready says whether a request would be stored durably now; the error is Unavailable and says why not. What it says may be a second
// old. It is safe for concurrent use.
func (s *Server) Ready(ctx context.Context) error {
	if s.ctx.Err() != nil {
		return human.Errorf(human.Unavailable, "Deskbell is shutting down")
	}
	if s.deps.Ready == nil {
		return nil
	}
	r := &s.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || s.deps.Now().Sub(r.at) >= readyEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime) // others wait for it, too
		defer cancel()
		r.err = s.deps.Ready(ctx)
		if ctx.Err() != nil {
			r.err = human.Wrap(human.Unavailable, ctx.Err(), "storage did not answer in time")
		}
		r.at = s.deps.Now()
	}
	if r.err != nil {
		return human.Errorf(human.Unavailable, "no request can be stored now: %s", human.Inner{Err: r.err})
	}
	return nil
}

// monitoring is what other programs watch Deskbell by.
func (s *Server) monitoring(c catalogue) {
	add(c, route{http.MethodGet, "/readyz", "ready", "Can it store a request now?", anyone, 0},
		func(ctx context.Context, _ *exchange, _ *none) (*answer[*Health], error) {
			return ok(&Health{Status: "ok", Version: s.deps.Version}, s.Ready(ctx))
		})
	s.handler.HandleFunc("GET /metrics", s.serveMetrics)
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if s.deps.Metrics == nil {
		s.refuse(w, r, human.Errorf(human.NotFound, "metrics are off; the setting metrics.enabled switches them on"))
		return
	}
	if err := s.mayScrape(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	s.deps.Metrics.ServeHTTP(w, r)
}

// mayScrape lets in the scraper's token and operators.
func (s *Server) mayScrape(r *http.Request) error {
	token, err := tokenOf(r)
	if err != nil {
		return human.Errorf(human.Unauthorized, "metrics need the token in metrics.token in the data folder; send it as: Authorization: Bearer TOKEN")
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.deps.Metrics.Token)) == 1 {
		return nil
	}
	x := &exchange{request: r}
	if err := s.authenticate(r, x); err != nil {
		return err
	}
	return operators.allows(x.by)
}
