package api

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
)

// An exchange is what is known of the request under way.
type exchange struct {
	by      human.Actor
	session *session        // an operator's
	key     string          // an agent's
	life    context.Context // an agent's: it ends when its keys are revoked, and context.Cause says so
	request *http.Request
	then    func() // what to do once the answer is on its way
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	if x == nil {
		return &exchange{}
	}
	return x
}

// ActorOf returns who makes a request that this API let through to Deps.MCP.
func ActorOf(r *http.Request) (human.Actor, error) {
	if x := exchangeOf(r.Context()); x.by.Role != "" {
		return x.by, nil
	}
	return human.Actor{}, human.Errorf(human.Unauthorized, "an agent's key is missing; send it as: Authorization: Bearer KEY")
}

// answerTime is how long an answer may take, waiting included, before its connection is given up.
const answerTime = 2 * time.Minute

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recover(w, r)
	// Best effort: a recorder has no connection. It is set for each request, since it outlives one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	path := r.URL.Path
	protected := strings.HasPrefix(path, "/api/") || slices.Contains(bare, path)
	s.harden(w, r, protected)
	if err := s.admit(r); err != nil {
		s.refuse(w, r, err)
		return
	}
	if byPhone(r) && protected && !s.forPhones(r) {
		s.refuse(w, r, errAtComputer())
		return
	}
	if s.crossOrigin(w, r) {
		return
	}
	if !protected {
		s.console.serve(w, r)
		return
	}
	b := s.limitBody(w, r)
	defer b.end()
	x := &exchange{request: r}
	if !open(r) {
		if err := s.authenticate(r, x); err != nil {
			s.refuse(w, r, err)
			return
		}
		if x.by.Role == human.Agent {
			s.meet(r, x)
			agent, life, leave, err := s.enter(x.by.Name)
			if err != nil {
				s.refuse(w, r, err)
				return
			}
			defer leave()
			x.life = life
			defer b.countedFor(s, agent, life)()
			ctx, cancel := context.WithCancelCause(r.Context())
			defer cancel(nil)
			defer context.AfterFunc(life, func() {
				cancel(context.Cause(life))
				b.giveUp()
			})()
			r = r.WithContext(ctx)
		} else {
			b.claim()
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	if path == "/mcp" {
		s.serveMCP(w, r, x)
		return
	}
	s.handler.ServeHTTP(w, r)
	if x.then != nil && http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil {
		x.then()
	}
}

func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	what := recover()
	if what == nil {
		return
	}
	if what == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
		panic(what)
	}
	s.deps.Log.Error("a request panicked", "method", r.Method, "path", r.URL.Path, "panic", what, "stack", string(debug.Stack()))
	send(w, newProblem(http.StatusInternalServerError, human.SafeText(nil)))
}

func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, x *exchange) {
	switch {
	case x.by.Role != human.Agent:
		s.refuse(w, r, human.Errorf(human.Denied, "MCP is for agents; use an agent's key (deskbell keys add NAME)"))
	case s.deps.MCP == nil:
		s.refuse(w, r, human.Errorf(human.NotFound, "this Deskbell serves no MCP"))
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // MCP streams for as long as it takes
		s.deps.MCP.ServeHTTP(w, r)
		if x.life.Err() != nil {
			panic(http.ErrAbortHandler) // what was answered is not whole: the client must not take it for that
		}
	}
}

// bare are the calls outside of /api/.
var bare = []string{"/mcp", "/healthz", "/readyz", "/metrics"}

// open says whether a request needs no key, or its call looks at the key itself.
func open(r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics", "/api/openapi.json":
		return true
	case "/api/session", "/api/session/terminal", "/api/phone/pair", "/api/phone/session":
		return r.Method == http.MethodPost
	}
	return false
}

// Headers that are the same on every answer, and on every answer of a call. Their values are shared: set others in their
// place, and change none.
var (
	hardened = http.Header{
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}
	hardenedAPI = http.Header{
		"Cache-Control":           {"no-store"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
	}
)

// harden sets the headers that keep other pages and caches out.
func (s *Server) harden(w http.ResponseWriter, r *http.Request, api bool) {
	h := w.Header()
	maps.Copy(h, hardened)
	if api {
		maps.Copy(h, hardenedAPI)
		return
	}
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	connect := "'self'"
	if s.isOurs(r) { // else the header's text is a stranger's
		connect += " ws://" + r.Host + " wss://" + r.Host // older WebKit does not count sockets as 'self'
	}
	// A player of terminal recordings is compiled from WebAssembly; JavaScript from text stays forbidden.
	h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src "+connect+"; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "+
		"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'")
}

// admit blocks what a rebound name, a foreign page or a careless link would send.
func (s *Server) admit(r *http.Request) error {
	if !s.isOurs(r) {
		return newProblem(http.StatusMisdirectedRequest, fmt.Sprintf(
			"the Host %q is none of ours; call 127.0.0.1 or localhost with our port, or allow the name in the setting server.allow_hosts", r.Host))
	}
	if origin := r.Header.Get("Origin"); origin != "" && !s.knows(origin, r) {
		return human.Errorf(human.Denied, "pages of %q cannot call Deskbell", origin)
	}
	if r.URL.RawQuery != "" {
		for name := range r.URL.Query() {
			switch strings.ToLower(name) {
			case "token", "access_token", "key", "api_key", "apikey", "bearer", "authorization", "code":
				return newProblem(http.StatusBadRequest, fmt.Sprintf(
					"the address carries %q; addresses end up in logs and histories. Send secrets as: Authorization: Bearer KEY, and make a new one in place of this", name))
			}
		}
	}
	return nil
}

// isOurs says whether the request names us: loopback, or the very address it came in on, with our port;
// or a name from the settings.
func (s *Server) isOurs(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = strings.Trim(r.Host, "[]"), ""
	}
	if byPhone(r) {
		return s.phones.named(r, host, port)
	}
	for _, allowed := range s.deps.Hosts {
		if strings.EqualFold(strings.TrimSuffix(host, "."), strings.TrimSuffix(allowed, ".")) {
			return true
		}
	}
	// On a Unix socket, which no browser reaches, any port will do: programs have the Host of where else it listens.
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local != nil && port != strconv.Itoa(local.Port) && (port != "" || local.Port != 80) {
		return false
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || local != nil && ip.Equal(local.IP))
}

// windowOrigins are those of the app's window, by operating system.
var windowOrigins = []string{"wails://wails", "wails://wails.localhost", "http://wails.localhost"}

// knows says whether pages of an origin may call: the console's own, and the window's.
func (s *Server) knows(origin string, r *http.Request) bool {
	host := r.Host
	if byPhone(r) {
		return strings.EqualFold(origin, "https://"+host)
	}
	return strings.EqualFold(origin, "http://"+host) || strings.EqualFold(origin, "https://"+host) || s.isWindow(origin)
}

func (s *Server) isWindow(origin string) bool {
	return s.deps.InApp && slices.Contains(windowOrigins, origin)
}

// crossOrigin lets the window's page read our answers, and answers its preflights: then it returns true.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	h := w.Header()
	if s.deps.InApp {
		h.Add("Vary", "Origin")
	}
	if !s.isWindow(origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Expose-Headers", "Content-Disposition, ETag")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+proofHeader)
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") != "" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// baseOf is the address the caller knows us by, such as http://127.0.0.1:7717. The Host was admitted.
func (s *Server) baseOf(r *http.Request) string {
	if _, is := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); is && s.url != "" {
		return s.url
	}
	if byPhone(r) {
		return "https://" + r.Host
	}
	if u, err := url.Parse(r.Header.Get("Origin")); err == nil && u.Host == r.Host && u.Scheme == "https" {
		return "https://" + r.Host // TLS ends before us
	}
	return "http://" + r.Host
}

// Subprotocols of the WebSocket: the one we speak, and the one a page carries its token in, since a page
// can set no header there.
const (
	subprotocol = "deskbell"
	bearerProto = "deskbell.bearer."
)

// authenticate finds out who calls.
func (s *Server) authenticate(r *http.Request, x *exchange) error {
	token, err := tokenOf(r)
	if err != nil {
		return err
	}
	if strings.HasPrefix(token, "dbo_") {
		if x.session = s.sessions.find(token); x.session == nil {
			return human.Errorf(human.Unauthorized, "this session has expired; sign in again with a new code (deskbell login, or from the app)")
		}
		if byPhone(r) != (x.session.device != "") {
			return human.Errorf(human.Unauthorized, "a phone's session counts on that phone, and no other session there")
		}
		x.by = human.Actor{Role: human.Operator, Name: x.session.name}
		if err := s.admitCaller(x); err != nil {
			return err
		}
		return s.inTerminal(r, x.session)
	}
	if byPhone(r) {
		return human.Errorf(human.Denied, "agents cannot call here; this address is for the operator's phones")
	}
	name, err := s.deps.Keys.Authenticate(r.Context(), token)
	x.by, x.key = human.Actor{Role: human.Agent, Name: name}, token
	return err
}

func tokenOf(r *http.Request) (string, error) {
	if text := r.Header.Get("Authorization"); text != "" {
		scheme, token, _ := strings.Cut(text, " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			return "", human.Errorf(human.Unauthorized, "the Authorization header must read: Bearer KEY")
		}
		return token, nil
	}
	if r.URL.Path == "/api/ws" || isTerminalSocket(r.URL.Path) {
		for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
			for proto := range strings.SplitSeq(line, ",") {
				if token, ok := strings.CutPrefix(strings.TrimSpace(proto), bearerProto); ok {
					return token, nil
				}
			}
		}
	}
	return "", human.Errorf(human.Unauthorized, "a key is missing; send it as: Authorization: Bearer KEY (make one with: deskbell keys add NAME)")
}

// A role says who may make a call.
type role string

const (
	anyone    role = "anyone"
	signedIn  role = "agent or operator"
	agents    role = "agent"
	operators role = "operator"
)

func (who role) allows(by human.Actor) error {
	switch {
	case who == agents && by.Role != human.Agent:
		return human.Errorf(human.Denied, "only an agent can do this, with its own key; you are an operator")
	case who == operators && by.Role != human.Operator:
		return human.Errorf(human.Denied, "only an operator can do this; an agent's key can send requests, ask and read its own operations")
	}
	return nil
}
