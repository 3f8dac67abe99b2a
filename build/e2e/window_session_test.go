//go:build window

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"deskbell/build/e2e/desktoptest"
)

const someOperation = "op_01k9zq3v7x8y2m4n6p8r0s2t4v"

// A second start shows the window that runs, at what it was asked for, and ends well; whatever else it was given does nothing.
func TestSecondStart(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := startShell(d)
	again := func(args string) {
		t.Helper()
		p := d.StartWith([]string{"SHELL_ARGS=" + args}, shellBinary)
		if code := d.Ended(p); code != 0 {
			t.Errorf("the second start with %q ended with status %d: %s", args, code, p.Err())
		}
	}
	again("--hidden")
	again("open deskbell://operation/" + someOperation)
	s.hears("event mode console") // nothing before it: --hidden shows nothing
	s.hears("event open " + someOperation)
	d.WaitActive("Deskbell")
	s.mode("hidden", 0)
	again("open recordings")
	s.hears("event mode console")
	s.hears("event open recordings")
	s.mode("hidden", 0)
	again("open deskbell://operation/" + someOperation + "/approve")
	s.hears("event mode console") // and no event open:
	s.js(`say("end")`)
	s.hears("end")
}

// What the first start is to show is shown when the page is there.
func TestFirstStartAtAnOperation(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := launchShell(d, "SHELL_ARGS=open "+someOperation)
	d.Wait("the page to hear of the operation", func() bool { return strings.Contains(s.says(), someOperation) })
	d.WaitActive("Deskbell")
}

// Where a server without a window has the data folder, a start says so and opens the console in a browser, without a code.
func TestStartBesideAServer(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	bin, data, opened := os.Getenv("DESKBELL_BIN"), filepath.Join(d.Home, "data"), filepath.Join(d.Home, "opened")
	d.Write(filepath.Join(d.Home, "bin", "xdg-open"), "#!/bin/sh\nprintf %s \"$1\" >"+opened+"\n")
	if err := os.Chmod(filepath.Join(d.Home, "bin", "xdg-open"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.Env = append(d.Env, "DESKBELL_DATA="+data, "DESKBELL_ADDR=127.0.0.1:0", "PATH="+filepath.Join(d.Home, "bin")+":"+os.Getenv("PATH"))
	server := d.Start(bin, "serve", "--json")
	d.Wait("the server", func() bool { return strings.Contains(server.Out(), "url") })
	for _, way := range []struct{ args, opens string }{
		{"open " + someOperation, "/#/inbox/" + someOperation}, {"open deskbell://operation/" + someOperation, "/#/inbox/" + someOperation},
		{"", "/#/inbox"}, {"open settings", "/#/settings"}, {"--hidden", ""},
	} {
		os.Remove(opened)
		p := d.Start(bin, strings.Fields(way.args)...)
		if code := d.Ended(p); code != 0 || !strings.Contains(p.Err(), "runs already, without a window") {
			t.Errorf("%q ended with status %d: %s", way.args, code, p.Err())
		}
		got, _ := os.ReadFile(opened)
		if way.opens == "" && len(got) > 0 || !strings.HasSuffix(string(got), way.opens) || strings.Contains(string(got), "code") {
			t.Errorf("%q opened %q, want …%s", way.args, got, way.opens)
		}
	}
	if p := d.Start(bin, "open", "deskbell://operation/"+someOperation+"?answer=approve"); d.Ended(p) != 3 {
		t.Errorf("a link with an answer in it was not refused: %s", p.Err())
	}
}

// An agent that finds a window which is just starting waits for it, and starts no server that would keep it from the data folder.
func TestAnAgentJoinsAWindowThatIsStarting(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	bin, data := os.Getenv("DESKBELL_BIN"), filepath.Join(d.Home, "data")
	d.Env = append(d.Env, "DESKBELL_DATA="+data, "DESKBELL_ADDR=127.0.0.1:0")
	// It has its name on the bus, as main.go makes it of the folder, and not yet the data folder.
	of := sha256.Sum256([]byte(data))
	handed := make(chan string, 1)
	err := d.Bus.ExportMethodTable(map[string]any{"Open": func(args string) *dbus.Error { handed <- args; return nil }}, "/dev/deskbell/Window", "dev.deskbell.Window")
	if err == nil {
		_, err = d.Bus.RequestName("dev.deskbell.Window.deskbell_"+hex.EncodeToString(of[:6]), dbus.NameFlagDoNotQueue)
	}
	if err != nil {
		t.Fatal(err)
	}
	agent := d.Start(bin, "mcp", "--agent", "early-bot")
	if args := <-handed; !strings.Contains(args, "--hidden") {
		t.Errorf("the agent's start hands over %s", args)
	}
	window := d.Start("sh", "-c", "sleep 1; exec "+bin+" serve --json") // a window takes this long
	d.Wait("the window's server", func() bool { return strings.Contains(window.Out(), "url") || !window.Running() })
	if !window.Running() {
		t.Errorf("the window could not start: %s", window.Err())
	}
	if code := d.Ended(agent); code != 0 {
		t.Errorf("the agent ended with status %d: %s", code, agent.Err())
	}
}

// The system's own do-not-disturb counts, as dunst, KDE and GNOME say it.
func TestQuietAsTheSystem(t *testing.T) {
	const name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
	t.Parallel()
	for system, start := range map[string]func(t *testing.T, d *desktoptest.Desktop) (disturb func(yes bool)){
		"dunst": func(t *testing.T, d *desktoptest.Desktop) func(bool) {
			dunst := d.Bus.Object(name, path)
			return func(yes bool) {
				if err := dunst.SetProperty("org.dunstproject.cmd0.paused", dbus.MakeVariant(!yes)); err != nil {
					t.Fatal(err)
				}
			}
		},
		// A service that says what KDE's does.
		"KDE": func(t *testing.T, d *desktoptest.Desktop) func(bool) {
			inhibited := &prop.Prop{Value: false, Emit: prop.EmitTrue}
			properties, err := prop.Export(d.Bus, path, prop.Map{name: {"Inhibited": inhibited}})
			if err == nil {
				_, err = d.Bus.RequestName(name, dbus.NameFlagDoNotQueue)
			}
			if err != nil {
				t.Fatal(err)
			}
			return func(yes bool) { properties.SetMust(name, "Inhibited", !yes) }
		},
		// GNOME's own settings, kept by what keeps them on a desktop.
		"GNOME": func(t *testing.T, d *desktoptest.Desktop) func(bool) {
			d.Env = append(d.Env, "XDG_CURRENT_DESKTOP=ubuntu:GNOME", "GSETTINGS_BACKEND=dconf")
			d.Start("/usr/libexec/dconf-service")
			d.Wait("what keeps settings", func() bool {
				var there bool
				err := d.Bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "ca.desrt.dconf").Store(&there)
				return err == nil && there
			})
			return func(yes bool) {
				d.Do("gsettings", "set", "org.gnome.desktop.notifications", "show-banners", strconv.FormatBool(yes))
			}
		},
	} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			d := desktoptest.Start(t, desktoptest.Options{Notifications: system == "dunst"})
			disturb := start(t, d)
			disturb(true)
			s := startShell(d)
			for range 2 {
				disturb(false)
				s.hears("event quiet true true")
				disturb(true)
				s.hears("event quiet false true")
			}
		})
	}
}

// The console stands where it stood before the program was started again, and on a monitor where that one has gone.
func TestPlaceIsRemembered(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	places := filepath.Join(d.Home, "window.json")
	run := func(check func(s *shell)) {
		t.Helper()
		s := launchShell(d, "SHELL_ARGS=--hidden", "SHELL_PLACES="+places)
		s.hears("page wails://wails secret")
		s.mode("console", 0)
		d.WaitActive("Deskbell")
		check(s)
		if err := s.p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := d.Ended(s.p); code != 0 {
			t.Fatalf("it ended with status %d", code)
		}
	}
	var was desktoptest.Window
	run(func(s *shell) {
		w := d.WaitWindow("Deskbell")
		d.Do("xdotool", "windowsize", "--sync", w.ID, "900", "600")
		d.Do("xdotool", "windowmove", "--sync", w.ID, "200", "100")
		was = d.WaitWindow("Deskbell")
		d.Wait("its place to be kept", func() bool {
			text, _ := os.ReadFile(places)
			return strings.Contains(string(text), `"W": 900`) && strings.Contains(string(text), `"X": 200`)
		})
	})
	run(func(s *shell) { wantAt(t, d, was) })
	text, err := os.ReadFile(places)
	if err != nil {
		t.Fatal(err)
	}
	// On the same monitors, a place that is out of sight.
	var all map[string]map[string]any
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 1 {
		t.Fatal(err, string(text))
	}
	for _, place := range all {
		place["X"], place["Y"] = 9000, -4000
	}
	if text, err = json.Marshal(all); err == nil {
		err = os.WriteFile(places, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(func(s *shell) {
		d.Wait("the window to be in sight", func() bool {
			w, ok := d.FindWindow("Deskbell")
			return ok && w.W == 900 && w.H == 600 && w.X >= 0 && w.X+w.W <= 1450 && w.Y >= 0 && w.Y+w.H <= 930 // the frame counts
		})
	})
}

// When the page's process is killed, the page is loaded again.
func TestPageComesBack(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := startShell(d)
	s.mode("console", 0)
	d.Do("pkill", "-KILL", "-P", strconv.Itoa(s.p.PID()), "-f", "WebKitWebProcess")
	s.hears("page wails://wails secret")
}

// After a crash the next start tells of it, and where the report is, in a notification and in the console.
func TestACrashIsTold(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	p := d.start()
	if err := p.Signal(syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	if code := d.Ended(p); code == 0 {
		t.Fatal("it did not crash")
	}
	d.start()
	d.Click(d.WaitWindow("Dunst").Middle())
	d.press("Skip") // of the first run
	reports, err := filepath.Glob(filepath.Join(d.data, "crashes", "crash-*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("the reports %v, %v", reports, err)
	}
	d.press("Copy path")
	d.Wait("the report's path in the clipboard", func() bool { return d.Try("xclip", "-o", "-selection", "clipboard") == reports[0] })
	d.press("Close")
	d.look("the note to be gone", func(all []desktoptest.Element) bool {
		return len(all) > 0 && !slices.ContainsFunc(all, func(e desktoptest.Element) bool { return e.Name == "Copy path" })
	})
}
