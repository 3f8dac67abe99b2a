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
