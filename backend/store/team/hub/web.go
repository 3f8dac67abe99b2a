package hub

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

//go:embed pages
var pages embed.FS

// templates are parsed at the first use.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"bytes": func(n uint64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB" },
		"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
	}).ParseFS(pages, "pages/*.html")
})

const (
	sessionCookie = "__Host-deskbell-hub"
	sessionLife   = 12 * time.Hour
)

// sessions are those of the web page, by the hashes of their tokens. They end with the hub.
type sessions struct {
	now func() time.Time
	mu  sync.Mutex
	all map[string]time.Time // until when
}

func (s *sessions) open() (token string) {
	token = secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]time.Time{}
	}
	for hash, until := range s.all {
		if s.now().After(until) {
			delete(s.all, hash)
		}
	}
	s.all[hashed("", token)] = s.now().Add(sessionLife)
	return token
}

func (s *sessions) is(r *http.Request) bool {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	until, known := s.all[hashed("", c.Value)]
	return known && s.now().Before(until)
}

func (h *Hub) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { h.health(w, h.server.Running()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		h.health(w, h.isReady() && h.server.Healthz(&server.HealthzOptions{}).Status == "ok")
	})
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages, "pages/style.css") })
	mux.HandleFunc("GET /join", func(w http.ResponseWriter, r *http.Request) { h.show(w, r, "join", nil) })
	mux.HandleFunc("POST /join", h.whenReady(h.serveJoin))
	mux.HandleFunc("GET /login", h.whenReady(h.serveLogin))
	mux.HandleFunc("GET /{$}", h.whenReady(h.serveStatus))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

func (h *Hub) isReady() bool {
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}

func (h *Hub) health(w http.ResponseWriter, good bool) {
	if !good {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n")) // the reader has gone, otherwise
}

func (h *Hub) whenReady(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.isReady() {
			http.Error(w, "The hub is starting.", http.StatusServiceUnavailable)
			return
		}
		next(w, r)
	}
}

func (h *Hub) serveJoin(w http.ResponseWriter, r *http.Request) {
	var q joinRequest
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<10)).Decode(&q)
	if err != nil {
		err = human.Wrap(human.Invalid, err, "the request cannot be read")
	}
	var reply any
	if err == nil {
		// Once a token is used, its desk gets the answer or nothing: one that hangs up does not stop it half way.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 20*time.Second)
		defer cancel()
		reply, err = h.office.join(ctx, q)
	}
	status := http.StatusOK
	if err != nil {
		h.o.Log.Warn("a desk did not join", "from", r.RemoteAddr, "err", err)
		reply, status = problem{human.KindOf(err), human.SafeText(err)}, statusOf(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(reply) // the desk has gone, otherwise
}

func statusOf(err error) int {
	switch human.KindOf(err) {
	case human.Invalid:
		return http.StatusBadRequest
	case human.Denied:
		return http.StatusForbidden
	case human.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func (h *Hub) serveLogin(w http.ResponseWriter, r *http.Request) {
	_, err := use(r.Context(), h.office, hashed(loginPrefix, r.URL.Query().Get("code")), func(until time.Time) error {
		if h.o.Now().After(until) {
			return human.Errorf(human.Denied, "this link has expired; ask for a new one")
		}
		return nil
	})
	if err != nil {
		w.WriteHeader(statusOf(err))
		h.show(w, r, "login", nil)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: h.sessions.open(), Path: "/", MaxAge: int(sessionLife.Seconds()), Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	h.show(w, r, "welcome", nil)
}

func (h *Hub) serveStatus(w http.ResponseWriter, r *http.Request) {
	if !h.sessions.is(r) {
		w.WriteHeader(http.StatusUnauthorized)
		h.show(w, r, "login", nil)
		return
	}
	status, err := h.status(r.Context())
	if err != nil {
		h.o.Log.Error("the status cannot be read", "err", err)
		http.Error(w, human.SafeText(err), statusOf(err))
		return
	}
	h.show(w, r, "status", status)
}

// show writes a page in the language that the browser asks for first, English or Chinese.
func (h *Hub) show(w http.ResponseWriter, r *http.Request, page string, status any) {
	all, err := templates()
	if err == nil {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = all.ExecuteTemplate(w, page+".html", struct {
			Team, Language string
			Chinese        bool
			Status         any
		}{h.keys.Team, language(r), language(r) == "zh-CN", status})
	}
	if err != nil {
		h.o.Log.Debug("a page was not shown", "page", page, "err", err)
	}
}

func language(r *http.Request) string {
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "zh") {
		return "zh-CN"
	}
	return "en"
}

// A status is how the team and its queue stand.
type status struct {
	Desks    []deskStatus
	Stream   *jetstream.StreamInfo
	Replicas []*jetstream.PeerInfo
	Folded   uint64 // operations that are in snapshots
}

type deskStatus struct {
	Desk
	Connected bool
	Seen      time.Time // zero: never
	Reads     bool      // it has a consumer
	Behind    uint64    // messages
}

func (h *Hub) status(ctx context.Context) (s status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	desks, err := h.office.Desks(ctx)
	if err != nil {
		return s, err
	}
	connected, err := h.connected()
	if err != nil {
		return s, err
	}
	seen := map[string]time.Time{}
	if err := each(ctx, h.office.kv, seenPrefix, func(_ string, times map[string]time.Time) { // by desks' keys
		for key, at := range times {
			if at.After(seen[key]) {
				seen[key] = at
			}
		}
	}); err != nil {
		return s, err
	}
	stream, err := h.office.js.Stream(ctx, team.Stream)
	if err != nil {
		return s, human.Wrap(human.Unavailable, err, "the journal cannot be read")
	}
	s.Stream = stream.CachedInfo()
	if s.Stream.Cluster != nil {
		s.Replicas = s.Stream.Cluster.Replicas
	}
	folded, err := h.office.js.KeyValue(ctx, team.Snapshots)
	if err == nil {
		var state jetstream.KeyValueStatus
		if state, err = folded.Status(ctx); err == nil {
			s.Folded = state.Values()
		}
	}
	if err != nil {
		return s, human.Wrap(human.Unavailable, err, "the snapshots cannot be read")
	}
	consumers := map[string]*jetstream.ConsumerInfo{}
	list := stream.ListConsumers(ctx)
	for c := range list.Info() {
		consumers[c.Name] = c
	}
	if err := list.Err(); err != nil {
		return s, human.Wrap(human.Unavailable, err, "the journal cannot be read")
	}
	for _, d := range desks {
		row := deskStatus{Desk: d, Connected: connected[d.Key], Seen: seen[d.Key]}
		if row.Connected {
			row.Seen = h.o.Now()
		}
		if c := consumers[d.Name]; c != nil {
			row.Reads, row.Behind = true, c.NumPending+uint64(c.NumAckPending)
		}
		s.Desks = append(s.Desks, row)
	}
	slices.SortStableFunc(s.Desks, func(a, b deskStatus) int {
		gone := func(d deskStatus) int {
			if d.Removed != nil {
				return 1
			}
			return 0
		}
		return cmp.Compare(gone(a), gone(b))
	})
	return s, nil
}

// connected are the keys of the desks that are connected, to any hub of the cluster. A hub that does not answer in time counts for none.
func (h *Hub) connected() (map[string]bool, error) {
	account, err := public(h.keys.Account)
	if err != nil {
		return nil, err
	}
	ask, err := json.Marshal(server.ConnzEventOptions{ConnzOptions: server.ConnzOptions{Account: account, Username: true, Limit: 100_000}})
	if err != nil {
		return nil, err
	}
	inbox := h.system.NewInbox()
	answers, err := h.system.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := h.system.PublishRequest("$SYS.REQ.SERVER.PING.CONNZ", inbox, ask); err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for range h.server.TrackedRemoteServers() + 1 {
		m, err := answers.NextMsg(time.Second)
		if err != nil {
			break
		}
		var answer struct {
			Data server.Connz `json:"data"`
		}
		if err := json.Unmarshal(m.Data, &answer); err != nil {
			return nil, err
		}
		for _, c := range answer.Data.Conns {
			keys[c.AuthorizedUser] = true
		}
	}
	return keys, nil
}

// noteSeen notes which desks are connected to this hub now.
func (h *Hub) noteSeen(ctx context.Context) {
	err := func() error {
		account, err := public(h.keys.Account)
		if err != nil {
			return err
		}
		conns, err := h.server.Connz(&server.ConnzOptions{Account: account, Username: true, Limit: 100_000})
		if err != nil {
			return err
		}
		times, key := map[string]time.Time{}, seenPrefix+h.node()
		entry, err := h.office.kv.Get(ctx, key)
		if err == nil {
			err = json.Unmarshal(entry.Value(), &times)
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
			return err
		}
		for _, c := range conns.Conns {
			times[c.AuthorizedUser] = h.o.Now()
		}
		raw, err := json.Marshal(times)
		if err == nil {
			_, err = h.office.kv.Put(ctx, key, raw)
		}
		return err
	}()
	if err != nil && ctx.Err() == nil {
		h.o.Log.Warn("who is connected could not be noted", "err", err)
	}
}
