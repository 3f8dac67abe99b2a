package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/summarizers"
)

// The limits that no manifest changes.
const (
	maxOutput    = 8 << 20   // bytes on standard output
	maxTail      = 4 << 10   // bytes kept of what comes on standard error
	maxFile      = 64 << 20  // bytes of a file it writes
	maxFolder    = 256 << 20 // bytes in its working folder
	maxFiles     = 256       // open files of a process
	maxProcesses = 64        // alive at a time
	maxPictures  = 100
	pictureWidth = 1280 // pixels
)

// A jail is what one run of a plug-in is allowed. It goes to the child as JSON.
type jail struct {
	Command  []string `json:"command"`
	Folder   string   `json:"folder"`          // the plug-in's own, to be read
	Working  string   `json:"working"`         // to be read and written
	Start    string   `json:"start,omitempty"` // the current folder; empty: Working
	Env      []string `json:"env"`
	Seconds  uint64   `json:"seconds"` // of a processor, for each process
	Memory   uint64   `json:"memory"`  // bytes
	File     uint64   `json:"file"`
	Files    uint64   `json:"files"`
	Threads  uint64   `json:"threads"`  // at most, where they can be counted for this run alone
	Separate bool     `json:"separate"` // it is in a process namespace of its own
	Landlock int      `json:"landlock"` // the version of it that the kernel has
}

// An ending is how the program ended.
type ending struct {
	Code    int    `json:"code"`
	Signal  string `json:"signal,omitempty"`
	Problem string `json:"problem,omitempty"` // it was never begun, and why
}

// Summarize runs the program once. Several may run at a time.
func (p *plugin) Summarize(ctx context.Context, in summarizers.Input, tell func(human.Progress)) (human.Report, error) {
	if err := ctx.Err(); err != nil {
		return human.Report{}, err
	}
	if !slices.Contains(p.Languages, in.Language) {
		in.Language = p.Languages[0]
	}
	working, err := os.MkdirTemp("", "deskbell-summarizer-")
	if err != nil {
		return human.Report{}, human.Wrap(human.Unavailable, err, "%s: no working folder can be made: %s", p.Name, reason(err))
	}
	// What cannot be removed at once was made unreadable by the plug-in.
	defer func() { _ = disk.RemoveAll(working) }()
	if working, err = filepath.EvalSymlinks(working); err != nil {
		return human.Report{}, human.Wrap(human.Unavailable, err, "%s: no working folder can be made: %s", p.Name, reason(err))
	}
	if p.Pictures {
		if err := writePictures(ctx, in, working); err != nil {
			return human.Report{}, err
		}
	}
	r, err := p.run(ctx, in, working)
	if err == nil {
		tell(human.Progress{Share: 1})
	}
	return r, err
}

func (p *plugin) run(ctx context.Context, in summarizers.Input, working string) (human.Report, error) {
	limited, stop := context.WithTimeout(ctx, p.limit())
	defer stop()
	command, err := p.program()
	if err != nil {
		return human.Report{}, err
	}
	run := &running{jail: p.jail(command, working), stopped: make(chan struct{})}
	out, tail := &output{full: func() { run.kill(fmt.Sprintf("it wrote more than %d MB to its standard output", maxOutput>>20)) }}, &tail{}
	input, feed := io.Pipe()
	go func() {
		enc := json.NewEncoder(feed)
		enc.SetEscapeHTML(false)
		feed.CloseWithError(enc.Encode(in))
	}()
	defer func() { _ = input.Close() }() // the encoder stops where nobody reads on
	watching := context.AfterFunc(limited, func() {
		if ctx.Err() != nil {
			run.kill("it was stopped")
			return
		}
		run.kill(fmt.Sprintf("it took longer than its limit of %g s (limit_s)", p.Limit))
	})
	defer watching()
	end, err := run.do(input, out, tail)
	if ctx.Err() != nil {
		return human.Report{}, ctx.Err()
	}
	if err != nil {
		return human.Report{}, human.Wrap(human.Unavailable, err, "the summarizer %s could not be started: %s", p.called(), reason(err))
	}
	if why := run.violation(); why != "" {
		return human.Report{}, p.failed(human.Exhausted, why+", and was ended", tail.words())
	}
	switch {
	case end.Problem != "":
		return human.Report{}, p.failed(human.Unavailable, "it could not be started: "+end.Problem, "")
	case end.Signal != "":
		return human.Report{}, p.failed(human.Unavailable, "it was ended by "+end.Signal+byLimit(end.Signal), tail.words())
	case end.Code != 0:
		return human.Report{}, p.failed(human.Unavailable, fmt.Sprintf("it ended with exit code %d", end.Code), tail.words())
	}
	text := out.kept.Bytes()
	if err := valid("report", text); err != nil {
		return human.Report{}, p.failed(human.Unavailable, "what it wrote is no report: "+err.Error(), tail.words())
	}
	var r human.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return human.Report{}, p.failed(human.Unavailable, "what it wrote is no report: "+err.Error(), tail.words())
	}
	return r, nil
}

// jail is what a run of a command in a working folder is allowed.
func (p *plugin) jail(command []string, working string) jail {
	return jail{
		Command: command, Folder: p.folder, Working: working, Env: environment(working), Seconds: uint64(p.Limit) + 1,
		Memory: uint64(p.Memory) << 20, File: maxFile, Files: maxFiles, Threads: 2 * maxProcesses,
	}
}

// program is the command with its program's whole path.
func (p *plugin) program() ([]string, error) {
	command := slices.Clone(p.command)
	if filepath.IsAbs(command[0]) {
		return command, nil
	}
	for _, dir := range filepath.SplitList(searchPath()) {
		for _, end := range programEnds {
			file := filepath.Join(dir, command[0]+end)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && executable(info) {
				command[0] = file
				return command, nil
			}
		}
	}
	return nil, human.Errorf(human.Unavailable, "the summarizer %s needs %q, which is not in %s: install it, or name another program in its %s",
		p.called(), p.command[0], searchPath(), ManifestFile)
}

func (p *plugin) called() string {
	if p.Version != "" {
		return p.Name + " " + p.Version
	}
	return p.Name
}

// failed says which plug-in, what happened and what to do.
func (p *plugin) failed(kind human.ErrorKind, what, words string) error {
	if words != "" {
		what += "; its last words: " + words
	}
	return human.Errorf(kind, "the summarizer %s failed: %s. Fix it (deskbell summarize RECORDING --with %s tries it; it is in %s), or choose another in the settings",
		p.called(), what, p.Name, p.folder)
}

// byLimit says which limit a signal stands for.
func byLimit(signal string) string {
	switch signal {
	case "SIGXCPU":
		return " (more processor time than limit_s)"
	case "SIGXFSZ":
		return fmt.Sprintf(" (a file larger than %d MB)", maxFile>>20)
	case "SIGSYS":
		return " (a call that is not allowed)"
	case "SIGKILL":
		return " (processor time over limit_s, or memory over memory_mb)"
	}
	return ""
}

// environment is all that a plug-in gets of ours: no keys, no proxies, no session.
func environment(working string) []string {
	env := []string{"PATH=" + searchPath(), "HOME=" + working, "TMPDIR=" + working, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1"}
	return append(env, systemEnvironment(working)...)
}

// A running is one run of a program.
type running struct {
	jail    jail
	why     atomic.Pointer[string]
	once    sync.Once
	stopped chan struct{} // closed when it has to end
}

// kill ends the run and all its processes, for a reason that people can read. The first reason counts.
func (r *running) kill(why string) {
	r.once.Do(func() {
		r.why.Store(&why)
		close(r.stopped)
	})
}

func (r *running) violation() string {
	if why := r.why.Load(); why != nil {
		return *why
	}
	return ""
}

// stuck is how long the pipes of a run may stay open after its last process was killed. Nothing should hold them.
const stuck = 5 * time.Second

// child is a command that runs this program again, as the one that confines a plug-in (see Child).
func (r *running) child(role string) (*exec.Cmd, error) {
	self, err := itself()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.jail)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args = []string{role, string(text)}
	cmd.Dir = r.jail.Working
	cmd.Env = r.jail.Env
	cmd.WaitDelay = stuck
	return cmd, nil
}

// output keeps what comes on standard output. The buffer is not embedded: it would be read into past Write.
type output struct {
	kept bytes.Buffer
	full func()
	over bool
}

func (o *output) Write(b []byte) (int, error) {
	if o.over || o.kept.Len()+len(b) > maxOutput {
		if !o.over {
			o.over = true
			o.full()
		}
		return len(b), nil // read on, so that the program does not hang before it is killed
	}
	return o.kept.Write(b)
}

// tail keeps the end of what comes on standard error.
type tail struct{ b []byte }

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if len(b) > maxTail {
		b = b[len(b)-maxTail:]
	}
	t.b = append(t.b, b...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return n, nil
}

// words is what was said last, in one line. It comes from the plug-in: control characters are taken out.
func (t *tail) words() string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || (r >= 0x200b && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(t.b), ""))
	text = strings.Join(strings.Fields(text), " ")
	const longest = 400
	if r := []rune(text); len(r) > longest {
		text = "…" + string(r[len(r)-longest:])
	}
	if text == "" {
		return ""
	}
	return "“" + text + "”"
}

var pictureName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// writePictures gives the pictures that the actions name, those after an action first: of many the first ones.
func writePictures(ctx context.Context, in summarizers.Input, working string) error {
	if in.Pictures == nil {
		return nil
	}
	written := map[string]bool{}
	give := func(r human.RecordingID, id string) error {
		if id == "" || written[id] || len(written) >= maxPictures || !pictureName.MatchString(id) {
			return nil
		}
		jpeg, err := in.Pictures.Picture(ctx, r, id, pictureWidth)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil // one that is not to be had; its action still says what was done
		}
		written[id] = true
		if err := os.WriteFile(filepath.Join(working, id+".jpg"), jpeg, 0o600); err != nil {
			return human.Wrap(human.Unavailable, err, "the pictures could not be written for the summarizer: %s", reason(err))
		}
		return nil
	}
	for _, before := range []bool{false, true} {
		for _, r := range in.Recordings {
			for _, a := range r.Actions {
				id := a.After
				if before {
					id = a.Before
				}
				if a.Cut {
					continue
				}
				if err := give(r.ID, id); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
