//go:build window

package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/build/e2e/desktoptest"
)

// After the machine slept, the window shows what is open now: what was answered meanwhile is gone, what came or became due is there.
// The program and its page stand still meanwhile, as they do while a machine sleeps; the page for longer, so that it misses something.
func TestWindowWakes(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	if _, err := d.Bus.RequestName("org.freedesktop.login1", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	sleeps := func(yes bool) {
		t.Helper()
		if err := d.Bus.Emit("/org/freedesktop/login1", "org.freedesktop.login1.Manager.PrepareForSleep", yes); err != nil {
			t.Fatal(err)
		}
	}
	d.Env = append(d.Env, "DBUS_SYSTEM_BUS_ADDRESS="+d.Session, "DESKBELL_NOTIFICATIONS_AFTER=0")
	p := d.start()
	answered := d.rings("approve-bot", "approve", "Restart the cache", risk("low", "systemctl restart cache"))
	d.see(desktoptest.Button, "Approve")
	notice := d.WaitWindow("Dunst")

	sleeps(true)
	page := strings.Fields(d.Do("pgrep", "-P", strconv.Itoa(p.PID()), "WebKit"))
	d.Do("kill", append([]string{"-STOP"}, page...)...)
	d.Click(notice.Middle())
	if r := d.printed(answered); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	d.WaitNoWindow("Dunst")
	limit := map[string]any{"timeout": 3}
	for name, value := range risk("medium", "kubectl rollout restart deploy/api") {
		limit[name] = value
	}
	agent := d.rings("release-bot", "approve", "Roll out api 2.14.0", limit)
	d.waiting("1 request is waiting")
	due := time.Now().Add(3 * time.Second)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.Wait("the request to be due", func() bool { return time.Now().After(due) })

	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.Do("kill", append([]string{"-CONT"}, page...)...)
	sleeps(false)
	d.Wait("the program to hear of it", func() bool { return strings.Contains(d.read("data/deskbell.log"), "the machine woke from sleep") })
	d.look("the new request alone, overdue", func(all []desktoptest.Element) bool {
		var text strings.Builder
		for _, e := range all {
			text.WriteString(e.Name + " " + d.Text(e) + "\n")
		}
		return strings.Contains(text.String(), "Roll out api 2.14.0") && strings.Contains(text.String(), "Overdue") && !strings.Contains(text.String(), "Restart the cache")
	})
	d.unanswered(agent)
	d.press("Approve")
	if r := d.printed(agent); r.Status != "completed" || r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	d.waiting("Nothing is waiting")
}
