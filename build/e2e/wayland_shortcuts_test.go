//go:build window

package e2e

import (
	"maps"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// Under Wayland the keys of X11 come from the session's portal, where it gives any.
func TestWaylandShortcuts(t *testing.T) {
	t.Parallel()
	c := desktoptest.StartSway(t)
	keys := c.StartShortcuts()
	d := fixtureOn(t, c.Desktop)
	typed := c.Terminal()
	d.start()
	if got, want := keys.Bound(), map[string]string{"bell": "CTRL+ALT+b", "record": "CTRL+ALT+r", "stop": "CTRL+ALT+SHIFT+r"}; !maps.Equal(got, want) {
		t.Errorf("it asks for %v, not %v", got, want)
	}
	agent := d.rings("release-bot", "approve", "Restart the cache", risk("low", "systemctl restart cache"))
	d.see(desktoptest.Button, "Approve")
	c.Type("a")
	c.Wait("the key in the terminal", func() bool { return typed() == "a" })
	d.unanswered(agent)
	c.Wait("the card to have the keys", func() bool {
		keys.Press("bell")
		return d.focused() == "Restart the cache"
	})
	c.Wait("a key to answer", func() bool {
		c.Type("a")
		return agent.Out() != "" || !agent.Running()
	})
	if r := d.printed(agent); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	c.Wait("the console to have the keyboard", func() bool {
		keys.Press("bell") // while the card is leaving it gets the keyboard
		return c.Active() == "Deskbell"
	})
	d.see(desktoptest.Title, "Inbox")
	keys.Press("record")
	c.Wait("a notification that nothing is claimed to record for", func() bool { return c.Do("dunstctl", "count", "displayed") == "1" })
}
