package library

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// surf adds what was done in a browser: a search for something, and a click.
func (d *fixture) surf() {
	d.t.Helper()
	d.rec.Options.Browser = &human.BrowserOptions{Network: true, DOM: true}
	page := func(path string) *human.WebPage {
		return &human.WebPage{Target: "t1", URL: "https://shop.example" + path, Title: "Shop", W: 800, H: 600}
	}
	event := func(kind human.RecordedType, b human.Browsing) human.RecordedEvent {
		return human.RecordedEvent{Source: human.BrowserSource, Type: kind, Browsing: b}
	}
	element := func(role, name string) *human.Element {
		return &human.Element{Role: role, Name: name, Tag: "input/text", Selectors: [][]string{{"aria/" + name + `[role="` + role + `"]`}}}
	}
	asked := func(path string) human.RecordedEvent {
		return event(human.PageRequest, human.Browsing{Page: page("/"), Request: &human.WebRequest{Method: "GET", URL: "https://shop.example" + path, At: d.rec.StartedAt}})
	}
	film := func(target, dom string, frame ...int) human.RecordedEvent {
		return event(human.PageDOM, human.Browsing{Page: &human.WebPage{Target: target, URL: "https://shop.example/", Frame: frame}, DOM: json.RawMessage(dom)})
	}
	typed := event(human.PageInput, human.Browsing{Page: page("/")})
	typed.Element, typed.Text, typed.Count = element("textbox", "Search"), "zebrafinch", 10
	press := event(human.PagePress, human.Browsing{Page: page("/")})
	press.Element, press.Button = element("button", "Go"), 1
	click := press
	click.Type, click.Count = human.PageClick, 1
	d.add(
		event(human.PageOpened, human.Browsing{Page: page("/")}),
		event(human.PageNavigated, human.Browsing{Page: page("/"), Navigation: &human.Navigation{Kind: "address", Status: 200}}),
		asked("/first"),
		film("t1", `{"type":4,"timestamp":1,"data":{}}`), film("t1", `{"type":2,"timestamp":2,"data":{}}`, 0), film("t2", `{"type":2,"timestamp":3,"data":{}}`), film("t2", `{}`),
		typed,
		asked("/suggest?q=zebrafinch"),
		press, click,
		asked("/last"),
	)
}

func (d *fixture) export(by human.Actor, format string) string {
	d.t.Helper()
	e, err := d.Export(d.t.Context(), by, d.rec.ID, format, "en")
	must(d.t, err)
	var b bytes.Buffer
	must(d.t, e.Write(&b))
	return b.String()
}

func TestAnOperatorExportsWhatWasDoneInABrowser(t *testing.T) {
	d := newFixture(t)
	d.surf()
	d.end()
	for format, want := range map[string]struct{ ending, has string }{
		"playwright": {".spec.ts", ".fill('zebrafinch')"}, "puppeteer": {".flow.json", `"value": "zebrafinch"`},
		HAR: {".har", "/suggest?q=zebrafinch"}, RRWeb: {".rrweb.json", `{"target":"t1","type":4`},
	} {
		e, err := d.Export(t.Context(), ada, d.rec.ID, format, "zh-CN")
		must(t, err)
		if !strings.HasSuffix(e.Name, want.ending) || e.Media == "" {
			t.Errorf("%s is %s, %s", format, e.Name, e.Media)
		}
		if got := d.export(ada, format); !strings.Contains(got, want.has) || format != "playwright" && !json.Valid([]byte(got)) {
			t.Errorf("%s lacks %q or is not valid:\n%s", format, want.has, got)
		}
	}
	var film []struct {
		Target    string
		Type      int
		Timestamp int64
	}
	must(t, json.Unmarshal([]byte(d.export(ada, RRWeb)), &film))
	if len(film) != 2 || film[0].Type != 4 || film[1].Target != "t2" {
		t.Errorf("the film is %+v", film)
	}
}

func TestWhatWasCutOrHiddenIsInNoExportOfABrowser(t *testing.T) {
	d := newFixture(t)
	d.surf()
	d.end()
	i := slices.IndexFunc(d.actions(ada, "").Actions, func(a human.Action) bool { return a.Value == "zebrafinch" })
	if i < 0 {
		t.Fatalf("nothing was typed: %s", words(d.actions(ada, "").Actions))
	}
	id := d.actions(ada, "").Actions[i].ID
	for name, change := range map[string]func(*human.Edits){
		"cut":    func(e *human.Edits) { e.Cuts, e.MaskedTexts = []string{id}, nil },
		"hidden": func(e *human.Edits) { e.Cuts, e.MaskedTexts = nil, []string{id} },
	} {
		d.edit(change)
		for _, format := range []string{HTML, JSON, "playwright", "puppeteer", HAR} {
			if got := d.export(ada, format); strings.Contains(got, "zebrafinch") {
				t.Errorf("%s, it is in %s:\n%s", name, format, got)
			}
		}
		if got := d.export(ada, HAR); !strings.Contains(got, "/first") || !strings.Contains(got, "/last") {
			t.Errorf("%s, the HAR lacks other requests: %s", name, got)
		}
		_, err := d.Export(t.Context(), ada, d.rec.ID, RRWeb, "en")
		checkError(t, err, human.Conflict, "", "would still show")
	}
}

func TestAnAgentGetsNoMoreOfPagesThanWasDone(t *testing.T) {
	d := newFixture(t)
	d.surf()
	d.end()
	for _, format := range []string{HAR, RRWeb, "playwright"} {
		_, err := d.Export(t.Context(), bot, d.rec.ID, format, "en")
		checkError(t, err, human.NotFound, "", "there is no recording")
	}
	d.release()
	for _, format := range []string{HAR, RRWeb} {
		_, err := d.Export(t.Context(), bot, d.rec.ID, format, "en")
		checkError(t, err, human.Denied, "", "only an operator")
	}
	for _, format := range []string{"playwright", "puppeteer"} {
		if got := d.export(bot, format); strings.Contains(got, "zebrafinch") || !strings.Contains(got, "DESKBELL_SECRET_1") {
			t.Errorf("%s gives an agent what was typed:\n%s", format, got)
		}
	}
	d.edit(func(e *human.Edits) { e.ShareText = true })
	if got := d.export(bot, "playwright"); !strings.Contains(got, ".fill('zebrafinch')") {
		t.Errorf("shared, it is not in the test:\n%s", got)
	}
}

func TestFormatsThatARecordingHasNothingFor(t *testing.T) {
	d := newFixture(t)
	d.end()
	for _, format := range []string{"puppeteer", "playwright", HAR, RRWeb, "gif"} {
		_, err := d.Export(t.Context(), ada, d.rec.ID, format, "en")
		checkError(t, err, human.Invalid, "format", "can be exported in: html, markdown, json")
	}
}
