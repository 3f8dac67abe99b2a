package flow

import (
	"fmt"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// playwright writes a test in TypeScript for @playwright/test. What the recording does not hold (secret texts,
// uploaded files) is read from the environment; the head of the test names the variables. Picked fields are read
// again and attached to the test's report.
func playwright(p *plan) string {
	t := &test{plan: p}
	for i, m := range t.moves {
		t.move(m, i)
	}
	t.end()
	return t.head() + t.body.String() + "});\n"
}

// A test is one of Playwright's while it is written.
type test struct {
	*plan
	body    strings.Builder
	given   bool // it reads variables of the environment
	checked bool // it ticks boxes that may be drawn by their labels
	fields  bool // it reads fields
}

func (t *test) line(format string, args ...any) {
	t.body.WriteString("  " + fmt.Sprintf(format, args...) + "\n")
}

// head is what stands before the steps, and says what the test needs.
func (t *test) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n// A test for Playwright, made with Deskbell from what a person did in a browser.\n", comment(t.title))
	for _, s := range t.said() {
		fmt.Fprintf(&b, "// %s\n", comment(actions.Line(s.Text, 300)))
	}
	types := ""
	if t.checked {
		types = ", type Locator"
	}
	fmt.Fprintf(&b, "import { test, expect%s } from '@playwright/test';\n\n", types)
	if t.w > 0 && t.h > 0 {
		fmt.Fprintf(&b, "test.use({ viewport: { width: %d, height: %d } });\n\n", t.w, t.h)
	}
	if t.given {
		b.WriteString(`// given is what the recording does not hold, from the environment.
function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(` + "`Set ${name}; the head of this file says what it stands for.`" + `);
  return value;
}

`)
	}
	if t.checked {
		b.WriteString(`// tick sets a box, by its label where that is all that is seen of it or takes a press.
async function tick(box: Locator, on: boolean): Promise<void> {
  await box.waitFor({ state: 'attached' });
  const takes = (await box.isVisible()) && (await box.click({ trial: true, timeout: 2000 }).then(() => true, () => false));
  if (takes) return box.setChecked(on);
  if ((await box.isChecked()) === on) return;
  const id = await box.evaluate((e) => Array.from((e as HTMLInputElement).labels ?? []).findIndex((l) => l.contains(e)));
  if (id >= 0) return box.locator('xpath=ancestor::label[1]').click();
  await box.evaluate((e) => (e as HTMLInputElement).labels?.[0]?.click());
}

`)
	}
	fmt.Fprintf(&b, "test(%s, async ({ page }) => {\n  test.setTimeout(%d);\n", js(t.title), 30000+5000*len(t.moves))
	if t.fields {
		b.WriteString("  const fields: Record<string, string> = {};\n")
	}
	return b.String()
}

// comment is a text that stays in its line.
func comment(text string) string {
	var b strings.Builder
	for _, r := range text {
		if printable(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// page is the name of a tab in the test.
func (t *test) page(of *tab) string {
	if of == nil || of.number == 1 {
		return "page"
	}
	return fmt.Sprintf("page%d", of.number)
}

// given is an expression for what the recording does not hold.
func (t *test) read(name string) string {
	t.given = true
	return fmt.Sprintf("given(%s)", js(name))
}

// ready opens the tab of a move and goes to its page, where nothing recorded did.
func (t *test) ready(m *move) {
	if m.tab == nil {
		return
	}
	t.open(m.tab)
	if !m.tab.went && goable(m.Page.URL) {
		t.goTo(m, m.Page.URL)
	}
}

func (t *test) open(of *tab) {
	if !of.opened && of.number > 1 {
		t.line("const %s = await page.context().newPage();", t.page(of))
	}
	of.opened = true
}

// goTo opens a URL, which is the first of a tab or the next.
func (t *test) goTo(m *move, url string) {
	if !m.tab.went && m.Type != human.Navigate {
		m.tab.push(url)
	}
	m.tab.went = true
	to := js(url)
	if masked(url) {
		to = t.read(t.address(url))
	}
	t.line("await %s.goto(%s);", t.page(m.tab), to)
}

// move writes one step.
func (t *test) move(m *move, i int) {
	if m.Type == human.OpenPage && m.tab.number == 1 && m.cause == nil {
		m.tab.opened = true // the page that the test begins with
		if !goable(m.Page.URL) {
			return
		}
	}
	if i > 0 {
		t.body.WriteString("\n")
	}
	if words := comment(m.words()); words != "" {
		t.line("// %s", words)
	}
	if !isEffect(m.Type) {
		t.ready(m)
	} else if m.Type == human.Navigate && !m.tab.opened {
		t.open(m.tab)
	}
	t.arm(m)
	switch m.Type {
	case human.OpenPage:
		t.opens(m)
	case human.ClosePage:
		t.closes(m)
	case human.SwitchPage:
		t.ready(m)
		t.line("await %s.bringToFront();", t.page(m.tab))
	case human.Navigate:
		t.navigates(m)
	case human.Download:
		t.downloads(m)
	case human.Upload:
		t.uploads(m)
	case human.Missing, human.Note, human.DialogEnded:
	default:
		t.does(m)
	}
}

// arm waits for what comes of a move before it is done.
func (t *test) arm(m *move) {
	var dialogs []*move
	for _, e := range m.effects {
		page := t.page(m.tab)
		if e.tab != nil && e.tab.opened && e.Type != human.OpenPage {
			page = t.page(e.tab)
		}
		switch e.Type {
		case human.OpenPage:
			if e.Page.Opener != "" {
				t.line("const opened%d = %s.waitForEvent('popup');", e.number, page)
			} else {
				t.line("const opened%d = %s.context().waitForEvent('page');", e.number, page)
			}
		case human.ClosePage:
			if e.tab.opened {
				t.line("const closed%d = %s.waitForEvent('close', { timeout: %d }).catch(() => %s.close());", e.number, page, doubt, page)
			}
		case human.Download:
			t.line("const download%d = %s.waitForEvent('download');", e.number, page)
		case human.Upload:
			if m.chooses(e) {
				t.line("const chooser%d = %s.waitForEvent('filechooser');", e.number, page)
			}
		case human.Navigate:
			switch {
			case !e.reloads() || !e.tab.opened:
			case e.kind() == "reload":
				t.line("const loaded%d = %s.waitForEvent('load', { timeout: %d }).catch(() => %s.reload());", e.number, page, doubt, page)
			default:
				t.line("const loaded%d = %s.waitForEvent('load');", e.number, page)
			}
		case human.DialogEnded:
			dialogs = append(dialogs, e)
		}
	}
	if len(dialogs) > 0 {
		page := t.page(m.tab)
		if of := dialogs[0].tab; of != nil && of.opened {
			page = t.page(of)
		}
		t.line("%s", t.replies(page, dialogs))
	}
}

// chooses says whether a click brought up the chooser of files that an upload came from.
func (m *move) chooses(upload *move) bool { return m.Type == human.Click && upload.cause == m }

// reloads says whether a navigation brings a new document at the same address, so that the address does not show it
// when it is there.
func (m *move) reloads() bool {
	return m.cause != nil && m.whole() && m.loads() && !m.failed() && !m.passing && m.from == m.Page.URL
}

// replies is a statement that answers dialogs one after the other.
func (t *test) replies(page string, dialogs []*move) string {
	d := dialogs[0].Dialog
	reply := "dialog.dismiss()"
	if d != nil && d.Accepted {
		reply = "dialog.accept()"
		if d.Kind == "prompt" {
			text := js(d.Input)
			if strings.Contains(d.Input, dots) || dialogs[0].Masked {
				text = t.read(t.answer(dialogs[0]))
			}
			reply = "dialog.accept(" + text + ")"
		}
	}
	if len(dialogs) == 1 {
		return fmt.Sprintf("%s.once('dialog', (dialog) => %s);", page, reply)
	}
	return fmt.Sprintf("%s.once('dialog', (dialog) => {\n    %s\n    return %s;\n  });", page, strings.ReplaceAll(t.replies(page, dialogs[1:]), "\n", "\n  "), reply)
}

func (t *test) opens(m *move) {
	if m.cause == nil || m.tab.opened {
		t.ready(m)
		return
	}
	m.tab.opened, m.tab.went = true, true
	t.line("const %s = await opened%d;", t.page(m.tab), m.number)
	if !goable(m.Page.URL) {
		t.line("await %s.waitForLoadState();", t.page(m.tab))
		return
	}
	m.tab.push(m.Page.URL)
	expression, _ := place(m.Page.URL)
	t.line("await %s.waitForURL(%s);", t.page(m.tab), expression)
}

func (t *test) closes(m *move) {
	switch {
	case !m.tab.opened:
	case m.cause != nil:
		t.line("await closed%d;", m.number)
	default:
		t.line("await %s.close();", t.page(m.tab))
	}
}

func (t *test) navigates(m *move) {
	if !m.whole() {
		return // what is done in the frame next waits for it
	}
	if m.failed() {
		t.note(human.Sayf("A page could not be loaded while this was recorded: %s", m.Page.URL))
		return
	}
	page, by := t.page(m.tab), m.tab.visit(m)
	switch {
	case m.goes():
		if goable(m.Page.URL) {
			t.goTo(m, m.Page.URL)
		} else {
			t.note(human.Sayf("An address that is no web page, or was hidden, is left out."))
		}
		return
	case m.cause == nil && !m.tab.went:
		t.ready(m)
		return
	case m.reloads():
		t.line("await loaded%d;", m.number)
		return
	case m.cause == nil && m.kind() == "reload":
		t.line("await %s.reload();", page)
		return
	case m.cause == nil && m.kind() == "back_forward":
		t.goesBack(m, page, by)
		return
	case m.cause == nil && (!m.loads() || m.kind() == "restored"), m.passing, !goable(m.Page.URL):
		return
	}
	expression, _ := place(m.Page.URL)
	if m.kind() == "back_forward" && by != 0 {
		t.line("await %s.waitForURL(%s, { timeout: %d }).catch(() => %s.%s());", page, expression, doubt, page, back(by))
		return
	}
	t.line("await %s.waitForURL(%s);", page, expression)
}

// doubt is how long a page has, in milliseconds, to do what the person may have done by the browser's own buttons
// soon after an action: to close, to reload, to go back. Then the test does it.
const doubt = 5000

func back(by int) string {
	if by > 0 {
		return "goForward"
	}
	return "goBack"
}

func (t *test) goesBack(m *move, page string, by int) {
	if by == 0 && goable(m.Page.URL) {
		t.goTo(m, m.Page.URL)
	}
	for range max(by, -by) {
		t.line("await %s.%s();", page, back(by))
	}
}

func (t *test) downloads(m *move) {
	if m.cause == nil {
		t.note(human.Sayf("A download came by itself, and is not waited for."))
		return
	}
	if len(m.Transfers) > 0 && m.Transfers[0].State == "canceled" {
		t.line("await (await download%d).cancel();", m.number)
		return
	}
	t.line("expect(await (await download%d).failure()).toBeNull();", m.number)
}

func (t *test) uploads(m *move) {
	t.ready(m)
	var paths []string
	for _, f := range m.Transfers {
		paths = append(paths, t.read(t.file(m, f)))
	}
	list := "[" + strings.Join(paths, ", ") + "]"
	if m.cause != nil && m.cause.chooses(m) {
		t.line("await (await chooser%d).setFiles(%s);", m.number, list)
		return
	}
	if !m.isTag("input/file", "input") {
		t.line("// These files were dropped: %s", comment(strings.Join(paths, ", ")))
		t.note(human.Sayf("Files that were dropped on a page are left out."))
	} else if on, ok := t.on(m); ok {
		t.line("await %s.setInputFiles(%s);", on, list)
	}
}

// on is the expression for the element of a move; where it has none, that is said.
func (t *test) on(m *move) (string, bool) {
	l := locator(m.Element)
	if l == "" {
		t.line("// There is no way to find the element of this step again.")
		t.note(human.Sayf("Some elements cannot be found again; their steps are left out or done by their place."))
		return "", false
	}
	return t.in(m) + l, true
}

// in is the expression for the page or frame of a move.
func (t *test) in(m *move) string { return t.page(m.tab) + inside(m.frame()) }

// end checks where it all led to.
func (t *test) end() {
	if t.shown != nil && t.shown.opened && goable(t.shown.url) {
		to, same := place(t.shown.url)
		if same {
			to = js(t.shown.url)
		}
		t.body.WriteString("\n")
		t.line("await expect(%s).toHaveURL(%s);", t.page(t.shown), to)
	}
	if t.fields {
		t.line("await test.info().attach('fields.json', { body: JSON.stringify(fields, null, 2), contentType: 'application/json' });")
	}
}
