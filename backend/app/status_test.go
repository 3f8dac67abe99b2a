package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/platform/updates"
	"deskbell/backend/platform/window"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/settings/gatefile"
)

// What the tray says follows the gatekeeper's file, clients' settings, live connections and what the release feed last named.
func TestTheTraySaysHowThingsStand(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"tag_name":"v1.10.0","html_url":"https://example.org/1.10.0"}`)
	}))
	defer feed.Close()
	c, err := settings.Load(settings.Options{Dir: dir, Flags: map[string]string{"server.addr": "127.0.0.1:0"}, Env: func() []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Config{Dir: dir, Config: c, Version: "1.9.0", InApp: true, Errors: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	says := func(want window.Status) {
		t.Helper()
		if got := a.Status(t.Context()); got != want {
			t.Errorf("the tray says %+v, want %+v", got, want)
		}
	}
	says(window.Status{Policy: "balanced"})

	if err := os.WriteFile(filepath.Join(dir, gatefile.Name), []byte("policy = \"strict\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := a.clients.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range list {
		if client.ID == "cursor" {
			if _, err := a.clients.Connect(t.Context(), client.ID, client.Hash); err != nil {
				t.Fatal(err)
			}
		}
	}
	says(window.Status{Policy: "strict", Agents: 1})
	for _, name := range []string{"bot", "cursor", "away"} {
		if _, err := a.store.AddKey(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	gone := a.queue.AgentOnline("bot")
	defer a.queue.AgentOnline("cursor")() // once only
	says(window.Status{Policy: "strict", Agents: 2})
	gone()

	// Only where it is asked for, and only what that feed named.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := updates.Watch(ctx, dir, func() string { return feed.URL }, func(updates.Release) { stop() }); err != nil {
		t.Fatal(err)
	}
	says(window.Status{Policy: "strict", Agents: 1})
	address, err := json.Marshal(feed.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []struct{ feed, newer string }{{string(address), "1.10.0"}, {`"https://example.org/other"`, ""}} {
		if _, err := c.Update(map[string]json.RawMessage{"updates.check": json.RawMessage("true"), "updates.feed": json.RawMessage(to.feed)}); err != nil {
			t.Fatal(err)
		}
		says(window.Status{Policy: "strict", Agents: 1, Newer: to.newer})
	}
}
