package browser

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestKeptProfileKeepsLoginsAndThrowAwayOnesLeaveNothing(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>Site</title>`}, map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, _ *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "login", Value: "ada", MaxAge: 3600})
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>Logged in</title>"))
		},
		"/who": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if c, err := r.Cookie("login"); err == nil {
				_, _ = w.Write([]byte("<title>" + c.Value + "</title>"))
				return
			}
			_, _ = w.Write([]byte("<title>nobody</title>"))
		},
	})
	o := headless(t)
	o.ProfileDir = filepath.Join(t.TempDir(), "kept")
	who := func(profile string) string {
		r := run(t, o, human.BrowserOptions{URL: site.URL + "/who", Profile: profile})
		tab := r.at("/who")
		var title string
		r.js(tab, r.top(tab), "document.title", &title)
		if _, err := r.end(); err != nil {
			t.Fatal(err)
		}
		return title
	}
	r := run(t, o, human.BrowserOptions{URL: site.URL + "/login"})
	r.at("/login")

	// No one else gets the profile meanwhile, but a throw-away one is to be had.
	if _, err := New(o, human.BrowserOptions{}, nil).Run(context.Background(), func() {}, func(human.RecordedEvent) {}); human.KindOf(err) != human.Conflict {
		t.Errorf("a second browser in the same profile: %v, want a conflict", err)
	}
	short, err := os.MkdirTemp("", "t") // the browser makes a socket in it, whose path has a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	t.Setenv("TMPDIR", short)
	if got := who("throwaway"); got != "nobody" {
		t.Errorf("a throw-away profile knows %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), throwAwayPattern+"*")); len(left) > 0 {
		t.Errorf("throw-away profiles are left: %v", left)
	}
	if _, err := r.end(); err != nil {
		t.Fatal(err)
	}
	if got := who("kept"); got != "ada" {
		t.Errorf("the kept profile knows %q, want ada", got)
	}
}

func TestThrowAwayProfilesOfTheDeadAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := filepath.Join(os.TempDir(), throwAwayPattern+"dead")
	for _, file := range []string{filepath.Join(dead, "deskbell.lock"), filepath.Join(dead, "Default", "Cookies"), filepath.Join(os.TempDir(), throwAwayPattern+"other", "file")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := New(headless(t), human.BrowserOptions{Profile: "throwaway"}, nil)
	living, err := b.openProfile()
	if err != nil {
		t.Fatal(err)
	}
	removeLeftovers()
	for path, want := range map[string]bool{dead: false, living.dir: true, filepath.Join(os.TempDir(), throwAwayPattern+"other"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	living.close()
	if _, err := os.Stat(living.dir); err == nil {
		t.Errorf("%s is left", living.dir)
	}
}

func TestPreferencesAreKeptButForTheBubbles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "Default", "Preferences")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"profile": {"exit_type": "Crashed", "name": "Ada"}, "number": 12345678901234567}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := quiet(dir); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Profile struct {
			Exit string `json:"exit_type"`
			Name string `json:"name"`
			Asks *bool  `json:"password_manager_enabled"`
		} `json:"profile"`
		Number json.Number `json:"number"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Profile.Exit != "Normal" || got.Profile.Name != "Ada" || got.Profile.Asks == nil || *got.Profile.Asks || got.Number != "12345678901234567" {
		t.Errorf("the preferences are %s", raw)
	}
}

func TestWhereABrowserMayOpenAndAttach(t *testing.T) {
	for _, url := range []string{"file:///etc/passwd", "chrome://settings", "javascript:alert(1)", "http://", "example.com", "data:text/html,x"} {
		_, err := New(headless(t), human.BrowserOptions{URL: url, Profile: "throwaway"}, nil).Run(t.Context(), func() {}, func(human.RecordedEvent) {})
		if human.KindOf(err) != human.Invalid {
			t.Errorf("opening at %s: %v, want it refused", url, err)
		}
	}
	for address, want := range map[string]bool{
		"http://127.0.0.1:9222": true, "127.0.0.1:9222": true, "http://localhost:9222": true, "http://[::1]:9222": true, "ws://127.0.0.1:9222/devtools/browser/x": true,
		"http://192.168.0.7:9222": false, "http://example.com:9222": false, "http://localhost.example.com:9222": false, "https://127.0.0.1:9222": false,
		"http://127.0.0.1": false, "http://user@127.0.0.1:9222": false, "": false,
	} {
		if _, _, err := loopback(address); (err == nil) != want {
			t.Errorf("attaching to %q: %v, want it allowed: %v", address, err, want)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	defer other.Close()
	_, err := New(headless(t), human.BrowserOptions{Attach: other.URL}, nil).Run(t.Context(), func() {}, func(human.RecordedEvent) {})
	if human.KindOf(err) != human.Unavailable {
		t.Errorf("attaching to what is no browser: %v", err)
	}
}

func TestAttachedBrowserGoesOnAfterwards(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>Mine</title><input aria-label=Name><button>Press</button><iframe src="http://b.test:PORT/in" style="width:200px;height:80px"></iframe>`, "/in": `<button>inner</button>`}, nil)
	address := strings.Replace(site.URL, "127.0.0.1", "a.test", 1)
	o := headless(t)
	o.Args = append(o.Args, "--remote-debugging-port=0")
	o.ProfileDir = t.TempDir()
	host := run(t, o, human.BrowserOptions{URL: address + "/"})
	mine := host.at("/")
	host.frame(mine, "/in")
	port, err := os.ReadFile(filepath.Join(o.ProfileDir, "DevToolsActivePort"))
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(string(port), "\n")

	r := run(t, Options{Clock: testClock}, human.BrowserOptions{Attach: "http://127.0.0.1:" + number})
	r.wait(human.PageOpened, nil)
	if e := r.all(); e[0].Text != "attached" || e[0].App == nil || !strings.Contains(e[0].App.Name, "Chrom") || e[1].Type != human.PageOpened || e[1].Page.URL != address+"/" {
		t.Errorf("it begins with:\n%s", describe(e))
	}
	tab := r.at("/")
	r.click(tab, r.frame(tab, "/in"), "button")
	click := r.wait(human.PageClick, nil)
	if click.Element.Name != "inner" || len(click.Page.Frame) != 1 {
		t.Errorf("the click is %+v on %+v", click.Element, click.Page)
	}
	seen, err := r.end()
	if err != nil || seen != uint64(len(r.all())) {
		t.Errorf("Run = %d, %v", seen, err)
	}
	// The browser continues, and its pages are silent; they can be listened to again.
	host.wait(human.PageClick, nil) // it hears the same page
	from := host.count()
	host.click(mine, host.frame(mine, "/in"), "button")
	host.js(mine, host.frame(mine, "/in"), "new Promise(resolve => setTimeout(resolve, 200))", nil)
	if host.count() != from {
		t.Errorf("the page still reports:\n%s", describe(host.all()[from:]))
	}
	again := run(t, Options{Clock: testClock}, human.BrowserOptions{Attach: "http://127.0.0.1:" + number, URL: site.URL + "/"})
	again.click(mine, host.frame(mine, "/in"), "button")
	again.wait(human.PageClick, func(e human.RecordedEvent) bool { return e.Element.Name == "inner" })
	for _, e := range again.all() {
		if e.Type == human.GapOpened {
			t.Errorf("a gap: %+v", e.Gap)
		}
	}
	opened := again.wait(human.PageNavigated, func(e human.RecordedEvent) bool { return e.Page.URL == site.URL+"/" })
	if opened.Navigation.Kind != "address" {
		t.Errorf("the page that was asked for is opened by %+v", opened.Navigation)
	}
	if _, err := host.end(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-again.done:
	case <-time.After(patience):
		t.Fatal("Run goes on without a browser")
	}
	again.wait(human.BrowserChanged, func(e human.RecordedEvent) bool { return e.Text == "closed" || e.Text == "lost" })
}

func TestABrowserThatIsNotThereIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := New(Options{Clock: testClock, Path: "/nowhere/chrome"}, human.BrowserOptions{}, nil)
	if s := b.Check(t.Context()); s.Status != "missing" || s.Code != "no_browser" || s.Fix == "" {
		t.Errorf("Check says %+v", s)
	}
	if _, err := b.Run(t.Context(), func() {}, func(human.RecordedEvent) {}); human.KindOf(err) != human.NotFound || !strings.Contains(human.SafeText(err), "/nowhere/chrome") {
		t.Errorf("Run: %v", err)
	}
}

func TestABrowserThatEndsAtOnceIsSaid(t *testing.T) {
	script := filepath.Join(t.TempDir(), "chrome")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no luck >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := headless(t)
	o.Path = script
	_, err := New(o, human.BrowserOptions{Profile: "throwaway"}, nil).Run(t.Context(), func() {}, func(human.RecordedEvent) {})
	if human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("Run: %v", err)
	}
}

func TestWithoutADisplayItIsSaid(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	b := New(Options{Clock: testClock}, human.BrowserOptions{Profile: "throwaway"}, nil)
	if s := b.Check(t.Context()); s.Status != "partial" || s.Code != "no_display" {
		t.Errorf("Check says %+v", s)
	}
	if _, err := b.Run(t.Context(), func() {}, func(human.RecordedEvent) {}); human.KindOf(err) != human.Unavailable {
		t.Errorf("Run: %v", err)
	}
}
