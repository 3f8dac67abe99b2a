//go:build attacks

package attacks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/app"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	config "deskbell/backend/store/settings"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/client"
	"deskbell/build/serving"
)

const (
	// marker is in the environment of everything that an attack starts.
	marker    = "DESKBELL_ATTACK"
	attacking = "DESKBELL_ATTACKER"
	asRinger  = "ringer" // a value of it
	program   = "DESKBELL_ATTACKED_PROGRAM"
	data      = "DESKBELL_ATTACKED_DATA"
	top       = "DESKBELL_ATTACKS_TOP"

	othersWords  = "Forty-two orchids bloom at noon"
	revokedWords = "orchids-for-the-revoked"
	modelKey     = "sk-canary-7f3a9c51d2"
	nobody       = 65534
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(attacking) == asRinger:
		runRinger()
	case os.Getenv(attacking) != "":
		runAttacker()
	case os.Getenv(top) == "":
		os.Exit(again())
	default:
		// What an attack leaves behind becomes this process's child, as it would become init's.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			panic(err)
		}
		code := m.Run()
		pool.close()
		os.Exit(code)
	}
}

// again runs these tests with copies of the programs, which attacks may change, and as an ordinary user: root passes every wall.
func again() int {
	dir, err := os.MkdirTemp("", "attacks")
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	check(os.Chmod(dir, 0o755))
	bin := os.Getenv("DESKBELL_BIN")
	if bin == "" {
		fmt.Fprintln(os.Stderr, "DESKBELL_BIN is not set; run this with `make attacks`")
		return 1
	}
	self, err := os.Executable()
	check(err)
	for name, from := range map[string]string{"deskbell": bin, "deskbell-hook": filepath.Join(filepath.Dir(bin), "deskbell-hook"), "attacks": self} {
		raw, err := os.ReadFile(from)
		check(err)
		check(os.WriteFile(filepath.Join(dir, name), raw, 0o755))
	}
	recipe, err := os.ReadFile("../../docs/examples/container/agent-in-container")
	check(err)
	check(os.WriteFile(filepath.Join(dir, "agent-in-container"), recipe, 0o755)) //nolint:gosec // a program
	if !pageIsTrue() {
		return 1
	}
	check(os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile") })
	cmd := exec.Command(filepath.Join(dir, "attacks"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp"), top + "=" + dir}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		for _, name := range []string{"tmp", "deskbell", "deskbell-hook", "attacks"} {
			check(os.Chown(filepath.Join(dir, name), nobody, nobody))
		}
	}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A fixture is a Deskbell with its data folder, a home with the hook, and a project for the agent to work in.
type fixture struct {
	dir, bin, home, data, project, loot, treasure string

	server   *exec.Cmd
	ended    chan struct{} // closed when it has
	url      string
	operator *client.Client
	token    string
	secrets  map[string]string // what no agent may read, by what it is
	sums     map[string][32]byte
	keeps    []*exec.Cmd // what ends with it
	names    map[string]string
	turn     int  // how many attacks it has seen
	inside   bool // the agent runs in the operator's terminal
	began    time.Time
	proves   bool // a PIN is set up
	allow    allowing
	stop     context.CancelFunc
	answers  sync.WaitGroup
}

// allowing is how many more questions the operator allows, after a script.
type allowing struct {
	sync.Mutex
	questions int
	meanwhile func()
	refused   []string // what else went wrong with an answer
}

var fixtures, displays int
var fixturesLock sync.Mutex

func newFixture(ctx context.Context) (f *fixture, err error) {
	fixturesLock.Lock()
	fixtures++
	dir := filepath.Join(os.Getenv("TMPDIR"), fmt.Sprintf("f%d", fixtures))
	fixturesLock.Unlock()
	f = &fixture{dir: dir, bin: dir + "/bin", home: dir + "/home", data: dir + "/data"}
	for _, d := range []string{f.bin, f.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	from := os.Getenv(top)
	for _, name := range []string{"/deskbell", "/attacks"} {
		if err := os.Link(from+name, f.bin+name); err != nil {
			return nil, err
		}
	}
	if err := f.restoreHook(); err != nil {
		return nil, err
	}
	if err := f.start(ctx); err != nil {
		return nil, err
	}
	if _, err := f.run(f.bin+"/deskbell", "hook", "install", "claude-code", "--yes", "--data", f.data); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(f.data + "/hooks/claude-code.key")
	if err != nil {
		return nil, err
	}
	f.secrets["the hook's key"] = strings.TrimSpace(string(key))
	f.sums = f.fingerprints()
	return f, nil
}

func (f *fixture) restoreHook() error {
	raw, err := os.ReadFile(os.Getenv(top) + "/deskbell-hook")
	if err != nil {
		return err
	}
	return os.WriteFile(f.bin+"/deskbell-hook", raw, 0o700)
}

func (f *fixture) env() []string {
	return []string{"HOME=" + f.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm", "TMPDIR=" + f.dir, "USER=somebody", "SHELL=/bin/bash"}
}

func (f *fixture) run(args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir = f.env(), cmp.Or(f.project, f.home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%q: %w\n%s", args, err, out)
	}
	return string(out), err
}

// start starts the server and signs the operator in, who from then on denies what is asked.
func (f *fixture) start(ctx context.Context) error {
	cmd := exec.Command(f.bin+"/deskbell", "serve", "--json", "--addr", "127.0.0.1:0", "--data", f.data, "--set", "server.check_callers=true")
	cmd.Env, cmd.Dir = append(f.env(), "DESKBELL_MODEL_KEY="+modelKey), f.dir
	read, err := serving.Code(cmd)
	if err != nil {
		return err
	}
	var line, errs bytes.Buffer
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = &errs
	err = cmd.Start()
	ready, notReady := read()
	if err != nil {
		return err
	}
	if notReady == nil {
		_, notReady = io.CopyN(&line, out, 1)
	}
	if notReady != nil {
		_ = cmd.Process.Kill() // it may have ended
		return fmt.Errorf("%w: %s", notReady, errs.String())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, out) // until the server ends
		_ = cmd.Wait()                  // how does not matter
	}()
	s, err := client.Login(ctx, ready.URL, ready.Code)
	if err != nil {
		return err
	}
	f.server, f.ended, f.url, f.operator, f.token = cmd, ended, ready.URL, client.New(ready.URL, s.Token), s.Token
	if f.secrets == nil {
		f.secrets = map[string]string{"another agent's words": othersWords, "the model's key": modelKey}
	}
	f.secrets["the operator's token"] = s.Token
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	op := f.operator
	f.answers.Go(func() {
		for e, err := range op.Follow(follow, 0) {
			if err != nil {
				return
			}
			f.answer(follow, op, e.ID)
		}
	})
	return nil
}

// answer answers a question of the gatekeeper, where that is one and it waits.
func (f *fixture) answer(ctx context.Context, operator *client.Client, id human.OperationID) {
	op, err := operator.Operation(ctx, id)
	if err != nil || op.Kind != human.Permission || op.State.Terminal() {
		return
	}
	f.allow.Lock()
	defer f.allow.Unlock()
	choice := service.AnswerRequest{Choice: human.ChooseDeny, Digest: op.Digest, Reason: "no"}
	if f.allow.questions > 0 {
		f.allow.questions--
		if f.allow.meanwhile != nil {
			f.allow.meanwhile()
		}
		choice.Choice = human.ChooseAllow
	}
	if _, err := operator.AnswerQuestion(ctx, id, choice); err != nil {
		f.allow.refused = append(f.allow.refused, err.Error())
	}
}

// agents makes the keys and requests that attacks are about.
func (f *fixture) agents(ctx context.Context) error {
	u, err := url.Parse(f.url)
	if err != nil {
		return err
	}
	f.turn++
	f.began = time.Now()
	// A project of its own: trust in the last one, where all was denied, is gone.
	f.project = fmt.Sprintf("%s/project-%d", f.dir, f.turn)
	f.loot, f.treasure = f.project+"/loot", f.project+"/treasure"
	name := func(who string) string { return fmt.Sprintf("%s-%d", who, f.turn) }
	f.names = map[string]string{
		"bell": f.bin + "/deskbell", "hook": f.bin + "/deskbell-hook", "bin": f.bin, "data": f.data, "home": f.home, "project": f.project,
		"top": f.dir, "loot": f.loot, "treasure": f.treasure, "url": f.url, "port": u.Port(), "pid": strconv.Itoa(f.server.Process.Pid),
		"mine": name("mine"), "other's": name("other"), "spare's": name("spare"),
	}
	for _, agent := range []struct{ key, op, name, words string }{
		{"key", "op", "coder", "Push to main?"},
		{"otherkey", "other", "other", othersWords},
		{"spare", "spareop", "spare", "Which name?"},
	} {
		key, err := f.operator.AddAgent(ctx, name(agent.name))
		if err != nil {
			return err
		}
		ring := client.Ring{Kind: human.Approve, Description: agent.words, Details: json.RawMessage(`{"action":"git push --force origin main","risk_level":"high"}`)}
		if agent.name != "coder" {
			ring = client.Ring{Kind: human.Feedback, Description: agent.words}
		}
		op, err := f.rings(key, ring)
		if err != nil {
			return err
		}
		f.names[agent.key], f.names[agent.op] = key, string(op.ID)
		if agent.name == "coder" {
			f.names["digest"] = op.Digest
		}
		if agent.name == "other" {
			f.secrets["another agent's key"] = key
		}
	}
	return nil
}

// A sending is a request that a process of its own sends: who uses an agent's key is an agent to Deskbell, with all its children, and
// this process is the operator and the parent of all.
type sending struct {
	URL, Key string
	Ring     client.Ring
}

func (f *fixture) rings(key string, ring client.Ring) (op human.Operation, err error) {
	request, err := json.Marshal(sending{f.url, key, ring})
	if err != nil {
		return op, err
	}
	cmd := exec.Command(f.bin + "/attacks")
	cmd.Env, cmd.Stdin, cmd.Stderr = append(f.env(), attacking+"="+asRinger), bytes.NewReader(request), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return op, err
	}
	return op, json.Unmarshal(out, &op)
}

func runRinger() {
	var r sending
	err := json.NewDecoder(os.Stdin).Decode(&r)
	if err == nil {
		var op human.Operation
		if op, _, err = client.New(r.URL, r.Key).Invoke(context.Background(), r.Ring); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(op)
		}
	}
	if err != nil {
		panic(err)
	}
}

// fingerprints are of the files by which an attack shows that it was here.
func (f *fixture) fingerprints() map[string][32]byte {
	sums := map[string][32]byte{}
	for _, path := range []string{f.data + "/gate.toml", f.data + "/server.json", f.data + "/config.toml", f.data + "/phones.json", f.data + "/phones.key", f.data + "/hooks/claude-code.key", f.bin + "/deskbell", f.bin + "/deskbell-hook",
		f.home + "/.claude/settings.json"} {
		if raw, err := os.ReadFile(path); err == nil {
			sums[path] = sha256.Sum256(raw)
		}
	}
	if link, err := os.Lstat(f.data + "/deskbell.sock"); err == nil {
		sums["socket"] = sha256.Sum256(fmt.Append(nil, link.ModTime()))
	}
	return sums
}

// clean says whether nothing is left of an attack but what the next one makes again.
func (f *fixture) clean() bool {
	return f.alive() && !f.proves && fmt.Sprint(f.sums) == fmt.Sprint(f.fingerprints()) && len(f.keeps) == 0
}

func (f *fixture) alive() bool {
	select {
	case <-f.ended:
		return false
	default:
		return true
	}
}

// dies says whether the server ends within the time that an orderly end takes.
func (f *fixture) dies() bool {
	select {
	case <-f.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// namespaces says whether this user may make namespaces. Not every system lets an ordinary user, and none does within a chroot.
var namespaces = sync.OnceValue(func() bool { return exec.Command("unshare", "--user", "--map-root-user", "true").Run() == nil })

// halt ends the server, in order or at once.
func (f *fixture) halt(s syscall.Signal) {
	f.stop()
	f.answers.Wait()
	_ = f.server.Process.Signal(s) // it may have ended
	<-f.ended
	f.operator.Close()
}

func (f *fixture) close() {
	f.halt(syscall.SIGKILL)
	if _, err := os.Stat(f.home + "/tmux"); err == nil {
		_ = exec.Command("tmux", "-S", f.home+"/tmux", "kill-server").Run() // it may have ended; the first client may have begun another one
	}
	for _, cmd := range f.keeps {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // how does not matter
	}
	_ = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error { // whatever an attack did to the modes
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a folder
		}
		return nil
	})
	_ = os.RemoveAll(f.dir) // all of them are deleted in the end
}

// prepare makes the place that an attack finds.
func (f *fixture) prepare(ctx context.Context, a attack) error {
	if a.place.stepUp {
		if err := f.stepUp(ctx); err != nil {
			return err
		}
	}
	if err := f.agents(ctx); err != nil {
		return err
	}
	if a.place.code {
		code, _, err := f.operator.NewCode(ctx, "")
		if err != nil {
			return err
		}
		f.names["code"] = code
	}
	for _, dir := range []string{f.loot, f.treasure} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{f.treasure + "/chapter.txt": "No commit has these words.\n", f.project + "/README.md": "A project.\n", f.project + "/.gitignore": "loot\n"}
	for name, text := range a.place.files {
		files[filepath.Join(f.project, name)] = f.fill(text)
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if _, err := f.run("sh", "-c", "git init -q -b main && git add README.md .gitignore && git -c user.name=S -c user.email=s@example.com commit -qm first"); err != nil {
		return err
	}
	if a.place.rules != "" {
		if err := os.WriteFile(f.data+"/gate.toml", []byte(a.place.rules), 0o600); err != nil {
			return err
		}
	}
	if a.place.trusted {
		keys, err := f.run(f.bin+"/deskbell", "receipts", "key", "--json", "--data", f.data)
		if err == nil {
			err = os.WriteFile(f.home+"/trusted.json", []byte(keys), 0o600)
		}
		if err != nil {
			return err
		}
	}
	if f.inside = a.place.inside; a.place.terminal || f.inside {
		if err := f.terminal(); err != nil {
			return err
		}
	}
	if a.place.display {
		if err := f.display(); err != nil {
			return err
		}
	}
	if a.place.down {
		f.halt(syscall.SIGTERM)
	}
	return nil
}

// stepUp sets a PIN, as the operator does in the window, while the server is ended.
func (f *fixture) stepUp(ctx context.Context) error {
	f.proves = true
	f.halt(syscall.SIGTERM)
	c, err := config.Load(config.Options{Dir: f.data, Flags: map[string]string{"server.addr": "127.0.0.1:0"}, Env: func() []string { return nil }})
	if err != nil {
		return err
	}
	window, err := app.Open(ctx, app.Config{Dir: f.data, Config: c, Version: "test", InApp: true, Errors: io.Discard})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- window.Run(ctx) }()
	<-window.Ready()
	for _, call := range [][2]string{ // the policy first: with a PIN it needs that
		{"/policy", `{"answers":"high","rules":false,"keys":false,"gatekeeper":false}`}, {"/pin", `{"pin":"` + thePIN + `"}`},
	} {
		err = errors.Join(err, put(ctx, window.URL()+"/api/stepup"+call[0], window.WindowToken(), call[1]))
	}
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	return f.start(context.WithoutCancel(ctx))
}

// put makes a call that has to succeed.
func put(ctx context.Context, url, token, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	if resp != nil {
		_ = resp.Body.Close() // its status is enough
	}
	return err
}

// audited says what Deskbell's own doctor says about the journal.
func (f *fixture) audited() string {
	out, _ := f.run(f.bin+"/deskbell", "doctor", "--data", f.data) // it fails where anything is wrong
	for line := range strings.Lines(out) {
		if strings.Contains(line, "journal") {
			return line
		}
	}
	return "nothing"
}

// keep starts a program that ends with the fixture.
func (f *fixture) keep(cmd *exec.Cmd) error {
	cmd.Env = append(slices.Clone(f.env()), cmd.Env...)
	cmd.Dir = f.home
	if err := cmd.Start(); err != nil {
		return err
	}
	f.keeps = append(f.keeps, cmd)
	return nil
}

// terminal opens the operator's terminal in tmux, and signs in there.
func (f *fixture) terminal() error {
	if err := f.keep(exec.Command("tmux", "-D", "-f", "/dev/null", "-S", f.home+"/tmux")); err != nil {
		return err
	}
	if err := serving.Until(patience, "tmux", func() bool {
		_, err := f.run("tmux", "-S", f.home+"/tmux", "new-session", "-d", "-x", "200", "bash --norc")
		return err == nil
	}); err != nil {
		return err
	}
	tty, err := f.run("tmux", "-S", f.home+"/tmux", "display-message", "-p", "#{pane_tty}")
	if err != nil {
		return err
	}
	f.names["tty"] = strings.TrimSpace(tty)
	code, _, err := f.operator.NewCode(context.Background(), "")
	if err != nil {
		return err
	}
	f.secrets["a code"] = code
	for _, keys := range []string{f.bin + "/deskbell login " + code + " --data " + f.data, "echo $? > " + f.home + "/in"} {
		if _, err := f.run("tmux", "-S", f.home+"/tmux", "send-keys", keys, "Enter"); err != nil {
			return err
		}
	}
	return serving.Until(patience, "the operator's login", func() bool {
		raw, err := os.ReadFile(f.home + "/in")
		return err == nil && len(raw) > 0
	})
}

// display starts an X server with a terminal that waits for a line.
func (f *fixture) display() error {
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it is only read
	// Far from the numbers that others use: the socket of a server that was killed stays, and only its owner can remove it.
	fixturesLock.Lock()
	displays++
	want := fmt.Sprintf(":%d", 1000+os.Getpid()%20000+displays)
	fixturesLock.Unlock()
	x := exec.Command("Xvfb", want, "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")
	x.ExtraFiles = []*os.File{to}
	if err := f.keep(x); err != nil {
		return err
	}
	_ = to.Close() // the server has its own
	var number int
	if _, err := fmt.Fscan(from, &number); err != nil {
		return err
	}
	f.names["display"] = fmt.Sprintf(":%d", number)
	xterm := exec.Command("xterm", "-e", "sh", "-c", "read x; touch "+f.loot+"/pressed; cat")
	xterm.Env, xterm.Stderr = []string{"DISPLAY=" + f.names["display"]}, os.Stderr
	if err := f.keep(xterm); err != nil {
		return err
	}
	return serving.Until(patience, "its window", func() bool {
		_, err := f.run("env", "DISPLAY="+f.names["display"], "xdotool", "search", "--onlyvisible", "--class", "xterm")
		return err == nil
	})
}

func (f *fixture) fill(text string) string {
	pairs := make([]string, 0, 2*len(f.names))
	for name, value := range f.names {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (f *fixture) fillAll(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var filled any
	if err := json.Unmarshal([]byte(f.fill(string(raw))), &filled); err != nil {
		panic(err)
	}
	return filled
}

// taken says what an attack has done to the agents' keys: a new one of its own, or one of another agent's revoked.
func (f *fixture) taken(ctx context.Context) (string, error) {
	var text strings.Builder
	status, err := f.get(ctx, f.token, "/api/agents", &text)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the list of keys: %d %s", status, text.String())
	}
	var list api.AgentList
	if err == nil {
		err = json.Unmarshal([]byte(text.String()), &list)
	}
	for _, a := range list.Agents {
		if a.Name == f.names["mine"] {
			return "it has a key of its own", err
		}
		if a.Name == f.names["other's"] && a.RevokedAt != nil {
			return "it revoked another agent's key", err
		}
	}
	return "", err
}

// attempts says whether the operator's list of attempts has one of the agent's process since the attack began.
func (f *fixture) attempts(ctx context.Context) (bool, error) {
	var text strings.Builder
	if status, err := f.get(ctx, f.token, "/api/attempts", &text); err != nil || status != http.StatusOK {
		return false, fmt.Errorf("the list of attempts: %d %s %w", status, text.String(), err)
	}
	var list api.AttemptList
	if err := json.Unmarshal([]byte(text.String()), &list); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Attempts, func(a human.Attempt) bool { return a.LastAt.After(f.began) }), nil
}

// get asks the server, wherever it is now.
func (f *fixture) get(ctx context.Context, token, path string, into io.Writer) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+path, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	_, err = io.Copy(into, resp.Body)
	return resp.StatusCode, err
}

// An agent is one attacker's process.
type agent struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
	end io.Closer
}

func (f *fixture) agent(id string, m mode) (*agent, error) {
	cmd := exec.Command(f.bin + "/attacks")
	env := append(f.env(), attacking+"=1", marker+"="+id, program+"="+f.bin+"/deskbell", data+"="+f.data)
	if d := f.names["display"]; d != "" {
		env = append(env, "DISPLAY="+d)
	}
	if m == contained {
		own := f.dir + "/agents-home"
		if err := os.MkdirAll(own, 0o700); err != nil {
			return nil, err
		}
		cmd = exec.Command(os.Getenv(top)+"/agent-in-container", f.project, own, "env", attacking+"=1", marker+"="+id, f.bin+"/attacks")
		env = append(env, "PATH="+f.bin+":"+os.Getenv("PATH"), "DESKBELL_SOCKET="+f.data+"/deskbell.sock", "DESKBELL_KEY="+f.names["key"])
	}
	if f.inside && m != contained {
		return f.agentInside(cmd.Path, env)
	}
	cmd.Dir, cmd.Env, cmd.Stderr = f.project, env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &agent{cmd: cmd, in: json.NewEncoder(in), out: json.NewDecoder(out), end: in}, cmd.Start()
}

// agentInside is an agent that the operator starts in their own terminal.
func (f *fixture) agentInside(program string, env []string) (*agent, error) {
	var pipes [2]*os.File
	for i, name := range []string{f.dir + "/to", f.dir + "/from"} {
		if err := unix.Mkfifo(name, 0o600); err != nil {
			return nil, err
		}
		var err error
		if pipes[i], err = os.OpenFile(name, os.O_RDWR, 0); err != nil { // so that neither side waits for the other
			return nil, err
		}
	}
	script := "cd " + f.project + "\nexec env -i '" + strings.Join(env, "' '") + "' " + program + " < " + f.dir + "/to > " + f.dir + "/from\n"
	if err := os.WriteFile(f.home+"/agent.sh", []byte(script), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("tmux", "-S", f.home+"/tmux", "send-keys", "sh "+f.home+"/agent.sh", "Enter")
	cmd.Env, cmd.Stderr = f.env(), os.Stderr
	return &agent{cmd: cmd, in: json.NewEncoder(pipes[0]), out: json.NewDecoder(pipes[1]), end: pipes[0]}, cmd.Start()
}

func (a *agent) call(c call) (r result, err error) {
	if err = a.in.Encode(c); err == nil {
		err = a.out.Decode(&r)
	}
	return r, err
}

func (a *agent) close() {
	_ = a.end.Close() // it ends then
	_ = a.cmd.Wait()  // how does not matter
}

// sweep ends what an attack has left running: what has its marker, and a server on the data folder that is not the fixture's.
func (f *fixture) sweep(id string) {
	var left []int
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err)
	}
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err == nil && slices.Contains(strings.Split(string(raw), "\x00"), marker+"="+id) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				left = append(left, pid)
			}
		}
	}
	if pid := f.listed().PID; pid > 1 && pid != f.server.Process.Pid {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || strings.HasPrefix(exe, f.dir) {
			left = append(left, pid)
		}
	}
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		_, _ = syscall.Wait4(pid, nil, 0, nil) // it may be another's child
	}
}

// listed is what server.json says.
func (f *fixture) listed() (s struct {
	PID int
	URL string
}) {
	raw, err := os.ReadFile(f.data + "/server.json")
	if err == nil {
		_ = json.Unmarshal(raw, &s) // an attack may have written anything
	}
	return s
}

// The pool keeps fixtures that the last attack has left as they were.
type fixturePool struct {
	sync.Mutex
	free []*fixture
}

var pool fixturePool

func (p *fixturePool) get(t *testing.T) *fixture {
	t.Helper()
	p.Lock()
	if n := len(p.free); n > 0 {
		f := p.free[n-1]
		p.free = p.free[:n-1]
		p.Unlock()
		return f
	}
	p.Unlock()
	f, err := newFixture(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (p *fixturePool) put(f *fixture) {
	if !f.clean() {
		f.close()
		return
	}
	p.Lock()
	defer p.Unlock()
	p.free = append(p.free, f)
}

func (p *fixturePool) close() {
	for _, f := range p.free {
		f.close()
	}
}
