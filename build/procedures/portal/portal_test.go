package portal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A visitor does works by requests, as the pages would send them.
type visitor struct {
	t    *testing.T
	s    *Server
	at   string
	http *http.Client
	csrf string
}

func visit(t *testing.T, o Options) *visitor {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, s: s, at: server.URL, http: &http.Client{Jar: jar}}
	v.post("/login", url.Values{"user": {User}, "password": {Password}})
	return v
}

var token = regexp.MustCompile(`csrf: "([A-Z0-9]+)"`)

func (v *visitor) send(method, path, kind string, body io.Reader) (int, string) {
	v.t.Helper()
	r, err := http.NewRequest(method, v.at+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-CSRF", v.csrf)
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if m := token.FindSubmatch(text); m != nil {
		v.csrf = string(m[1])
	}
	return answer.StatusCode, string(text)
}

func (v *visitor) get(path string) (int, string) { return v.send("GET", path, "", nil) }

func (v *visitor) post(path string, values url.Values) (int, string) {
	return v.send("POST", path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
}

func (v *visitor) json(method, path string, values map[string]string) (int, string) {
	body, err := json.Marshal(values)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.send(method, path, "application/json", bytes.NewReader(body))
}

func some(values map[string]string, names ...string) url.Values {
	all := url.Values{}
	for _, name := range names {
		all.Set(name, values[name])
	}
	return all
}

// do does a work, and says what the page gives.
func (v *visitor) do(w Work, values map[string]string) (outputs map[string]string) {
	v.t.Helper()
	status, page := 0, ""
	outputs = map[string]string{}
	find := func(output, expression string) {
		if m := regexp.MustCompile(expression).FindStringSubmatch(page); m != nil {
			outputs[output] = m[1]
		}
	}
	invoice, _ := v.s.first.where("invoice", of(Record{Fields: values}, "customer", "month"))
	switch w.Name {
	case MonthTotal:
		status, page = v.get("/reports/frame?" + some(values, "customer", "month").Encode())
		find("total", `id="total"[^>]*>([^<]+)`)
	case ExportInvoice:
		_, page = v.get("/invoices/" + invoice.ID)
		find("amount", `id="amount"[^>]*>([^<]+)`)
		status, outputs["file"] = v.get("/invoices/" + invoice.ID + "/pdf")
	case ChangeAddress:
		c, _ := v.s.first.where("customer", map[string]string{"name": values["customer"]})
		status, _ = v.json("PUT", "/api/customers/"+c.ID, of(Record{Fields: values}, "street", "city"))
	case PlaceOrder:
		status, page = v.json("POST", "/api/orders", values)
		find("number", `"go":"/app/orders/([^"]+)"`)
		_, page = v.get("/fragment/orders/" + outputs["number"])
		find("number", `id="order-number"[^>]*>([^<]+)`)
	case SendReminder:
		all := some(values, "message")
		all.Set("csrf", v.csrf)
		status, _ = v.post("/invoices/"+invoice.ID+"/remind", all)
	case UploadDocument:
		var body bytes.Buffer
		m := multipart.NewWriter(&body)
		for _, name := range []string{"title", "kind"} {
			_ = m.WriteField(name, values[name])
		}
		part, err := m.CreateFormFile("file", "scan.txt")
		if err != nil {
			v.t.Fatal(err)
		}
		_, _ = io.WriteString(part, values["file"])
		_ = m.Close()
		status, page = v.send("POST", "/documents", m.FormDataContentType(), &body)
		find("number", `role="status">([^<]+)`)
	case DeleteDraft:
		d, _ := v.s.first.where("draft", map[string]string{"title": values["draft"]})
		status, _ = v.post("/drafts/"+d.ID+"/delete", nil)
	case BookPayment:
		all := some(values, "invoice", "amount", "paid_on", "method")
		if status, _ = v.post("/payments/review", all); status == http.StatusOK {
			status, page = v.post("/payments", all)
			find("number", `role="status">([^<]+)`)
		}
	}
	if status != http.StatusOK {
		v.t.Logf("%s: status %d", w.Name, status)
	}
	return outputs
}

func TestDoneOnceIsTrue(t *testing.T) {
	for _, w := range Works {
		for n := range 8 {
			values := w.Values(7, n)
			v := visit(t, Options{Seed: 7})
			if err := w.Truth(v.s, values); (err == nil) != (w.wants == nil) {
				t.Errorf("%s %d: before anything was done the truth is %v", w.Name, n, err)
			}
			outcome := Outcome{Outputs: v.do(w, values)}
			if verdict, why := Judge(v.s, w, values, outcome); verdict != Right {
				t.Errorf("%s %d: %s: %s", w.Name, n, verdict, why)
			}
			if len(outcome.Outputs) != len(w.Outputs) {
				t.Errorf("%s %d: gave %v instead of %v", w.Name, n, outcome.Outputs, w.Outputs)
			}
		}
	}
}

func TestDoneTwiceIsSeen(t *testing.T) {
	for _, w := range Works {
		values := w.Values(7, 2)
		v := visit(t, Options{Seed: 7})
		v.do(w, values)
		v.do(w, values)
		again := w.Truth(v.s, values) != nil
		if same := w.Name == MonthTotal || w.Name == ChangeAddress || w.Name == DeleteDraft; again == same {
			t.Errorf("%s done twice: truth fails: %v", w.Name, again)
		}
		if w.Does == "reads" {
			continue
		}
		for request, count := range v.s.Writes() {
			if count != 2 {
				t.Errorf("%s: the request %s was counted %d times instead of 2", w.Name, request, count)
			}
		}
	}
}

func TestSomethingElseIsSeen(t *testing.T) {
	for i, w := range Works {
		other := Works[(i+1)%len(Works)]
		values := w.Values(7, 0)
		v := visit(t, Options{Seed: 7})
		v.do(w, values)
		v.do(other, other.Values(7, 1))
		if other.wants != nil && (w.Truth(v.s, values) == nil || w.Harm(v.s, values) == nil) {
			t.Errorf("%s: that %s was done besides is not seen", w.Name, other.Name)
		}
		wrong := visit(t, Options{Seed: 7})
		wrong.do(w, w.Values(7, 1))
		if w.wants != nil && (w.Truth(wrong.s, values) == nil || w.Harm(wrong.s, values) == nil) {
			t.Errorf("%s: other values are not seen", w.Name)
		}
	}
}

func TestLiesAreSeen(t *testing.T) {
	for _, lie := range Lies {
		if lie.js != "" || lie.later != nil {
			continue // it is the page that lies, and these requests are not the page's; or it comes later
		}
		for _, w := range Works {
			values := w.Values(3, 2)
			v := visit(t, Options{Seed: 3, Changes: []string{lie.Name}})
			outcome := Outcome{Outputs: v.do(w, values)}
			verdict, why := Judge(v.s, w, values, outcome)
			if want := map[bool]Verdict{true: Right, false: SilentWrong}[lie.In(w.Name).Right]; verdict != want {
				t.Errorf("%s, %s: %s instead of %s: %s", lie.Name, w.Name, verdict, want, why)
			}
			outcome.Stopped = AtEffect
			if verdict, why := Judge(v.s, w, values, outcome); !lie.In(w.Name).Right && verdict != StoppedWell {
				t.Errorf("%s, %s: a stop is %s: %s", lie.Name, w.Name, verdict, why)
			}
		}
	}
}

func TestLateIsTrueInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Seed: 1, Changes: []string{"saves-late"}})
		if err != nil {
			t.Fatal(err)
		}
		w, _ := WorkNamed(DeleteDraft)
		values := w.Values(1, 0)
		d, _ := s.first.where("draft", map[string]string{"title": values["draft"]})
		s.save(write{d, true})
		if _, shown := s.read().find("draft", d.ID); shown || w.Truth(s, values) == nil {
			t.Error("it is stored at once, or not shown")
		}
		<-time.After(3 * time.Second)
		synctest.Wait()
		if err := w.Truth(s, values); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatComesLaterIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, lie := range Lies {
			if lie.later == nil {
				continue
			}
			for _, w := range Works {
				if w.wants == nil || w.Name == ExportInvoice {
					continue
				}
				values := w.Values(1, 0)
				s, err := New(Options{Seed: 1, Changes: []string{lie.Name}})
				if err != nil {
					t.Fatal(err)
				}
				added, gone := w.wants(s, values)
				var what write
				switch {
				case len(added) == 0:
					what = write{gone[0], true}
				default:
					what = write{Record: added[0]}
				}
				if what.ID == "" {
					what.ID = s.number("N")
				}
				s.save(what)
				if err := w.Truth(s, values); err != nil {
					t.Errorf("%s, %s: at first: %v", lie.Name, w.Name, err)
				}
				s.Settle()
				if still := w.Truth(s, values) == nil; still != lie.In(w.Name).Right {
					t.Errorf("%s, %s: true in the end: %v", lie.Name, w.Name, still)
				}
			}
		}
	})
}

// What a portal does with what a page of the first round sends along without being asked.
func TestWhatIsTickedIsDone(t *testing.T) {
	for change, path := range map[string]string{"branches-ticked": "/api/customers/K-1001", "chat-first": "/chat"} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}})
		v.get("/")
		method := map[bool]string{true: "POST", false: "PUT"}[path == "/chat"]
		if status, _ := v.json(method, path, map[string]string{"street": "A 1", "city": "B", "branches": "yes", "message": "x"}); status != http.StatusOK {
			t.Errorf("%s: status %d", change, status)
		}
		if added, _ := v.s.Difference(); len(added) != map[bool]int{true: 1, false: 3}[path == "/chat"] {
			t.Errorf("%s: stored %q", change, added)
		}
	}
}

// What the portal does besides its pages for changes of the second round.
func TestWhatTheSecondRoundDoes(t *testing.T) {
	sent := func(change string, values url.Values) (status int, page string, added []string) {
		v := visit(t, Options{Seed: 1, Changes: []string{change}})
		v.get("/")
		values.Set("csrf", v.csrf)
		status, page = v.post("/invoices/RE-2026-0103/remind", values)
		added, _ = v.s.Difference()
		return status, page, added
	}
	if status, page, added := sent("maintenance-at-write", url.Values{"message": {"x"}}); status != http.StatusOK || !strings.Contains(page, "Nothing was stored") || len(added) > 0 {
		t.Errorf("maintenance: status %d, stored %q", status, added)
	}
	if _, _, added := sent("reminder-to-last", url.Values{"message": {"x"}, "to": {"billing-1008@customer.example"}, "level": {"Final notice"}}); len(added) != 1 || !strings.Contains(added[0], `to="billing-1008@`) || !strings.Contains(added[0], `"Final notice: invoice`) {
		t.Errorf("the other address and level: stored %q", added)
	}
	v := visit(t, Options{Seed: 1, Changes: []string{"single-sign-on"}})
	if status, page := v.get("/drafts"); status != http.StatusOK || !strings.Contains(page, "<h1>Drafts</h1>") {
		t.Errorf("after the other host: status %d", status)
	}
	for change, rows := range map[string]int{"filter-forgets-month": 6, "fiscal-months": 1} {
		_, page := visit(t, Options{Seed: 1, Changes: []string{change}}).get("/invoices?customer=Meyer&month=2026-03")
		if n := strings.Count(page, "open-RE-"); n != rows || change == "fiscal-months" && !strings.Contains(page, "<td>2026-04</td>") {
			t.Errorf("%s: %d rows", change, n)
		}
	}
	if status, page := visit(t, Options{Seed: 1, Changes: []string{"pdf-redirected"}}).get("/invoices/RE-2026-0103/pdf"); status != http.StatusOK || !strings.HasPrefix(page, "%PDF") {
		t.Errorf("the file at another address: status %d", status)
	}
}

// What pages of the third round say where they are shown by what was sent, and what comes of it.
func TestWhatTheThirdRoundDoes(t *testing.T) {
	payment := url.Values{"invoice": {"RE-2026-0103"}, "amount": {"1.00"}, "paid_on": {"2026-07-01"}, "method": {"Cash"}}
	for change, says := range map[string]string{"rest-written-off": "is written off", "fee-kept-back": "is kept back"} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}, Lived: true})
		v.get("/")
		if _, page := v.post("/payments/review", payment); !strings.Contains(page, says) {
			t.Errorf("%s: the page to check does not say it", change)
		}
	}
	v := visit(t, Options{Seed: 1, Changes: []string{"delivery-address-first"}})
	v.get("/")
	v.json("PUT", "/api/customers/K-1001", map[string]string{"street": "A 1", "city": "B", "ship_street": "C 2", "ship_city": "D"})
	if added, _ := v.s.Difference(); len(added) != 1 || !strings.Contains(added[0], `ship_street="C 2" street="A 1"`) {
		t.Errorf("the address of delivery: stored %q", added)
	}
	for _, c := range round3 {
		if c.stores == nil {
			continue
		}
		for name := range c.Touches {
			w, _ := WorkNamed(name)
			values := w.Values(3, 2)
			v := visit(t, Options{Seed: 3, Changes: []string{c.Name}, Lived: true})
			v.do(w, values)
			if w.Truth(v.s, values) == nil {
				t.Errorf("%s, %s: nothing else is stored", c.Name, name)
			}
		}
	}
}

// Pages of a portal that is used every day say something at each place, and other numbers on another day.
func TestSaysWhatIsLived(t *testing.T) {
	on := func(day string, lived bool) (texts string) {
		v := visit(t, Options{Seed: 1, Lived: lived, Values: map[string]string{"day": day}})
		for _, path := range []string{"/drafts", "/documents", "/payments", "/reports/frame", "/invoices/RE-2026-0103", "/fragment/orders/new", "/fragment/customers?edit=K-1001"} {
			_, text := v.get(path)
			texts += text
		}
		_, text := v.post("/payments/review", url.Values{"invoice": {"RE-2026-0103"}, "amount": {"1.00"}, "paid_on": {"2026-07-01"}, "method": {"Cash"}, "csrf": {v.csrf}})
		return strings.ReplaceAll(texts+text, v.csrf, "")
	}
	one := on("1", true)
	for place, text := range says {
		if before, _, _ := strings.Cut(text, "{n}"); !strings.Contains(one, before) {
			t.Errorf("%s is not said", place)
		}
	}
	if one == on("2", true) || strings.Contains(on("1", false), `class="say"`) {
		t.Error("the next day is the same, or a portal that is not used says something")
	}
}

func TestTooManyRequests(t *testing.T) {
	v := visit(t, Options{Seed: 1, Changes: []string{"rate-limited"}})
	var got []int
	for range 5 {
		status, _ := v.get("/drafts")
		got = append(got, status)
	}
	// The page after the login is the first.
	if want := []int{200, 200, 429, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("answers %v instead of %v", got, want)
	}
}

func TestChangesAreSound(t *testing.T) {
	if len(Changes) < 60 {
		t.Errorf("%d changes", len(Changes))
	}
	seen := map[string]bool{}
	for _, c := range all() {
		if seen[c.Name] || c.Does == "" || len(c.Touches) == 0 {
			t.Errorf("%s: twice, without words, or without works", c.Name)
		}
		seen[c.Name] = true
		for work, accept := range c.Touches {
			known := []string{Anywhere, AtEffect}
			for _, w := range Works {
				if work == "" || work == w.Name {
					known = append(known, w.StepNames()...)
				}
			}
			for _, step := range accept.Stops {
				if !slices.Contains(known, step) {
					t.Errorf("%s: %s has no step %s", c.Name, work, step)
				}
			}
			if !accept.Right && len(accept.Stops) == 0 {
				t.Errorf("%s: %s has no acceptable end", c.Name, work)
			}
		}
	}
}

// Each change leaves pages that are whole, and is seen in what is sent, or in what is there.
func TestChangesShow(t *testing.T) {
	paths := []string{
		"/", "/invoices", "/invoices?page=2", "/invoices?customer=Meyer&month=2026-03", "/payments", "/drafts", "/documents", "/reports", "/reports/frame?customer=Meyer&month=2026-03&year=2026", "/app/orders",
		"/fragment/orders", "/fragment/orders/A-501", "/fragment/orders/new", "/fragment/customers", "/fragment/customers?edit=K-1001", "/invoices/RE-2026-0103",
	}
	values := map[string]string{"customer": "Halde & Co", "draft": drafts[0]}
	fetch := func(changes ...string) (texts string) {
		v := visit(t, Options{Seed: 1, Changes: changes, Values: values, Within: time.Millisecond})
		if slices.Contains(changes, "paths-renamed") {
			v.at += "/v2"
			v.post("/login", url.Values{"user": {User}, "password": {Password}})
		}
		for _, path := range paths {
			status, text := v.get(path)
			if status != http.StatusOK {
				t.Errorf("%v: %s has status %d", changes, path, status)
			}
			texts += strings.ReplaceAll(text, v.csrf, "")
		}
		return texts
	}
	plain := fetch()
	if plain != fetch() {
		t.Fatal("the portal is another each time")
	}
	hidden := []string{ // by what comes of requests that write, or of time
		"other-host", "logged-out-at-submit", "slow-pages", "slow-save", "error-500-once", "error-after-save", "csrf-fails-once", "validation-toast", "saves-late",
		"lands-elsewhere", "signed-in-already", "four-eyes", "pdf-inline", "pdf-late", "maintenance-at-write", "pdf-redirected", "single-sign-on", "pdf-named-otherwise",
		"rest-written-off", "fee-kept-back", "paid-an-hour-ago", "review-knows-it", "taken-as-duplicate", "version-conflict", "review-expires", "pdf-link-expires", "pdf-zipped",
	}
	for _, c := range Changes {
		if c.Name == "other-host" || c.Name == "session-expired" || c.Name == "rate-limited" {
			continue // have tests of their own
		}
		if same := fetch(c.Name) == plain; same != slices.Contains(hidden, c.Name) {
			t.Errorf("%s: its pages are the same as without it: %v", c.Name, same)
		}
	}
}

func TestChangesOfData(t *testing.T) {
	for _, c := range Changes {
		if c.data == nil {
			continue
		}
		for _, w := range Works {
			values := w.Values(1, 2)
			v := visit(t, Options{Seed: 1, Changes: []string{c.Name}, Values: values})
			verdict, why := Judge(v.s, w, values, Outcome{Outputs: v.do(w, values)})
			if accept := c.In(w.Name); accept.Right != (verdict == Right) {
				t.Errorf("%s, %s: %s: %s", c.Name, w.Name, verdict, why)
			}
		}
	}
}

func TestWhatFailsOnce(t *testing.T) {
	w, _ := WorkNamed(DeleteDraft)
	values := w.Values(1, 0)
	for change, stored := range map[string]bool{"error-500-once": false, "csrf-fails-once": false, "validation-toast": false, "logged-out-at-submit": false, "error-after-save": true} {
		v := visit(t, Options{Seed: 1, Changes: []string{change}})
		v.do(w, values)
		if got := w.Truth(v.s, values) == nil; got != stored {
			t.Errorf("%s: stored at the first time: %v", change, got)
		}
		v.post("/login", url.Values{"user": {User}, "password": {Password}})
		v.do(w, values)
		if err := w.Truth(v.s, values); err != nil {
			t.Errorf("%s: the second time: %v", change, err)
		}
	}
}

func TestSessions(t *testing.T) {
	v := visit(t, Options{Seed: 1, Changes: []string{"session-expired"}})
	login := regexp.MustCompile("<h1>Sign in</h1>")
	var asked []bool
	for range 4 {
		_, page := v.get("/drafts")
		asked = append(asked, login.MatchString(page))
	}
	// The page after the login is the first, and without a session all are the login.
	if want := []bool{false, true, true, true}; !slices.Equal(asked, want) {
		t.Errorf("the login is asked for at %v instead of %v", asked, want)
	}
	elsewhere := visit(t, Options{Seed: 1})
	elsewhere.s.on["other-host"] = Change{}
	elsewhere.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if status, _ := elsewhere.get("/login"); status != http.StatusTemporaryRedirect {
		t.Errorf("the other host: status %d", status)
	}
	if status, _ := visit(t, Options{Seed: 1}).post("/login", url.Values{"user": {User}, "password": {"x"}}); status != http.StatusOK {
		t.Errorf("a wrong password: status %d", status)
	}
}

func TestEffectsOutsideOfThePage(t *testing.T) {
	dir := t.TempDir()
	var rows []Record
	o := Options{Seed: 1, Maildir: dir, Saved: func(r Record) error { rows = append(rows, r); return nil }}
	w, _ := WorkNamed(SendReminder)
	values := w.Values(1, 2)
	v := visit(t, o)
	v.do(w, values)
	mails, err := filepath.Glob(filepath.Join(dir, "new", "*"))
	if err != nil || len(mails) != 1 {
		t.Fatalf("mails: %v %v", mails, err)
	}
	text, err := os.ReadFile(mails[0])
	if err != nil {
		t.Fatal(err)
	}
	c, _ := v.s.first.where("customer", map[string]string{"name": values["customer"]})
	if !strings.Contains(string(text), "To: "+c.Fields["mail"]) || !strings.Contains(string(text), values["message"]) {
		t.Errorf("the mail is %s", text)
	}
	if len(rows) != 1 || rows[0].Kind != "mail" {
		t.Errorf("Saved was called with %v", rows)
	}
	if _, ledger := v.get("/ledger/mail?" + url.Values{"to": {c.Fields["mail"]}}.Encode()); !strings.Contains(ledger, values["message"]) {
		t.Errorf("the ledger is %s", ledger)
	}
	if _, ledger := v.get("/ledger/mail?to=x"); ledger != "[]\n" {
		t.Errorf("the ledger of nothing is %s", ledger)
	}
	o.Saved = func(Record) error { return errors.New("disk full") }
	full := visit(t, o)
	full.do(w, values)
	if w.Truth(full.s, values) == nil {
		t.Error("an error of Saved is not seen")
	}
}

func TestVerdicts(t *testing.T) {
	w, _ := WorkNamed(ChangeAddress)
	values := w.Values(1, 2)
	for name, tt := range map[string]struct {
		change string
		do     bool
		end    Outcome
		want   Verdict
	}{
		"done":                                {"caps", true, Outcome{}, Right},
		"said to be done":                     {"caps", false, Outcome{}, SilentWrong},
		"stopped without need":                {"caps", false, Outcome{Stopped: "edit"}, Unneeded},
		"stopped where it may":                {"buttons-swapped", false, Outcome{Stopped: "save"}, StoppedWell},
		"stopped elsewhere":                   {"buttons-swapped", false, Outcome{Stopped: "edit"}, Unneeded},
		"stopped after the place for a stop":  {"two-match", false, Outcome{Stopped: "save"}, StoppedLate},
		"right by chance":                     {"two-match", true, Outcome{}, Guessed},
		"stopped after it did something else": {"buttons-swapped", true, Outcome{Stopped: "save"}, StoppedHarmed},
	} {
		v := visit(t, Options{Seed: 1, Changes: []string{tt.change}})
		if tt.want == StoppedHarmed {
			v.do(w, w.Values(1, 3))
		} else if tt.do {
			v.do(w, values)
		}
		if got, why := Judge(v.s, w, values, tt.end); got != tt.want || got.Good() != (why == "") {
			t.Errorf("%s: %s instead of %s: %s", name, got, tt.want, why)
		}
	}
}

func TestValuesAreOthersEachTime(t *testing.T) {
	for _, w := range Works {
		for seed := range uint64(6) {
			seen := map[string]bool{}
			for n := range 8 {
				values := w.Values(seed, n)
				for _, name := range w.Parameters {
					if values[name] == "" {
						t.Errorf("%s has no %s", w.Name, name)
					}
				}
				key := Record{Fields: values}.String()
				if seen[key] {
					t.Errorf("%s, seed %d: %s comes twice", w.Name, seed, key)
				}
				seen[key] = true
			}
		}
	}
}
