//go:build window

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The operator records from the window: a sign of it is always there, and keys and the tray do what they say.
func TestTheOperatorRecordsFromTheWindow(t *testing.T) {
	d := newDesk(t, Options{})
	d.Terminal("editor")
	d.start()
	agent := d.rings("qa-runner", "desktop", "Export the signed contract", map[string]any{
		"details": map[string]any{"action_sequence": []string{"Open the client", "Export"}, "expected_outcome": "A PDF"},
	})
	d.see(Title, "Export the signed contract")
	d.tray.Activate()
	d.Wait("the console", func() bool { w, there := d.FindWindow("Deskbell"); return there && w.W > 1000 })
	row := d.see(Link, "Export the signed contract").At
	d.Click((row.Min.X+row.Max.X)/2, (row.Min.Y+row.Max.Y)/2)
	d.press("Claim and record")
	d.says("Recording. 1 request is waiting")
	if picture := d.Screenshot(os.Getenv("DESKBELL_SHOT_CONSOLE")); picture == nil {
		t.Fatal("no picture")
	}

	// While the window is hidden, a small sign stands where cards do.
	d.Wait("the sign", func() bool {
		w, there := d.FindWindow("Deskbell")
		return there && w.W <= 400 && w.H <= 80 && w.X > 900
	})
	if picture := d.Screenshot(os.Getenv("DESKBELL_SHOT_SIGN")); picture == nil {
		t.Fatal("no picture")
	}
	d.WaitActive("editor")

	d.Key("ctrl+alt+r")
	d.says("Recording paused. 1 request is waiting")
	if _, there := d.tray.Menu()["Go on recording"]; !there {
		t.Errorf("the tray's menu of a paused recording: %v", d.tray.Menu())
	}
	d.tray.Choose("Go on recording")
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
	recordings, err := filepath.Glob(filepath.Join(d.data, "recordings", "rec_*"))
	if err != nil || len(recordings) != 2 {
		t.Errorf("there are %d recordings with pictures, %v; want 2", len(recordings), err)
	}
}

func (d *desk) says(text string) {
	d.t.Helper()
	d.Wait("the tray to say "+text, func() bool { return strings.HasSuffix(d.tray.Tooltip(), text) })
}
