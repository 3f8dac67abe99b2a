package updates

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// feed is a server that answers as GitHub's API does.
func feed(t *testing.T, status int, body string) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodGet || r.UserAgent() != "Deskbell" || r.Header.Get("Cookie")+r.Header.Get("Authorization") != "" || r.ContentLength > 0 {
			t.Errorf("it sends %s %q %v", r.Method, r.UserAgent(), r.Header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/repos/owner/deskbell/releases/latest", asked
}

const latest = `{"url":"https://api.github.com/repos/owner/deskbell/releases/1","tag_name":"v1.10.0","name":"Deskbell 1.10.0","draft":false,
	"prerelease":false,"html_url":"https://github.com/owner/deskbell/releases/tag/v1.10.0","assets":[{"browser_download_url":"https://example.org/x"}]}`

func TestAsk(t *testing.T) {
	address, asked := feed(t, 200, latest)
	r, err := Ask(t.Context(), address)
	if err != nil || r.Version != "1.10.0" || r.URL != "https://github.com/owner/deskbell/releases/tag/v1.10.0" {
		t.Fatalf("%+v, %v", r, err)
	}
	for version, newer := range map[string]bool{"1.9.3": true, "1.10.0-rc.1": true, "1.10.0": false, "1.11.0-dev.2": false, "2.0.0": false, "dev": false} {
		if r.NewerThan(version) != newer {
			t.Errorf("newer than %s: %v", version, !newer)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it asked %d times", n)
	}
}

func TestAskFails(t *testing.T) {
	bad := map[string][2]any{
		"a limit":         {403, `{"message":"API rate limit exceeded"}`},
		"no JSON":         {200, "<html>"},
		"no version":      {200, `{"tag_name":"nightly","html_url":"https://example.org"}`},
		"a draft":         {200, strings.Replace(latest, `"draft":false`, `"draft":true`, 1)},
		"a strange page":  {200, strings.Replace(latest, "https://github.com/owner/deskbell/releases/tag", "javascript:alert(1)//", 1)},
		"more than it is": {200, strings.Repeat(" ", maxReply) + latest},
	}
	for name, answer := range bad {
		address, _ := feed(t, answer[0].(int), answer[1].(string))
		if r, err := Ask(t.Context(), address); err == nil || r.Version != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, address := range []string{"", "http://example.org/", "file:///etc/passwd", "https://user:word@example.org/"} {
		if _, err := Ask(t.Context(), address); err == nil {
			t.Errorf("%q is taken for a feed", address)
		}
	}
}

// It asks once a day, also after a restart, and not at all without a feed.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	address, asked := feed(t, 200, latest)
	run := func(to string, want bool) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		looked := 0
		err := Watch(ctx, dir, func() string {
			if looked++; !want {
				cancel() // it looks at the time next, finds that it is not due, and ends
			}
			return to
		}, func(Release) { cancel() })
		if err != nil || looked != 1 {
			t.Errorf("%v, it looked %d times", err, looked)
		}
	}
	run("", false)
	if n := asked.Load(); n != 0 {
		t.Fatalf("without a feed it asked %d times", n)
	}
	run(address, true)
	run(address, false)
	if n := asked.Load(); n != 1 {
		t.Errorf("in one day it asked %d times", n)
	}
	if r, err := Load(dir); err != nil || r.Version != "1.10.0" {
		t.Errorf("it kept %+v, %v", r, err)
	}
	limited, _ := feed(t, 403, "")
	run(limited, true)
	if r, err := Load(dir); err != nil || r.Problem == "" || r.NewerThan("0.1.0") {
		t.Errorf("of a failure it kept %+v, %v", r, err)
	}
}
