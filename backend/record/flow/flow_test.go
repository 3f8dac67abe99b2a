package flow_test

import (
	"encoding/json"
	"fmt"
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

func playwright(t *testing.T, list ...human.Action) string {
	t.Helper()
	var b strings.Builder
	if err := flow.Playwright(&b, flow.Input{Title: "Order", Actions: list}); err != nil {
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
	if err := flow.Puppeteer(&b, flow.Input{Title: "Order", Actions: list}); err != nil {
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
		"//   DESKBELL_FILE_1: the path of the file that was in.pdf",
		"page.once('dialog', (dialog) => {", "page.once('dialog', (dialog) => dialog.accept('Mei'));", "return dialog.accept();", "name: 'Ask'",
		"const download1 = page.waitForEvent('download');", "name: 'Get'", "(await download1).failure()",
		"const chooser1 = page.waitForEvent('filechooser');", "name: 'Choose'", "(await chooser1).setFiles([given('DESKBELL_FILE_1'",
		"page.locator('css=#src').dragTo(page.locator('css=#dst'));",
		"const opened1 = page.waitForEvent('popup');", "name: 'Open'", "const page2 = await opened1;",
		"const closed1 = page2.waitForEvent('close');", "page2.getByRole('button', { name: 'Done'", "await closed1;", "toHaveURL('http://127.0.0.1:8080/')")

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
	if err := flow.Playwright(&code, flow.Input{Title: evil, Actions: r.list}); err != nil {
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
	if err := flow.Puppeteer(&text, flow.Input{Title: evil, Actions: r.list}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(text.String())) || strings.ContainsAny(text.String(), "<>\u2028\x00") {
		t.Errorf("the flow is not plain JSON:\n%s", text.String())
	}
}
