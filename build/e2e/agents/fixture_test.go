//go:build agents

// Package agents tries Deskbell's hooks with the coding agents they are for: the programs that their makers publish, each
// in a home and a folder of its own, with a model of the test's and no network.
package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/client"
	"deskbell/build/serving"
)

// patience is for what comes within a second or two where nothing else runs.
const patience = 2 * time.Minute

// A fixture is a real Deskbell with its data folder, a home, and a project for an agent to work in.
type fixture struct {
	t                   *testing.T
	bin                 string
	home, data, project string
	operator            *client.Client
	url, token          string // of the operator
	server              *process
	served              []string // what the server's environment has besides
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	bin := os.Getenv("DESKBELL_BIN")
	if bin == "" {
		t.Fatal("DESKBELL_BIN is not set; run this with `make agents`")
	}
	top := t.TempDir()
	d := &fixture{t: t, bin: bin, home: filepath.Join(top, "home"), data: filepath.Join(top, "data"), project: filepath.Join(top, "project")}
	for _, dir := range []string{d.home, d.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.write(filepath.Join(d.project, "README.md"), readme)
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "README.md"},
		{"-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "commit", "-q", "-m", "The first"},
	} {
		d.run(append([]string{"git", "-C", d.project}, args...)...)
	}
	return d
}

// readme is what a harmless call reads.
const readme = "Forty-two orchids bloom at noon.\n"

func (d *fixture) write(path, text string) {
	d.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// treasure makes a folder with a file in the project that no commit holds.
func (d *fixture) treasure(folder string) {
	d.write(filepath.Join(d.project, folder, "chapter.txt"), "Nothing else holds these words about "+folder+".\n")
}

func (d *fixture) there(folder string) bool {
	text, err := os.ReadFile(filepath.Join(d.project, folder, "chapter.txt"))
	return err == nil && len(text) > 0
}

func (d *fixture) env() []string {
	return []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb"}
}

// run runs a command to its end; it must succeed.
func (d *fixture) run(args ...string) {
	d.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(d.env(), "DESKBELL_DATA="+d.data)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// start starts the server, and signs an operator in.
func (d *fixture) start() {
	d.t.Helper()
	cmd := exec.Command(d.bin, "serve", "--addr", "127.0.0.1:0", "--json")
	cmd.Env, cmd.Dir = append(append(d.env(), "DESKBELL_DATA="+d.data), d.served...), d.project
	read, err := serving.Code(cmd)
	if err != nil {
		d.t.Fatal(err)
	}
	p := d.launch(cmd)
	ready, err := read()
	if err != nil {
		d.t.Fatalf("%v\n%s", err, p.errs)
	}
	s, err := client.Login(d.t.Context(), ready.URL, ready.Code)
	if err != nil {
		d.t.Fatal(err)
	}
	d.server, d.operator, d.url, d.token = p, client.New(ready.URL, s.Token), ready.URL, s.Token
	d.t.Cleanup(d.operator.Close)
}

// wait waits until a condition holds.
func (d *fixture) wait(what string, condition func() bool) {
	d.t.Helper()
	if err := serving.Until(patience, what, condition); err != nil {
		d.t.Fatal(err)
	}
}

// waiting returns the questions of the gatekeeper that are open.
func (d *fixture) waiting() []human.Operation {
	d.t.Helper()
	page, err := d.operator.List(d.t.Context(), client.Filter{Open: true, Kind: human.Permission})
	if err != nil {
		d.t.Fatal(err)
	}
	return page.Operations
}

// asks waits for the one question of an agent's client.
func (d *fixture) asks(by *agent) (op human.Operation, q human.Question) {
	d.t.Helper()
	var all []human.Operation
	d.wait("a question of "+by.name, func() bool {
		all = d.waiting()
		return len(all) > 0 || by.over()
	})
	if len(all) != 1 {
		d.t.Fatalf("there are %d questions", len(all))
	}
	op, err := d.operator.Operation(d.t.Context(), all[0].ID)
	if err == nil {
		err = json.Unmarshal(op.Details, &q)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if op.AgentID != by.name || q.Client != by.name || q.Cwd != d.project || q.SessionID == "" {
		d.t.Errorf("the question is of %s (%s), session %q, in %s", q.Client, op.AgentID, q.SessionID, q.Cwd)
	}
	if q.Risk.Level() < human.MediumRisk.Level() {
		d.t.Errorf("its risk is %s", q.Risk)
	}
	return op, q
}

// asked waits until an agent's client asks about a command, and checks that it is asked about exactly that.
func (d *fixture) asked(by *agent, command string) human.Operation {
	d.t.Helper()
	op, q := d.asks(by)
	var args struct{ Command string }
	if err := json.Unmarshal(q.Args, &args); err != nil || q.Tool != by.asks || args.Command != command {
		d.t.Errorf("the question is about %s with %s (%v), not %q", q.Tool, q.Args, err, command)
	}
	return op
}

func (d *fixture) answer(op human.Operation, r service.AnswerRequest) {
	d.t.Helper()
	r.Digest = op.Digest
	if _, err := d.operator.AnswerQuestion(d.t.Context(), op.ID, r); err != nil {
		d.t.Fatal(err)
	}
}

// A process is one that ends with its test, as do all that it starts.
type process struct {
	cmd       *exec.Cmd
	out, errs *output
	ended     chan struct{}
}

// An output collects what a process writes.
type output struct {
	lock chan struct{}
	text bytes.Buffer
}

func newOutput() *output { return &output{lock: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.lock <- struct{}{}
	defer func() { <-o.lock }()
	return o.text.String()
}

func (d *fixture) begin(env []string, dir string, args ...string) *process {
	d.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir = env, dir
	return d.launch(cmd)
}

func (d *fixture) launch(cmd *exec.Cmd) *process {
	d.t.Helper()
	p := &process{cmd: cmd, out: newOutput(), errs: newOutput(), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.errs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = time.Second // what it left behind may hold its output
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	d.t.Cleanup(p.kill)
	return p
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill ends it as a crash would, with all of its group.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // none may be left
	<-p.ended
}

// copies are the files in the data folder's backups that hold a text.
func (d *fixture) copies(text string) (paths []string) {
	d.t.Helper()
	err := filepath.WalkDir(d.data, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Base(path) != "chapter.txt" {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return paths
}

func (d *fixture) still(folder string) {
	d.t.Helper()
	if !d.there(folder) {
		d.t.Errorf("%s is gone", folder)
	}
}

func (d *fixture) gone(folder string) {
	d.t.Helper()
	if _, err := os.Lstat(filepath.Join(d.project, folder)); !errors.Is(err, os.ErrNotExist) {
		d.t.Errorf("%s is still there (%v)", folder, err)
	}
}

// changed are the arguments of the call that is asked about, with another command.
func (d *fixture) changed(op human.Operation, from, to string) json.RawMessage {
	d.t.Helper()
	var q human.Question
	if err := json.Unmarshal(op.Details, &q); err != nil {
		d.t.Fatal(err)
	}
	return json.RawMessage(strings.Replace(string(q.Args), from, to, 1))
}

// killHook kills the one hook that waits for an answer.
func (d *fixture) killHook() {
	d.t.Helper()
	var found []int
	d.wait("a hook to be there", func() bool {
		found = nil
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			d.t.Fatal(err)
		}
		for _, path := range all {
			text, err := os.ReadFile(path)
			args := strings.Split(string(text), "\x00")
			if err == nil && filepath.Base(args[0]) == "deskbell-hook" && slices.Contains(args, d.data) {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				if err != nil {
					d.t.Fatal(err)
				}
				found = append(found, pid)
			}
		}
		return len(found) > 0
	})
	if len(found) != 1 {
		d.t.Fatalf("%d hooks run", len(found))
	}
	if err := syscall.Kill(found[0], syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
}
