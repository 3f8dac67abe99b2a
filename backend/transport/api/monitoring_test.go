package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/transport/client"
)

func TestWhoMayScrape(t *testing.T) {
	const token = "dbm_0123456789abcdefghij"
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.Metrics = &Metrics{Token: token, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "deskbell_ready 1\n") })}
	})
	bot := h.agent("bot")
	for who, tt := range map[string]struct {
		key    string
		status int
	}{
		"the scraper":   {token, 200},
		"an operator":   {h.WindowToken(), 200},
		"an agent":      {bot, 403},
		"no one":        {"", 401},
		"a wrong token": {token + "x", 401},
		"a part of it":  {token[:10], 401},
	} {
		if r := h.get("/metrics", tt.key); r.status != tt.status || tt.status == 200 != strings.Contains(string(r.body), "deskbell_ready 1") {
			t.Errorf("%s gets %d: %s", who, r.status, r.body)
		}
	}
	for _, path := range []string{"/api/human/operations", "/api/gate", "/api/settings"} {
		h.get(path, token).problem(401, "")
	}
	r := h.send("GET", "/metrics", token, "", func(r *http.Request) { r.Host = "evil.example" })
	r.problem(http.StatusMisdirectedRequest, "")
}

func TestReady(t *testing.T) {
	var broken atomic.Pointer[human.Error]
	var tried atomic.Int64
	var now atomic.Int64
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.Now = func() time.Time { return time.Unix(now.Load(), 0) }
		d.Ready = func(context.Context) error {
			tried.Add(1)
			if err := broken.Load(); err != nil {
				return err
			}
			return nil
		}
	})
	now.Store(1_000_000)
	h.get("/readyz", "").into(new(Health))
	broken.Store(human.Errorf(human.Internal, "no space is left for %s, so nothing was stored; free some space and try again", "deskbell.db"))
	h.get("/readyz", "").into(new(Health))
	if tried.Load() != 1 {
		t.Errorf("it was tried %d times in a second", tried.Load())
	}
	now.Add(1)
	if p := h.get("/readyz", "").problem(503, "no space is left for deskbell.db"); p.Code == "" {
		t.Errorf("the reason has no code: %+v", p)
	}
	h.get("/healthz", "").into(new(Health))
	broken.Store(nil)
	now.Add(1)
	h.get("/readyz", "").into(new(Health))
	h.stop() // as a shutdown begins
	h.get("/readyz", "").problem(503, "shutting down")
}

// The traceparent of a request is in the journal, changes neither digest nor what the request joins, and what is none is left out.
func TestTraceparent(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ring := func(trace string) Operation {
		r := h.send("POST", "/api/human/invoke", bot, `{"action_type":"feedback","description":"x","idempotency_key":"k`+trace[:2]+`"}`,
			func(r *http.Request) { r.Header.Set("Traceparent", trace) })
		var op Operation
		r.into(&op)
		return op
	}
	traced, other := ring(parent), ring("hello")
	again := ring(strings.Replace(parent, "4bf9", "aaaa", 1))
	if again.ID != traced.ID || traced.Digest != other.Digest {
		t.Errorf("%s and %s, digests %s and %s", traced.ID, again.ID, traced.Digest, other.Digest)
	}
	byClient, _, err := h.client(bot).Invoke(t.Context(), client.Ring{Kind: human.Feedback, Description: "y", Traceparent: parent})
	must(t, err)
	for op, want := range map[human.OperationID]string{traced.ID: parent, other.ID: "", byClient.ID: parent} {
		entries, err := h.store.Operation(t.Context(), op)
		must(t, err)
		if got := entries[0].Event.Request.Traceparent; got != want {
			t.Errorf("%q is in the journal, want %q", got, want)
		}
	}
}
