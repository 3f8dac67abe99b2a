package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/gofrs/flock"

	"deskbell/backend/human"
)

const (
	startWithin = 60 * time.Second // a cold start on a busy machine
	closeWithin = 10 * time.Second // for a browser to write what it keeps, once it was asked to close
)

// A process is a browser that we started.
type process struct {
	cmd       *exec.Cmd
	transport chromedp.Transport
	exited    chan struct{} // closed when err is known
	err       error
	said      *tail
	profile   *profile
}

// launch starts the executable, to be driven through a pipe: a debugging port would let any program of this machine
// drive a browser that is logged in.
func (b *Browser) launch() (*process, error) {
	name, version, file, err := Find(b.o.Path)
	if err != nil {
		return nil, err
	}
	if !b.o.headless && noDisplay() {
		return nil, human.Errorf(human.Unavailable, "There is no display for %s. Start Deskbell in a desktop session, or set DISPLAY.", name)
	}
	profile, err := b.openProfile()
	if err != nil {
		return nil, err
	}
	p := &process{exited: make(chan struct{}), said: &tail{}, profile: profile}
	p.cmd = exec.Command(file, b.flags(profile.dir)...)
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	p.cmd.WaitDelay = time.Second // its children hold its output open
	transport, started, err := pipeTo(p.cmd)
	if err != nil {
		profile.close()
		return nil, human.Wrap(human.Internal, err, "No pipe to a browser could be made.")
	}
	err = p.cmd.Start()
	started()
	if err != nil {
		_ = transport.Close()
		profile.close()
		return nil, human.Wrap(human.Unavailable, err, "%s does not start: %s", name, file)
	}
	p.transport = transport
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	b.change(func() {
		b.app = human.App{Name: strings.TrimSpace(name + " " + version), PID: p.cmd.Process.Pid, Exe: filepath.Base(file)}
	})
	return p, nil
}

// flags are what the executable is started with: what a person would be asked or shown by a browser that is not
// theirs is off. Pages are not rendered ahead of time, since what happens in them then would have no tab.
func (b *Browser) flags(dir string) []string {
	flags := []string{
		"--user-data-dir=" + dir,
		"--remote-debugging-pipe",
		"--no-first-run",
		"--no-default-browser-check",
		"--hide-crash-restore-bubble",
		"--disable-search-engine-choice-screen",
		"--disable-features=Translate,Prerender2,OptimizationGuideModelDownloading,MediaRouter,GlobalMediaControls",
	}
	if os.Getuid() == 0 { // -1 on Windows
		b.log.Warn("the browser runs without its sandbox, because Deskbell runs as root")
		flags = append(flags, "--no-sandbox")
	}
	if b.o.headless {
		flags = append(flags, "--headless=new", "--window-size=1000,800")
	}
	return append(append(flags, b.o.Args...), "about:blank")
}

// close ends the browser, if need be by force, and returns when it is gone.
func (p *process) close() {
	defer p.profile.close()
	select {
	case <-p.exited:
		return
	case <-time.After(closeWithin):
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// A profile is a folder that a browser keeps its state in, held by one Deskbell at a time.
type profile struct {
	dir       string
	lock      *flock.Flock
	throwAway bool
}

const throwAwayPattern = "deskbell-browser-"

// openProfile makes the profile this browser runs in, or opens the kept one. Conflict when that is in use.
func (b *Browser) openProfile() (*profile, error) {
	p := &profile{dir: b.o.ProfileDir}
	if b.want.Profile == "throwaway" || p.dir == "" {
		removeLeftovers()
		dir, err := os.MkdirTemp("", throwAwayPattern)
		if err != nil {
			return nil, human.Wrap(human.Internal, err, "No folder for a throw-away profile could be made in %s.", os.TempDir())
		}
		p.dir, p.throwAway = dir, true
	} else if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, human.Wrap(human.Internal, err, "The browser's profile cannot be made: %s", p.dir)
	}
	p.lock = flock.New(filepath.Join(p.dir, "deskbell.lock"))
	held, err := p.lock.TryLock()
	if err == nil && !held {
		return nil, human.Errorf(human.Conflict, "The browser's profile is in use by another recording of Deskbell: %s. Stop that one first, or take a throw-away profile.", p.dir)
	}
	if err == nil {
		err = quiet(p.dir)
	}
	if err != nil {
		p.close()
		return nil, human.Wrap(human.Internal, err, "The browser's profile cannot be written: %s", p.dir)
	}
	return p, nil
}

// close releases the profile, and removes a throw-away one.
func (p *profile) close() {
	if !p.throwAway {
		_ = p.lock.Close()
		return
	}
	remove(p.dir)
	_ = p.lock.Close()
}

// remove removes a profile. Children of a browser may write in it a moment longer than it runs.
func remove(dir string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 60 {
		if os.RemoveAll(dir) == nil {
			return
		}
		<-tick.C
	}
}

// removeLeftovers removes throw-away profiles of Deskbells that died: those no one holds.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), throwAwayPattern+"*"))
	for _, dir := range dirs {
		file := filepath.Join(dir, "deskbell.lock")
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		lock := flock.New(file)
		if held, err := lock.TryLock(); err == nil && held {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}

// quiet sets the profile's preferences that no flag can: no bubbles of the password manager and of translation, and
// none about a crash.
func quiet(dir string) error {
	file := filepath.Join(dir, "Default", "Preferences")
	all := map[string]any{}
	raw, err := os.ReadFile(file)
	switch {
	case err == nil:
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&all) != nil {
			all = map[string]any{} // the browser itself would begin anew
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	set := func(value any, path ...string) {
		at := all
		for _, name := range path[:len(path)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[path[len(path)-1]] = value
	}
	set(false, "credentials_enable_service")
	set(false, "profile", "password_manager_enabled")
	set("Normal", "profile", "exit_type")
	set(false, "translate", "enabled")
	set(false, "autofill", "credit_card_enabled")
	if raw, err = json.Marshal(all); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o600)
}

// A tail keeps the end of what was written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 4000; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.text)), "")
}

// notStarted is why a browser that we started did not answer.
func (p *process) notStarted(ctx context.Context, err error) error {
	select {
	case <-p.exited:
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
	said := errors.New(p.said.String())
	select {
	case <-p.exited:
		if p.err == nil {
			return human.Wrap(human.Conflict, said, "The browser's profile is open already: %s. Close the browser that has it, or take a throw-away profile.", p.profile.dir)
		}
		return human.Wrap(human.Unavailable, errors.Join(p.err, said), "The browser ended as soon as it was started: %s", p.cmd.Path)
	default:
	}
	return human.Wrap(human.Unavailable, errors.Join(err, said), "The browser does not answer: %s", p.cmd.Path)
}
