//go:build window

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

const (
	secretField desktoptest.Role = 40 // its text is not shown
	paragraph   desktoptest.Role = 73
)

// A person sets a PIN in the first run, and from then on types it to approve critical requests. A wrong one approves nothing, and
// after five of them none is taken.
func TestAPINInTheWindow(t *testing.T) {
	t.Parallel()
	const pin = "quiet harbor 7"
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.Start(d.bin)
	d.tray.WaitItem()
	d.Wait("the step that offers it", func() bool {
		for _, e := range d.Elements("deskbell") {
			if e.Role == secretField {
				return true
			}
		}
		d.press("Continue")
		return false
	})
	d.clickOn(secretField, "New PIN")
	d.Type(pin)
	d.press("Set PIN")
	d.see(desktoptest.Button, "Remove PIN")
	d.press("Skip setup")
	d.see(desktoptest.Title, "Inbox")
	d.WaitActive("Deskbell")

	// asked opens a critical request in the window, and presses Approve.
	asked := func(card string) *desktoptest.Program {
		agent := d.rings("release-bot", "approve", card, risk("critical", "DROP TABLE "+card))
		d.clickOn(desktoptest.Link, card)
		d.press("Approve")
		d.see(secretField, "PIN")
		d.unanswered(agent)
		return agent
	}
	types := func(word string) {
		d.Wait("the field to have the keyboard", func() bool { return d.focused() == "PIN" })
		d.Type(word)
		d.Key("Return")
	}
	wrong := 0
	typesWrong := func() {
		types("loud harbor 7")
		wrong++
		d.Wait("the wrong PIN to be in the log", func() bool {
			log, err := os.ReadFile(filepath.Join(d.data, "deskbell.log"))
			return err == nil && strings.Count(string(log), "A wrong PIN was typed") == wrong
		})
	}
	first := asked("orders")
	typesWrong()
	d.unanswered(first)
	types(pin)
	if r := d.printed(first); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}

	second := asked("invoices")
	for range 5 {
		typesWrong()
	}
	types(pin)
	d.press("Cancel")
	d.press("Approve")
	d.look("that no PIN is taken", func(all []desktoptest.Element) bool {
		for _, e := range all {
			if e.Role == secretField && e.Enabled {
				return false
			}
		}
		return slices.ContainsFunc(all, func(e desktoptest.Element) bool {
			return e.Role == paragraph && strings.Contains(d.Text(e), "The PIN was wrong too often")
		})
	})
	d.unanswered(second)
	d.absent(pin)
}
