package har_test

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/har"
)

var began = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func tape(events ...human.RecordedEvent) iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func page(target, url string) *human.WebPage { return &human.WebPage{Target: target, URL: url} }

func navigated(at int64, p *human.WebPage, kind string) human.RecordedEvent {
	return human.RecordedEvent{At: at, Type: human.PageNavigated, Browsing: human.Browsing{Page: p, Navigation: &human.Navigation{Kind: kind}}}
}

func asked(p *human.WebPage, r human.WebRequest) human.RecordedEvent {
	return human.RecordedEvent{Type: human.PageRequest, Browsing: human.Browsing{Page: p, Request: &r}}
}

// read is a HAR as the specification has it, as far as this asks.
type read struct {
	Log struct {
		Version string
		Creator struct{ Name, Version string }
		Pages   []struct{ ID, Title, StartedDateTime string }
		Entries []struct {
			Pageref, StartedDateTime string
			Time                     float64
			Request                  struct {
				Method, URL, HTTPVersion string
				Cookies                  []any
				Headers, QueryString     []struct{ Name, Value string }
			}
			Response struct {
				Status      int
				RedirectURL string
				BodySize    int64
				Cookies     []any
				Headers     []struct{ Name, Value string }
				Content     struct {
					Size     int64
					MimeType string
					Text     *string
				}
				Error string `json:"_error"`
			}
			Timings map[string]float64
			Cache   map[string]any
		}
	}
}

func write(t *testing.T, events iter.Seq2[human.RecordedEvent, error]) (read, string) {
	t.Helper()
	var b strings.Builder
	if err := har.Write(&b, human.Recording{ID: "rec_1", StartedAt: began}, events); err != nil {
		t.Fatal(err)
	}
	var out read
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	return out, b.String()
}

func TestRequestsAndTheirPages(t *testing.T) {
	one, two := page("t1", "https://a.example/"), page("t2", "https://b.example/")
	frame := &human.WebPage{Target: "t1", URL: one.URL, Frame: []int{0}}
	out, _ := write(t, tape(
		navigated(2e9, one, "address"),
		asked(one, human.WebRequest{Method: "GET", URL: "https://a.example/?q=a+b&token=•••&x", Kind: "document", At: began.Add(1500 * time.Millisecond), Status: 200, Protocol: "h2",
			Type: "text/html", Size: 5120, Took: 80_250_000, Wait: 50e6, Asked: map[string]string{"accept": "text/html"}, Answered: map[string]string{"content-type": "text/html"}}),
		navigated(3e9, frame, "link"),
		navigated(3e9, page("t1", "https://a.example/#x"), "fragment"),
		asked(one, human.WebRequest{Method: "GET", URL: "https://a.example/old", Status: 302, At: began, Took: 5, Wait: 90, Answered: map[string]string{"location": "https://u:p@a.example/new"}}),
		asked(two, human.WebRequest{Method: "GET", URL: "https://b.example/x", Kind: "xhr", At: began, Failed: "net::ERR_FAILED"}),
		asked(one, human.WebRequest{Method: "GET", URL: "https://a.example/c.js", Status: 200, FromCache: true, Size: 7, At: began}),
		human.RecordedEvent{Type: human.PageClick, Browsing: human.Browsing{Page: &human.WebPage{Target: "t1", URL: one.URL, Title: "A"}}},
	))
	log := out.Log
	if log.Version != "1.2" || log.Creator.Name != "Deskbell" || len(log.Entries) != 4 || len(log.Pages) != 2 {
		t.Fatalf("the log is %+v", log)
	}
	if p := log.Pages[0]; p.Title != "A" || p.StartedDateTime != "2026-11-21T10:00:02.000Z" || log.Pages[1].Title != "https://b.example/" {
		t.Errorf("the pages are %+v", log.Pages)
	}
	e := log.Entries[0]
	if e.Pageref != log.Pages[0].ID || log.Entries[2].Pageref != log.Pages[1].ID || e.StartedDateTime != "2026-11-21T10:00:01.500Z" || e.Time != 80.25 ||
		e.Timings["wait"] != 50 || e.Timings["receive"] != 30.25 || e.Timings["dns"] != -1 || e.Request.HTTPVersion != "h2" || e.Response.Content.Size != 5120 || e.Cache == nil {
		t.Errorf("the first is %+v", e)
	}
	if q := e.Request.QueryString; len(q) != 3 || q[0].Value != "a b" || q[1].Value != "•••" || q[2].Name != "x" {
		t.Errorf("its query is %+v", q)
	}
	if e := log.Entries[1]; e.Response.RedirectURL != "https://a.example/new" || e.Timings["receive"] != 0 || e.Time < e.Timings["wait"] {
		t.Errorf("the redirect is %+v", e)
	}
	if e := log.Entries[2]; e.Response.Status != 0 || e.Response.Error != "net::ERR_FAILED" || e.Request.HTTPVersion == "" || e.Response.Content.MimeType == "" {
		t.Errorf("the failed one is %+v", e)
	}
	if e := log.Entries[3]; e.Response.BodySize != 0 || e.Response.Content.Size != 7 {
		t.Errorf("the one from the cache is %+v", e)
	}
}

func TestNoCredentialsAndNoBodies(t *testing.T) {
	p := page("t1", "https://mei:hunter2@a.example/")
	out, text := write(t, tape(asked(p, human.WebRequest{
		Method: "POST", URL: "https://mei:hunter2@a.example/in?to=me@b.example", At: began, Status: 200,
		Asked:    map[string]string{"Authorization": "Basic hunter2", "cookie": "s=hunter2", "accept": "*/*"},
		Answered: map[string]string{"Set-Cookie": "s=hunter2", "date": "now"},
	})))
	if strings.Contains(text, "hunter2") {
		t.Errorf("a password is in %s", text)
	}
	e := out.Log.Entries[0]
	if e.Request.URL != "https://a.example/in?to=me@b.example" || len(e.Request.Headers) != 1 || len(e.Response.Headers) != 1 || e.Request.Cookies == nil || e.Response.Content.Text != nil {
		t.Errorf("the entry is %+v", e)
	}
}

func TestNothingWasAsked(t *testing.T) {
	out, _ := write(t, tape(asked(nil, human.WebRequest{Method: "GET", URL: "https://a.example/", At: began}), human.RecordedEvent{Type: human.PageRequest}))
	if len(out.Log.Entries) != 1 || out.Log.Entries[0].Pageref != "" || out.Log.Pages == nil {
		t.Errorf("without a page it is %+v", out)
	}
	lost := errors.New("the disk is gone")
	err := har.Write(&strings.Builder{}, human.Recording{}, func(yield func(human.RecordedEvent, error) bool) { yield(human.RecordedEvent{}, lost) })
	if !errors.Is(err, lost) {
		t.Errorf("a lost store is %v", err)
	}
}
