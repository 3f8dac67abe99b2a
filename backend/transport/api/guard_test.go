package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

func port(h *fixture) string { return h.url[strings.LastIndexByte(h.url, ':')+1:] }

func TestHosts(t *testing.T) {
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.Hosts = []string{"bell.example"} })
	p := port(h)
	for host, ours := range map[string]bool{
		"127.0.0.1:" + p: true, "localhost:" + p: true, "LOCALHOST:" + p: true, "[::1]:" + p: true, "127.8.8.8:" + p: true,
		"bell.example": true, "bell.example:443": true, "Bell.Example.:443": true,
		"127.0.0.1": false, "127.0.0.1:1": false, "evil.example:" + p: false, "localhost.evil.example:" + p: false, "bell.example.evil": false, "10.0.0.1:" + p: false,
	} {
		for _, path := range []string{"/healthz", "/api/human/operations", "/mcp"} {
			r := h.send("GET", path, h.op, "", func(r *http.Request) { r.Host = host })
			if refused := r.status == http.StatusMisdirectedRequest; refused == ours {
				t.Errorf("%s with Host %q: %d", path, host, r.status)
			}
			if !ours {
				r.problem(http.StatusMisdirectedRequest, host)
			}
		}
	}
}

func TestOrigins(t *testing.T) {
	in, out := openFixture(t, func(d *Deps, _ *queue.Options) { d.InApp = true }), openFixture(t, nil)
	for _, c := range []struct {
		h      *fixture
		origin string
		ok     bool
	}{
		{out, "", true},
		{out, out.url, true},
		{out, strings.Replace(out.url, "http:", "https:", 1), true},
		{out, "http://127.0.0.1:1", false},
		{out, "https://evil.example", false},
		{out, "null", false},
		{out, "wails://wails", false},
		{out, "http://wails.localhost", false},
		{in, "wails://wails", true},
		{in, "http://wails.localhost", true},
		{in, "wails://evil", false},
		{in, "http://wails.localhost.evil.example", false},
	} {
		for _, path := range []string{"/api/human/operations", "/healthz", "/api/session", "/"} {
			r := c.h.send("GET", path, c.h.op, "", func(r *http.Request) {
				if c.origin != "" {
					r.Header.Set("Origin", c.origin)
				}
			})
			if !c.ok {
				r.problem(http.StatusForbidden, "cannot call")
			} else if r.status == http.StatusForbidden {
				t.Errorf("%q is refused on %s: %s", c.origin, path, r.body)
			}
			allowed := r.header.Get("Access-Control-Allow-Origin")
			if want := c.ok && c.h == in; (allowed == c.origin) != want && allowed != "" {
				t.Errorf("Access-Control-Allow-Origin %q for %q", allowed, c.origin)
			}
		}
	}
}

func TestPreflights(t *testing.T) {
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.InApp = true })
	ask := func(origin string) reply {
		return h.send("OPTIONS", "/api/human/complete", "", "", func(r *http.Request) {
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
			r.Header.Set("Access-Control-Request-Private-Network", "true")
		})
	}
	r := ask("wails://wails")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "wails://wails", "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Authorization",
		"Access-Control-Allow-Private-Network": "true", "Vary": "Origin",
	} {
		if r.status != http.StatusNoContent || !strings.Contains(r.header.Get(name), want) {
			t.Errorf("%d, %s is %q", r.status, name, r.header.Get(name))
		}
	}
	ask("https://evil.example").problem(http.StatusForbidden, "evil.example")
	if r := ask(h.url); r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("our own origin needs no permission")
	}
}

func TestConsole(t *testing.T) {
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.Console = fstest.MapFS{
			"index.html":            {Data: []byte("<!doctype html>page")},
			"assets/index-abc.js":   {Data: []byte("js")},
			"assets/font-1.woff2":   {Data: []byte("font")},
			"favicon.svg":           {Data: []byte("<svg/>")},
			"site.webmanifest":      {Data: []byte("{}")},
			"assets/odd-thing.blob": {Data: []byte("?")},
		}
	})
	const forever, asked = "public, max-age=31536000, immutable", "no-cache"
	for path, want := range map[string]string{
		"/":                                     "200|text/html; charset=utf-8|" + asked,
		"/index.html":                           "200|text/html; charset=utf-8|" + asked,
		"/assets/index-abc.js":                  "200|text/javascript; charset=utf-8|" + forever,
		"/assets/font-1.woff2":                  "200|font/woff2|" + forever,
		"/assets/odd-thing.blob":                "200|application/octet-stream|" + forever,
		"/favicon.svg":                          "200|image/svg+xml|" + asked,
		"/site.webmanifest":                     "200|application/manifest+json|" + asked,
		"/assets/gone.js":                       "404|application/problem+json|",
		"/assets/gone":                          "404|application/problem+json|",
		"/missing.png":                          "404|application/problem+json|",
		"/api":                                  "404|application/problem+json|",
		"/mcp/":                                 "404|application/problem+json|",
		"/history":                              "404|application/problem+json|",
		"/sse":                                  "404|application/problem+json|",
		"/register":                             "404|application/problem+json|",
		"/assets/../favicon.svg":                "404|application/problem+json|",
		"/.well-known/oauth-protected-resource": "404|application/problem+json|",
		"/.well-known/oauth-protected-resource/mcp":   "404|application/problem+json|",
		"/.well-known/oauth-authorization-server/mcp": "404|application/problem+json|",
		"/..%2f..%2fetc/passwd.txt":                   "404|application/problem+json|",
	} {
		r := h.get(path, "")
		if got := fmt.Sprintf("%d|%s|%s", r.status, r.header.Get("Content-Type"), r.header.Get("Cache-Control")); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		csp := r.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self'", "connect-src 'self' ws://127.0.0.1:" + port(h), "frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy %q lacks %q", path, csp, part)
			}
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if r.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, r.header.Get(name))
			}
		}
	}
	page := h.get("/", "")
	r := h.send("GET", "/", "", "", func(r *http.Request) { r.Header.Set("If-None-Match", page.header.Get("ETag")) })
	if r.status != http.StatusNotModified {
		t.Errorf("the same page again: %d", r.status)
	}
	h.send("POST", "/", "", "{}", nil).problem(http.StatusMethodNotAllowed, "GET and HEAD")
	h.send("POST", "/register", "", "{}", nil).problem(http.StatusNotFound, "nothing is at /register")
	if r := h.get("/api/agents", h.op); r.header.Get("Cache-Control") != "no-store" || r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("an answer of the API may be kept: %v", r.header)
	}
	openFixture(t, nil).get("/", "").problem(http.StatusNotFound, "nothing is at /")
}

func TestMCPKnowsItsAgent(t *testing.T) {
	var seen human.Actor
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen, _ = ActorOf(r)
			w.WriteHeader(http.StatusAccepted)
		})
	})
	if r := h.post("/mcp", h.agent("bot"), "{}"); r.status != http.StatusAccepted || seen != (human.Actor{Role: human.Agent, Name: "bot"}) {
		t.Errorf("%d, MCP sees %+v", r.status, seen)
	}
	seen = human.Actor{}
	h.post("/mcp", "", "{}").problem(http.StatusUnauthorized, "a key is missing")
	h.post("/mcp", h.op, "{}").problem(http.StatusForbidden, "for agents")
	h.send("POST", "/mcp", h.agent("bot"), "{}", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }).problem(http.StatusForbidden, "evil")
	if seen.Name != "" {
		t.Errorf("MCP was called for %+v", seen)
	}
	if _, err := ActorOf(&http.Request{}); human.KindOf(err) != human.Unauthorized {
		t.Errorf("a request from nowhere: %v", err)
	}
	other := openFixture(t, nil)
	other.post("/mcp", other.agent("bot"), "{}").problem(http.StatusNotFound, "no MCP")
}
