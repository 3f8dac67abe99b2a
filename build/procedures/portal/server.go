package portal

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// User and Password are the login of the portal.
const (
	User     = "mira"
	Password = "correct horse battery"
)

// Options are how the portal is made.
type Options struct {
	Seed    uint64
	Changes []string          // names of Changes and Lies
	Values  map[string]string // of the run to come, for changes of data, which are about them
	Maildir string            // where mails are delivered; empty: they are only counted
	Lived   bool              // pages say what says has, as those of a portal that is used every day
	Saved   func(Record) error
	Within  time.Duration // the longest that something late takes; 0: two seconds
}

// A Server is the portal and what is true of it. It is safe for concurrent use.
type Server struct {
	o    Options
	on   map[string]Change
	mux  *http.ServeMux
	base string // before all paths

	mu       sync.Mutex
	first    books // before anything was done
	shown    books // what pages say
	truth    books // what is stored
	next     int
	writes   map[string]int
	sessions map[string]string // and the text that the next page says once
	once     map[string]bool   // what comes once and has come
	pages    int               // that were asked for
	loads    uint64            // pages and parts of pages that were sent
	errs     []error
	late     sync.WaitGroup // what is stored later
}

//go:embed web
var web embed.FS

// New makes a portal. A name that is no change is an error.
func New(o Options) (*Server, error) {
	s := &Server{
		o: o, on: map[string]Change{}, mux: http.NewServeMux(), next: 700, writes: map[string]int{}, sessions: map[string]string{}, once: map[string]bool{},
	}
	s.o.Within = cmp.Or(o.Within, 2*time.Second)
	for _, name := range o.Changes {
		i := slices.IndexFunc(all(), func(c Change) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the portal has no change %q: take one of portal.Changes or portal.Lies", name)
		}
		s.on[name] = all()[i]
	}
	if s.has("paths-renamed") {
		s.base = "/v2"
	}
	s.first = world(o.Seed)
	for _, c := range s.on {
		if c.data != nil {
			s.first = c.data(slices.Clone(s.first), o.Values)
		}
	}
	s.shown, s.truth = s.first, s.first
	if o.Maildir != "" {
		for _, dir := range []string{"tmp", "new", "cur"} {
			if err := os.MkdirAll(filepath.Join(o.Maildir, dir), 0o700); err != nil {
				return nil, err
			}
		}
	}
	s.routes()
	return s, nil
}

func (s *Server) has(change string) bool { _, on := s.on[change]; return on }

// first time says true the first time that it is asked for a name.
func (s *Server) firstTime(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.once[name]
	s.once[name] = true
	return !was
}

// Difference says what is stored now and was not at first, and the other way around: a line a record.
func (s *Server) Difference() (added, gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return difference(s.first, s.truth)
}

// Stored are the records of a kind, in the order in which they came.
func (s *Server) Stored(kind string) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truth.all(kind)
}

// Writes says how often each request that writes came. A request is the same as another by method, path and values.
func (s *Server) Writes() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.writes)
}

// Err is what failed when mails were delivered or Saved was called.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

func (s *Server) read() books {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown
	for _, c := range s.on {
		if c.shows != nil {
			shown = c.shows(shown, s.o.Values)
		}
	}
	return shown
}

// Settle waits until what the portal stores later is stored.
func (s *Server) Settle() { s.late.Wait() }

func (s *Server) number(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return fmt.Sprintf("%s-%d", prefix, s.next)
}

// save shows a write on all pages and stores it, or what a lie makes of it.
func (s *Server) save(w write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, kept := s.shown, []write{w}
	s.shown = s.shown.after(w)
	for _, c := range s.on {
		if c.stores != nil {
			kept = c.stores(w, s.truth)
		}
		if c.later != nil {
			last := c.later(w, s.truth)
			s.late.Add(1)
			time.AfterFunc(s.o.Within/2, func() {
				defer s.late.Done()
				s.mu.Lock()
				defer s.mu.Unlock()
				s.store(last)
			})
		}
	}
	if s.has("rolls-back") {
		time.AfterFunc(s.o.Within, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.shown = before
		})
	}
	if s.has("saves-late") {
		time.AfterFunc(s.o.Within, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.store(kept)
		})
		return
	}
	s.store(kept)
}

func (s *Server) store(kept []write) {
	s.truth = s.truth.after(kept...)
	for _, w := range kept {
		if w.remove {
			continue
		}
		if w.Kind == "mail" && s.o.Maildir != "" {
			s.errs = append(s.errs, s.deliver(w.Record))
		}
		if s.o.Saved != nil {
			s.errs = append(s.errs, s.o.Saved(w.Record))
		}
	}
}

// deliver writes a mail as Maildir wants it: whole, and then under its name.
func (s *Server) deliver(mail Record) error {
	text := fmt.Sprintf("From: billing@faktura.example\r\nTo: %s\r\nSubject: %s\r\nMessage-ID: <%s@faktura.example>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n",
		mail.Fields["to"], mail.Fields["subject"], mail.ID, mail.Fields["message"])
	name := mail.ID + ".faktura"
	if err := os.WriteFile(filepath.Join(s.o.Maildir, "tmp", name), []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(filepath.Join(s.o.Maildir, "tmp", name), filepath.Join(s.o.Maildir, "new", name))
}

// A call is one request, by whom, and what it brings.
type call struct {
	*Server
	w       http.ResponseWriter
	r       *http.Request
	session string
	form    map[string]string
	file    []byte
}

// form reads the values of a request: a query, a form with or without a file, or JSON. Names may have the prefix of renamed ones.
func form(r *http.Request) (values map[string]string, file []byte, err error) {
	sent := map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		err = json.NewDecoder(r.Body).Decode(&sent)
	} else if err = r.ParseMultipartForm(1 << 20); err == nil || errors.Is(err, http.ErrNotMultipart) {
		err = nil
		for name := range r.Form {
			sent[name] = r.Form.Get(name)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	values = map[string]string{}
	for name, value := range sent {
		values[strings.TrimPrefix(name, "fk_")] = strings.TrimSpace(value)
	}
	if r.MultipartForm == nil {
		return values, nil, nil
	}
	for _, headers := range r.MultipartForm.File {
		f, err := headers[0].Open()
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = f.Close() }()
		if file, err = io.ReadAll(f); err != nil {
			return nil, nil, err
		}
	}
	return values, file, nil
}

// ServeHTTP serves the portal.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, under := strings.CutPrefix(r.URL.Path, s.base)
	if r.URL.Path == "/" {
		path, under = "/", true
	}
	host, port, _ := net.SplitHostPort(r.Host)
	switch {
	case strings.HasPrefix(r.URL.Path, "/ledger/"):
		s.mux.ServeHTTP(w, r)
		return
	case !under:
		http.NotFound(w, r)
		return
	case s.has("other-host") && host == "127.0.0.1":
		http.Redirect(w, r, "http://localhost:"+port+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		return
	case s.has("slow-pages") && !strings.HasPrefix(path, "/static/"):
		if !late(r, s.o.Within) {
			return
		}
	}
	r = r.Clone(r.Context())
	r.URL.Path = path
	r.Body = http.MaxBytesReader(w, r.Body, 4<<20)
	s.mux.ServeHTTP(w, r)
}

// late waits, and says whether the page is still wanted.
func late(r *http.Request, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-r.Context().Done():
		return false
	}
}

// handle adds a page or an operation that only a user who has signed in may see.
func (s *Server) handle(pattern string, do func(*call)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c := &call{Server: s, w: w, r: r}
		if cookie, err := r.Cookie("faktura"); err == nil {
			c.session = cookie.Value
		} else if s.has("report-of-other-origin") && r.URL.Path == "/reports/frame" {
			c.session = r.FormValue("key") // another origin has no cookie
		}
		if s.expires(c) {
			s.mu.Lock()
			delete(s.sessions, c.session)
			s.mu.Unlock()
		}
		s.mu.Lock()
		_, known := s.sessions[c.session]
		s.mu.Unlock()
		if !known {
			c.signIn()
			return
		}
		var err error
		if c.form, c.file, err = form(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Method != http.MethodGet && !s.admits(c) || s.limits(c) {
			return
		}
		for _, change := range s.on {
			if change.meets != nil && change.meets(c) {
				return
			}
		}
		do(c)
	})
}

// limits answers every fourth page that there were too many requests, where a change wants it.
func (s *Server) limits(c *call) bool {
	if !s.has("rate-limited") || c.r.Method != http.MethodGet || strings.HasPrefix(c.r.URL.Path, "/fragment/") || !s.fourth() {
		return false
	}
	c.w.Header().Set("Refresh", "1")
	c.w.WriteHeader(http.StatusTooManyRequests)
	c.page("error", "Error", "Too many requests. Wait a second.")
	return true
}

func (s *Server) fourth() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages%4 == 0
}

// expires says whether the session ends here, for changes by which it does.
func (s *Server) expires(c *call) bool {
	if c.r.Method != http.MethodGet {
		return s.has("logged-out-at-submit") && s.firstTime("session")
	}
	s.mu.Lock()
	s.pages++
	third := s.pages >= 3
	s.mu.Unlock()
	return third && s.has("session-expired") && s.firstTime("session")
}

// admits counts a request that writes, and says whether it may.
func (s *Server) admits(c *call) bool {
	token := cmp.Or(c.form["csrf"], c.r.Header.Get("X-CSRF"))
	delete(c.form, "csrf")
	if c.r.URL.Path == "/payments/review" {
		return true
	}
	identity, err := json.Marshal([]any{c.r.Method, c.r.URL.Path, c.form, digest(c.file)})
	if err != nil {
		http.Error(c.w, err.Error(), http.StatusInternalServerError)
		return false
	}
	s.mu.Lock()
	s.writes[string(identity)]++
	s.mu.Unlock()
	switch {
	case token != c.session || s.has("csrf-fails-once") && s.firstTime("csrf"):
		c.fail(http.StatusForbidden, "The form is out of date. Load the page again.")
	case s.has("error-500-once") && s.firstTime("500"):
		c.fail(http.StatusInternalServerError, "Internal server error")
	case s.has("validation-toast") && s.firstTime("validation"):
		c.fail(http.StatusUnprocessableEntity, "Please check your entries.")
	case s.has("maintenance-at-write"):
		c.page("error", "Maintenance", "Maintenance until 14:00. Nothing was stored.")
	default:
		if s.has("slow-save") {
			return late(c.r, s.o.Within)
		}
		return true
	}
	return false
}

func (c *call) signIn() {
	if strings.HasPrefix(c.r.URL.Path, "/api/") || strings.HasPrefix(c.r.URL.Path, "/fragment/") {
		http.Error(c.w, `{"go":"/login"}`, http.StatusUnauthorized)
		return
	}
	http.Redirect(c.w, c.r, c.base+"/login", http.StatusSeeOther)
}

// fail answers a write that failed: to a script as JSON, and else as a page.
func (c *call) fail(status int, why string) {
	if c.script() {
		c.w.Header().Set("Content-Type", "application/json")
		c.w.WriteHeader(status)
		_ = json.NewEncoder(c.w).Encode(map[string]string{"error": why})
		return
	}
	c.w.WriteHeader(status)
	c.page("error", "Error", why)
}

func (c *call) script() bool { return strings.HasPrefix(c.r.URL.Path, "/api/") }

// done answers a write: the page to go to, and what it says once.
func (c *call) done(path, say string) {
	if c.has("error-after-save") && c.firstTime("after") {
		c.fail(http.StatusInternalServerError, "Internal server error")
		return
	}
	if c.has("four-eyes") {
		say = "Waiting for approval by a second person"
	}
	if c.script() {
		c.w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(c.w).Encode(map[string]string{"go": path, "say": say})
		return
	}
	c.say(say)
	http.Redirect(c.w, c.r, c.base+path, http.StatusSeeOther)
}

func (c *call) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[c.session] = text
}

// said is what the page says once.
func (c *call) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, known := c.sessions[c.session]
	if known {
		c.sessions[c.session] = ""
	}
	return text
}

// A view is what templates see.
type view struct {
	*call
	Title, Said string
	Data        any
}

// On says whether the portal has a change.
func (v view) On(change string) bool { return v.has(change) }

// CSRF is the token of forms.
func (v view) CSRF() string { return v.session }

// Base comes before all paths.
func (v view) Base() string { return v.base }

// Get is a value of the request.
func (v view) Get(name string) string { return v.form[name] }

// Months, Products, Kinds, Methods and Customers are the options of selects.
func (v view) Months() []string { return months }

// Products are those that can be ordered.
func (v view) Products() []string { return v.options(products) }

// Kinds are those of documents.
func (v view) Kinds() []string { return v.options(kinds) }

// Methods are those of payments.
func (v view) Methods() []string { return v.options(methods) }

// Customers are their names.
func (v view) Customers() []string {
	var names []string
	for _, r := range byField(v.read().all("customer"), "name") {
		names = append(names, r.Fields["name"])
	}
	return v.options(names)
}

func (v view) options(from []string) []string {
	from = slices.Clone(from)
	if v.has("options-reordered") {
		slices.Reverse(from)
	}
	return from
}

// Notice says whether the cookie notice comes: sometimes it does.
func (v view) Notice() bool { return v.o.Seed%3 == 2 || v.has("cookie-banner") }

// Prev and Next are the numbers of the pages of a table beside this one.
func (v view) Prev() int { return v.Data.(table).Page - 1 }

// Next is the number of the next page.
func (v view) Next() int { return v.Data.(table).Page + 1 }

// MonthNumbers are 01 to 12.
func (v view) MonthNumbers() []string {
	var all []string
	for i := range 12 {
		all = append(all, fmt.Sprintf("%02d", i+1))
	}
	return all
}

// Review are the fields of a payment.
func (v view) Review() []string {
	return []string{"invoice", "amount", "paid_on", "method", "reference"}
}

// Money is an amount of cents.
func (v view) Money(cents string) string { return v.money(cents) }

// Day is a date or a month as people read it.
func (v view) Day(iso string) string {
	if p := strings.Split(iso, "-"); v.has("date-format") && len(p) > 1 {
		slices.Reverse(p)
		return strings.Join(p, ".")
	}
	return iso
}

// Extra is what the changes add to a page: styles and scripts.
func (v view) Extra() template.HTML {
	var css, js strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.on)) {
		css.WriteString(v.on[name].css)
		if code := v.on[name].js; code != "" && v.sees(v.on[name]) {
			fmt.Fprintf(&js, "Faktura.changes.push(function (root) {const all = s => [...root.querySelectorAll(s)];%s});\n", code)
		}
	}
	return template.HTML("<style>" + css.String() + "</style><script>" + js.String() + "</script>")
}

func (s *Server) money(cents string) string {
	n, err := strconv.Atoi(cents)
	if err != nil {
		return cents
	}
	whole := strconv.Itoa(n / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	text := fmt.Sprintf("%s.%02d €", whole, n%100)
	if s.has("number-format") {
		return strings.NewReplacer(",", ".", ".", ",").Replace(text)
	}
	return text
}

var pages = template.Must(template.ParseFS(web, "web/*.html"))

// page sends a page in the frame of the portal, changed by all changes.
func (c *call) page(name, title string, data any) { c.render(name, "layout", title, data) }

// fragment sends the part of a page that a script puts into it.
func (c *call) fragment(name string, data any) { c.render(name, "", name, data) }

func (c *call) render(name, around, title string, data any) {
	v := view{c, title, "", data}
	if around != "" && !strings.HasPrefix(c.r.URL.Path, "/app/") {
		v.Said = c.said()
	}
	var inner bytes.Buffer
	if err := pages.ExecuteTemplate(&inner, name, v); err != nil {
		http.Error(c.w, err.Error(), http.StatusInternalServerError)
		return
	}
	html := inner.String()
	if around != "" {
		var outer bytes.Buffer
		v.Data = template.HTML(html)
		if err := pages.ExecuteTemplate(&outer, around, v); err != nil {
			http.Error(c.w, err.Error(), http.StatusInternalServerError)
			return
		}
		html = outer.String()
	}
	c.mu.Lock()
	c.loads++
	load := c.loads
	c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.on)) {
		if change := c.on[name]; change.html != nil && c.sees(change) {
			html = change.html(load, html)
		}
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.Header().Set("Cache-Control", "no-store")
	if _, err := io.WriteString(c.w, html); err != nil {
		return // the browser has left
	}
}

// sees says whether the page is one that a change changes.
func (c *call) sees(change Change) bool { return c.session != "" || !change.inside }

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	c := &call{Server: s, w: w, r: r}
	var err error
	if c.form, _, err = form(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodGet && !s.has("signed-in-already") {
		c.page("login", "Sign in", "")
		return
	}
	if r.Method == http.MethodPost && (c.form["user"] != User || c.form["password"] != Password) {
		c.page("login", "Sign in", "User name or password is wrong.")
		return
	}
	token := rand.Text()
	s.mu.Lock()
	s.sessions[token] = ""
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "faktura", Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	landing := "/"
	if s.has("lands-elsewhere") {
		landing = "/drafts"
	}
	if _, port, _ := net.SplitHostPort(r.Host); s.has("single-sign-on") && port != "" {
		landing = "http://localhost:" + port + "/sso?host=" + url.QueryEscape(r.Host)
	} else {
		landing = s.base + landing
	}
	http.Redirect(w, r, landing, http.StatusSeeOther)
}
