package hub

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/store/team"
)

// A browser is one that trusts the hub's CA.
type browser struct {
	t    *testing.T
	http http.Client
}

func newBrowser(t *testing.T, h *Hub) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := x509.ParseCertificate(h.keys.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return browser{t, http.Client{Jar: jar, Transport: transport}}
}

func (b browser) get(url, language string) (status int, page string, header http.Header) {
	b.t.Helper()
	q, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	q.Header.Set("Accept-Language", language)
	r, err := b.http.Do(q)
	if err != nil {
		b.t.Fatal(err)
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := r.Body.Close(); err != nil {
		b.t.Fatal(err)
	}
	return r.StatusCode, string(raw), r.Header
}

// The page says who is in and how far they have read, to who has a link that works once.
func TestTheWebPage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	b := newBrowser(t, h)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, page, _ := b.get(h.URL()+path, "en"); status != http.StatusOK || page != "ok\n" {
			t.Errorf("%s: %d %q", path, status, page)
		}
	}
	join(t, h, "<b>Ann</b>", team.LeadRole)
	c := join(t, h, "Bob", team.OperatorRole)
	p := connect(t, c)
	js, err := jetstream.New(p.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateConsumer(ctx, team.Stream, jetstream.ConsumerConfig{Durable: c.Desk, AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		if _, err := js.Publish(ctx, team.Subject("op_1", c.Desk, team.ByAgent), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if status, page, _ := b.get(h.URL()+"/", "en"); status != http.StatusUnauthorized || strings.Contains(page, "Bob") {
		t.Errorf("without a login: %d %s", status, page)
	}
	link, err := h.Office().Login(ctx)
	if err != nil {
		t.Fatal(err)
	}
	status, _, header := b.get(link, "en")
	if cookie := header.Get("Set-Cookie"); status != http.StatusOK || !strings.Contains(cookie, "HttpOnly; Secure; SameSite=Strict") {
		t.Errorf("login: %d, %s", status, cookie)
	}
	if status, _, _ := newBrowser(t, h).get(link, "en"); status != http.StatusForbidden {
		t.Errorf("a used login: %d", status)
	}
	status, page, header := b.get(h.URL()+"/", "en-US,zh;q=0.5")
	for _, part := range []string{`<html lang="en">`, "&lt;b&gt;Ann&lt;/b&gt;", "<td>operator</td>", "Bob=1", "not connected", `<span class="on">connected</span>`, "<td>7</td>", "<dt>Messages</dt><dd>7</dd>"} {
		if status != http.StatusOK || !strings.Contains(page, part) {
			t.Errorf("%d: the page has no %s:\n%s", status, part, page)
		}
	}
	if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'") {
		t.Error(policy)
	}
	if _, page, _ := b.get(h.URL()+"/", "zh-CN,en;q=0.5"); !strings.Contains(page, "已连接") || strings.Contains(page, "connected") {
		t.Errorf("in Chinese: %s", page)
	}
	if _, style, header := b.get(h.URL()+"/style.css", "en"); !strings.HasPrefix(header.Get("Content-Type"), "text/css") || !strings.Contains(style, "light-dark") {
		t.Errorf("%s: %s", header.Get("Content-Type"), style)
	}
	h.noteSeen(ctx)
	p.Close()
	for {
		s, err := h.status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if bob := s.Desks[0]; !bob.Connected {
			if bob.Name != c.Desk || bob.Seen.IsZero() || !s.Desks[1].Seen.IsZero() {
				t.Errorf("after it left: %+v", s.Desks)
			}
			return
		}
	}
}
