package accessibility

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// patience is how long a condition may take to come true on a busy machine.
const patience = 30 * time.Second

// xgb opens the display that the environment names, so the tests set it, one desktop after the other.
func TestMain(m *testing.M) {
	xgb.Logger.SetOutput(bytes.NewBuffer(nil)) // it reports the end of each test's server
	os.Exit(m.Run())
}

// A desktop is a graphical session of its own: X server, window manager, session bus, accessibility.
type desktop struct {
	t       testing.TB
	home    string
	env     []string
	session string
}

func startDesktop(t testing.TB) *desktop {
	t.Helper()
	d := &desktop{t: t, home: t.TempDir()}
	run, err := os.MkdirTemp("", "at") // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "LANG=C.UTF-8", "XDG_RUNTIME_DIR=" + run, "GTK_THEME=Adwaita",
		"XDG_DATA_DIRS=/usr/local/share:/usr/share", "GSETTINGS_BACKEND=memory", "PYTHONDONTWRITEBYTECODE=1",
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", // containers forbid it its namespaces
	}
	display := d.firstLine("Xvfb", "-displayfd", "3", "-screen", "0", "1440x900x24", "-nolisten", "tcp", "-noreset")
	d.env = append(d.env, "DISPLAY=:"+display)
	setenv(t, "DISPLAY", ":"+display)
	setenv(t, "XAUTHORITY", "/dev/null")
	config := filepath.Join(d.home, "bus.conf")
	text := `<busconfig><type>session</type><listen>unix:dir=` + run + `</listen><policy context="default">` +
		`<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.session = d.firstLine("dbus-daemon", "--config-file", config, "--nofork", "--print-address", "3")
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS="+d.session)
	d.start("openbox")
	d.wait("the window manager", func() bool {
		return strings.Contains(d.try("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), "window id")
	})
	return d
}

// accessible starts the bus of accessibility.
func (d *desktop) accessible() *desktop {
	d.t.Helper()
	launchers := []string{"/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher"}
	i := slices.IndexFunc(launchers, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if i < 0 {
		d.t.Fatal("at-spi2-core is not installed")
	}
	d.start(launchers[i], "--launch-immediately")
	bus, err := dbus.Connect(d.session)
	if err != nil {
		d.t.Fatal(err)
	}
	defer bus.Close()
	d.wait("the bus of accessibility", func() bool {
		var address string
		return bus.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address) == nil
	})
	return d
}

// elements connects to the desktop. They are patient, because so many programs start here.
func (d *desktop) elements() *Elements { d.t.Helper(); return d.elementsIn(5 * time.Second) }

func (d *desktop) elementsIn(deadline time.Duration) *Elements {
	d.t.Helper()
	began := time.Now()
	e := New(Options{
		Clock:   func() (time.Time, int64) { return time.Now(), int64(time.Since(began)) },
		Session: d.session, Deadline: deadline,
	})
	d.t.Cleanup(func() { e.Close() })
	if s := e.Check(d.t.Context()); s.Status == "missing" {
		d.t.Fatalf("no elements: %+v", s)
	}
	return e
}

func setenv(t testing.TB, key, value string) {
	before, was := os.LookupEnv(key)
	os.Setenv(key, value)
	t.Cleanup(func() {
		if was {
			os.Setenv(key, before)
		} else {
			os.Unsetenv(key)
		}
	})
}

type program struct {
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) pid() int { return p.cmd.Process.Pid }

func (d *desktop) run(cmd *exec.Cmd) *program {
	d.t.Helper()
	p := &program{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	cmd.Env = append(d.env, cmd.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // that it was killed is no news
		close(p.done)
	}()
	d.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children with it
		<-p.done
		if d.t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			d.t.Logf("%s:\n%s", filepath.Base(cmd.Path), &p.out)
		}
	})
	return p
}

func (d *desktop) start(name string, args ...string) *program {
	d.t.Helper()
	return d.run(exec.Command(name, args...))
}

// firstLine starts a program that writes one line to file 3 when it is ready.
func (d *desktop) firstLine(name string, args ...string) string {
	d.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(name, args...)
	cmd.ExtraFiles = []*os.File{write}
	d.run(cmd)
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		d.t.Fatalf("%s did not start: %v", name, err)
	}
	return strings.TrimSpace(line)
}

// apps are the forms that the end-to-end tests use as well.
func apps() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../build/e2e/testdata/apps")
}

// form starts a form; its state is what it says of itself.
func (d *desktop) form(name string, env ...string) *program {
	d.t.Helper()
	path := filepath.Join(apps(), name)
	cmd := exec.Command("/usr/bin/python3", path, d.stateFile(name), d.home)
	if strings.HasSuffix(name, ".html") {
		cmd = exec.Command("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=basic", "--kiosk",
			"--force-renderer-accessibility", "--user-data-dir="+filepath.Join(d.home, "chromium"), d.serve(path))
	}
	if strings.HasPrefix(name, "form.webkit") {
		cmd = exec.Command("/usr/bin/python3", path, d.serve(filepath.Join(apps(), "form.html")))
	}
	cmd.Env = env
	return d.run(cmd)
}

// serve serves a page, which posts its state.
func (d *desktop) serve(path string) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.ServeFile(w, r, path)
			return
		}
		state, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(d.stateFile(filepath.Base(path)), state, 0o600)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	d.t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(path)
}

func (d *desktop) stateFile(name string) string { return filepath.Join(d.home, name+".json") }

// state waits until a form says something of itself.
func (d *desktop) state(name, key string, want any) {
	d.t.Helper()
	d.wait(fmt.Sprintf("%s: %s to be %v", name, key, want), func() bool {
		text, err := os.ReadFile(d.stateFile(name))
		var all map[string]any
		return err == nil && json.Unmarshal(text, &all) == nil && all[key] == want
	})
}

func (d *desktop) try(name string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = d.env
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (d *desktop) do(args ...string) {
	d.t.Helper()
	cmd := exec.Command("xdotool", args...)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("xdotool %v: %v: %s", args, err, out)
	}
}

func (d *desktop) wait(what string, condition func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// window waits for a window of a title that begins so, and measures it as xwininfo does.
func (d *desktop) window(title string, pid int) record.Placed {
	d.t.Helper()
	p := record.Placed{App: human.App{Name: title, PID: pid}}
	d.wait("the window "+title, func() bool {
		for _, id := range strings.Fields(d.try("xdotool", "search", "--onlyvisible", "--name", "^"+title)) {
			var b human.Bounds
			for line := range strings.Lines(d.try("xwininfo", "-id", id)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
				n, err := strconv.Atoi(strings.TrimSpace(value))
				if err != nil {
					continue
				}
				switch key {
				case "Absolute upper-left X":
					b.X = n
				case "Absolute upper-left Y":
					b.Y = n
				case "Width":
					b.W = n
				case "Height":
					b.H = n
				}
			}
			if b.W > 20 && b.H > 20 {
				p.Window = human.Window{ID: id, Title: d.try("xdotool", "getwindowname", id), Bounds: b}
				return true
			}
		}
		return false
	})
	return p
}

// kind is the kind of an error, 0 without one.
func kind(err error) human.ErrorKind {
	if err == nil {
		return 0
	}
	var known *human.Error
	if !errors.As(err, &known) {
		return human.Internal
	}
	return known.Kind
}

// press clicks a spot of a window.
func (d *desktop) press(at record.Placed, s spot) {
	d.t.Helper()
	d.do("mousemove", strconv.Itoa(at.Window.Bounds.X+s.x), strconv.Itoa(at.Window.Bounds.Y+s.y), "click", "1")
}

// within says whether a condition comes true soon.
func (d *desktop) within(condition func() bool) bool {
	deadline := time.After(5 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}
