package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// request waits for one by the end of its path.
func (v *visit) request(end string) human.WebRequest {
	v.Helper()
	return *v.wait("the request of "+end, func(e human.RecordedEvent) bool {
		return (e.Type == human.PageRequest || e.Type == human.PageAnswer) && strings.Contains(e.Request.URL, end)
	}).Request
}

func TestRequestsAreRecordedWithoutBodiesAndCredentials(t *testing.T) {
	site := http.NewServeMux()
	site.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "cookie-3f9a"})
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Internal", "header-3f9a")
		_, _ = fmt.Fprintf(w, `<!doctype html><script>
			const get = (url, o) => fetch(url, o).catch(() => {})
			onload = async () => {
				await get('/old?token=param-3f9a')
				await get('/post', {method: 'POST', body: 'body-3f9a', headers: {Authorization: 'Bearer auth-3f9a', 'Content-Type': 'text/plain'}})
				await get('/kept'); await get('/kept', {cache: 'force-cache'})
				await get('http://nobody.example:1/refused')
				await get('http://other.example:%s/closed')
				const w = new Worker('/worker.js'); w.onmessage = () => fetch('/last')
			}</script><iframe src="http://frame.example:%s/frame"></iframe>`, port(r), port(r))
	})
	site.HandleFunc("/frame", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `<!doctype html><script>fetch('/inner')</script>`)
	})
	site.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/new?password=location-3f9a", http.StatusFound)
	})
	site.HandleFunc("/new", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "answer-3f9a") })
	site.HandleFunc("/kept", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = fmt.Fprint(w, strings.Repeat("kept ", 1000))
	})
	site.HandleFunc("/worker.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(w, `fetch('/of-worker').then(() => postMessage(1))`)
	})
	v := visits(t, human.BrowserOptions{Network: true}, site)
	v.request("/last")
	v.request("/inner")

	page := v.request("/")
	if page.Kind != "document" || page.Method != "GET" || page.Status != 200 || page.Type != "text/html" || page.Size == 0 || page.Took <= 0 ||
		page.Wait <= 0 || page.Wait > page.Took || time.Since(page.At).Abs() > time.Minute || page.Protocol != "http/1.1" {
		t.Errorf("the page's own request: %+v", page)
	}
	old, moved := v.request("/old"), v.request("/new")
	if old.Status != 302 || old.Answered["location"] == "" || moved.Status != 200 || moved.Kind != "fetch" {
		t.Errorf("a redirect is two entries: %+v, %+v", old, moved)
	}
	if post := v.request("/post"); post.Method != "POST" || post.Asked["content-type"] != "text/plain" {
		t.Errorf("a post: %+v", post)
	}
	if r := v.request("/refused"); r.Failed != "net::ERR_UNSAFE_PORT" && r.Failed != "net::ERR_CONNECTION_REFUSED" || r.Status != 0 {
		t.Errorf("nobody answers: %+v", r)
	}
	if r := v.request("/closed"); !strings.HasPrefix(r.Failed, "CORS: ") {
		t.Errorf("another site that lets nobody read it: %+v", r)
	}
	kept := v.all(func(e human.RecordedEvent) bool {
		return e.Type == human.PageRequest && strings.HasSuffix(e.Request.URL, "/kept")
	})
	if len(kept) != 2 || kept[0].Request.FromCache || !kept[1].Request.FromCache || kept[0].Request.Size < 5000 || kept[1].Request.Size != 0 {
		t.Errorf("from the server, then from the cache: %+v", kept)
	}
	v.request("/of-worker")
	inner := v.wait("the frame's", func(e human.RecordedEvent) bool {
		return e.Type == human.PageRequest && strings.HasSuffix(e.Request.URL, "/inner")
	})
	if !slices.Equal(inner.Page.Frame, []int{0}) || !strings.Contains(inner.Page.FrameURL, "frame.example") {
		t.Errorf("a request of a frame of another site: %+v", inner.Page)
	}
	for _, e := range v.of(human.PageRequest) {
		if said := fmt.Sprintf("%+v", *e.Request); strings.Contains(said, "3f9a") {
			t.Errorf("a secret was recorded: %s", said)
		}
	}
}

func port(r *http.Request) string { return r.Host[strings.LastIndexByte(r.Host, ':')+1:] }

func TestRequestsThatHaveNoEndAreToldAtTheEnd(t *testing.T) {
	hang := make(chan struct{})
	site := http.NewServeMux()
	site.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<!doctype html><script>onload = () => fetch('/hangs').catch(() => {})</script>`)
	})
	asked := make(chan struct{})
	site.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { close(asked); <-hang })
	v := visits(t, human.BrowserOptions{Network: true}, site)
	defer close(hang)
	<-asked
	v.until("the request to be seen", func() bool {
		open := v.b.front().sources.traffic
		open.mu.Lock()
		defer open.mu.Unlock()
		return len(open.open) > 0
	})
	if _, err := v.stop(); err != nil {
		t.Fatal(err)
	}
	if r := v.request("/hangs"); r.Failed == "" || r.Status != 0 {
		t.Errorf("reported at the end: %+v", r)
	}
}

// TestAnswersToWhatAPageSends has a page send in all ways that bring no page, and derives what the actions show of it: they have the
// answers whether requests are recorded or not.
func TestAnswersToWhatAPageSends(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		t.Run(fmt.Sprint("requests recorded: ", recorded), func(t *testing.T) { answersCount(t, recorded) })
	}
}

func answersCount(t *testing.T, recorded bool) {
	site := http.NewServeMux()
	answers := func(path string, status int) {
		site.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.WriteHeader(status)
		})
	}
	for path, status := range map[string]int{"/upload": 201, "/item/7": 204, "/taken": 422, "/collect": 200, "/beacon": 204, "/framed": 200, "/alive": 200} {
		answers(path, status)
	}
	site.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><body style="margin: 0"><button id=b style="display: block; width: 200px; height: 100px">Send</button>
			<iframe name=f></iframe><form id=form action="/framed" method=post target=f><input name=a></form><script>
			const xhr = (method, url) => { let x = new XMLHttpRequest(); x.open(method, url); x.send() }
			fetch('/alive', {method: 'POST'})
			const acts = [
				() => { fetch('http://stats.example:%s/collect', {method: 'POST', body: 'x', mode: 'no-cors'}); fetch('/upload?token=param-3f9a', {method: 'POST', body: 'body-3f9a'}) },
				() => xhr('DELETE', '/item/7'),
				() => xhr('PUT', '/taken'),
				() => navigator.sendBeacon('/beacon', 'x'),
				() => form.submit(),
			]
			let n = 0
			b.onclick = () => acts[n++]()</script>`, port(r))
	})
	v := visits(t, human.BrowserOptions{Network: recorded}, site)
	v.request("/alive")
	for _, path := range []string{"/upload", "/item/7", "/taken", "/beacon", "/framed"} {
		v.click(50, 50)
		v.request(path)
		v.rest(600 * time.Millisecond) // two quick clicks are one double click
	}
	if recorded {
		v.request("/collect")
	}
	var got []string
	d := actions.NewDeriver("en")
	for i, e := range v.all(func(human.RecordedEvent) bool { return true }) {
		e.Seq = uint64(i + 1)
		d.Add(e)
		if r := e.Request; r != nil && !recorded && (e.Type != human.PageAnswer || !r.Changes() || len(r.Asked)+len(r.Answered) > 0 || strings.Contains(r.URL, "?") || strings.Contains(r.URL, "/collect")) {
			t.Errorf("recorded without being asked for: %s %+v", e.Type, r)
		}
	}
	for _, a := range d.Actions() {
		for _, r := range a.Answers {
			path := r.URL[strings.Index(r.URL[8:], "/")+8:]
			got = append(got, fmt.Sprintf("%s: %s %s %d", a.Type, r.Method, path, r.Status))
		}
	}
	token := ""
	if recorded {
		token = "?token=•••"
	}
	want := []string{"click: POST /upload" + token + " 201", "click: DELETE /item/7 204", "click: PUT /taken 422", "click: POST /beacon 204", "click: POST /framed 200"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestPrivateSitesHaveNoRequests(t *testing.T) {
	v := visits(t, human.BrowserOptions{Network: true}, pages(map[string]string{
		"/":      `<iframe id=f></iframe><script>onload = () => { f.src = location.href.replace('127.0.0.1', 'private.example') + 'bank' }</script>`,
		"/bank":  `<script>fetch('/account')</script>`,
		"/after": ``,
	}), func(o *Options) { o.Exclude = []string{"private.example"} })
	v.until("the frame is there", func() bool {
		return slices.ContainsFunc(v.b.front().places(), func(p place) bool { return p.private && p.contextID != 0 })
	})
	v.run(`fetch('/after')`)
	v.request("/after")
	v.rest(300 * time.Millisecond)
	for _, e := range v.of(human.PageRequest) {
		if strings.Contains(e.Request.URL, "private.example") || strings.Contains(e.Page.FrameURL, "private.example") {
			t.Errorf("recorded of a private site: %+v", e.Request)
		}
	}
}

func TestValveSaysWhatItHeldBack(t *testing.T) {
	v := valve{what: "lines", rate: 2, burst: 3}
	passed := 0
	for range 10 {
		if v.pass(1e9, 1) {
			passed++
		}
	}
	if passed != 3 {
		t.Fatalf("%d of 10 passed at once; want 3", passed)
	}
	if _, ok := v.gap(1e9+1, false); ok {
		t.Error("reported while it may go on")
	}
	passed = 0
	for range 3 {
		if v.pass(2e9, 1) {
			passed++
		}
	}
	if passed != 2 {
		t.Errorf("%d passed after a second; want 2", passed)
	}
	e, ok := v.gap(4e9, false)
	if !ok || e.Type != human.GapOpened || e.Gap.Count != 8 || e.Gap.From != 1e9 || e.Gap.To != 2e9 || e.Gap.Reason != "limit" || e.Text != "lines" {
		t.Errorf("reported %+v, %v", e, e.Gap)
	}
	if _, ok := v.gap(5e9, true); ok {
		t.Error("reported twice")
	}
}
