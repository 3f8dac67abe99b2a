package flow_test

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

const host = "http://127.0.0.1:8080"

// A tape makes actions as they are derived.
type tape struct{ list []human.Action }

func (r *tape) add(a human.Action) string {
	a.ID, a.At = fmt.Sprintf("a%d", len(r.list)+1), int64(len(r.list))*2e9
	r.list = append(r.list, a)
	return a.ID
}

func at(path string) *human.WebPage {
	return &human.WebPage{Target: "t1", URL: host + path, W: 1280, H: 720}
}

func popup(path string) *human.WebPage {
	return &human.WebPage{Target: "t2", Opener: "t1", URL: host + path, W: 600, H: 400}
}

func element(role, name string, selectors ...string) *human.Element {
	e := &human.Element{Role: role, Name: name, Tag: "button"}
	if len(selectors) == 0 {
		selectors = []string{fmt.Sprintf("aria/%s[role=%q]", name, role)}
	}
	for _, s := range selectors {
		e.Selectors = append(e.Selectors, []string{s})
	}
	return e
}

func tagged(e *human.Element, tag string) *human.Element {
	e.Tag = tag
	return e
}

func format(name string) flow.Format {
	return flow.Formats[slices.IndexFunc(flow.Formats, func(f flow.Format) bool { return f.Name == name })]
}

func write(name string, w io.Writer, in flow.Input) error { return format(name).Write(w, in) }

func playwright(t *testing.T, list ...human.Action) string {
	t.Helper()
	var b strings.Builder
	if err := write("playwright", &b, flow.Input{Title: "Order", Actions: list}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A played step, as a runner reads it.
type played struct {
	Type, Name, Target, URL, Value, Key, Expression, Operator string
	Frame                                                     []int
	Selectors                                                 []any
	OffsetX, OffsetY                                          *int
	X, Y                                                      *int
	AssertedEvents                                            []struct{ Type, URL string }
	Parameters                                                map[string]any
}

func puppeteer(t *testing.T, list ...human.Action) []played {
	t.Helper()
	var b strings.Builder
	if err := write("puppeteer", &b, flow.Input{Title: "Order", Actions: list}); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Title   string
		Timeout int
		Steps   []played
	}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	if out.Title != "Order" || out.Timeout < 1 || out.Timeout > 30000 {
		t.Errorf("the flow is %q with a limit of %d ms", out.Title, out.Timeout)
	}
	return out.Steps
}

func kinds(steps []played) string {
	var out []string
	for _, s := range steps {
		if s.Type == "customStep" {
			out = append(out, s.Name)
		} else {
			out = append(out, s.Type)
		}
	}
	return strings.Join(out, " ")
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		i := strings.Index(text, p)
		if i < 0 {
			t.Fatalf("no %q, or not in this order, in\n%s", p, text)
		}
		text = text[i+len(p):]
	}
}

func TestAFormThatIsSent(t *testing.T) {
	var r tape
	r.add(human.Action{Type: human.OpenPage, Page: &human.WebPage{Target: "t1", URL: "about:blank", W: 1280, H: 720}})
	r.add(human.Action{Type: human.Navigate, Page: at("/form"), Navigation: &human.Navigation{Kind: "address"}, Words: "Opened /form"})
	r.add(human.Action{Type: human.Typing, Page: at("/form"), Value: "Mei", Text: "Mei", Count: 3, Element: element("textbox", "Name"), Words: "Typed Mei into Name"})
	r.add(human.Action{Type: human.Choose, Page: at("/form"), Values: []string{"Large"}, Element: tagged(element("combobox", "Size", `aria/Size[role="combobox"]`, `#size`), "select")})
	r.add(human.Action{Type: human.Check, Page: at("/form"), Values: []string{"unchecked"}, Element: tagged(element("checkbox", "Agree"), "input/checkbox")})
	click := r.add(human.Action{Type: human.Click, Button: 1, X: 110, Y: 205, Page: at("/form"), Element: &human.Element{Role: "button", Name: "Send", Tag: "button",
		Bounds: human.Bounds{X: 100, Y: 200, W: 60, H: 20}, Selectors: [][]string{{`[data-testid="send"]`}, {"#send"}, {"body > form > button"}}}})
	r.add(human.Action{Type: human.Navigate, Page: at("/sent"), Navigation: &human.Navigation{Kind: "form"}, CausedBy: click})

	code := playwright(t, r.list...)
	has(t, code, "import { test, expect", "viewport: { width: 1280, height: 720 }", "test('Order', async ({ page }) => {",
		"await page.goto('http://127.0.0.1:8080/form');", "// Typed Mei into Name", "await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mei');",
		".selectOption({ label: 'Large' });", "await tick(page.getByRole('checkbox', { name: 'Agree', exact: true }), false);",
		"await page.getByTestId('send').click();", `await page.waitForURL(/^http:\/\/127\.0\.0\.1:8080\/sent$/);`, "await expect(page).toHaveURL('http://127.0.0.1:8080/sent');\n});\n")
	if strings.Contains(code, "waitForTimeout") || strings.Contains(code, "given(") {
		t.Errorf("it waits for a time, or asks for what nobody hid:\n%s", code)
	}

	steps := puppeteer(t, r.list...)
	if got, want := kinds(steps), "setViewport navigate change waitForElement waitForExpression click click waitForExpression"; got != want {
		t.Fatalf("the steps are\n%s, not\n%s", got, want)
	}
	if s := steps[2]; s.Value != "Mei" || s.Selectors[0] != `aria/Name[role="textbox"]` {
		t.Errorf("the field is filled by %+v", s)
	}
	if s := steps[6]; *s.OffsetX != 10 || *s.OffsetY != 5 || len(s.AssertedEvents) != 1 || s.AssertedEvents[0].URL != host+"/sent" || slices.Contains(s.Selectors, any("body > form > button")) {
		t.Errorf("the button is clicked by %+v", s)
	}
	if !strings.Contains(steps[4].Expression, `["#size"], ["Large"]`) && !strings.Contains(steps[4].Expression, `(["#size"],["Large"])`) {
		t.Errorf("the option is chosen by %s", steps[4].Expression)
	}
	if !strings.Contains(steps[7].Expression, "location.href") {
		t.Errorf("the end is %+v", steps[7])
	}
}

func TestWhatComesOfAnActionIsWaitedForBeforeIt(t *testing.T) {
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}})
	c := r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("button", "Ask")})
	r.add(human.Action{Type: human.DialogEnded, Page: at("/"), CausedBy: c, Dialog: &human.Dialog{Kind: "confirm", Accepted: true}})
	r.add(human.Action{Type: human.DialogEnded, Page: at("/"), CausedBy: c, Dialog: &human.Dialog{Kind: "prompt", Accepted: true, Input: "Mei"}})
	c = r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("link", "Get")})
	r.add(human.Action{Type: human.Download, Page: at("/"), CausedBy: c, Transfers: []human.Transfer{{Name: "a.csv", State: "completed"}}})
	c = r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("button", "Choose")})
	r.add(human.Action{Type: human.Upload, Page: at("/"), CausedBy: c, Transfers: []human.Transfer{{Name: "in.pdf"}}, Element: tagged(element("", "", "#up"), "input/file")})
	r.add(human.Action{Type: human.Drag, Page: at("/"), X: 5, Y: 5, ToX: 50, ToY: 50, Element: element("", "", "#src"), Target: element("", "", "#dst")})
	c = r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("link", "Open")})
	r.add(human.Action{Type: human.OpenPage, Page: popup("/popup"), CausedBy: c})
	c = r.add(human.Action{Type: human.Click, Page: popup("/popup"), Element: element("button", "Done")})
	r.add(human.Action{Type: human.ClosePage, Page: popup("/popup"), CausedBy: c})
	r.add(human.Action{Type: human.ClosePage, Page: at("/")})

	has(t, playwright(t, r.list...),
		"DESKBELL_FILE_1 stands for the path of the file that was in.pdf.",
		"page.once('dialog', (dialog) => {", "page.once('dialog', (dialog) => dialog.accept('Mei'));", "return dialog.accept();", "name: 'Ask'",
		"const download1 = page.waitForEvent('download');", "name: 'Get'", "(await download1).failure()",
		"const chooser1 = page.waitForEvent('filechooser');", "name: 'Choose'", "(await chooser1).setFiles([given('DESKBELL_FILE_1')",
		"page.locator('css=#src').dragTo(page.locator('css=#dst'), { steps: 8 });",
		"const opened1 = page.waitForEvent('popup');", "name: 'Open'", "const page2 = await opened1;",
		"const closed1 = page2.waitForEvent('close', { timeout: 5000 }).catch(() => page2.close());", "page2.getByRole('button', { name: 'Done'", "await closed1;", "toHaveURL('http://127.0.0.1:8080/')")

	steps := puppeteer(t, r.list...)
	want := "deskbell.notes setViewport navigate deskbell.dialog deskbell.dialog click click deskbell.download deskbell.upload deskbell.drag click click waitForExpression"
	if got := kinds(steps); got != want {
		t.Fatalf("the steps are\n%s, not\n%s", got, want)
	}
	notes := fmt.Sprint(steps[0].Parameters["notes"])
	for _, what := range []string{"dialog", "download", "upload", "drag", "DESKBELL_FILE_1"} {
		if !strings.Contains(notes, what) {
			t.Errorf("the notes do not name the %s: %s", what, notes)
		}
	}
	if steps[11].Target != host+"/popup" {
		t.Errorf("the popup is found by %q", steps[11].Target)
	}
}

func TestTextsOfPagesStayTexts(t *testing.T) {
	evil := "'\"`${process.exit()}\\\n\r\u2028\u2029</script><!--*/\u202e\x00"
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}})
	for _, e := range []*human.Element{
		element("button", evil), element("", "", "text/"+evil), tagged(element("textbox", evil, "aria/"+evil), "input/text"),
		element("", "", `[placeholder="`+strings.ReplaceAll(strings.ReplaceAll(evil, `\`, `\\`), `"`, `\"`)+`"]`), element("", "", "xpath///*[.='"+evil+"']"), element("", "", evil),
	} {
		r.add(human.Action{Type: human.Click, Page: at("/"), Element: e, Words: "Clicked " + evil})
	}
	r.add(human.Action{Type: human.Typing, Value: evil, Count: 9, Page: at("/"), Element: element("textbox", "Name"), Words: evil})
	r.add(human.Action{Type: human.Typing, Hidden: "password", Page: at("/"), Element: element("textbox", evil), Words: evil})
	r.add(human.Action{Type: human.Extract, Page: at("/"), Pick: &human.Pick{Field: evil, Take: human.TakeElement}, Element: element("button", "Total")})
	r.add(human.Action{Type: human.Extract, Page: at("/"), Pick: &human.Pick{Field: evil, Take: human.TakeSelection}})
	r.add(human.Action{Type: human.Upload, Page: at("/"), Transfers: []human.Transfer{{Name: evil}}, Element: element("button", "Up")})
	r.add(human.Action{Type: human.Shortcut, Page: at("/"), Key: evil})
	r.add(human.Action{Type: human.Navigate, Page: &human.WebPage{Target: "t1", URL: host + "/" + evil}, Navigation: &human.Navigation{Kind: "script"}})

	var code strings.Builder
	if err := write("playwright", &code, flow.Input{Title: evil, Actions: r.list}); err != nil {
		t.Fatal(err)
	}
	// Without its strings, its patterns and its comments, what is left is ours.
	bare := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(code.String(), "")
	bare = regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'`).ReplaceAllString(bare, "''")
	bare = regexp.MustCompile(`/\^(?:[^/\\\n]|\\.)*/`).ReplaceAllString(bare, "//")
	for _, no := range []string{"process.exit", "script", "<!--", "\u2028", "\u2029", "\u202e", "\x00", "\r"} {
		if strings.Contains(bare, no) {
			t.Errorf("%q got out of a text:\n%s", no, bare)
		}
	}
	if strings.ContainsAny(code.String(), "\u2028\u2029\u202e\x00\r") || strings.Contains(code.String(), "</script><!--*/'") {
		t.Errorf("a text is not escaped:\n%s", code.String())
	}

	var text strings.Builder
	if err := write("puppeteer", &text, flow.Input{Title: evil, Actions: r.list}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(text.String())) || strings.ContainsAny(text.String(), "<>\u2028\x00") {
		t.Errorf("the flow is not plain JSON:\n%s", text.String())
	}
}

func TestWhatARunnerCannotDoIsSaid(t *testing.T) {
	blank := &human.WebPage{Target: "t2", Opener: "t1", URL: "about:blank"}
	same := &human.WebPage{Target: "t3", Opener: "t1", URL: host + "/"}
	secret := &human.WebPage{Target: "t4", Opener: "t1", URL: host + "/in?token=•••"}
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}})
	for _, p := range []*human.WebPage{blank, same, secret} {
		c := r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("link", "Open")})
		r.add(human.Action{Type: human.OpenPage, Page: p, CausedBy: c})
		r.add(human.Action{Type: human.Click, Page: p, Element: element("button", "Deep"), Words: "Clicked Deep"})
	}
	r.add(human.Action{Type: human.Click, Page: at("/"), X: 5, Y: 6, Element: &human.Element{}})
	r.add(human.Action{Type: human.Typing, Page: at("/"), Hidden: "password", Count: 7, Element: element("textbox", "Password")})
	r.add(human.Action{Type: human.TripleClick, Page: at("/"), Element: element("button", "Thrice")})
	r.add(human.Action{Type: human.Extract, Page: at("/"), Element: element("cell", "Sum"), Pick: &human.Pick{Field: "sum", Take: human.TakeTable}})
	r.add(human.Action{Type: human.OpenApp, App: &human.App{Name: "Files"}})
	r.add(human.Action{Type: human.Missing, Gap: &human.Gap{Reason: "paused"}})
	steps := puppeteer(t, r.list...)
	want := "deskbell.notes setViewport navigate click deskbell.action deskbell.show click deskbell.action deskbell.show click deskbell.action deskbell.show deskbell.action deskbell.secret doubleClick deskbell.pick waitForExpression"
	if got := kinds(steps); got != want {
		t.Fatalf("the steps are\n%s, not\n%s", got, want)
	}
	notes := fmt.Sprint(steps[0].Parameters["notes"])
	for _, what := range []string{"address is not its own", "cannot be found again", "DESKBELL_SECRET_1 stands for what was typed into Password", "triple click", "not read again", "outside of the browser is left out; actions: 1", "missing; gaps: 1"} {
		if !strings.Contains(notes, what) {
			t.Errorf("the notes lack %q: %s", what, notes)
		}
	}
	for _, s := range steps {
		if strings.Contains(s.Target, "•") || s.Target == "about:blank" {
			t.Errorf("a step waits for a page that is never found: %+v", s)
		}
	}
	code := playwright(t, r.list...)
	has(t, code, "outside of the browser is left out; actions: 1", "missing; gaps: 1", "await page.mouse.click(5, 6);", ".fill(given('DESKBELL_SECRET_1'))", "click({ clickCount: 3 })",
		"ancestor-or-self::table[1]", "test.info().attach('fields.json'")
}

func TestTheBrowsersOwnButtons(t *testing.T) {
	var r tape
	went := func(path, kind, cause string) string {
		return r.add(human.Action{Type: human.Navigate, Page: at(path), Navigation: &human.Navigation{Kind: kind}, CausedBy: cause})
	}
	went("/a", "address", "")
	c := r.add(human.Action{Type: human.Click, Page: at("/a"), Element: element("link", "B")})
	went("/b", "link", c)
	went("/a", "back_forward", c) // soon after it, so that the click is taken for its cause
	went("/b", "back_forward", "")
	key := r.add(human.Action{Type: human.Shortcut, Page: at("/b"), Key: "F5"})
	went("/b", "reload", key)
	c = r.add(human.Action{Type: human.Click, Page: at("/b"), Element: element("button", "Again")})
	went("/b", "reload", c)
	c = r.add(human.Action{Type: human.Click, Page: at("/b"), Element: element("button", "Send")})
	went("/b", "form", c)
	went("/gone", "address", "")
	r.list[len(r.list)-1].Navigation.Failed = "net::ERR_NAME_NOT_RESOLVED"
	went("/a", "back_forward", "")

	has(t, playwright(t, r.list...), "goto('http://127.0.0.1:8080/a')", "name: 'B'", `waitForURL(/^http:\/\/127\.0\.0\.1:8080\/b$/)`, "page.goBack();", "page.goForward();", "keyboard.press('F5')", "page.reload();",
		"const loaded6 = page.waitForEvent('load', { timeout: 5000 }).catch(() => page.reload());", "name: 'Again'", "await loaded6;",
		"waitForEvent('load');", "name: 'Send'", "await loaded7", "page.goBack();")
	steps := puppeteer(t, r.list...)
	var scripts []string
	for _, s := range steps {
		if s.Type == "waitForExpression" && len(s.AssertedEvents) > 0 {
			scripts = append(scripts, s.Expression)
		}
	}
	want := []string{"history.go(-1)", "history.go(1)", "location.reload()", "location.reload()", "history.go(-2)"}
	for i, w := range want {
		if i >= len(scripts) || !strings.Contains(scripts[i], w) {
			t.Fatalf("the scripts are %q, not %q", scripts, want)
		}
	}
	if want := `test(location.href) || history.go(-1)`; !strings.Contains(scripts[0], want) { // evaluated twice it goes once
		t.Errorf("the way back is %q, without %q", scripts[0], want)
	}
}

func TestFramesAndShadowRoots(t *testing.T) {
	deep := at("/")
	deep.Frame, deep.FrameURL = []int{1, 0}, "http://b.localhost:8080/in"
	inner := element("button", "In")
	inner.Selectors = [][]string{{"x-card", "#in"}}
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}})
	c := r.add(human.Action{Type: human.Click, Page: deep, Element: element("link", "Next")})
	r.add(human.Action{Type: human.Navigate, Page: deep, Navigation: &human.Navigation{Kind: "link"}, CausedBy: c})
	r.add(human.Action{Type: human.Click, Page: at("/"), Element: inner})
	has(t, playwright(t, r.list...), "page.locator('iframe, frame').nth(1).contentFrame().locator('iframe, frame').nth(0).contentFrame().getByRole('link'", "page.locator('css=x-card').locator('css=#in').click();", "toHaveURL('http://127.0.0.1:8080/')")
	steps := puppeteer(t, r.list...)
	if got, want := kinds(steps), "setViewport navigate waitForElement waitForElement click click waitForExpression"; got != want {
		t.Fatalf("the steps are\n%s, not\n%s", got, want)
	}
	if s := steps[4]; !slices.Equal(s.Frame, []int{1, 0}) || len(s.AssertedEvents) != 1 || !slices.Equal(steps[3].Frame, []int{1}) || len(steps[2].Frame) != 0 {
		t.Errorf("the frame is reached by %+v, %+v, %+v", steps[2], steps[3], s)
	}
	if s := steps[5]; len(s.Selectors) != 1 || fmt.Sprint(s.Selectors[0]) != "[x-card #in]" {
		t.Errorf("the shadow root is reached by %+v", s)
	}
}

func TestAddressesThatAreNeverTheSame(t *testing.T) {
	for path, want := range map[string]string{
		"/in?token=•••&a=1":                              `toHaveURL(/^http:\/\/127\.0\.0\.1:8080\/in\?token=[^/&#]*&a=1$/)`,
		"/in?token=%E2%80%A2%E2%80%A2%E2%80%A2":          `toHaveURL(/^http:\/\/127\.0\.0\.1:8080\/in\?token=[^/&#]*$/)`,
		"/o/3f2504e0-4f89-11d3-9a0c-0305e82c3301#t":      `toHaveURL(/^http:\/\/127\.0\.0\.1:8080\/o\/[^/?&#]+#t$/)`,
		"/?t=1732184400123":                              `toHaveURL(/^http:\/\/127\.0\.0\.1:8080\/\?t=[^/?&#]+$/)`,
		"/orders/123456?page=2":                          `toHaveURL('http://127.0.0.1:8080/orders/123456?page=2')`,
		"/a-long-name-of-an-article-without-any-numbers": `toHaveURL('http://127.0.0.1:8080/a-long-name-of-an-article-without-any-numbers')`,
	} {
		var r tape
		r.add(human.Action{Type: human.Navigate, Page: at(path), Navigation: &human.Navigation{Kind: "address"}})
		code := playwright(t, r.list...)
		if !strings.Contains(code, want) {
			t.Errorf("%s is expected as\n%s\nnot %s", path, code, want)
		}
		if strings.Contains(path, "token") != strings.Contains(code, "goto(given('DESKBELL_URL_1'") {
			t.Errorf("%s is opened by\n%s", path, code)
		}
	}
}

func TestAClickOnAPicture(t *testing.T) {
	canvas := func(b human.Bounds) *human.Element {
		e := tagged(element("canvas", "", "#c"), "canvas")
		e.Bounds = b
		return e
	}
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}})
	r.add(human.Action{Type: human.Scroll, Page: at("/"), ToY: 300})
	r.add(human.Action{Type: human.Click, Page: at("/"), X: 120, Y: 90, Element: canvas(human.Bounds{X: 100, Y: 50, W: 200, H: 100})})
	r.add(human.Action{Type: human.Click, Page: at("/"), X: 130, Y: 95, Element: canvas(human.Bounds{})})
	has(t, playwright(t, r.list...), "window.scrollTo(0, 300)", "page.locator('css=#c').click({ position: { x: 20, y: 40 } });", "page.locator('css=#c').waitFor();", "page.mouse.click(130, 95);")
	steps := puppeteer(t, r.list...)
	if got, want := kinds(steps), "setViewport navigate scroll click waitForElement click waitForExpression"; got != want {
		t.Fatalf("the steps are\n%s, not\n%s", got, want)
	}
	if s := steps[3]; *s.OffsetX != 20 || *s.OffsetY != 40 {
		t.Errorf("with its place known it is clicked at %d,%d", *s.OffsetX, *s.OffsetY)
	}
	if s := steps[5]; *s.OffsetX != 130 || *s.OffsetY != 395 || s.Selectors[0] != "html" {
		t.Errorf("without, it is clicked by %+v at %d,%d", s.Selectors, *s.OffsetX, *s.OffsetY)
	}
}

func TestActionsThatHaveNothingInThem(t *testing.T) {
	kinds := []human.ActionType{
		human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Scroll, human.Typing, human.Shortcut, human.Paste, human.Copy, human.SwitchWindow,
		human.Note, human.Missing, human.OpenPage, human.ClosePage, human.SwitchPage, human.Navigate, human.Choose, human.Check, human.Hover, human.DialogEnded,
		human.Upload, human.Download, human.Extract, human.PlayMedia, human.PageSaid, "unheard of",
	}
	frame := &human.WebPage{Target: "t9", URL: "chrome://newtab", Frame: []int{-1, 1 << 40}}
	odd := &human.Element{Role: "button", Tag: "input/odd", Bounds: human.Bounds{W: -1, H: 1}, Selectors: [][]string{nil, {""}, {"aria/"}, {"aria/x"}, {"[", "text/"}}}
	for _, page := range []*human.WebPage{nil, {}, at("/"), popup("/"), frame} {
		for _, e := range []*human.Element{nil, {}, odd, {Tag: "select"}, {Tag: "canvas", Selectors: [][]string{{"canvas"}}}} {
			var r tape
			for _, kind := range kinds {
				r.add(human.Action{Type: kind, Page: page, Element: e})
				r.add(human.Action{Type: kind, Page: page, Element: e, X: -5, CausedBy: fmt.Sprintf("a%d", len(r.list)), Count: -1, Button: 9, Modifiers: []string{"hyper", "shift"}})
			}
			if code := playwright(t, r.list...); !strings.HasSuffix(code, "});\n") {
				t.Errorf("the test does not end:\n%s", code)
			}
			puppeteer(t, r.list...)
		}
	}
	playwright(t)
	puppeteer(t)
}
