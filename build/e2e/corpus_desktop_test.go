//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"deskbell/backend/human"
	"deskbell/build/corpus"
	"deskbell/build/e2e/desktoptest"
)

// A deskCase is an operation that a scripted person works on at a desktop, or only answers.
type deskCase struct {
	name    string
	source  string // of package corpus
	kind    human.Kind
	agent   string // qa-runner when ""
	what    string // the operation's description
	details map[string]any
	act     func(*clerk)
	gaps    bool // something is not recorded, as the person wishes it
	web     bool // they work in a browser, too
}

// TestCorpusDesktop records the desktop's half of the corpus anew: scripted persons work on operations in real
// applications, with the failures and detours that real work has. What their summaries must say is written by
// hand and stays. Without a folder to write to, one case shows that this still works.
func TestCorpusDesktop(t *testing.T) {
	dir := os.Getenv("DESKBELL_CORPUS")
	cases := deskCases
	if dir == "" {
		dir, cases = t.TempDir(), cases[:1]
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newClerk(t, c)
			c.act(p)
			if err := corpus.Save(dir, p.end()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A clerk is a person who works on an operation at a desktop of their own.
type clerk struct {
	*person
	h    *serving
	c    deskCase
	key  string // the agent's
	home string // the person's folders
	op   human.Operation
	rec  human.Recording // the last
	done []human.Recording

	answer human.Answer
	s      *study // with the browser, where there is one

	opened []*desktoptest.Program // all that were started,
	apps   []string               // and what the bus of accessibility calls them
	run    *deskRun               // does the case instead of the person
	brief  bool                   // what takes long in a case does not
	once   bool                   // nothing is shown once more
}

// Secrets that persons type, and that must be in no recording.
const (
	signerPassword = "Gd7?harbour-lights"
	signerPIN      = "Wq5#copper-4711"
)

// Roles that Qt gives to what one is chosen from, and to a field of one line.
const (
	comboBox  desktoptest.Role = 11
	textField desktoptest.Role = 61
)

func newClerk(t *testing.T, c deskCase) *clerk {
	t.Helper()
	// A short folder, as people have them: its name is in titles and in what is typed.
	home, err := os.MkdirTemp("", "anna")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	p := &clerk{c: c, home: home}
	var d *fixture
	if c.web {
		p.s = newStudy(t, true)
		d = p.s.fixture
		d.Write(filepath.Join(p.s.folder, "chromium"), strings.Replace(d.read("browser/chromium"), "exec chromium ", "exec chromium "+startWeb(t).flags()+" ", 1))
	} else {
		d = newFixture(t, desktoptest.Options{})
	}
	d.Env = append(d.Env, "SIGNER_PIN="+signerPIN)
	installs(d, c.what)
	p.person = &person{Desktop: d.Desktop, looking: 600 * time.Millisecond}
	if c.web {
		p.h = p.s.serving
	} else {
		p.h = d.serve()
	}
	var agent struct{ Key string }
	if c.agent == "" {
		c.agent = "qa-runner"
	}
	p.h.call("POST", "/api/agents", map[string]string{"name": c.agent}, &agent)
	p.key = agent.Key
	details := map[string]any{}
	for name, value := range c.details {
		if text, is := value.(string); is {
			value = strings.ReplaceAll(text, "~/", home+"/")
		}
		details[name] = value
	}
	p.h.call("POST", "/api/human/invoke", map[string]any{"action_type": c.kind, "description": strings.ReplaceAll(c.what, "~/", home+"/"), "details": details}, &p.op, p.key)
	p.h.call("POST", "/api/human/claim", map[string]any{"operation_id": p.op.ID}, &p.op)
	return p
}

// installs writes the desktop files by which a system knows what the applications are called, in the language
// that the operation is in.
func installs(d *fixture, what string) {
	d.T.Helper()
	dir := filepath.Join(d.Home, ".local/share/applications")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.T.Fatal(err)
	}
	chinese := strings.ContainsFunc(what, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	for class, names := range map[string][2]string{
		"Editor": {"Editor", "文本编辑器"}, "Signer": {"Signer", "签署工具"}, "Files": {"Files", "文件管理器"}, "Settings": {"Settings", "设置"},
		"Code": {"Code", "Code"}, "Converter": {"Converter", "转换器"}, "XTerm": {"Terminal", "终端"}, "Calculator": {"Calculator", "计算器"},
	} {
		name := names[0]
		if chinese {
			name = names[1]
		}
		d.Write(filepath.Join(dir, strings.ToLower(class)+".desktop"), "[Desktop Entry]\nType=Application\nName="+name+"\nExec="+class+"\nStartupWMClass="+class+"\n")
	}
}

// has makes a file in the person's home that was there before.
func (p *clerk) has(name, text string) string {
	p.T.Helper()
	path := p.in(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.T.Fatal(err)
	}
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(path, 0o700); err != nil {
			p.T.Fatal(err)
		}
		return path
	}
	if err := os.WriteFile(path, []byte(p.said(text)), 0o600); err != nil {
		p.T.Fatal(err)
	}
	return path
}

// in is a path in the person's home.
func (p *clerk) in(name string) string { return filepath.Join(p.home, p.said(name)) }

// records begins a recording that watches folders of the person's home.
func (p *clerk) records(folders ...string) {
	p.T.Helper()
	p.recordsWith(human.RecordingOptions{}, folders...)
}

func (p *clerk) recordsWith(o human.RecordingOptions, folders ...string) {
	p.T.Helper()
	for _, f := range folders {
		o.Folders = append(o.Folders, strings.TrimSuffix(p.has(f+"/", ""), "/"))
	}
	if p.run != nil {
		return
	}
	p.rec = human.Recording{}
	p.h.call("POST", "/api/recordings", map[string]any{"operation_id": p.op.ID, "options": o}, &p.rec)
	id := p.rec.ID
	p.T.Cleanup(func() {
		if p.T.Failed() {
			for _, a := range p.h.actions(id) {
				p.T.Logf("%6.2f %-13s %s", float64(a.At)/1e9, a.Type, a.Words)
			}
		}
	})
	p.pause()
}

// browses begins a recording of a browser, and of the desktop as well where its options say so, and returns the
// hands that work in it. What it downloads comes to the folder downloads of the study.
func (p *clerk) browses(url string, desktop bool, folders ...string) *hands {
	p.T.Helper()
	o := human.RecordingOptions{Desktop: &desktop, Browser: &human.BrowserOptions{URL: url}}
	if desktop {
		o.Folders = []string{filepath.Join(p.s.folder, "downloads")}
	}
	p.recordsWith(o, folders...)
	profile, err := os.ReadFile(filepath.Join(p.s.folder, "profile"))
	if err != nil {
		p.T.Fatal(err)
	}
	surfing := newSurfer(p.T.(*testing.T), dial(p.T.(*testing.T), strings.TrimSpace(string(profile))), p.s.site)
	surfing.at(strings.TrimPrefix(url, "https:/"))
	return newHands(p.T.(*testing.T), p.Desktop, surfing)
}

// picks points at something in the page for a field, which is filled with it.
func (p *clerk) picks(h *hands, field, path string) {
	p.T.Helper()
	picked := func() (all []human.Action) {
		for _, a := range p.h.actions(p.rec.ID) {
			if a.Type == human.Extract && a.Pick.Field == field {
				all = append(all, a)
			}
		}
		return all
	}
	p.h.call("POST", "/api/recordings/"+string(p.rec.ID)+"/pick", human.PickRequest{Field: field}, nil)
	h.click(path)
	eventually(p.T.(*testing.T), "the pick of "+field, func() bool { return len(picked()) > 0 })
	p.pause()
	p.pause()
	a := picked()[0]
	if p.answer.Fields == nil {
		p.answer.Fields, p.answer.FieldSources = map[string]string{}, map[string]human.FieldSource{}
	}
	p.answer.Fields[field] = a.Pick.Text
	p.answer.FieldSources[field] = human.FieldSource{
		Recording: p.rec.ID, Action: a.ID, Picked: a.Pick.Text, At: p.rec.StartedAt.Add(time.Duration(a.At)).UTC().Truncate(time.Millisecond),
		URL: a.Page.URL, Picture: a.After,
	}
}

// control pauses, resumes or stops the recording.
func (p *clerk) control(what string) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.h.call("POST", "/api/recordings/"+string(p.rec.ID)+"/"+what, nil, &p.rec)
	p.pause()
}

// rests stops the recording; another may follow.
func (p *clerk) rests() {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.pause()
	p.control("stop")
	if p.rec.State != human.RecordingStopped || p.rec.Counts.Lost != 0 || !p.rec.Complete && !p.c.gaps {
		p.T.Errorf("the recording is %s (%s), complete %t, lost %d, gaps %+v, sources %+v", p.rec.State, p.rec.Reason, p.rec.Complete, p.rec.Counts.Lost, p.rec.Gaps, p.rec.Sources)
	}
	p.done = append(p.done, p.rec)
}

// breaksOff kills the server while it records, and starts it again.
func (p *clerk) breaksOff() {
	p.T.Helper()
	<-time.After(time.Second) // what was done is on disk within half a second
	if err := p.h.program.Signal(os.Kill); err != nil {
		p.T.Fatal(err)
	}
	p.h.Ended(p.h.program)
	p.h = p.h.serve()
	p.Wait("the recording to be looked after", func() bool {
		p.h.call("GET", "/api/recordings/"+string(p.rec.ID), nil, &p.rec)
		return p.rec.State == human.RecordingInterrupted
	})
	p.done = append(p.done, p.rec)
}

func (p *clerk) marks(note any) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.pause()
	p.h.call("POST", "/api/recordings/"+string(p.rec.ID)+"/mark", note, nil)
}

// ticks ticks steps of the checklist, and notes writes a note at this moment.
func (p *clerk) ticks(steps ...int) {
	p.T.Helper()
	for _, s := range steps {
		p.marks(map[string]any{"step": s, "done": true})
	}
}

func (p *clerk) notes(text string) { p.T.Helper(); p.marks(map[string]any{"text": text}) }

// says replies in the conversation, and asks lets the agent say something.
func (p *clerk) says(text string) {
	p.T.Helper()
	p.h.call("POST", "/api/human/reply", map[string]any{"operation_id": p.op.ID, "text": text}, nil)
}

func (p *clerk) hears(text string) {
	p.T.Helper()
	p.h.call("POST", "/api/human/reply", map[string]any{"operation_id": p.op.ID, "text": text}, nil, p.key)
}

// opens starts an application of testdata/apps and waits for its window.
func (p *clerk) opens(called, app, title string, arguments ...string) *desktoptest.Program {
	p.T.Helper()
	return p.opensWith(nil, called, app, title, arguments...)
}

func (p *clerk) opensWith(env []string, called, app, title string, arguments ...string) *desktoptest.Program {
	p.T.Helper()
	if p.run != nil {
		return p.run.opens(env, called, app, title, arguments)
	}
	program := p.StartWith(env, filepath.Join(desktoptest.Apps(), app), arguments...)
	p.shows(title)
	p.app, p.apps = called, append(p.apps, called)
	return program
}

// shows waits until a window whose title begins so has the keyboard.
func (p *clerk) shows(title string) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	title = p.said(title)
	p.Wait("the window "+title, func() bool { return strings.HasPrefix(p.ActiveWindow(), title) })
	p.pause()
}

// activates goes to a window whose title begins so.
func (p *clerk) activates(title string) {
	p.T.Helper()
	if !p.leaves() {
		p.Do("xdotool", "search", "--name", "^"+p.said(title), "windowactivate", "--sync")
	}
}

// Wait waits for something that the person did.
func (p *clerk) Wait(what string, condition func() bool) {
	p.T.Helper()
	if p.run == nil {
		p.Desktop.Wait(what, condition)
	}
}

// StartWith runs a program, which is known then.
func (p *clerk) StartWith(env []string, name string, arguments ...string) *desktoptest.Program {
	p.T.Helper()
	program := p.Desktop.StartWith(env, name, arguments...)
	p.opened = append(p.opened, program)
	return program
}

// Start runs a program, which is known then.
func (p *clerk) Start(name string, arguments ...string) *desktoptest.Program {
	p.T.Helper()
	return p.StartWith(nil, name, arguments...)
}

// telephones leaves the work alone for a while.
func (p *clerk) telephones(d time.Duration) {
	p.T.Helper()
	switch {
	case p.run != nil:
	case p.brief:
		p.pause()
	default:
		<-time.After(d)
	}
}

// seconds is how long something takes that a person waits for.
func (p *clerk) seconds(n int) string {
	if p.brief {
		n = 5
	}
	return strconv.Itoa(n)
}

// clicksIn clicks a place of the active window: what stands where in one of GTK 4 is only seen.
func (p *clerk) clicksIn(x, y int) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	var w desktoptest.Window
	id := p.Do("xdotool", "getactivewindow")
	for line := range strings.Lines(p.Do("xwininfo", "-id", id)) {
		for name, into := range map[string]*int{"Absolute upper-left X:": &w.X, "Absolute upper-left Y:": &w.Y} {
			if value, found := strings.CutPrefix(strings.TrimSpace(line), name); found {
				_, _ = fmt.Sscan(value, into)
			}
		}
	}
	p.click(w.X+x, w.Y+y)
}

// ended waits until a program is gone.
func (p *clerk) ended(program *desktoptest.Program) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.Wait("the program to end", func() bool { return !program.Running() })
	p.pause()
}

// writes types lines, each ended with Enter but the last.
func (p *clerk) writes(lines ...string) {
	p.T.Helper()
	for i, line := range lines {
		if i > 0 {
			p.keys("Return")
		}
		p.types(line)
	}
}

// twice double-clicks an element.
func (p *clerk) twice(name string) {
	p.T.Helper()
	if p.leaves() {
		return
	}
	at := p.find(name).At
	p.Move((at.Min.X+at.Max.X)/2, (at.Min.Y+at.Max.Y)/2)
	p.Do("xdotool", "click", "--repeat", "2", "--delay", "90", "1")
	p.pause()
}

// chooses opens a menu and takes an entry of it.
func (p *clerk) chooses(menuName, entry string) {
	p.T.Helper()
	p.press(menuName, menu, menuItem)
	p.press(entry, menuItem)
}

// replaces puts a text in the place of that in the field that has the keyboard.
func (p *clerk) replaces(text string) {
	p.T.Helper()
	p.keys("ctrl+a")
	p.types(text)
}

// there waits for a file of the person's home.
func (p *clerk) there(name string) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.Wait(name, func() bool { _, err := os.Stat(p.in(name)); return err == nil })
	p.pause()
}

// reads waits until a file of the person's home has a text: that the person did what the script says.
func (p *clerk) reads(name, text string) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	p.Wait(fmt.Sprintf("%q in %s", text, name), func() bool {
		is, err := os.ReadFile(p.in(name))
		return err == nil && strings.Contains(string(is), p.said(text))
	})
}

// waits does so for a file that takes its time, longer than is patient with what should be there.
func (p *clerk) waits(name string) {
	p.T.Helper()
	if p.run != nil {
		return
	}
	long, tick := time.After(3*time.Minute), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for there := false; !there; {
		select {
		case <-tick.C:
			_, err := os.Stat(p.in(name))
			there = err == nil
		case <-long:
			p.T.Fatalf("%s does not come", name)
		}
	}
	p.there(name)
}

// end gives the case: the operation as it stands, with the answer as a draft.
func (p *clerk) end() corpus.Case {
	p.T.Helper()
	if p.rec.Running() {
		p.rests()
	}
	if text, _ := json.Marshal(p.answer); string(text) != "{}" {
		var body map[string]any
		if err := json.Unmarshal(text, &body); err != nil {
			p.T.Fatal(err)
		}
		body["operation_id"] = p.op.ID
		p.h.call("POST", "/api/human/input", body, nil)
	}
	p.h.call("GET", "/api/human/operations/"+string(p.op.ID), nil, &p.op)
	c := corpus.Case{Name: p.c.name, Source: p.c.source, Operation: p.op, Recordings: p.done}
	if p.op.Draft != nil {
		c.Answer = p.op.Draft.Answer
	}
	for _, r := range p.done {
		events := p.h.events(r.ID)
		c.Events = append(c.Events, events)
		text, err := json.Marshal(events)
		if err != nil {
			p.T.Fatal(err)
		}
		for _, secret := range []string{signerPassword, signerPIN} {
			if strings.Contains(string(text), secret) {
				p.T.Errorf("a secret is in the events of %s", p.c.name)
			}
		}
		for _, a := range p.h.actions(r.ID) {
			p.T.Logf("%6.2f %-13s %s", float64(a.At)/1e9, a.Type, a.Words)
		}
	}
	if p.T.Failed() {
		p.T.FailNow()
	}
	// The server is stopped here and not with the test: a desktop's programs all end at once.
	_ = p.h.program.Signal(syscall.SIGTERM)
	p.h.Ended(p.h.program)
	return c
}
