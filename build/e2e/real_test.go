//go:build window

package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// A fixture is the whole program on a desktop of its own: window, server, tray, notifications.
type fixture struct {
	*desktoptest.Desktop
	bin, data string
	tray      *desktoptest.Panel
}

// newFixture prepares one; nothing of Deskbell runs yet.
func newFixture(t *testing.T, o desktoptest.Options) *fixture {
	t.Helper()
	o.Accessible = true
	return fixtureOn(t, desktoptest.Start(t, o))
}

// fixtureOn prepares one on a desktop that can be read, and adds a panel for its tray icon.
func fixtureOn(t *testing.T, desktop *desktoptest.Desktop) *fixture {
	t.Helper()
	d := fixtureBeside(t, desktop)
	d.tray = d.StartPanel()
	return d
}

// fixtureBeside prepares one on a desktop with a panel, or without.
func fixtureBeside(t *testing.T, desktop *desktoptest.Desktop) *fixture {
	t.Helper()
	bin := os.Getenv("DESKBELL_BIN")
	if bin == "" {
		t.Fatal("DESKBELL_BIN is not set; run this with `make window`")
	}
	d := &fixture{Desktop: desktop, bin: bin}
	d.data = filepath.Join(d.Home, "data")
	d.Env = append(d.Env, "DESKBELL_BIN="+bin, "DESKBELL_DATA="+d.data, "DESKBELL_ADDR=127.0.0.1:0")
	// What `deskbell mcp` starts is a child of no one here.
	t.Cleanup(func() {
		if pid, ok := d.server(); ok {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if log, err := os.ReadFile(filepath.Join(d.data, "deskbell.log")); err == nil && t.Failed() {
			t.Logf("its log:\n%s", log)
		}
	})
	return d
}

// server is the process that says it serves the data folder.
func (d *fixture) server() (pid int, ok bool) {
	var server struct{ PID int }
	text, err := os.ReadFile(filepath.Join(d.data, "server.json"))
	return server.PID, err == nil && json.Unmarshal(text, &server) == nil
}

// start starts the app as at login.
func (d *fixture) start() *desktoptest.Program {
	d.T.Helper()
	p := d.Start(d.bin, "--hidden")
	d.tray.WaitItem()
	return p
}

// rings has an agent, a process of its own, ring over MCP.
func (d *fixture) rings(agent, kind, description string, more map[string]any) *desktoptest.Program {
	d.T.Helper()
	call := map[string]any{"action": "invoke", "action_type": kind, "description": description}
	for name, value := range more {
		call[name] = value
	}
	text, err := json.Marshal(call)
	if err != nil {
		d.T.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		d.T.Fatal(err)
	}
	return d.StartWith([]string{agentCall + "=" + string(text), agentName + "=" + agent}, self)
}

func risk(level, action string) map[string]any {
	return map[string]any{"details": map[string]any{"action": action, "impact": "One service", "risk_level": level}}
}

// printed waits for the answer that the agent prints.
func (d *fixture) printed(agent *desktoptest.Program) (r reply) {
	d.T.Helper()
	d.Wait("the agent to print the answer", func() bool { return strings.HasSuffix(agent.Out(), "\n") || !agent.Running() })
	if err := json.Unmarshal([]byte(agent.Out()), &r); err != nil {
		d.T.Fatalf("the agent printed %q: %v\n%s", agent.Out(), err, agent.Err())
	}
	return r
}

// see waits until an element is on the screen, alive, and the only one of its name.
func (d *fixture) see(role desktoptest.Role, name string) (e desktoptest.Element) {
	d.T.Helper()
	d.look(fmt.Sprintf("%q", name), func(all []desktoptest.Element) bool {
		n := 0
		for _, one := range all {
			switch {
			case one.Role != role || !one.Enabled:
			case one.Name == name: // before others whose names have it in them
				e = one
				return true
			case strings.Contains(one.Name, name):
				e = one
				n++
			}
		}
		return n == 1
	})
	return e
}

// look waits until the window shows something.
func (d *fixture) look(what string, is func(all []desktoptest.Element) bool) {
	d.T.Helper()
	var all []desktoptest.Element
	defer func() {
		if d.T.Failed() {
			for _, e := range all {
				d.T.Log(e)
			}
			d.Screenshot(os.Getenv("E2E_SHOT"))
		}
	}()
	d.Wait(what, func() bool {
		all = d.Elements("deskbell")
		return is(all)
	})
}

// press clicks a button with the pointer, once it is alive.
func (d *fixture) press(name string) {
	d.T.Helper()
	middle := d.see(desktoptest.Button, name).At
	d.Click((middle.Min.X+middle.Max.X)/2, (middle.Min.Y+middle.Max.Y)/2)
}

// focused is the name of the element that has the keyboard, or "".
func (d *fixture) focused() string {
	name := ""
	for _, e := range d.Elements("deskbell") {
		if e.Focused {
			name = e.Name
		}
	}
	return name
}

// keys gives the popup the keyboard as the operator does, and waits until the card has it.
func (d *fixture) keys(card string) {
	d.T.Helper()
	d.Key("ctrl+alt+b")
	d.WaitActive("Deskbell")
	d.Wait("the card to have the keys", func() bool { return d.focused() == card })
}

func (d *fixture) waiting(n string) {
	d.T.Helper()
	d.Wait("the tray to say "+n, func() bool { return d.tray.Tooltip() == "Deskbell: "+n })
}

func (d *fixture) unanswered(agents ...*desktoptest.Program) {
	d.T.Helper()
	for _, agent := range agents {
		if agent.Out() != "" || !agent.Running() {
			d.T.Fatalf("the agent has an answer nobody gave: %s%s", agent.Out(), agent.Err())
		}
	}
}

// The main job: an agent rings over MCP, a person sees the card and clicks, the agent continues.
func TestRingAndAnswer(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	typed := d.Terminal("editor")
	d.start()
	changes := d.Watch("_NET_ACTIVE_WINDOW")

	// The operator is in the middle of a sentence, and writes until the card is there.
	sentence := ""
	writes := func(words string) {
		sentence += words
		d.Do("xdotool", "type", "--delay", "60", words)
	}
	writes("the quick brown fox ")
	agent := d.rings("release-bot", "approve", "Roll out api 2.14.0 to staging", risk("medium", "kubectl rollout restart deploy/api"))
	d.Wait("the card", func() bool {
		_, there := d.FindWindow("Deskbell")
		writes("jumps ")
		return there
	})
	writes("over the lazy dog")
	d.waiting("1 request is waiting")

	approve := d.see(desktoptest.Button, "Approve")
	w := d.WaitWindow("Deskbell")
	if w.X != 1440-16-400 || w.Y != 16 || w.W != 400 {
		t.Errorf("the card is at %+v", w)
	}
	if !approve.At.In(image.Rect(w.X, w.Y, w.X+w.W, w.Y+w.H)) {
		t.Errorf("Approve is at %v, outside the card at %+v", approve.At, w)
	}
	ink := color.RGBA{0x1a, 0x1a, 0x18, 0xff}
	d.Wait("the card in its colours: ink under Approve, white around it", func() bool {
		screen := d.Screenshot("")
		return dark(screen.At(approve.At.Min.X+4, approve.At.Min.Y+approve.At.Dy()/2), ink) &&
			near(screen.At(approve.At.Min.X-6, approve.At.Min.Y+approve.At.Dy()/2), color.White)
	})
	d.Wait("the rest of the sentence", func() bool { return typed() == sentence })
	if n := changes(); n != 0 {
		t.Errorf("the ring took the keyboard from the editor %d times", n)
	}
	d.unanswered(agent)

	d.press("Approve")
	if r := d.printed(agent); r.Status != "completed" || r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	d.WaitNoWindow("Deskbell")
	d.waiting("Nothing is waiting")
	d.WaitNoWindow("Dunst")
	d.WaitActive("editor")

	// In the notification; dunst is set to do the action that the title begins with.
	d.Move(10, 10) // a card under the pointer counts as seen
	for _, tt := range []struct{ agent, want string }{{"approve-bot", "approve"}, {"deny-bot", "deny"}} {
		agent := d.rings(tt.agent, "approve", "Restart the cache", risk("low", "systemctl restart cache"))
		d.Click(d.WaitWindow("Dunst").Middle())
		if r := d.printed(agent); r.Status != "completed" || r.Decision != tt.want {
			t.Errorf("%s was told %+v", tt.agent, r)
		}
		d.WaitNoWindow("Deskbell")
		d.WaitNoWindow("Dunst")
	}
	if n := changes(); n != 0 {
		t.Errorf("answering with the pointer took the keyboard from the editor %d times", n)
	}
}

func dark(c color.Color, limit color.Color) bool {
	r, g, b, _ := c.RGBA()
	lr, lg, lb, _ := limit.RGBA()
	return r <= lr+0x2000 && g <= lg+0x2000 && b <= lb+0x2000
}

func TestDenyByKeyboard(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	typed := d.Terminal("editor")
	d.start()
	agent := d.rings("release-bot", "approve", "Delete old builds", risk("medium", "rm -r builds/2025"))
	d.see(desktoptest.Button, "Approve")
	d.keys("Delete old builds")
	// Keys are dead until half a second after the card got them: d asks for the reason once it counts.
	d.Wait("the field for the reason", func() bool {
		d.Key("d")
		return d.focused() == "Reason"
	})
	d.Type("Keep them until the audit")
	d.see(desktoptest.Button, "Deny") // the card grew for the field, and is dead for half a second
	d.unanswered(agent)
	d.Key("Return")
	if r := d.printed(agent); r.Decision != "deny" || !strings.HasSuffix(r.HumanInput, "Keep them until the audit") {
		t.Errorf("the agent was told %+v", r)
	}
	d.WaitNoWindow("Deskbell")
	d.WaitActive("editor")
	if typed() != "" {
		t.Errorf("the editor got %q", typed())
	}
}

func TestDangerousTakesMoreThanOneKeyOrClick(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.Env = append(d.Env, "DESKBELL_NOTIFICATIONS_AFTER=0")
	d.Terminal("editor")
	d.start()
	const card = "Drop the table orders"
	agent := d.rings("approve-bot", "approve", card, risk("critical", "DROP TABLE orders"))
	d.see(desktoptest.Button, "Approve")

	// dunst would do the action called approve; the notification offers none.
	d.Click(d.WaitWindow("Dunst").Middle())

	// A hand already on its way: what it presses right after the popup has the keyboard counts for nothing.
	d.Do("xdotool", "key", "--delay", "150", "ctrl+alt+b", "ctrl+shift+a")
	d.WaitActive("Deskbell")
	d.Wait("the card, not an answer, to have the keys", func() bool { return d.focused() == card })
	d.unanswered(agent)

	// No single key approves; Enter, the last, opens the console, so the others have been heard.
	d.Wait("the console", func() bool {
		d.Key("a", "space", "y", "shift+a", "1", "Return")
		w, there := d.FindWindow("Deskbell")
		return there && w.W > 1000
	})
	d.see(desktoptest.Button, "Approve")
	if name := d.focused(); strings.HasPrefix(name, "Approve") {
		t.Errorf("the console has the keyboard on %q", name)
	}
	d.Key("a", "space")
	d.unanswered(agent)
	d.Key("ctrl+shift+a")
	if r := d.printed(agent); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
}

func TestMostUrgentCardIsOnTop(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.start()
	first := d.rings("doc-writer", "feedback", "Which tone?", map[string]any{"priority": 3})
	d.see(desktoptest.Title, "Which tone?")
	second := d.rings("release-bot", "approve", "Roll out api 2.14.0", risk("low", "make deploy"))
	top, below := d.see(desktoptest.Title, "Roll out api 2.14.0"), d.see(desktoptest.Title, "Which tone?")
	if top.At.Max.Y > below.At.Min.Y {
		t.Errorf("the more urgent card is at %v, the other at %v", top.At, below.At)
	}
	d.waiting("2 requests are waiting")
	d.press("Approve")
	if r := d.printed(second); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	// The card below moves up, and answers in words.
	d.look("one card, at the top", func(all []desktoptest.Element) bool {
		titles, y := 0, 0
		for _, e := range all {
			if e.Role == desktoptest.Title {
				titles, y = titles+1, e.At.Min.Y
			}
		}
		return titles == 1 && y == top.At.Min.Y
	})
	d.unanswered(first)
	field := d.see(desktoptest.Entry, "Reply").At
	d.Click(field.Min.X+20, field.Min.Y+16)
	d.WaitActive("Deskbell")
	d.Type("Warm")
	d.press("Send")
	if r := d.printed(first); r.HumanInput != "Warm" {
		t.Errorf("the agent was told %+v", r)
	}
}

// WebKitGTK does not clear what a see-through window showed before.
func TestCardsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true, Compositor: true})
	d.start()
	d.rings("doc-writer", "feedback", "Which tone?", map[string]any{"priority": 3})
	before := d.see(desktoptest.Title, "Which tone?")
	d.rings("release-bot", "approve", "Roll out api 2.14.0", risk("low", "make deploy"))
	d.see(desktoptest.Button, "Approve")
	top, below := d.see(desktoptest.Article, "Roll out api 2.14.0").At, d.see(desktoptest.Article, "Which tone?").At
	gap := image.Pt((top.Min.X+top.Max.X)/2, (top.Max.Y+below.Min.Y)/2)
	if gap.Y < top.Max.Y || gap.Y >= below.Min.Y || before.At.Min.Y >= gap.Y {
		t.Fatalf("there is no gap between %v and %v where a card was before", top, below)
	}
	fixture := d.Screenshot("").At(300, 300)
	rang := func() string {
		picture := d.Screenshot(os.Getenv("E2E_SHOT"))
		if !near(picture.At(gap.X, gap.Y), fixture) {
			t.Fatalf("between the cards is %v, not the desktop's %v", picture.At(gap.X, gap.Y), fixture)
		}
		clock := sha256.New()
		for y := top.Min.Y; y < top.Max.Y; y++ {
			for x := top.Min.X; x < top.Max.X; x++ {
				fmt.Fprint(clock, picture.At(x, y))
			}
		}
		return string(clock.Sum(nil))
	}
	d.Wait("the desktop between the cards", func() bool { return near(d.Screenshot("").At(gap.X, gap.Y), fixture) })
	for range 3 { // each second the cards are painted again
		was := rang()
		d.Wait("a second to pass on the cards", func() bool { return rang() != was })
	}
}

func TestNothingIsLostWhenTheAppIsKilled(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	app := d.start()
	agent := d.rings("doc-writer", "feedback", "Which tone?", nil)
	field := d.see(desktoptest.Entry, "Reply").At
	d.Click(field.Min.X+20, field.Min.Y+16)
	d.WaitActive("Deskbell")
	d.Type("Warm, but not")
	d.look("the draft to be kept", func(all []desktoptest.Element) bool {
		for _, e := range all {
			if e.Role == desktoptest.Status && strings.HasPrefix(d.Text(e), "Draft saved") {
				return true
			}
		}
		return false
	})
	if err := app.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.Ended(app)
	d.WaitNoWindow("Deskbell")

	d.start()
	d.look("the draft in the card", func(all []desktoptest.Element) bool {
		for _, e := range all {
			if e.Role == desktoptest.Entry && d.Text(e) == "Warm, but not" {
				return true
			}
		}
		return false
	})
	d.unanswered(agent)
	d.press("Send")
	if r := d.printed(agent); r.HumanInput != "Warm, but not" {
		t.Errorf("the agent was told %+v", r)
	}
}

func TestAgentStartsTheApp(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	agent := d.rings("doc-writer", "feedback", "Which tone?", nil)
	d.see(desktoptest.Title, "Which tone?")
	d.tray.WaitItem()
	d.waiting("1 request is waiting")
	pid, ok := d.server()
	if !ok {
		t.Fatal("no server")
	}

	// A second start shows the console; its close button hides it; the rest lives on.
	again := d.Start(d.bin)
	d.Wait("the console", func() bool { w, _ := d.FindWindow("Deskbell"); return w.W > 1000 })
	d.Ended(again)
	d.CloseWindow("Deskbell", func() bool {
		w, _ := d.FindWindow("Deskbell")
		return w.W < 1000
	})
	d.waiting("1 request is waiting")
	d.unanswered(agent)

	d.tray.Choose("Quit…")
	d.WaitActive("Quit Deskbell?")
	d.Key("Escape")
	d.WaitNoWindow("Quit Deskbell.")
	d.unanswered(agent)
	if now, _ := d.server(); now != pid || syscall.Kill(pid, 0) != nil {
		t.Error("the program ended although the operator said no")
	}
	d.tray.Choose("Quit…")
	d.WaitActive("Quit Deskbell?")
	d.Key("alt+y")
	d.Wait("the program to end", func() bool { return syscall.Kill(pid, 0) != nil })
}

// A request interrupts once: by its card, by the inbox that is in front, or by a notification where neither is seen; and
// the notification never covers the card.
func TestARequestInterruptsOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true, TopRight: true})
	d.Env = append(d.Env, "DESKBELL_NOTIFICATIONS_AFTER=4")
	d.Terminal("editor")
	notices := func() (n uint32) {
		v, err := d.Bus.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").GetProperty("org.dunstproject.cmd0.displayedLength")
		if err != nil || v.Store(&n) != nil {
			t.Fatalf("dunst does not say how many notifications it shows: %v", err)
		}
		return n
	}
	d.start()
	d.Move(10, 10)
	agent := d.rings("deploy-bot", "approve", "Restart the cache", risk("low", "systemctl restart cache"))
	d.see(desktoptest.Button, "Approve")
	if n := notices(); n != 0 {
		t.Errorf("%d notifications beside a new card", n)
	}
	notice := d.WaitWindow("Dunst")
	card := d.WaitWindow("Deskbell")
	d.Screenshot(os.Getenv("E2E_SHOT"))
	at := func(w desktoptest.Window) image.Rectangle { return image.Rect(w.X, w.Y, w.X+w.W, w.Y+w.H) }
	if both := at(notice).Intersect(at(card)); !both.Empty() {
		t.Errorf("the notification at %v covers %v of the card at %v", at(notice), both, at(card))
	}
	d.press("Approve")
	d.printed(agent)
	d.WaitNoWindow("Dunst")
	d.WaitNoWindow("Deskbell")

	d.Ended(d.Start(d.bin)) // a second start shows the console
	d.see(desktoptest.Title, "Inbox")
	d.WaitActive("Deskbell")
	d.rings("first-bot", "feedback", "Which tone?", nil)
	d.see(desktoptest.Link, "Which tone?")
	if n := notices(); n != 0 {
		t.Errorf("%d notifications beside the inbox", n)
	}
	d.Do("xdotool", "search", "--name", "^editor$", "windowactivate", "--sync")
	d.WaitActive("editor")
	d.rings("second-bot", "feedback", "Which colour?", nil)
	d.WaitWindow("Dunst")
	if n := notices(); n != 1 {
		t.Errorf("%d notifications, want one: of what rang behind the editor", n)
	}
}
