package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deskbell/backend/agent"
)

func ask(t *testing.T, w Web, args map[string]any) agent.Output {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Run(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRequests(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "elsewhere") }))
	defer elsewhere.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("X-Mine")+" "+r.Header.Get("User-Agent")+" "+string(body))
	})
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not here", http.StatusNotFound) })
	mux.HandleFunc("/same", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/other", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(302)
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("0123456789\n", 1<<20))
	})
	mux.HandleFunc("/picture", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0, 0}) })
	s := httptest.NewServer(mux)
	defer s.Close()
	w := Web{Private: true, Agent: "deskbell/test"}
	for name, tt := range map[string]struct {
		args   map[string]any
		says   []string
		not    string
		failed bool
	}{
		"an answer":                 {map[string]any{"url": s.URL + "/echo"}, []string{"200 OK", "GET  deskbell/test"}, "", false},
		"what is sent":              {map[string]any{"url": s.URL + "/echo", "method": "post", "body": "hello", "headers": map[string]string{"x-mine": "yes"}}, []string{"POST yes deskbell/test hello"}, "", false},
		"what is sent by itself":    {map[string]any{"url": s.URL + "/echo", "body": "hello"}, []string{"POST"}, "", false},
		"a failure":                 {map[string]any{"url": s.URL + "/missing"}, []string{"404 Not Found", "not here"}, "", true},
		"on the same host":          {map[string]any{"url": s.URL + "/same"}, []string{"200 OK", "GET"}, "", false},
		"what is sent is sent once": {map[string]any{"url": s.URL + "/same", "method": "POST", "body": "x"}, []string{"302 Found", "Location: /echo"}, "", false},
		"to another host":           {map[string]any{"url": s.URL + "/other"}, []string{"307", "Location: http://localhost"}, "elsewhere", false},
		"round and round":           {map[string]any{"url": s.URL + "/loop"}, []string{"302", "Location: /loop"}, "", false},
		"to a file":                 {map[string]any{"url": s.URL + "/file"}, []string{"302"}, "root:", false},
		"a large one":               {map[string]any{"url": s.URL + "/large"}, []string{"left out", "only the first 4 MiB"}, "", false},
		"no text":                   {map[string]any{"url": s.URL + "/picture"}, []string{"[6 bytes that are no text]"}, "PNG", false},
		"a file":                    {map[string]any{"url": "file:///etc/passwd"}, []string{"not http"}, "", true},
		"no address":                {map[string]any{"url": "http:///x"}, []string{"no host"}, "", true},
		"a password in it":          {map[string]any{"url": "http://me:secret@127.0.0.1/"}, []string{"Authorization"}, "secret", true},
		"another host's name":       {map[string]any{"url": s.URL + "/echo", "headers": map[string]string{"host": "x"}}, []string{"cannot be set"}, "", true},
		"a method that is none":     {map[string]any{"url": s.URL + "/echo", "method": "CONNECT"}, []string{"method must be"}, "", true},
		"a header that is none":     {map[string]any{"url": s.URL + "/echo", "headers": map[string]string{"a": "b\r\nc: d"}}, []string{"invalid header"}, "", true},
		"nobody there":              {map[string]any{"url": "http://127.0.0.1:1/"}, []string{"no answer"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			out := ask(t, w, tt.args)
			if out.Failed != tt.failed {
				t.Errorf("failed is %v: %q", out.Failed, out.Text)
			}
			for _, part := range tt.says {
				if !strings.Contains(out.Text, part) {
					t.Errorf("it does not say %q: %q", part, out.Text)
				}
			}
			if tt.not != "" && strings.Contains(out.Text, tt.not) || len(out.Text) > 34<<10 {
				t.Errorf("%d bytes, %.2000q", len(out.Text), out.Text)
			}
		})
	}
	// What the same server is asked without leave is refused, by name and by number.
	for _, url := range []string{s.URL + "/echo", strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/echo"} {
		if out := ask(t, Web{}, map[string]any{"url": url}); !out.Failed || !strings.Contains(out.Text, "private network") {
			t.Errorf("%s: %+v", url, out)
		}
	}
}

func TestARequestIsGivenUp(t *testing.T) {
	begun := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(begun); <-r.Context().Done() }))
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-begun; stop() }()
	if _, err := (Web{Private: true}).Run(ctx, json.RawMessage(`{"url":"`+s.URL+`"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]struct{ open, private bool }{
		"93.184.216.34:80":                {true, true},
		"[2606:2800:220:1::1]:443":        {true, true},
		"127.0.0.1:80":                    {false, true},
		"127.8.9.1:80":                    {false, true},
		"[::1]:80":                        {false, true},
		"[::ffff:127.0.0.1]:80":           {false, true},
		"10.0.0.1:80":                     {false, true},
		"172.16.0.1:80":                   {false, true},
		"192.168.1.1:80":                  {false, true},
		"100.64.0.1:80":                   {false, true},
		"[fd00::1]:80":                    {false, true},
		"[fec0::1]:80":                    {false, true},
		"[64:ff9b::7f00:1]:80":            {false, true},
		"[2002:7f00:1::]:80":              {false, true},
		"[2001:0:1::1]:80":                {false, true},
		"[::127.0.0.1]:80":                {false, true},
		"198.18.0.1:80":                   {false, true},
		"240.0.0.1:80":                    {false, true},
		"0.0.0.0:80":                      {false, false},
		"[::]:80":                         {false, false},
		"169.254.169.254:80":              {false, false},
		"[fe80::1%lo]:80":                 {false, false},
		"[fd00:ec2::254]:80":              {false, false},
		"100.100.100.200:80":              {false, false},
		"224.0.0.1:80":                    {false, false},
		"255.255.255.255:80":              {false, true},
		"[::ffff:169.254.169.254]:80":     {false, false},
		"a name that was not resolved:80": {false, false},
	} {
		open, private := Web{}.mayDial(address) == nil, Web{Private: true}.mayDial(address) == nil
		if open != want.open || private != want.private {
			t.Errorf("%s: %v, and %v where private ones are allowed", address, open, private)
		}
	}
}
