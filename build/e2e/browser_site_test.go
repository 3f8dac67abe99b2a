//go:build window

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A site is the pages of testdata/site on loopback. Browsers take every name under localhost for this machine,
// and each for a site of its own: a.localhost and b.localhost are cross-site.
type site struct{ port string }

func startSite(t *testing.T) site {
	t.Helper()
	files := http.FileServer(http.Dir("testdata/site"))
	mux := http.NewServeMux()
	mux.Handle("GET /", files)
	mux.HandleFunc("POST /account.html", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/account.html", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	mux.HandleFunc("GET /csp.html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; object-src 'none'; base-uri 'none'")
		files.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /report.csv", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, report)
	})
	// A browser asks for it once in a while; a 404 would stand in the console.
	mux.HandleFunc("GET /favicon.ico", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return site{port}
}

// report is what report.csv holds.
const report = "name,amount\nAnna,12\n"

// url is the address of a page as a.localhost.
func (s site) url(path string) string { return "http://a.localhost:" + s.port + path }
