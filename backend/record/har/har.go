// Package har writes the requests of a recording's pages as an HTTP Archive 1.2
// (http://www.softwareishard.com/blog/har-12-spec/). It has no bodies, no cookies and no credentials: they were
// never recorded.
package har

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

type page struct {
	Started string  `json:"startedDateTime"`
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Timings timings `json:"pageTimings"`
}

type timings struct {
	Content int `json:"onContentLoad"` // -1: not known
	Load    int `json:"onLoad"`
}

type entry struct {
	Page     string   `json:"pageref,omitempty"`
	Started  string   `json:"startedDateTime"`
	Time     float64  `json:"time"` // ms
	Request  request  `json:"request"`
	Response response `json:"response"`
	Cache    struct{} `json:"cache"`
	Spent    spent    `json:"timings"`
	Kind     string   `json:"_resourceType,omitempty"`
	Cached   bool     `json:"_fromCache,omitempty"`
	Comment  string   `json:"comment,omitempty"`
}

type request struct {
	Method  string `json:"method"`
	URL     string `json:"url"`
	Version string `json:"httpVersion"`
	Cookies []pair `json:"cookies"`
	Headers []pair `json:"headers"`
	Query   []pair `json:"queryString"`
	Head    int    `json:"headersSize"`
	Body    int    `json:"bodySize"`
}

type response struct {
	Status   int     `json:"status"`
	Text     string  `json:"statusText"`
	Version  string  `json:"httpVersion"`
	Cookies  []pair  `json:"cookies"`
	Headers  []pair  `json:"headers"`
	Content  content `json:"content"`
	Redirect string  `json:"redirectURL"`
	Head     int     `json:"headersSize"`
	Body     int64   `json:"bodySize"`
	Error    string  `json:"_error,omitempty"`
}

type content struct {
	Size int64  `json:"size"`
	Type string `json:"mimeType"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// spent are milliseconds; -1: not known.
type spent struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
	SSL     float64 `json:"ssl"`
}

// Write writes the requests among a recording's events, in their order, and the pages they belong to. It holds one
// event in memory at a time, blocks for as long as w does, and may have written a part when it fails. An error of
// events ends it.
func Write(w io.Writer, r human.Recording, events iter.Seq2[human.RecordedEvent, error]) error {
	out := bufio.NewWriter(w)
	a := archive{at: map[string]int{}, started: r.StartedAt}
	fmt.Fprintf(out, `{"log":{"version":"1.2","creator":{"name":"Deskbell","version":"1"},"comment":%s,"entries":[`,
		plain("Recording "+string(r.ID)+", without bodies, cookies and credentials."))
	before := "\n"
	for ev, err := range events {
		if err != nil {
			return err
		}
		a.see(ev)
		if ev.Type != human.PageRequest || ev.Request == nil {
			continue
		}
		fmt.Fprintf(out, "%s%s", before, plain(a.entry(ev)))
		before = ",\n"
	}
	fmt.Fprintf(out, "\n],\"pages\":%s}}\n", plain(append([]page{}, a.pages...)))
	return out.Flush() // which has the error of every write before it
}

// plain is a value as JSON.
func plain(v any) []byte {
	text, _ := json.Marshal(v) // texts and numbers: cannot fail
	return text
}

// An archive knows which page each tab shows.
type archive struct {
	started time.Time
	pages   []page
	at      map[string]int // in pages, by tab
}

// see keeps the pages that were loaded.
func (a *archive) see(ev human.RecordedEvent) {
	p := ev.Page
	if p == nil {
		return
	}
	at, known := a.at[p.Target]
	switch {
	case ev.Type == human.PageNavigated && len(p.Frame) == 0 && loads(ev.Navigation), ev.Type == human.PageRequest && !known:
		a.at[p.Target] = len(a.pages)
		title := p.Title
		if title == "" {
			title = bare(p.URL)
		}
		a.pages = append(a.pages, page{stamp(a.started.Add(time.Duration(ev.At))), fmt.Sprintf("page_%d", len(a.pages)+1), title, timings{-1, -1}})
	case known && p.Title != "" && a.pages[at].Title == bare(p.URL):
		a.pages[at].Title = p.Title
	}
}

// loads says whether a navigation brings a new document.
func loads(n *human.Navigation) bool { return n == nil || n.Kind != "history" && n.Kind != "fragment" }

func (a *archive) entry(ev human.RecordedEvent) entry {
	r := ev.Request
	e := entry{Started: stamp(r.At), Kind: r.Kind, Cached: r.FromCache}
	if ev.Page != nil {
		e.Page = a.pages[a.at[ev.Page.Target]].ID
	}
	wait, all := max(r.Wait, 0), max(r.Took, 0)
	wait = min(wait, all)
	e.Spent = spent{-1, -1, -1, 0, ms(wait), ms(all - wait), -1}
	e.Time = ms(all)
	version := r.Protocol
	if version == "" {
		version = "unknown"
	}
	address := bare(r.URL)
	e.Request = request{r.Method, address, version, []pair{}, pairs(r.Asked), query(address), -1, -1}
	size := max(r.Size, 0)
	media := r.Type
	if media == "" {
		media = "x-unknown"
	}
	e.Response = response{
		Status: r.Status, Version: version, Cookies: []pair{}, Headers: pairs(r.Answered), Content: content{size, media},
		Redirect: bare(header(r.Answered, "location")), Head: -1, Body: size, Error: r.Failed,
	}
	if r.FromCache {
		e.Response.Body = 0
	}
	if r.Failed != "" {
		e.Comment = "failed: " + r.Failed
	}
	return e
}

func ms(ns int64) float64 { return float64(ns/1000) / 1000 }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// bare is a URL without a name and a password.
func bare(address string) string {
	scheme, rest, is := strings.Cut(address, "://")
	if !is {
		return address
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	return scheme + "://" + rest[strings.LastIndexByte(host, '@')+1:]
}

// query are the parameters of a URL in their order.
func query(address string) []pair {
	out := []pair{}
	_, text, _ := strings.Cut(address, "?")
	text, _, _ = strings.Cut(text, "#")
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		out = append(out, pair{decoded(name), decoded(value)})
	}
	return out
}

func decoded(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// credentials are headers that are left out whoever recorded them.
var credentials = []string{"authorization", "cookie", "proxy-authorization", "set-cookie", "www-authenticate", "proxy-authenticate"}

func pairs(headers map[string]string) []pair {
	out := []pair{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if !slices.Contains(credentials, strings.ToLower(name)) {
			out = append(out, pair{name, headers[name]})
		}
	}
	return out
}

func header(headers map[string]string, name string) string {
	for n, v := range headers {
		if strings.EqualFold(n, name) {
			return v
		}
	}
	return ""
}
