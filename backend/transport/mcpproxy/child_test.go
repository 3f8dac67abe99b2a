//go:build unix

package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

var allowAll = says(human.Judgement{Decision: human.Allow})

// A running proxy, with its client's ends of the pipes.
type running struct {
	t       testing.TB
	in      io.WriteCloser
	out     *bufio.Reader
	errs    *buffer
	signals chan os.Signal
	ended   chan ending
	stop    context.CancelFunc
}

type ending struct {
	code int
	err  error
}

// A buffer is written by one goroutine and read by another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func run(t testing.TB, judge Judge, opts Options, command ...string) *running {
	t.Helper()
	in, toProxy := io.Pipe()
	fromProxy, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{t: t, in: toProxy, out: bufio.NewReaderSize(fromProxy, 1<<20), errs: &buffer{}, signals: make(chan os.Signal, 8), ended: make(chan ending, 1), stop: stop}
	go func() {
		code, err := Child{Command: command, In: in, Out: out, Err: r.errs, Signals: r.signals}.Serve(ctx, judge, opts)
		_ = out.Close()
		_ = in.CloseWithError(io.ErrClosedPipe)
		r.ended <- ending{code, err}
	}()
	t.Cleanup(func() {
		stop()
		_ = fromProxy.Close()
		_ = toProxy.Close()
		select {
		case <-r.ended:
		default:
		}
	})
	return r
}

func (r *running) send(raw string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, raw); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) next() string {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil && line == "" {
		r.t.Fatalf("the proxy said nothing more: %v; %s", err, r.errs)
	}
	return line
}

func (r *running) end() ending {
	r.t.Helper()
	select {
	case e := <-r.ended:
		return e
	case <-time.After(30 * time.Second):
		r.t.Fatal("the proxy did not end")
		panic("unreachable")
	}
}

func TestWhatIsNoCallPassesByteForByte(t *testing.T) {
	r := run(t, says(human.Judgement{Decision: human.Deny, Message: "no"}), Options{}, server(t, "mirror")...)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n",
		`{"method":"notifications/initialized","jsonrpc":"2.0"}` + "\r\n",
		` {  "jsonrpc" : "2.0" , "id":"a\u0062","method":"server/discover" } ` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"nobody/knows","params":{"x":1E400,"y":[[[]]]}}` + "\n",
		`{"jsonrpc":"2.0","id":1e3,"result":{"action":"accept"}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}` + "\n",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"reason":"x"}}` + "\n",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}` + "\n",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]` + "\n",
		"\n", "  \r\n", "null\n", `"text"` + "\n",
		`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"` + strings.Repeat("é", 100_000) + `"}}` + "\n",
		`{"jsonrpc":"2.0","id":6,"result":"` + strings.Repeat("0123456789", 1<<20) + `"}` + "\n",
	} {
		go r.send(line)
		if got := r.next(); got != line {
			t.Fatalf("%.200q became %.200q", line, got)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","name":"y"}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":\r{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"},\"params\":{}}\r}",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"`,
	} {
		r.send(line + "\n")
		got := r.next()
		if strings.Contains(got, "tools/call") && !strings.Contains(line, "\r") {
			t.Errorf("%s passed: %s", line, got)
		}
		if strings.Contains(strings.TrimSuffix(got, "\n"), "\r") {
			t.Errorf("a line that some servers end passed: %q", got)
		}
	}
	_ = r.in.Close()
	if e := r.end(); e.code != 0 || e.err != nil {
		t.Errorf("%+v", e)
	}
}

func TestAnAllowedCallPassesByteForByteAndInOrder(t *testing.T) {
	r := run(t, allowAll, Options{Orderly: time.Minute}, server(t, "mirror")...) // on a slow machine, too
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf(` {"jsonrpc":"2.0", "id":%d,"method":"tools\/call","params":{"arguments":{"n":%d.0},"name":"x"}}`+"\n", i, i),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`+"\n", i))
	}
	go r.send(strings.Join(all, ""))
	for _, line := range all {
		if got := r.next(); got != line {
			t.Fatalf("%q became %q", line, got)
		}
	}
	// The last line may lack its end, and the input with it.
	r.send(aCall)
	_ = r.in.Close()
	if got := r.next(); got != aCall {
		t.Errorf("%q", got)
	}
	r.end()
}

func TestOthersPassWhileACallWaits(t *testing.T) {
	op := newOperator()
	r := run(t, op, Options{Beat: time.Hour}, server(t, "mirror")...)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t"}}}` + "\n"
	r.send(call)
	if got := r.next(); !strings.Contains(got, `"notifications/progress"`) || !strings.Contains(got, `"progressToken":"t"`) {
		t.Fatal(got)
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
	r.send(ping)
	if got := r.next(); got != ping {
		t.Fatal(got)
	}
	op.answers <- human.Judgement{Decision: human.Allow}
	if got := r.next(); got != call {
		t.Fatal(got)
	}
	// The same id is free again; while it is not, a second call with it is refused.
	r.send(call)
	r.next()
	r.send(call)
	if got := r.next(); !strings.Contains(got, `"error"`) {
		t.Error(got)
	}
	// Taken back: neither the call nor that reaches the server, nor does an answer come.
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0}}` + "\n")
	r.send(ping)
	if got := r.next(); got != ping {
		t.Error(got)
	}
	op.answers <- human.Judgement{Decision: human.Deny, Message: "late"}
	_ = r.in.Close()
	if rest, _ := io.ReadAll(r.out); len(rest) > 0 {
		t.Errorf("%s", rest)
	}
	r.end()
}

func TestTheEndOfTheInputEndsAQuestion(t *testing.T) {
	op := newOperator()
	r := run(t, op, Options{}, server(t, "mirror")...)
	r.send(aCall + "\n")
	_ = r.in.Close()
	if got := r.next(); !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
	if e := r.end(); e.err != nil || e.code != 0 {
		t.Errorf("%+v", e)
	}
}

func TestTheServersEndIsTheProxys(t *testing.T) {
	r := run(t, allowAll, Options{}, "sh", "-c", "echo out; echo err >&2; exit 9")
	if got := r.next(); got != "out\n" {
		t.Error(got)
	}
	if e := r.end(); e.code != 9 || e.err != nil || r.errs.String() != "err\n" {
		t.Errorf("%+v %s", e, r.errs)
	}
	r = run(t, allowAll, Options{}, "sh", "-c", "kill -9 $$")
	if e := r.end(); e.code != 137 || e.err != nil {
		t.Errorf("%+v", e)
	}
	r = run(t, allowAll, Options{}, filepath.Join(t.TempDir(), "nothing"))
	if e := r.end(); human.KindOf(e.err) != human.Invalid {
		t.Errorf("%+v", e)
	}
}

func TestSignalsReachTheServer(t *testing.T) {
	r := run(t, allowAll, Options{}, server(t, "stubborn")...)
	if got := r.next(); got != "ready\n" {
		t.Fatal(got)
	}
	r.signals <- syscall.SIGUSR1
	if got := r.next(); !strings.Contains(got, "user defined") {
		t.Error(got)
	}
	r.signals <- syscall.SIGPIPE // is our own affair
	r.signals <- syscall.SIGTERM
	if got := r.next(); !strings.Contains(got, "terminated") {
		t.Error(got)
	}
	if e := r.end(); e.code != 5 {
		t.Errorf("%+v", e)
	}
}

func TestAServerThatDoesNotEndWithItsInputIsEnded(t *testing.T) {
	r := run(t, allowAll, Options{Grace: 10 * time.Millisecond}, server(t, "stubborn")...)
	r.next()
	_ = r.in.Close() // and what the server says then is read by nobody
	if e := r.end(); e.code != 5 || e.err != nil {
		t.Errorf("%+v", e)
	}
}

func TestAServerThatHearsNothingIsKilled(t *testing.T) {
	t.Setenv("DESKBELL_TEST_DEAF", "yes")
	r := run(t, allowAll, Options{Grace: 10 * time.Millisecond}, server(t, "stubborn")...)
	r.next()
	r.stop()
	if e := r.end(); e.code != 137 || e.err != nil {
		t.Errorf("%+v", e)
	}
}

func alive(pid int) bool {
	// A process that has ended and was not waited for counts as ended.
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

// until waits until something is so, for 20 seconds at most.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		if is() {
			return
		}
	}
	t.Fatalf("waited in vain until %s", what)
}

func TestNoProcessStays(t *testing.T) {
	r := run(t, allowAll, Options{}, server(t, "parent")...)
	pid, err := strconv.Atoi(strings.TrimSpace(r.next()))
	if err != nil || !alive(pid) {
		t.Fatal(pid, err)
	}
	_ = r.in.Close()
	if e := r.end(); e.err != nil {
		t.Errorf("%+v", e)
	}
	until(t, "what the server started has ended", func() bool { return !alive(pid) })
}

func TestAKilledProxyTakesItsServerWithIt(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ends children with their parent")
	}
	command := server(t, "proxy")
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	children := func() []int {
		text, _ := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(cmd.Process.Pid)).Output()
		var pids []int
		for _, f := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(f)
			pids = append(pids, pid)
		}
		return pids
	}
	servers := children()
	if len(servers) == 0 {
		t.Fatal("it has no server")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, "the server has ended", func() bool { return !slices.ContainsFunc(servers, alive) })
}

func TestAMessageThatIsTooLongEndsWithAClearError(t *testing.T) {
	r := run(t, allowAll, Options{}, server(t, "mirror")...)
	go func() {
		part := strings.Repeat(" ", 1<<20)
		for range maxMessage>>20 + 1 {
			if _, err := io.WriteString(r.in, part); err != nil {
				return
			}
		}
		_ = r.in.Close()
	}()
	if e := r.end(); e.err == nil || !strings.Contains(e.err.Error(), "64 MiB") {
		t.Errorf("%+v", e)
	}
	r = run(t, allowAll, Options{}, "sh", "-c", "head -c 70000000 /dev/zero; cat")
	if e := r.end(); e.err == nil || !strings.Contains(e.err.Error(), "64 MiB") {
		t.Errorf("%+v", e)
	}
}

// A session is what a client saw.
type session struct {
	Tools    []*mcp.Tool
	Results  []string
	Progress []float64
	Asked    []string
	Told     bool // the server was told of a cancellation
}

// large is the size of the largest result of a session, in bytes. One version shows that ten megabytes pass; they take
// seconds each, the race detector on.
func large(version string) int {
	if version == modernVersion {
		return 10 << 20
	}
	return 1 << 20
}

// play is the same for every server: a client's session with one, as it saw it.
func play(t *testing.T, transport mcp.Transport, version string) session {
	t.Helper()
	var s session
	var mu sync.Mutex
	stepped := make(chan struct{}, 10)
	m := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			s.Progress = append(s.Progress, r.Params.Progress)
			mu.Unlock()
			stepped <- struct{}{}
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			s.Asked = append(s.Asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	c, err := m.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Tools = list.Tools
	call := func(name string, args map[string]any) {
		p := &mcp.CallToolParams{Name: name, Arguments: args}
		if name == "steps" {
			p.SetProgressToken("p")
		}
		r, err := c.CallTool(t.Context(), p)
		text, _ := json.Marshal(r)
		s.Results = append(s.Results, fmt.Sprintf("%s %v", text, err))
	}
	call("echo", map[string]any{"text": "<é\u2028>"})
	call("large", map[string]any{"bytes": large(version)})
	call("steps", nil)
	for range 5 {
		<-stepped
	}
	if version != modernVersion {
		call("ask", nil)
	}
	call("fails", nil)
	call("nothing", nil)
	if err := c.Ping(t.Context(), nil); err != nil && version != modernVersion {
		t.Error(err)
	}
	told := filepath.Join(t.TempDir(), "told")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"path": told}})
		done <- err
	}()
	<-time.After(100 * time.Millisecond)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	until(t, "the server was told", func() bool { _, err := os.Stat(told); return err == nil })
	s.Told = true
	mu.Lock()
	defer mu.Unlock()
	return s
}

// same says where two sessions differ.
func same(t *testing.T, direct, through session) {
	t.Helper()
	if !reflect.DeepEqual(direct.Tools, through.Tools) {
		t.Errorf("the lists of tools differ: %d and %d", len(direct.Tools), len(through.Tools))
	}
	if !slices.Equal(direct.Progress, through.Progress) || !slices.Equal(direct.Asked, through.Asked) {
		t.Errorf("%v %v became %v %v", direct.Progress, direct.Asked, through.Progress, through.Asked)
	}
	if len(direct.Results) != len(through.Results) {
		t.Fatalf("%d results became %d", len(direct.Results), len(through.Results))
	}
	for i, r := range direct.Results {
		if through.Results[i] != r {
			t.Errorf("%.500s became %.500s", r, through.Results[i])
		}
	}
}

func TestASessionIsTheSameWithAndWithoutTheProxy(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-11-25", modernVersion} {
		t.Run(version, func(t *testing.T) {
			command := server(t, "tools")
			direct := play(t, &mcp.CommandTransport{Command: exec.Command(command[0], command[1:]...), TerminateDuration: 100 * time.Millisecond}, version)
			r := run(t, allowAll, Options{}, command...)
			through := play(t, &mcp.IOTransport{Reader: io.NopCloser(r.out), Writer: r.in}, version)
			same(t, direct, through)
			if len(direct.Tools) < 6 || len(direct.Results[1]) < large(version) || len(direct.Progress) != 5 {
				t.Errorf("%d tools, %d bytes, %v", len(direct.Tools), len(direct.Results[1]), direct.Progress)
			}
			r.end()
		})
	}
}

func TestACallIsAskedAboutWithWhatTheServerSaidOfIt(t *testing.T) {
	for _, version := range []string{"2025-11-25", modernVersion} {
		op := newOperator()
		dir := t.TempDir()
		r := run(t, op, Options{Server: "fs", Cwd: dir}, server(t, "tools")...)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(r.out), Writer: r.in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "precious")
		if err := os.WriteFile(path, []byte("work"), 0o600); err != nil {
			t.Fatal(err)
		}
		remove := func(j human.Judgement) *mcp.CallToolResult {
			t.Helper()
			op.answers <- j
			res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "remove", Arguments: map[string]any{"path": path}})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		res := remove(human.Judgement{Decision: human.Deny, Message: "It is the only copy."})
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || text != "It is the only copy." {
			t.Errorf("%s", text)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		last := op.calls[len(op.calls)-1]
		if last.Tool != "mcp__fs__remove" || last.About != "Takes a file away" || last.Annotations.Destructive == nil || !*last.Annotations.Destructive ||
			!bytes.Contains(last.Schema, []byte("what to take away")) || last.Cwd != dir {
			t.Errorf("%+v", last)
		}
		// With other arguments, which the operator wrote.
		other := filepath.Join(dir, "scrap")
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		args, _ := json.Marshal(map[string]string{"path": other})
		if res := remove(human.Judgement{Decision: human.Allow, Args: args}); res.IsError {
			t.Errorf("%+v", res)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(other); err == nil {
			t.Error("it is still there")
		}
		if res := remove(human.Judgement{Decision: human.Allow}); res.IsError {
			t.Errorf("%+v", res)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("it is still there")
		}
		_ = c.Close()
		r.end()
	}
}

func BenchmarkCall(b *testing.B) {
	for name, command := range map[string]bool{"direct": false, "proxied": true} {
		b.Run(name, func(b *testing.B) {
			args := server(b, "mirror")
			var in io.Writer
			var out *bufio.Reader
			if command {
				r := run(b, judgeFunc(func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
					return human.Judgement{Decision: human.Allow}, nil
				}), Options{}, args...)
				in, out = r.in, r.out
				b.Cleanup(func() { _ = r.in.Close(); r.end() })
			} else {
				cmd := exec.Command(args[0], args[1:]...)
				stdin, err := cmd.StdinPipe()
				if err != nil {
					b.Fatal(err)
				}
				stdout, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
				in, out = stdin, bufio.NewReader(stdout)
			}
			line := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"notes/today.md","content":"` + strings.Repeat("word ", 200) + `"},"_meta":{"progressToken":7}}}` + "\n")
			for b.Loop() {
				if _, err := in.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := out.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
