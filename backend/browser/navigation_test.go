package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// navigated waits for a navigation to an address that ends so.
func (r *rig) navigated(ending string, after int) human.RecordedEvent {
	r.t.Helper()
	var found human.RecordedEvent
	r.until("a navigation to "+ending, func() bool {
		for _, e := range r.all()[after:] {
			if e.Type == human.PageNavigated && strings.HasSuffix(e.Page.URL, ending) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func navigationSite(t *testing.T) (string, func(string, http.HandlerFunc)) {
	more := map[string]http.HandlerFunc{
		"/moved":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/two", http.StatusFound) },
		"/missing": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "none", http.StatusNotFound) },
	}
	site := serve(t, map[string]string{
		"/": `<title>One</title><a id=link href="/two">two</a> <a id=moved href="/moved">moved</a> <a id=lost href="/missing">missing</a>
			<a id=fragment href="#part">part</a> <a id=dead href="http://127.0.0.1:1/">dead</a> <form action="/two"><input name=q value=x><button id=form>Go</button></form>
			<form action="/moved" method=post><button id=send>Send</button></form>
			<button id=push onclick="history.pushState(0, '', '/pushed?' + Date.now())">push</button>
			<button id=replace onclick="history.replaceState(0, '', location.href)">same</button>
			<button id=script onclick="location.href='/two'">script</button>
			<button id=later onclick="setTimeout(() => location.href='/two', 300)">later</button>
			<button id=reload onclick="location.reload()">reload</button>
			<a id=refresh href="/refresh">refresh</a>
			<a id=secret href="/two?access_token=abc&page=2#id_token=xyz">secret</a>
			<form action="/two"><input id=pin type=password name=pin><button id=get>Log in</button></form>`,
		"/two":     `<title>Two</title><button id=back onclick="history.back()">back</button>`,
		"/refresh": `<meta http-equiv=refresh content="0;url=/two">`,
	}, more)
	return site.URL, func(path string, h http.HandlerFunc) { more[path] = h }
}

func TestNavigationsHaveTheirKindAndCause(t *testing.T) {
	address, _ := navigationSite(t)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway"})
	if e := r.navigated("/", 0); e.Navigation.Kind != "address" || e.Cause != 0 || e.Navigation.Status != 200 {
		t.Errorf("the first page: %+v caused by %d", e.Navigation, e.Cause)
	}
	for _, tt := range []struct {
		click  string
		ending string
		want   human.Navigation
		caused bool
	}{
		{"#link", "/two", human.Navigation{Kind: "link", Status: 200}, true},
		{"#moved", "/two", human.Navigation{Kind: "link", Status: 200}, true},
		{"#lost", "/missing", human.Navigation{Kind: "link", Status: 404}, true},
		{"#form", "/two?q=x", human.Navigation{Kind: "form", Status: 200}, true},
		{"#send", "/two", human.Navigation{Kind: "form", Sends: true, Status: 200}, true},
		{"#script", "/two", human.Navigation{Kind: "script", Status: 200}, true},
		{"#later", "/two", human.Navigation{Kind: "script", Status: 200}, true},
		{"#reload", "/", human.Navigation{Kind: "reload", Status: 200}, true},
		{"#dead", "127.0.0.1:1/", human.Navigation{Kind: "link", Failed: "net::ERR_UNSAFE_PORT"}, true},
		{"#fragment", "#part", human.Navigation{Kind: "fragment"}, true},
		{"#push", "", human.Navigation{Kind: "history"}, true},
		{"#secret", "/two?access_token=•••&page=2#id_token=•••", human.Navigation{Kind: "link", Status: 200}, true},
	} {
		tab := r.tab()
		begun := r.count()
		r.do(tab, "Page.navigate", object{"url": address + "/", "transitionType": "typed"})
		r.navigated("/", begun)
		tab = r.at(address + "/")
		from := r.count()
		r.click(tab, r.top(tab), tt.click)
		e := r.navigated(tt.ending, from)
		if *e.Navigation != tt.want {
			t.Errorf("%s navigates by %+v, want %+v", tt.click, *e.Navigation, tt.want)
		}
		var click uint64
		for _, c := range r.all()[from:] {
			if c.Type == human.PageClick || c.Type == human.PagePress {
				click = c.Ref
			}
			if c.Ref == e.Ref {
				break
			}
		}
		if tt.caused && (e.Cause == 0 || e.Cause > click) {
			t.Errorf("%s caused %d, want %d; it reported:\n%s", tt.click, e.Cause, click, describe(r.all()[from:]))
		}
	}
}

// A form that is sent by GET puts its password into the address, under whatever name the field has.
func TestAPasswordInAnAddress(t *testing.T) {
	address, _ := navigationSite(t)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway", Network: true})
	r.navigated("/", 0)
	tab := r.at(address + "/")
	r.click(tab, r.top(tab), "#pin")
	r.do(tab, "Input.insertText", object{"text": "hunter2"})
	r.click(tab, r.top(tab), "#get")
	r.navigated("/two?pin=•••", 0)
	r.until("the request", func() bool {
		return slices.ContainsFunc(r.all(), func(e human.RecordedEvent) bool {
			return e.Type == human.PageRequest && strings.Contains(e.Request.URL, "pin=•••")
		})
	})
	if all, err := json.Marshal(r.all()); err != nil || strings.Contains(string(all), "hunter2") {
		t.Errorf("the password is in what was recorded, %v:\n%s", err, describe(r.all()))
	}
}

// tab is the only one.
func (r *rig) tab() *tab {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	return r.b.order[0]
}

func TestBackForwardReloadAndRedirect(t *testing.T) {
	address, _ := navigationSite(t)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "#link")
	tab = r.at("/two")

	from := r.count()
	r.click(tab, r.top(tab), "#back")
	if e := r.navigated("/", from); e.Navigation.Kind != "back_forward" || e.Cause == 0 {
		t.Errorf("history.back() is %+v caused by %d", e.Navigation, e.Cause)
	}
	tab = r.at("/")
	// It came out of the cache: it is heard as before, and nothing is said to be missing.
	from = r.count()
	r.click(tab, r.top(tab), "#replace")
	r.wait(human.PageClick, func(e human.RecordedEvent) bool { return e.Element.Name == "same" })
	for _, e := range r.all() {
		if e.Type == human.GapOpened {
			t.Errorf("a gap: %+v", e.Gap)
		}
		if e.Type == human.PageNavigated && e.Ref > uint64(from) {
			t.Errorf("an address that stays is reported: %+v", e.Navigation)
		}
	}
	from = r.count()
	r.do(tab, "Page.reload", nil)
	if e := r.navigated("/", from); e.Navigation.Kind != "reload" {
		t.Errorf("reload is %+v", e.Navigation)
	}
	tab = r.at("/")
	from = r.count()
	r.click(tab, r.top(tab), "#refresh")
	if e := r.navigated("/two", from); e.Navigation.Kind != "redirect" {
		t.Errorf("a page's own refresh is %+v", e.Navigation)
	}
	if t.Failed() {
		t.Log(describe(r.all()))
	}
}

func TestPopups(t *testing.T) {
	pages := map[string]string{
		"/": `<title>Opener</title>
			<button id=own onclick="window.open('/popup?own')">own</button>
			<button id=cross onclick="window.open('http://b.test:PORT/popup?cross')">cross</button>
			<a id=blank href="/popup?blank" target=_blank>blank</a>
			<a id=opener href="/popup?opener" target=_blank rel=opener>opener</a>
			<button id=written onclick="let w = window.open(''); w.document.write('<title>W</title><button>in popup</button>'); w.document.close()">written</button>`,
		"/popup": `<title>Popup</title><button>in popup</button><script>document.querySelector('button').focus()</script>`,
	}
	site := serve(t, pages, nil)
	address := strings.Replace(site.URL, "127.0.0.1", "a.test", 1)
	r := run(t, headless(t), human.BrowserOptions{URL: address + "/", Profile: "throwaway"})
	main := r.at("/")
	for i, tt := range []struct{ click, ending string }{
		{"#own", "/popup?own"}, {"#cross", "/popup?cross"}, {"#blank", "/popup?blank"}, {"#opener", "/popup?opener"}, {"#written", "/"},
	} {
		name := fmt.Sprintf("t%d", i+2)
		r.click(main, r.top(main), tt.click)
		opened := r.wait(human.PageOpened, func(e human.RecordedEvent) bool { return e.Page.Target == name })
		if opened.Page.Opener != "t1" || opened.Cause == 0 {
			t.Errorf("%s opened %+v, caused by %d", tt.click, opened.Page, opened.Cause)
		}
		var popup *tab
		r.until("the popup "+name+" shows its page", func() bool {
			popup = r.at(tt.ending)
			return popup.name == name
		})
		r.click(popup, r.top(popup), "button")
		click := r.wait(human.PageClick, func(e human.RecordedEvent) bool { return e.Page.Target == name })
		if click.Element.Name != "in popup" || !strings.HasSuffix(click.Page.URL, tt.ending) {
			t.Errorf("in %s: %+v on %+v", tt.click, click.Element, click.Page)
		}
		navigated := slices.IndexFunc(r.all(), func(e human.RecordedEvent) bool { return e.Type == human.PageNavigated && e.Page.Target == name })
		if navigated < 0 && tt.click != "#written" || navigated >= 0 && r.all()[navigated].Cause != opened.Cause {
			t.Errorf("the navigation in %s is not caused by what opened it", tt.click)
		}
		r.do(popup, "Page.close", nil)
		r.wait(human.PageClosed, func(e human.RecordedEvent) bool { return e.Page.Target == name })
		r.do(main, "Page.bringToFront", nil)
	}
	shown := 0
	for _, e := range r.all() {
		if e.Type == human.PageShown && e.Page.Target == "t1" {
			shown++
		}
	}
	navigations := map[string]int{}
	for _, e := range r.all() {
		if e.Type == human.PageNavigated {
			if navigations[e.Page.Target]++; navigations[e.Page.Target] > 1 {
				t.Errorf("%s navigated twice", e.Page.Target)
			}
		}
	}
	if shown < 2 {
		t.Errorf("the opener came to the front %d times", shown)
	}
	if t.Failed() {
		t.Log(describe(r.all()))
	}
}

func TestDocumentOpenCrashAndReload(t *testing.T) {
	site := serve(t, map[string]string{
		"/": `<title>Written</title><button id=write onclick="document.open(); document.write('<title>New</title><button>new</button>'); document.close()">write</button>`,
	}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "#write")
	r.until("it is written", func() bool {
		var text string
		r.js(tab, r.top(tab), "document.querySelector('button').textContent", &text)
		return text == "new"
	})
	r.click(tab, r.top(tab), "button")
	r.wait(human.PageClick, func(e human.RecordedEvent) bool { return e.Element.Name == "new" })

	tab.conn.send(tab.session, "Page.crash", nil)
	gap := r.wait(human.GapOpened, nil)
	if gap.Gap.Reason != "crash" {
		t.Errorf("a crash is reported as %+v", gap.Gap)
	}
	from := r.count()
	r.do(tab, "Page.reload", nil)
	r.navigated("/", from)
	tab = r.at("/")
	r.click(tab, r.top(tab), "#write")
	r.until("it is heard after the crash", func() bool {
		return slices.ContainsFunc(r.all()[from:], func(e human.RecordedEvent) bool { return e.Type == human.PageClick })
	})
}

func TestFramesOfAPageThatComesBack(t *testing.T) {
	site := serve(t, map[string]string{
		"/": `<title>One</title><a href="http://b.test:PORT/two">two</a><iframe src="/in?same" style="width:200px;height:80px"></iframe>
			<iframe src="http://b.test:PORT/in?cross" style="width:200px;height:80px"></iframe>`,
		"/in":  `<button>inner</button>`,
		"/two": `<title>Two</title><button onclick="history.back()">back</button>`,
	}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: strings.Replace(site.URL, "127.0.0.1", "a.test", 1) + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.frame(tab, "/in?cross")
	for range 2 {
		r.click(tab, r.top(tab), "a")
		tab = r.at("/two")
		if n := len(tab.places()); n != 1 {
			t.Errorf("a page without frames has %d places", n)
		}
		r.click(tab, r.top(tab), "button")
		tab = r.at("/")
		for i, ending := range []string{"/in?same", "/in?cross"} {
			from := r.count()
			r.click(tab, r.frame(tab, ending), "button")
			r.until("a click in "+ending, func() bool {
				return slices.ContainsFunc(r.all()[from:], func(e human.RecordedEvent) bool {
					return e.Type == human.PageClick && slices.Equal(e.Page.Frame, []int{i}) && strings.HasSuffix(e.Page.FrameURL, ending)
				})
			})
		}
	}
	for _, e := range r.all() {
		if e.Type == human.GapOpened {
			t.Errorf("a gap: %+v", e.Gap)
		}
	}
}
