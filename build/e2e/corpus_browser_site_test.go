//go:build window

package e2e

import (
	"bytes"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// A web is what the corpus's persons work on: the hosts under testdata/corpus-site, a folder each, on one server
// to which a browser is sent for all of them. It behaves as sites do that keep sessions, fail and take time.
type web struct {
	port   string
	served chan struct{} // closed when no more is served

	mu    sync.Mutex
	times map[string]int // how often something was asked for in this case
}

const corpusSite = "testdata/corpus-site"

func startWeb(t *testing.T) *web {
	t.Helper()
	b := &web{served: make(chan struct{}), times: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", b.file)
	mux.HandleFunc("GET /favicon.ico", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(corpusSite, "style.css"))
	})
	for pattern, answer := range webRoutes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(b, w, r) })
	}
	// Over TLS, as sites are; browsers make much of a download or a form without it.
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(b.served) })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b.port = port
	return b
}

// flags send a browser to the server for every name, but for the hosts of a company that are down.
func (b *web) flags() string {
	return fmt.Sprintf(`"--host-resolver-rules=MAP *.down.example ~NOTFOUND, MAP *.example 127.0.0.1:%s, MAP *.example.com 127.0.0.1:%s" --ignore-certificate-errors`, b.port, b.port)
}

// anew forgets what was asked for: the next case begins.
func (b *web) anew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.times)
}

// nth counts what is asked for, from 1.
func (b *web) nth(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times[what]++
	return b.times[what]
}

// takes lets time pass before an answer.
func (b *web) takes(r *http.Request, long time.Duration) {
	select {
	case <-time.After(long):
	case <-r.Context().Done():
	case <-b.served:
	}
}

// file serves the file of a path, an HTML page without its ending, or the host's page for one that is not there.
func (b *web) file(w http.ResponseWriter, r *http.Request) {
	name := path.Clean("/" + r.URL.Path)
	for _, try := range []string{name, name + ".html", name + "/index.html"} {
		if s, err := os.Stat(filepath.Join(corpusSite, r.Host, try)); err != nil || s.IsDir() {
			continue
		}
		if strings.HasSuffix(try, ".html") {
			page(w, r, try, http.StatusOK)
			return
		}
		http.ServeFile(w, r, filepath.Join(corpusSite, r.Host, try))
		return
	}
	page(w, r, "404.html", http.StatusNotFound)
}

// page answers with one of the host's pages. What was asked for stands in it as {{.name}}; more are further names
// and values.
func page(w http.ResponseWriter, r *http.Request, file string, status int, more ...string) {
	with := map[string]string{}
	if err := r.ParseForm(); err == nil {
		for name := range r.Form {
			with[name] = r.Form.Get(name)
		}
	}
	for i := 0; i < len(more); i += 2 {
		with[more[i]] = more[i+1]
	}
	text, err := os.ReadFile(filepath.Join(corpusSite, r.Host, file))
	if err != nil {
		http.Error(w, "404 Not Found", http.StatusNotFound)
		return
	}
	lang := "en"
	if bytes.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Han, c) }) {
		lang = "zh-CN"
	}
	t, err := template.New(file).Option("missingkey=zero").Parse(string(text))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=%q>\n<meta charset=\"utf-8\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n", lang)
	if err := t.Execute(&b, with); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that went on needs it no more
}

// to sends the browser on after a form.
func to(w http.ResponseWriter, r *http.Request, where string) {
	http.Redirect(w, r, where, http.StatusSeeOther)
}

// attachment answers with a file to save.
func attachment(w http.ResponseWriter, name, kind, text string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	fmt.Fprint(w, text)
}

// webRoutes are what the sites do that is more than a page.
var webRoutes = map[string]func(*web, http.ResponseWriter, *http.Request){
	"POST console.vendor.example/login": func(_ *web, w http.ResponseWriter, r *http.Request) {
		if r.FormValue("password") != corpusPassword {
			page(w, r, "index.html", http.StatusUnauthorized, "problem", "Wrong e-mail or password")
			return
		}
		to(w, r, "/org/acme")
	},
	"GET console.vendor.example/org/acme/renewal": denied("denied.html"),
	"GET console.vendor.example/prices-2026.csv":  saves("prices-2026.csv", "text/csv", vendorPrices),
	"POST admin.example.com/login": func(_ *web, w http.ResponseWriter, r *http.Request) {
		if r.FormValue("captcha") != "7KQ4" {
			to(w, r, "/login?error=captcha")
			return
		}
		to(w, r, "/dashboard")
	},
	"POST admin.example.com/forgot": sends("/sent"),
	"POST expenses.example/claims": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("claims") == 1 {
			to(w, r, "/expired")
			return
		}
		to(w, r, "/claims/C-4711")
	},
	"POST expenses.example/login": sends("/claims/new"),
	"POST tickets.example/tickets": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("tickets") == 1 {
			page(w, r, "500.html", http.StatusInternalServerError)
			return
		}
		to(w, r, "/tickets/T-2093")
	},
	"GET hr.example/payroll":                   denied("denied.html"),
	"POST hr.example/requests":                 sends("/requested"),
	"POST shop.example/orders":                 sends("/orders/73310"),
	"POST city.example/received":               sends("/received"),
	"GET reports.example/invoices-2026-10.csv": saves("invoices-2026-10.csv", "text/csv", invoices),
	"GET catalog.example/catalog-full.zip": func(b *web, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(900<<20))
		attachment(w, "catalog-full.zip", "application/zip", strings.Repeat("full", 1<<14))
		w.(http.Flusher).Flush()
		b.takes(r, time.Minute) // the line is slow: nobody waits for the rest
	},
	"GET catalog.example/catalog-light.csv": saves("catalog-light.csv", "text/csv", "item\nlamp\n"),
	"GET bank.example/statement-2025.pdf":   saves("statement-2025.pdf", "application/pdf", "%PDF-1.4 2025"),
	"GET bank.example/statement-2026.pdf":   saves("statement-2026.pdf", "application/pdf", "%PDF-1.4 2026"),
	"POST permits.example/plans": func(_ *web, w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err == nil {
			if files := r.MultipartForm.File["plan"]; len(files) == 1 && strings.HasSuffix(files[0].Filename, ".pdf") {
				to(w, r, "/plans/5518")
				return
			}
		}
		page(w, r, "refused.html", http.StatusUnsupportedMediaType)
	},
	"GET crm.example/search": func(_ *web, w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") == "Müller" {
			page(w, r, "found.html", http.StatusOK)
			return
		}
		page(w, r, "none.html", http.StatusOK)
	},
	"POST leave.example/requests": sends("/requests/L-331"),
	"POST ebank.example/login":    sends("/code"),
	"POST ebank.example/code": func(_ *web, w http.ResponseWriter, r *http.Request) {
		if r.FormValue("otp") != "551907" {
			page(w, r, "code.html", http.StatusUnauthorized, "wrong", "yes")
			return
		}
		to(w, r, "/accounts")
	},
	"GET fapiao.example/26117000.pdf":       saves("26117000.pdf", "application/pdf", "%PDF-1.4 发票"),
	"POST domains.example/verify":           sends("/pending"),
	"GET baobiao.example/sales-2026-10.csv": saves("sales-2026-10.csv", "text/csv", "月份,金额\n2026-10,88\n"),
	"GET accounts.example/mail":             denied("denied.html"),
	"POST baoming.example/signup":           sends("/done"),
	"POST app.test.example/verify":          sends("/ok"),
	"POST webhooks.example/settings":        sends("/saved"),
	"GET backups.example/backup-2026-11-20.tar": func(b *web, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "500000")
		attachment(w, "backup-2026-11-20.tar", "application/x-tar", strings.Repeat("part", 1<<14))
		w.(http.Flusher).Flush()
		b.takes(r, time.Second)
		panic(http.ErrAbortHandler) // the line breaks each time
	},
	"GET backups.example/mirror/backup-2026-11-20.tar": saves("backup-2026-11-20.tar", "application/x-tar", "all of it"),
	"GET jobs.example/{$}": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("jobs") < 3 {
			page(w, r, "index.html", http.StatusOK, "state", "running", "rows", "0")
			return
		}
		page(w, r, "index.html", http.StatusOK, "state", "finished", "rows", "20,416")
	},
	"GET oa.example/salary": denied("denied.html"),
	"POST oa.example/seal": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("seal") == 1 {
			page(w, r, "busy.html", http.StatusOK)
			return
		}
		to(w, r, "/ok")
	},
	"GET parts.example/p/88-1": func(_ *web, w http.ResponseWriter, r *http.Request) {
		page(w, r, "404.html", http.StatusOK) // as many sites answer
	},
	"POST erp.example/login": func(_ *web, w http.ResponseWriter, r *http.Request) {
		page(w, r, "locked.html", http.StatusLocked)
	},
	"GET geo.example/check": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("geo") == 1 {
			page(w, r, "429.html", http.StatusTooManyRequests)
			return
		}
		page(w, r, "ok.html", http.StatusOK)
	},
	"POST import.example/import": sends("/result"),
	"GET ledger.example/october": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("ledger") == 1 {
			b.takes(r, 14*time.Second)
			page(w, r, "504.html", http.StatusGatewayTimeout)
			return
		}
		page(w, r, "shown.html", http.StatusOK)
	},
	"POST travel.example/trips": func(_ *web, w http.ResponseWriter, r *http.Request) {
		page(w, r, "409.html", http.StatusConflict)
	},
	"POST intra.example/sso": denied("denied.html"),
	"POST visa.example/sent": sends("/ok"),
	"GET meter.example/m/7": func(_ *web, w http.ResponseWriter, r *http.Request) {
		page(w, r, "502.html", http.StatusBadGateway)
	},
	"POST pandian.example/save": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("save") == 1 {
			page(w, r, "conflict.html", http.StatusOK)
			return
		}
		to(w, r, "/saved")
	},
	"GET manuals.example/press-40.pdf": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("manual") == 1 {
			to(w, r, "/login")
			return
		}
		attachment(w, "press-40.pdf", "application/pdf", "%PDF-1.4 press")
	},
	"POST manuals.example/login": sends("/"),
	"GET audit.example/stale": func(b *web, w http.ResponseWriter, r *http.Request) {
		if b.nth("stale") == 1 {
			page(w, r, "down.html", http.StatusServiceUnavailable)
			return
		}
		page(w, r, "list.html", http.StatusOK)
	},
}

func denied(file string) func(*web, http.ResponseWriter, *http.Request) {
	return func(_ *web, w http.ResponseWriter, r *http.Request) { page(w, r, file, http.StatusForbidden) }
}

func sends(where string) func(*web, http.ResponseWriter, *http.Request) {
	return func(_ *web, w http.ResponseWriter, r *http.Request) { to(w, r, where) }
}

func saves(name, kind, text string) func(*web, http.ResponseWriter, *http.Request) {
	return func(_ *web, w http.ResponseWriter, _ *http.Request) { attachment(w, name, kind, text) }
}

// invoices are those of October.
const invoices = "number,customer,eur\n3301,Acme,1200\n3302,Globex,840\n"

// vendorPrices is the vendor's price list.
const vendorPrices = "item,unit,usd\nrequests within quota,1,0\nrequests above quota,1,0.00042\nstorage,GB,0.021\n"

// corpusPassword is the one that sites take; it must be nowhere in the corpus.
const corpusPassword = "Rv7!lantern-58"
