package fresh

import (
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed site
var site embed.FS

// An Answer is what the server of a case gives to one request that changes something.
type Answer struct {
	Status  int           `json:"status"` // 0: it breaks the connection
	Message string        `json:"message"`
	Delay   time.Duration `json:"delay"`
	Next    string        `json:"next"` // of a form without script: where a success leads
}

// A Server serves cases, each under a host of its own, and keeps what was really done to them.
type Server struct {
	Libraries string // the folder of the UI libraries, node_modules

	mu    sync.Mutex
	cases map[string]*served
}

type served struct {
	c     Case
	asked map[string]int
	done  []string // what succeeded, in order
}

// Add serves a case from its beginning.
func (s *Server) Add(c Case) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cases == nil {
		s.cases = map[string]*served{}
	}
	s.cases[c.Name] = &served{c: c, asked: map[string]int{}}
}

// Done is what really happened to a case, each in a line.
func (s *Server) Done(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cases[name] == nil {
		return nil
	}
	return slices.Clone(s.cases[name].done)
}

// ServeHTTP may be called from several goroutines.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path, is := strings.CutPrefix(r.URL.Path, "/lib/"); is {
		w.Header().Set("Cache-Control", "max-age=3600")
		http.ServeFile(w, r, filepath.Join(s.Libraries, filepath.FromSlash(path)))
		return
	}
	name, _, _ := strings.Cut(r.Host, ".")
	s.mu.Lock()
	c := s.cases[name]
	s.mu.Unlock()
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/site/"):
		http.ServeFileFS(w, r, site, strings.TrimPrefix(path, "/"))
	case path == "/favicon.ico":
	case path == "/blank":
		fmt.Fprint(w, "<!doctype html><title>blank</title>")
	case path == "/clip.wav":
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(clip())
	case c == nil:
		http.NotFound(w, r)
	case path == "/api/search":
		hits := []Link{}
		for _, l := range c.c.Catalogue {
			if strings.Contains(strings.ToLower(l.Name), strings.ToLower(r.FormValue("q"))) {
				hits = append(hits, l)
			}
		}
		writeJSON(w, http.StatusOK, map[string]any{"hits": hits})
	case strings.HasPrefix(path, "/api/"), strings.HasPrefix(path, "/do/"):
		s.act(w, r, c)
	default:
		p, found := c.c.Pages[path]
		if !found {
			http.NotFound(w, r)
			return
		}
		<-time.After(c.c.Slow)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, p.html())
	}
}

// act answers what changes something, as the case plans it, and keeps it where it succeeds.
func (s *Server) act(w http.ResponseWriter, r *http.Request, c *served) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	if len(parts) < 3 || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	verb, object := parts[1], parts[2]
	line := verb + " " + object
	switch kind := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "multipart/"):
		if f, h, err := r.FormFile("file"); err == nil {
			f.Close()
			line += fmt.Sprintf(" file %s %d", h.Filename, h.Size)
		}
	case parts[0] == "do":
		_ = r.ParseForm() // what cannot be parsed has no values
		line += " " + r.PostForm.Encode()
	default:
		var values map[string]any
		_ = json.NewDecoder(r.Body).Decode(&values)
		text, _ := json.Marshal(values)
		line += " " + string(text)
	}
	s.mu.Lock()
	n := c.asked[verb]
	c.asked[verb]++
	plan := c.c.Answers[verb]
	a := Answer{Status: http.StatusOK}
	if len(plan) > 0 {
		a = plan[min(n, len(plan)-1)]
	}
	if a.Status == http.StatusOK {
		c.done = append(c.done, line)
	}
	s.mu.Unlock()
	<-time.After(a.Delay)
	message := strings.ReplaceAll(a.Message, "%s", object)
	switch {
	case a.Status == 0:
		panic(http.ErrAbortHandler)
	case parts[0] == "api":
		writeJSON(w, a.Status, map[string]any{"message": message})
	case a.Status == http.StatusOK:
		http.Redirect(w, r, a.Next+"?said="+url.QueryEscape(message), http.StatusSeeOther)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(a.Status)
		fmt.Fprintf(w, "<!doctype html><title>%d</title><h1>%s</h1>", a.Status, html.EscapeString(message))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the browser may be gone
}

var libraries = map[string][]string{
	"bootstrap": {"flatpickr/dist/flatpickr.min.css", "tom-select/dist/css/tom-select.bootstrap5.min.css", "bootstrap/dist/js/bootstrap.bundle.min.js", "flatpickr/dist/flatpickr.min.js", "tom-select/dist/js/tom-select.complete.min.js"},
	"shoelace":  {"@shoelace-style/shoelace/cdn/themes/light.css", "@shoelace-style/shoelace/cdn/shoelace.js"},
	"vuetify":   {"vuetify/dist/vuetify.min.css", "vue/dist/vue.global.prod.js", "vuetify/dist/vuetify.min.js"},
	"element":   {"element-plus/dist/index.css", "vue/dist/vue.global.prod.js", "element-plus/dist/index.full.min.js"},
	"antd":      {"antd/dist/reset.css", "react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js", "dayjs/dayjs.min.js", "antd/dist/antd.min.js"},
}

// html is the page as it is served.
func (p Page) html() string {
	var b strings.Builder
	spec, err := json.Marshal(p)
	if err != nil {
		panic(err) // it is made of strings
	}
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=%q dir=%q><head><meta charset=utf-8><title>%s</title>\n", p.Lang, p.Dir, html.EscapeString(p.Title))
	b.WriteString("<link rel=stylesheet href=/lib/bootstrap/dist/css/bootstrap.min.css>\n")
	files := slices.Clone(libraries[p.Kit])
	if p.Has["board"] {
		files = append(files, "sortablejs/Sortable.min.js")
	}
	if p.Has["editor"] {
		files = append(files, "quill/dist/quill.snow.css", "quill/dist/quill.js")
	}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f, ".css"):
			fmt.Fprintf(&b, "<link rel=stylesheet href=/lib/%s>\n", f)
		case strings.Contains(f, "shoelace"):
			fmt.Fprintf(&b, "<script type=module src=/lib/%s></script>\n", f)
		default:
			fmt.Fprintf(&b, "<script src=/lib/%s></script>\n", f)
		}
	}
	fmt.Fprintf(&b, "</head><body><script>const SPEC = %s;</script><script src=/site/app.js></script><script src=/site/%s.js></script>\n<script type=module>await Promise.resolve(); __start();</script></body></html>", strings.ReplaceAll(string(spec), "</", "<\\/"), p.Kit)
	return b.String()
}

// clip is two seconds of silence.
func clip() []byte {
	const rate, seconds = 8000, 2
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+rate*seconds)...)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 8)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, rate*seconds)
	return append(b, slices.Repeat([]byte{128}, rate*seconds)...)
}

// Save writes the truth of a case beside its recording.
func (t Truth) Save(dir string) error {
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, t.Name+".truth.json"), append(text, '\n'), 0o644)
}
