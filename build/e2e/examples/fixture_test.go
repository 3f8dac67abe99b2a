//go:build examples

// Package examples runs the examples of docs/examples as processes, in all their languages, and their adapters with the
// frameworks themselves, against a real Deskbell whose operator the test plays.
package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
	"deskbell/build/serving"
)

// patience is for what comes within a second or two where nothing else runs.
const patience = 2 * time.Minute

// folder is where the examples are.
const folder = "../../../docs/examples"

// goExamples is where TestMain leaves the Go examples, built.
var goExamples string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deskbell-examples-")
		if err == nil {
			defer os.RemoveAll(dir)
			goExamples = dir
			var out []byte
			out, err = exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", "../../../docs/examples/go/...").CombinedOutput()
			os.Stderr.Write(out)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the Go examples cannot be built:", err)
			return 1
		}
		return m.Run()
	}())
}

// languages are how an example of each is run.
var languages = map[string]func(t *testing.T, name string) []string{
	"go": func(_ *testing.T, name string) []string { return []string{filepath.Join(goExamples, name)} },
	"python": func(t *testing.T, name string) []string {
		return []string{"python3", "-B", file(t, "python", name+".py")}
	},
	"typescript": func(t *testing.T, name string) []string { return compiled(t, "typescript", name) },
}

// inEach runs a test of an example in each language, at the same time.
func inEach(t *testing.T, name string, test func(*testing.T, *fixture, []string)) {
	for language, how := range languages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t), how(t, name))
		})
	}
}

// compiled is how a program in TypeScript is run, which `make examples` has compiled.
func compiled(t *testing.T, dir, name string) []string {
	return []string{"node", file(t, ".compiled", dir, name+".js")}
}

func file(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{folder}, parts...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v; run this with `make examples`", err)
	}
	return path
}

// A fixture is a real Deskbell with its data folder and its operator, and an agent with a key.
type fixture struct {
	t          *testing.T
	bin, data  string
	url, key   string
	token      string // the operator's
	server     *process
	operator   *client.Client
	home, work string // where agents run
}

// agent is the name of every test's agent.
const agent = "example"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	bin := os.Getenv("DESKBELL_BIN")
	if bin == "" {
		t.Fatal("DESKBELL_BIN is not set; run this with `make examples`")
	}
	top := t.TempDir()
	d := &fixture{t: t, bin: bin, data: filepath.Join(top, "data"), home: filepath.Join(top, "home"), work: filepath.Join(top, "work")}
	for _, dir := range []string{d.home, d.work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.start("127.0.0.1:0")
	key, err := d.operator.AddAgent(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	d.key = key
	return d
}

// start starts the server and signs the operator in.
func (d *fixture) start(addr string) {
	d.t.Helper()
	cmd := exec.Command(d.bin, "serve", "--addr", addr, "--json")
	cmd.Env, cmd.Dir = append(d.env(), "DESKBELL_DATA="+d.data), d.work
	read, err := serving.Code(cmd)
	if err != nil {
		d.t.Fatal(err)
	}
	d.server = d.launch(cmd)
	ready, err := read()
	if err != nil {
		d.t.Fatalf("%v\n%s", err, d.server)
	}
	s, err := client.Login(d.t.Context(), ready.URL, ready.Code)
	if err != nil {
		d.t.Fatal(err)
	}
	d.url, d.token, d.operator = ready.URL, s.Token, client.New(ready.URL, s.Token)
	d.t.Cleanup(d.operator.Close)
}

// restart kills the server, as a crash would, and starts it again at the same address.
func (d *fixture) restart() {
	d.t.Helper()
	d.server.kill()
	d.start(strings.TrimPrefix(d.url, "http://"))
}

func (d *fixture) env() []string {
	return []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "PYTHONUNBUFFERED=1"}
}

// run starts an example as its header says, with further variables.
func (d *fixture) run(command []string, args ...string) *process {
	return d.runWith(nil, command, args...)
}

func (d *fixture) runWith(env, command []string, args ...string) *process {
	d.t.Helper()
	env = append(append(d.env(), "DESKBELL_URL="+d.url, "DESKBELL_KEY="+d.key), env...)
	return d.begin(env, d.work, append(slices.Clone(command), args...)...)
}

// wait waits until a condition holds.
func (d *fixture) wait(what string, condition func() bool) {
	d.t.Helper()
	if err := serving.Until(patience, what, condition); err != nil {
		d.t.Fatal(err)
	}
}

// open are the operations that have not ended.
func (d *fixture) open() []human.Operation {
	d.t.Helper()
	page, err := d.operator.List(d.t.Context(), client.Filter{Open: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return page.Operations
}

// all are all operations that there ever were, the newest first.
func (d *fixture) all() []human.Operation {
	d.t.Helper()
	page, err := d.operator.List(d.t.Context(), client.Filter{})
	if err != nil {
		d.t.Fatal(err)
	}
	return page.Operations
}

// asked waits for the one request of a process, and returns it whole.
func (d *fixture) asked(p *process) human.Operation {
	d.t.Helper()
	var open []human.Operation
	d.wait("a ring of "+p.cmd.String(), func() bool {
		open = d.open()
		return len(open) > 0 || p.over()
	})
	if len(open) != 1 {
		d.t.Fatalf("there are %d open operations\n%s", len(open), p)
	}
	return d.get(open[0].ID)
}

func (d *fixture) get(id human.OperationID) human.Operation {
	d.t.Helper()
	op, err := d.operator.Operation(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return op
}

// state waits until an operation is in a state, and returns it.
func (d *fixture) state(id human.OperationID, want human.State) (op human.Operation) {
	d.t.Helper()
	d.wait(fmt.Sprintf("%s to be %s", id, want), func() bool {
		op = d.get(id)
		return op.State == want
	})
	return op
}

// waited waits until the one request of a process is there and the process waits for the answer, and returns it: before it
// does, it has nothing to withdraw when it is interrupted.
func (d *fixture) waited(p *process) human.Operation {
	d.t.Helper()
	op := d.asked(p)
	d.wait(p.cmd.String()+" to wait", func() bool {
		r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+"/api/human/operations/"+string(op.ID), nil)
		if err != nil {
			d.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+d.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			d.t.Fatal(err)
		}
		defer answer.Body.Close()
		var seen struct{ Presence struct{ Waiting bool } }
		if err := json.NewDecoder(answer.Body).Decode(&seen); err != nil {
			d.t.Fatal(err)
		}
		return seen.Presence.Waiting || p.over()
	})
	return op
}

func (d *fixture) complete(op human.Operation, a human.Answer) {
	d.t.Helper()
	if _, err := d.operator.Complete(d.t.Context(), op.ID, a, op.Digest); err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) approve(op human.Operation, words string) {
	d.t.Helper()
	d.complete(op, human.Answer{Decision: human.Approved, HumanInput: words})
}

func (d *fixture) deny(op human.Operation, words string) {
	d.t.Helper()
	d.complete(op, human.Answer{Decision: human.Refused, HumanInput: words})
}

func (d *fixture) decline(op human.Operation, reason string) {
	d.t.Helper()
	if _, err := d.operator.Decline(d.t.Context(), op.ID, reason); err != nil {
		d.t.Fatal(err)
	}
}

// asks asks the agent something, waits for its reply, and returns that.
func (d *fixture) asks(op human.Operation, question string) string {
	d.t.Helper()
	if _, err := d.operator.Reply(d.t.Context(), op.ID, question); err != nil {
		d.t.Fatal(err)
	}
	var last human.Message
	d.wait("a reply to "+question, func() bool {
		last = human.Message{}
		if all := d.get(op.ID).Messages; len(all) > 0 {
			last = all[len(all)-1]
		}
		return last.By.Role == human.Agent
	})
	return last.Text
}

// details are an operation's.
func details(t *testing.T, op human.Operation) (all struct {
	Action, Tool, Reason string
	Risk                 string `json:"risk_level"`
	Args                 json.RawMessage
}) {
	t.Helper()
	if err := json.Unmarshal(op.Details, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// ends waits for the end of a process, which must be with this code, and returns what it printed.
func (d *fixture) ends(p *process, code int) string {
	d.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		d.t.Fatalf("it does not end\n%s", p)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		d.t.Fatalf("it ended with %d instead of %d\n%s", got, code, p)
	}
	return p.out.String()
}

// says checks that a text has these parts, in this order.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%q is missing, or comes too early, in\n%s", part, text)
			return
		}
		rest = after
	}
}

// saysNot checks that a text has none of these parts.
func saysNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}

// A process ends with its test, and all that it started.
type process struct {
	cmd       *exec.Cmd
	out, errs output
	ended     chan struct{}
}

func (p *process) String() string {
	return fmt.Sprintf("%s\nprinted:\n%s\nand complained:\n%s", p.cmd, p.out.String(), p.errs.String())
}

// An output collects what a process writes.
type output struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.lock.Lock()
	defer o.lock.Unlock()
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
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
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

// line waits for a line that begins so, and returns the rest of the first.
func (d *fixture) line(p *process, beginning string) (rest string) {
	d.t.Helper()
	found := false
	look := func() bool {
		for line := range strings.Lines(p.out.String()) {
			if strings.HasPrefix(line, beginning) && strings.HasSuffix(line, "\n") {
				rest, found = strings.TrimSpace(line), true
				return true
			}
		}
		return false
	}
	d.wait(fmt.Sprintf("%q of %s", beginning, p.cmd), func() bool { return look() || p.over() })
	if !found && !look() {
		d.t.Fatalf("it ended without %q\n%s", beginning, p)
	}
	return rest
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// signal sends it a signal, as Ctrl+C does.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil {
		t.Fatal(err)
	}
}

// kill ends it as a crash would, with all of its group.
func (p *process) kill() {
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		panic(err) // none may be left
	}
	<-p.ended
}
