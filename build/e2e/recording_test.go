//go:build window

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png" // what pictures are given out as
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
	"deskbell/build/e2e/desktoptest"
)

// A serving is `deskbell serve` on a desktop, and its API as an operator sees it.
type serving struct {
	*fixture
	program *desktoptest.Program
	url     string
	token   string
}

// serve starts the server on this desktop, over the test's data folder, and signs in.
func (d *fixture) serve() *serving {
	d.T.Helper()
	program, line := d.StartLine(d.bin, "serve", "--code-fd", "3", "--set", "server.check_callers=false")
	var ready struct{ URL, Code string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		d.T.Fatalf("%v in %q", err, line)
	}
	h := &serving{fixture: d, program: program, url: ready.URL}
	var session struct{ Token string }
	h.call("POST", "/api/session", map[string]string{"code": ready.Code}, &session)
	h.token = session.Token
	return h
}

// call makes a request as the operator, or as the agent whose key is given, and reads the answer into into.
func (h *serving) call(method, path string, body, into any, key ...string) {
	h.T.Helper()
	status, answer := h.ask(method, path, body, key...)
	if status >= 300 {
		h.T.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		h.T.Fatalf("%s %s answered %.200q: %v", method, path, answer, err)
	}
}

func (h *serving) ask(method, path string, body any, key ...string) (status int, answer []byte) {
	h.T.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.T.Fatal(err)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(h.T.Context()), method, h.url+path, bytes.NewReader(data))
	if err != nil {
		h.T.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token := append(key, h.token)[0]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		h.T.Fatal(err)
	}
	defer w.Body.Close()
	if answer, err = io.ReadAll(w.Body); err != nil {
		h.T.Fatal(err)
	}
	return w.StatusCode, answer
}

// ring rings as an agent and claims the operation as the operator.
func (h *serving) ring(description string, details map[string]any) (op human.Operation, key string) {
	h.T.Helper()
	var agent struct{ Key string }
	h.call("POST", "/api/agents", map[string]string{"name": "qa-runner"}, &agent)
	h.call("POST", "/api/human/invoke", map[string]any{"action_type": "desktop", "description": description, "details": details}, &op, agent.Key)
	h.call("POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, &op)
	return op, agent.Key
}

func (h *serving) actions(id human.RecordingID, key ...string) []human.Action {
	h.T.Helper()
	var found struct{ Actions []human.Action }
	h.call("GET", "/api/recordings/"+string(id)+"/actions?language=en", nil, &found, key...)
	return found.Actions
}

func (h *serving) events(id human.RecordingID) (all []human.RecordedEvent) {
	h.T.Helper()
	for after := uint64(0); ; {
		var page struct{ Events []human.RecordedEvent }
		h.call("GET", fmt.Sprintf("/api/recordings/%s/events?after=%d&limit=1000", id, after), nil, &page)
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
		after = all[len(all)-1].Seq
	}
}

// A person works on the desktop as people do: one thing after the other, with a look in between.
type person struct {
	*desktoptest.Desktop
	app     string      // the application whose elements are looked for, as the bus of accessibility calls it
	corner  image.Point // added to where it says they are: GTK 4 counts from its window
	looking time.Duration
	holding time.Duration // how long a button of the mouse is held; 80 ms when 0

	own  *strings.Replacer // the values of this person instead of those of the script; nil: the same
	left func() bool       // says that what comes now is left to another, and does whatever has to be done for that; nil: nothing is
}

// leaves says whether the person does nothing now.
func (p *person) leaves() bool { return p.left != nil && p.left() }

// said is what this person says instead of a text of the script.
func (p *person) said(text string) string {
	if p.own == nil {
		return text
	}
	return p.own.Replace(text)
}

// pause lets time pass, as it does between two things a person does.
func (p *person) pause() {
	if p.left == nil {
		<-time.After(p.looking)
	}
}

// find waits for the one element of that name, with any of the roles, if any are given.
func (p *person) find(name string, roles ...desktoptest.Role) (e desktoptest.Element) {
	p.T.Helper()
	if p.leaves() {
		return e
	}
	name = p.said(name)
	p.Wait(fmt.Sprintf("%q in %s", name, p.app), func() bool {
		n := 0
		for _, one := range p.Elements(p.app) {
			if one.Name == name && (len(roles) == 0 || slices.Contains(roles, one.Role)) {
				e = one
				n++
			}
		}
		return n == 1
	})
	e.At = e.At.Add(p.corner)
	return e
}

// click holds the button down for as long as a person does.
func (p *person) click(x, y int) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	p.Move(x, y)
	hold := cmp.Or(p.holding, 80*time.Millisecond)
	p.Do("xdotool", "mousedown", "1", "sleep", fmt.Sprint(hold.Seconds()), "mouseup", "1")
	p.pause()
}

// press clicks an element in its middle.
func (p *person) press(name string, roles ...desktoptest.Role) {
	p.T.Helper()
	at := p.find(name, roles...).At
	p.click((at.Min.X+at.Max.X)/2, (at.Min.Y+at.Max.Y)/2)
}

// enter clicks the field to the right of its label.
func (p *person) enter(label string) {
	p.T.Helper()
	at := p.find(label, staticLabel).At
	p.click(at.Max.X+60, (at.Min.Y+at.Max.Y)/2)
}

func (p *person) types(text string) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	p.Do("xdotool", "type", "--delay", "35", p.said(text))
	p.pause()
}

func (p *person) keys(keys ...string) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	p.Key(keys...)
	p.pause()
}

// drag holds button 1 from one place to another.
func (p *person) drag(from, to image.Point) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	p.Move(from.X, from.Y)
	p.Do("xdotool", "mousedown", "1")
	for i := 1; i <= 10; i++ {
		p.Move(from.X+(to.X-from.X)*i/10, from.Y+(to.Y-from.Y)*i/10)
	}
	p.Do("xdotool", "mouseup", "1")
	p.pause()
}

// More roles, as the bus of accessibility numbers them.
const (
	checkBox     desktoptest.Role = 7
	staticLabel  desktoptest.Role = 29
	menu         desktoptest.Role = 33
	menuItem     desktoptest.Role = 35
	passwordText desktoptest.Role = 40
)

// has fails the test unless an action is as told, and returns it.
func has(t *testing.T, all []human.Action, what string, is func(human.Action) bool) human.Action {
	t.Helper()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		t.Errorf("no action: %s; there are:", what)
		for _, a := range all {
			t.Errorf("%s %s: %s, element %+v", a.ID, a.Type, actions.Words(a, "en"), a.Element)
		}
		return human.Action{}
	}
	return all[i]
}

func clickOn(role, name string) func(human.Action) bool {
	return func(a human.Action) bool {
		return a.Type == human.Click && a.Element != nil && a.Element.Role == role && a.Element.Name == name
	}
}

func typedInto(name, text string) func(human.Action) bool {
	return func(a human.Action) bool {
		return a.Type == human.Typing && a.Text == text && (name == "" || a.Element != nil && a.Element.Name == name)
	}
}

// TestAPersonsWorkIsRecorded has a scripted person work in real applications, and looks at what the
// recording says of it (U3, H10).
func TestAPersonsWorkIsRecorded(t *testing.T) {
	t.Parallel()
	const password, terminalPassword = "Xk7#mQ-vault", "tty-Zw93!pass"
	d := newFixture(t, desktoptest.Options{Notifications: true})
	h := d.serve()
	work := filepath.Join(d.Home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	op, key := h.ring("Fill in the forms", map[string]any{
		"action_sequence": []string{"Fill in the form and save the file", "Write down the date in a terminal"}, "expected_outcome": "form.txt is there",
	})

	var ready struct{ Sources []human.SourceState }
	h.call("GET", "/api/recorder", nil, &ready)
	for _, s := range ready.Sources {
		if s.Status == "missing" && s.Source != human.FileSource {
			t.Errorf("before recording, %s is %s: %s", s.Source, s.Status, s.Detail)
		}
	}
	if status, answer := h.ask("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, key); status != http.StatusForbidden {
		t.Errorf("an agent began a recording: %d %s", status, answer)
	}
	var rec human.Recording
	h.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID, "options": human.RecordingOptions{Folders: []string{work}}}, &rec)

	p := &person{Desktop: d.Desktop, looking: 700 * time.Millisecond}

	// GTK 3: everything.
	gtk3 := d.StartForm("form.gtk3.py", work, nil)
	d.WaitActive("Form GTK 3")
	p.pause()
	p.app = "form.gtk3.py"
	p.press("Greet", desktoptest.Button)
	p.enter("Name")
	p.types("Hello World")
	p.keys("ctrl+a")
	p.types("Anna Lovelace")
	d.Do("setxkbmap", "de")
	p.enter("Notes")
	p.types("Zwölf an anna@example.org")
	d.Do("setxkbmap", "us")
	p.enter("Password")
	p.types(password)
	p.press("Agree", checkBox)
	p.press("File", menu)
	p.press("Export", menuItem)
	rows := p.find("Charlie", staticLabel).At
	p.Move(rows.Min.X+20, rows.Min.Y+5)
	p.Do("xdotool", "click", "--repeat", "3", "--delay", "60", "5")
	p.pause()
	area := p.find("Drag area").At
	p.drag(area.Min.Add(image.Pt(25, 20)), area.Min.Add(image.Pt(185, 50)))
	p.press("Save file", desktoptest.Button)
	h.call("POST", "/api/recordings/"+string(rec.ID)+"/mark", map[string]any{"step": 0, "done": true}, nil)

	// Qt.
	qt := d.StartForm("form.qt.py", work, nil)
	d.Wait("the Qt window", func() bool { return strings.HasPrefix(d.ActiveWindow(), "Form Qt") })
	p.pause()
	window, greet := d.WaitWindow("Form Qt ."), qt.Place("Greet")
	p.click(window.X+greet.Min.X+20, window.Y+greet.Min.Y+9)

	// A terminal, with its echo on and off.
	d.Start("xterm", "-T", "Terminal", "-geometry", "80x12+20+560", "-e", "bash", "--norc")
	d.WaitActive("Terminal")
	p.pause()
	p.types("date")
	p.keys("Return")
	p.types("read -s SECRET")
	p.keys("Return")
	p.types(terminalPassword)
	p.keys("Return")

	// Chromium.
	page := httptest.NewServer(http.FileServer(http.Dir(desktoptest.Apps())))
	defer page.Close()
	d.Start("chromium", "--no-sandbox", "--no-first-run", "--force-renderer-accessibility", "--user-data-dir="+filepath.Join(d.Home, "chromium"),
		"--window-size=700,700", "--window-position=700,20", "--password-store=basic", "--app="+page.URL+"/form.html")
	d.Wait("Chromium's window", func() bool { return strings.HasPrefix(d.ActiveWindow(), "Form Chromium") })
	p.pause()
	p.app = "Chromium"
	p.press("Greet", desktoptest.Button)
	p.press("Password", passwordText)
	p.types(password)
	h.call("POST", "/api/recordings/"+string(rec.ID)+"/mark", map[string]any{"step": 1, "done": true}, nil)

	h.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)
	all := h.actions(rec.ID)
	defer func() {
		if t.Failed() {
			for _, a := range all {
				t.Logf("%6.2f %-13s %s", float64(a.At)/1e9, a.Type, a.Words)
			}
			t.Logf("%+v\n%+v", rec.Sources, rec.Gaps)
		}
	}()

	if !rec.Complete || rec.Counts.Lost != 0 || rec.State != human.RecordingStopped {
		t.Errorf("the recording is %s, complete %t, lost %d", rec.State, rec.Complete, rec.Counts.Lost)
	}
	for what, is := range map[string]func(human.Action) bool{
		"Greet in GTK 3":    clickOn("button", "Greet"),
		"the box":           clickOn("checkbox", "Agree"),
		"the menu":          clickOn("menuitem", "Export"),
		"a button's inside": clickOn("button", "Save file"),
		"typing with Shift": typedInto("Name", "Hello World"),
		"select all": func(a human.Action) bool {
			return a.Type == human.Shortcut && a.Key == "a" && slices.Equal(a.Modifiers, []string{"ctrl"})
		},
		"typing over it":  typedInto("Name", "Anna Lovelace"),
		"a second layout": typedInto("Notes", "Zwölf an anna@example.org"),
		"the password, hidden": func(a human.Action) bool {
			return a.Type == human.Typing && a.Hidden == "password" && a.Text == "" && a.Value == "" && a.Count == len(password) && a.Element.Name == "Password"
		},
		"scrolling": func(a human.Action) bool { return a.Type == human.Scroll && a.DeltaY == 3 },
		"the drag":  func(a human.Action) bool { return a.Type == human.Drag && a.ToX-a.X == 160 && a.ToY-a.Y == 30 },
		"the file": func(a human.Action) bool {
			return a.Type == human.FileOperation && a.File.Op == "created" && a.File.Path == filepath.Join(work, "form.txt")
		},
		"opening the form":     func(a human.Action) bool { return a.Type == human.OpenApp && a.Window.Title == "Form GTK 3" },
		"opening the terminal": func(a human.Action) bool { return a.Type == human.OpenApp && a.Window.Title == "Terminal" },
		"opening Chromium": func(a human.Action) bool {
			return a.Type == human.OpenApp && strings.Contains(strings.ToLower(a.App.Name), "chromium")
		},
		"a command": typedInto("", "date"),
		"Greet in Qt": func(a human.Action) bool {
			return clickOn("button", "Greet")(a) && strings.HasPrefix(a.Window.Title, "Form Qt")
		},
		"Greet in Chromium": func(a human.Action) bool {
			return clickOn("button", "Greet")(a) && strings.HasPrefix(a.Window.Title, "Form Chromium")
		},
		"a terminal without echo": func(a human.Action) bool {
			return a.Type == human.Typing && a.Hidden == "secure_input" && a.Text == "" && a.Count == len(terminalPassword)
		},
		"a password in Chromium": func(a human.Action) bool {
			return a.Type == human.Typing && a.Hidden == "password" && strings.HasPrefix(a.Window.Title, "Form Chromium")
		},
	} {
		a := has(t, all, what, is)
		if a.Type == human.Click || a.Type == human.Drag {
			for when, id := range map[string]string{"before": a.Before, "after": a.After} {
				h.picture(rec.ID, what+", "+when, id, 1440, 900)
			}
		}
	}
	if saved := has(t, all, "Save file", clickOn("button", "Save file")); saved.Step == nil || *saved.Step != 0 {
		t.Errorf("saving belongs to step %v", saved.Step)
	}
	if typed := has(t, all, "the command", typedInto("", "date")); typed.Step == nil || *typed.Step != 1 {
		t.Errorf("the command belongs to step %v", typed.Step)
	}
	if state := gtk3.State(); state["saved"] != "form.txt" || state["name"] != "Anna Lovelace" {
		t.Errorf("the person did not do what the script says: %v", state)
	}

	// The passwords are nowhere: not in an event, not in a file.
	events, err := json.Marshal(h.events(rec.ID))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{password, terminalPassword} {
		if bytes.Contains(events, []byte(secret)) || bytes.Contains(events, []byte(secret[:6])) {
			t.Errorf("%q is in the events", secret)
		}
		d.nowhere(secret)
	}

	// The agent gets what it was given, without what was typed.
	if status, _ := h.ask("GET", "/api/recordings/"+string(rec.ID), nil, key); status != http.StatusNotFound {
		t.Errorf("an agent read a recording before the answer: %d", status)
	}
	h.call("POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "summary": "done", "attachments": []string{string(rec.ID)}}, nil)
	given := h.actions(rec.ID, key)
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if len(given) < 20 || strings.Contains(string(text), "Lovelace") || !strings.Contains(string(text), "13 characters") {
		t.Errorf("the agent was given %d actions: %s", len(given), text)
	}
	h.exports(rec.ID)
}

// picture fails the test unless there is such a picture.
func (h *serving) picture(rec human.RecordingID, what, id string, width, height int) {
	h.T.Helper()
	if id == "" {
		h.T.Errorf("%s: no picture", what)
		return
	}
	status, data := h.ask("GET", "/api/recordings/"+string(rec)+"/pictures/"+url.PathEscape(id), nil)
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if status != http.StatusOK || err != nil || size.Width != width || size.Height != height {
		h.T.Errorf("%s: the picture is %d, %d by %d, %v", what, status, size.Width, size.Height, err)
	}
}

// exports looks at the guides that leave.
func (h *serving) exports(rec human.RecordingID) {
	h.T.Helper()
	for format, begins := range map[string]string{"html": "<!doctype html>", "markdown": "PK\x03\x04", "json": "{"} {
		status, data := h.ask("GET", "/api/recordings/"+string(rec)+"/export?format="+format+"&language=en", nil)
		if status != http.StatusOK || !strings.HasPrefix(strings.ToLower(string(data[:min(len(data), 20)])), strings.ToLower(begins)) {
			h.T.Errorf("export %s: %d %.60q", format, status, data)
		}
	}
}

// nowhere fails the test when a text is in a file of the data folder, in plain or in UTF-16.
func (d *fixture) nowhere(text string) {
	d.T.Helper()
	wide := make([]byte, 0, 2*len(text))
	for _, b := range []byte(text) {
		wide = append(wide, b, 0)
	}
	err := filepath.WalkDir(d.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) || bytes.Contains(data, wide) {
			d.T.Errorf("%q is in %s", text, path)
		}
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
}

// A server that is killed leaves its recording readable up to the last second, and says that it broke off.
func TestAKilledRecordingIsReadable(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	typed := d.Terminal("editor")
	h := d.serve()
	op, _ := h.ring("Type until it is killed", map[string]any{"path": "editor"})
	var rec human.Recording
	h.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec)
	p := &person{Desktop: d.Desktop, looking: 1200 * time.Millisecond}
	p.types("before the end")
	p.click(400, 300)
	d.Do("xdotool", "key", "--delay", "100", "F5", "F6", "F7", "F8", "F9", "F10")
	killed := time.Since(rec.StartedAt)
	if err := h.program.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	h.Ended(h.program)
	if !strings.HasPrefix(typed(), "before the end") {
		t.Fatalf("the person did not do what the script says: %q", typed())
	}

	again := d.serve()
	again.Wait("the recording to be looked after", func() bool {
		again.call("GET", "/api/recordings/"+string(rec.ID), nil, &rec)
		return rec.State == human.RecordingInterrupted
	})
	if rec.Reason != "crash" || rec.Complete {
		t.Errorf("the recording broke off by %q, complete %t", rec.Reason, rec.Complete)
	}
	if !slices.ContainsFunc(rec.Gaps, func(g human.Gap) bool { return g.Reason == "crash" }) {
		t.Errorf("no gap says that it broke off: %+v", rec.Gaps)
	}
	events := again.events(rec.ID)
	if last := time.Duration(events[len(events)-1].At); killed-last > time.Second {
		t.Errorf("killed after %v, and the last event is of %v", killed, last)
	}
	all := again.actions(rec.ID)
	has(t, all, "the click", func(a human.Action) bool { return a.Type == human.Click && a.X == 400 && a.Y == 300 })
	has(t, all, "the typing", func(a human.Action) bool { return a.Type == human.Typing && a.Count == len("before the end") })
	for _, a := range all {
		if a.Before != "" {
			again.picture(rec.ID, string(a.Type), a.Before, 1440, 900)
		}
	}
	if _, running := again.recorder(); running {
		t.Error("a recording that broke off runs")
	}
}

// recorder is the recording that runs, if one does.
func (h *serving) recorder() (r human.Recording, running bool) {
	h.T.Helper()
	var state struct{ Current *human.Recording }
	h.call("GET", "/api/recorder", nil, &state)
	if state.Current == nil {
		return r, false
	}
	return *state.Current, true
}

// TestAReplayEndsInTheSameState records work in one X server and plays it back in another.
func TestAReplayEndsInTheSameState(t *testing.T) {
	t.Parallel()
	begin := func(data string) (h *serving, p *person, form *desktoptest.Form) {
		d := newFixture(t, desktoptest.Options{Notifications: true})
		if data != "" {
			d.Env = append(d.Env, "DESKBELL_DATA="+data)
			d.data = data
		}
		h = d.serve()
		form = d.StartForm("form.gtk3.py", d.Home, nil)
		d.WaitActive("Form GTK 3")
		d.Start("xterm", "-T", "Terminal", "-geometry", "80x12+20+560", "-e", "sh", "-c", "cat > "+filepath.Join(d.Home, "typed"))
		d.WaitActive("Terminal")
		p = &person{Desktop: d.Desktop, app: "form.gtk3.py", looking: 600 * time.Millisecond}
		p.pause()
		return h, p, form
	}
	h, p, recorded := begin("")
	op, _ := h.ring("Do it once", map[string]any{"path": "form"})
	var rec human.Recording
	h.call("POST", "/api/recordings", map[string]any{"operation_id": op.ID}, &rec)
	p.types("in the terminal")
	p.keys("Return")
	p.press("Greet", desktoptest.Button)
	p.press("Greet", desktoptest.Button)
	p.enter("Name")
	p.types("Ada Lovelace, 36")
	p.press("Agree", checkBox)
	p.press("File", menu)
	p.press("Open recent", menuItem)
	area := p.find("Drag area").At
	p.drag(area.Min.Add(image.Pt(25, 20)), area.Min.Add(image.Pt(185, 50)))
	p.press("Save file", desktoptest.Button)
	h.call("POST", "/api/recordings/"+string(rec.ID)+"/stop", nil, &rec)
	want, typed := recorded.State(), h.read("typed")
	if want["greetings"] != 2.0 || typed == "" {
		t.Fatalf("the person did not do what the script says: %v, %q", want, typed)
	}
	if err := h.program.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	h.Ended(h.program)

	again, _, form := begin(h.data)
	var replay struct{ State, Detail string }
	again.call("POST", "/api/recordings/"+string(rec.ID)+"/replay", map[string]any{}, nil)
	again.Wait("the end of the replay", func() bool {
		again.call("GET", "/api/recordings/"+string(rec.ID)+"/replay", nil, &replay)
		return replay.State != "playing"
	})
	if replay.State != "done" {
		t.Fatalf("the replay ended as %s: %s", replay.State, replay.Detail)
	}
	again.Wait("the form as it was", func() bool { return fmt.Sprint(form.State()) == fmt.Sprint(want) })
	if got := again.read("typed"); got != typed {
		t.Errorf("typed %q into the terminal, and %q when played back", typed, got)
	}
}

// read returns a file of the desktop's home.
func (d *fixture) read(name string) string {
	text, err := os.ReadFile(filepath.Join(d.Home, name))
	if err != nil {
		d.T.Fatal(err)
	}
	return string(text)
}
