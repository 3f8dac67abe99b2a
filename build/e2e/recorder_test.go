//go:build window

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// The operator records from the window: a sign of it is always there, and keys and the tray do what they say.
func TestTheOperatorRecordsFromTheWindow(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.Terminal("editor")
	d.start()
	agent := d.rings("qa-runner", "desktop", "Export the signed contract", map[string]any{
		"details": map[string]any{"action_sequence": []string{"Open the client", "Export"}, "expected_outcome": "A PDF"},
	})
	d.see(desktoptest.Title, "Export the signed contract")
	d.tray.Activate()
	d.console()
	row := d.see(desktoptest.Link, "Export the signed contract").At
	d.Click((row.Min.X+row.Max.X)/2, (row.Min.Y+row.Max.Y)/2)
	d.press("Claim and record")
	d.says("Recording. 1 request is waiting")

	// While the console is away, a small sign stands where cards do, and does not take the keyboard.
	d.sign()
	d.WaitActive("editor")
	d.press("Open the console")
	d.console()
	d.CloseWindow("Deskbell", func() bool {
		w, _ := d.FindWindow("Deskbell")
		return w.W < 1000
	})
	d.sign()
	d.WaitActive("editor")
	d.says("Recording. 1 request is waiting")

	d.Key("ctrl+alt+r")
	d.says("Recording paused. 1 request is waiting")
	if _, there := d.tray.Menu()["Continue recording"]; !there {
		t.Errorf("the tray's menu of a paused recording: %v", d.tray.Menu())
	}
	d.tray.Choose("Continue recording")
	d.says("Recording. 1 request is waiting")
	d.Key("ctrl+alt+r")
	d.says("Recording paused. 1 request is waiting")
	d.Key("ctrl+alt+r")
	d.says("Recording. 1 request is waiting")
	d.Type("words for the editor")
	d.Key("ctrl+alt+shift+r")
	d.waiting("1 request is waiting")
	d.unanswered(agent)

	// What was begun by the key belongs to the operation that is claimed.
	d.Key("ctrl+alt+r")
	d.says("Recording. 1 request is waiting")
	d.tray.Choose("Stop recording")
	d.waiting("1 request is waiting")
	kept := d.recordings()
	if len(kept) != 2 {
		t.Errorf("there are %d recordings with pictures, want 2", len(kept))
	}

	// What is discarded is gone, so a question comes first.
	d.Key("ctrl+alt+r")
	d.says("Recording. 1 request is waiting")
	d.Wait("a picture of the third", func() bool { return len(d.recordings()) == 3 })
	d.tray.Choose("Discard recording")
	d.press("No")
	d.WaitNoWindow("Discard recording")
	d.says("Recording. 1 request is waiting")
	d.tray.Choose("Discard recording")
	d.press("Yes")
	d.waiting("1 request is waiting")
	d.Wait("the third to be gone", func() bool { return slices.Equal(d.recordings(), kept) })
	d.unanswered(agent)
}

// The key that stops a recording ends the run of a procedure that is recorded, and its request stays.
func TestAKeyEndsARun(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	h := d.serve()
	h.call("POST", "/api/procedures", map[string]any{"file": `deskbell_procedure: 1
name: press_ok
title: Press OK
where: desktop
does: [reads]
policy: permissive
steps:
  - {id: s1, do: click, title: Press OK, window: {program: nothing}, target: {role: button, name: OK}, then: [{is: gone, target: {role: button, name: OK}}]}
`}, nil)
	var agent struct{ Key string }
	h.call("POST", "/api/agents", map[string]string{"name": "qa-runner"}, &agent)
	h.call("POST", "/api/procedures/press_ok/runs", map[string]any{"parameters": map[string]string{}}, nil, agent.Key)
	h.program.Kill()
	d.start()
	d.tray.Activate()
	d.console()
	d.clickOn(desktoptest.Link, "Press OK")
	d.press("Run")
	d.says("Recording. 1 request is waiting")
	d.see(desktoptest.Button, "I did this step") // there is no such window
	d.Key("ctrl+alt+shift+r")
	d.waiting("1 request is waiting")
	d.look("the run to be over", func(all []desktoptest.Element) bool {
		return len(all) > 10 && !slices.ContainsFunc(all, func(e desktoptest.Element) bool { return e.Name == "I did this step" })
	})
}

// console waits until the window is the console.
func (d *fixture) console() {
	d.T.Helper()
	d.Wait("the console", func() bool { w, there := d.FindWindow("Deskbell"); return there && w.W > 1000 })
}

// sign waits until the window is the sign that the desktop is recorded.
func (d *fixture) sign() {
	d.T.Helper()
	d.Wait("the sign", func() bool {
		w, there := d.FindWindow("Deskbell")
		return there && w.W <= 400 && w.H <= 80 && w.X > 900
	})
	d.see(desktoptest.Button, "Stop")
}

// recordings are the folders of those that have pictures.
func (d *fixture) recordings() []string {
	d.T.Helper()
	all, err := filepath.Glob(filepath.Join(d.data, "recordings", "rec_*"))
	if err != nil {
		d.T.Fatal(err)
	}
	return all
}

func (d *fixture) says(text string) {
	d.T.Helper()
	d.Wait("the tray to say "+text, func() bool { return strings.HasSuffix(d.tray.Tooltip(), text) })
}
