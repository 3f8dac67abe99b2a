package app_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/transport/hook"
)

// aClient runs as an agent's client does: it starts its hook through a shell, and outlives it. Its own program is no shell.
type aClient struct {
	cmd *exec.Cmd
	out *bufio.Reader // what the hook wrote, and then its exit code in a line
}

// hookInputs are what clients tell their hooks of a command.
var hookInputs = map[string]string{
	"claude-code": `{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"t1"}`,
	"copilot":     `{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q}}`,
	"qwen":        `{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"run_shell_command","tool_input":{"command":%q},"tool_use_id":"t1"}`,
	"codex":       `{"hook_event_name":"PreToolUse","session_id":"s","turn_id":"t1","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"c1"}`,
	"cursor":      `{"hook_event_name":"beforeShellExecution","conversation_id":"c1","generation_id":"g1","cwd":%q,"command":%q}`,
	"gemini":      `{"hook_event_name":"BeforeTool","session_id":"s","cwd":%q,"tool_name":"run_shell_command","tool_input":{"command":%q}}`,
	"opencode":    `{"event":"tool.execute.before","tool":"bash","sessionID":"s","callID":"c1","directory":%q,"args":{"command":%q}}`,
}

// hookBinary is the program that clients' settings name.
func hookBinary(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deskbell-hook")
	if out, err := exec.Command("go", "build", "-o", file, "deskbell/backend/app/hookprogram/deskbell-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// asks starts a client whose hook asks about a command.
func asks(t *testing.T, dir, binary, name, command string) *aClient {
	t.Helper()
	in := fmt.Sprintf(hookInputs[name], dir, command)
	c := &aClient{cmd: exec.Command("timeout", "600", "sh", "-c", `"$@"; echo "exit $?"; exec sleep 600`, "sh", binary, name, "--data", dir)}
	c.cmd.Env, c.cmd.Stdin = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, strings.NewReader(in)
	c.cmd.SysProcAttr, c.cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, 100*time.Millisecond
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := c.cmd.Process.Pid
	t.Cleanup(func() {
		_ = syscall.Kill(-group, syscall.SIGKILL) // this test's own processes
		_ = c.cmd.Wait()
	})
	return c
}

// hook is the number of its hook's process: what its shell started.
func (c *aClient) hook(t *testing.T) int {
	t.Helper()
	child := func(of int) int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", of, of))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatalf("%d has no one child: %q", of, text)
		}
		return n
	}
	return child(child(c.cmd.Process.Pid))
}

// hooked is a data folder with the key of a client's hook, and a server of it.
func hooked(t *testing.T, client string) (string, *server) {
	t.Helper()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	hookKey(t, dir, client)
	return dir, s
}

// hookKey makes the key of a client's hook.
func hookKey(t *testing.T, dir, client string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks", client+".key"), []byte(key(t, dir, client)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// question waits for the one that is open.
func question(t *testing.T, boss *caller) human.Operation {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		var page struct{ Operations []human.Operation }
		boss.good(t, "GET", "/api/human/operations?state=pending", nil, &page)
		if len(page.Operations) > 0 {
			return page.Operations[0]
		}
	}
	t.Fatal("no question came")
	return human.Operation{}
}

// ended waits for the end of an operation, and says how long that took.
func ended(t *testing.T, boss *caller, id human.OperationID) (human.Operation, time.Duration) {
	t.Helper()
	began := time.Now()
	var op human.Operation
	for time.Since(began) < 30*time.Second {
		boss.good(t, "GET", "/api/human/operations/"+string(id), nil, &op)
		if op.State.Terminal() {
			break
		}
	}
	return op, time.Since(began)
}

// Issue 13, point 8: the question of a client that was killed is withdrawn within seconds, though its hook and the hook's
// shell live on; so is that of a hook that was killed.
func TestAKilledClientLeavesNoQuestion(t *testing.T) {
	binary := hookBinary(t)
	for _, client := range hook.Names() {
		for name, killed := range map[string]struct {
			victim func(t *testing.T, c *aClient) int
			reason string
		}{
			"the client": {func(_ *testing.T, c *aClient) int { return c.cmd.Process.Pid }, "the program that asked has ended"},
			"the hook":   {func(t *testing.T, c *aClient) int { return c.hook(t) }, "connection"},
		} {
			t.Run(client+", "+name, func(t *testing.T) {
				t.Parallel() // each mostly waits
				dir, s := hooked(t, client)
				boss := operator(t, s.url, s.code)
				c := asks(t, dir, binary, client, "frobnicate it")
				op := question(t, boss)
				if err := syscall.Kill(killed.victim(t, c), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				op, took := ended(t, boss, op.ID)
				if op.State != human.Cancelled || !strings.Contains(op.Ended.Reason, killed.reason) {
					t.Fatalf("the question is %s: %+v", op.State, op.Ended)
				}
				if took > 8*time.Second { // about 2 seconds on a machine that is not busy
					t.Errorf("it was withdrawn after %s", took)
				}
				t.Logf("withdrawn after %s", took)
			})
		}
	}
}

// Issue 13, point 9: a hook that waits for an answer ends as soon as its agent's key is revoked, and the call is denied.
func TestARevokedKeyEndsAHookThatWaits(t *testing.T) {
	binary := hookBinary(t)
	for _, client := range hook.Names() {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			dir, s := hooked(t, client)
			boss := operator(t, s.url, s.code)
			c := asks(t, dir, binary, client, "frobnicate it")
			op := question(t, boss)
			began := time.Now()
			boss.good(t, "DELETE", "/api/agents/"+client, nil, nil)
			said, err := c.out.ReadString('\n')
			if err != nil || !strings.Contains(said, `"deny"`) || !strings.Contains(said, "revoked") {
				t.Errorf("the client reads %s, %v", said, err)
			}
			if end, err := c.out.ReadString('\n'); err != nil || end != "exit 0\n" {
				t.Errorf("the hook ended with %s, %v", end, err)
			}
			if took := time.Since(began); took > 1500*time.Millisecond { // some 20 ms on a machine that is not busy; a key that another process revokes is found within a second
				t.Errorf("it ended after %s", took)
			} else {
				t.Logf("it ended after %s", took)
			}
			if op, _ := ended(t, boss, op.ID); op.State != human.Cancelled {
				t.Errorf("the question is %s", op.State)
			}
		})
	}
}

// A server that is killed forgets neither: the question is kept while its client lives, and withdrawn after a restart where
// the client ended meanwhile.
func TestAKilledServerKnowsTheClientsAfterwards(t *testing.T) {
	dir, s := hooked(t, "claude-code")
	boss := operator(t, s.url, s.code)
	client := asks(t, dir, hookBinary(t), "claude-code", "frobnicate it")
	op := question(t, boss)
	s.kill()
	if err := syscall.Kill(client.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = client.cmd.Wait()
	s = serve(t, dir, nil)
	boss = operator(t, s.url, s.code)
	if op, _ = ended(t, boss, op.ID); op.State != human.Cancelled || !strings.Contains(op.Ended.Reason, "has ended") {
		t.Errorf("the question is %s: %+v", op.State, op.Ended)
	}
}

// While Deskbell does not run, its hook knows what an operator laid down up to the last moment, and which keys were revoked
// since.
func TestAHookIsNotLooserWithoutItsServer(t *testing.T) {
	dir, s := hooked(t, "claude-code")
	boss := operator(t, s.url, s.code)
	judged := func() string {
		t.Helper()
		in := `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls -la"},"tool_use_id":"t"}`
		out, errs, _ := deskbell(t, in, "hook", "claude-code", "--data", dir)
		return out + errs
	}
	if got := judged(); !strings.Contains(got, `"allow"`) {
		t.Fatal(got)
	}
	boss.good(t, "POST", "/api/gate/rules", map[string]string{"decision": "deny", "command": "ls **"}, nil)
	s.kill()
	if got := judged(); !strings.Contains(got, `"deny"`) {
		t.Errorf("a rule that denies: %s", got)
	}
	s = serve(t, dir, nil)
	boss = operator(t, s.url, s.code)
	var list struct{ Rules []human.GateRule }
	boss.good(t, "GET", "/api/gate/rules", nil, &list)
	boss.good(t, "DELETE", "/api/gate/rules/"+list.Rules[0].ID, nil, nil)
	s.kill()
	if got := judged(); !strings.Contains(got, `"allow"`) {
		t.Errorf("without the rule: %s", got)
	}
	revoke(t, dir, "claude-code")
	if got := judged(); !strings.Contains(got, "revoked") {
		t.Errorf("with a key that was revoked: %s", got)
	}
}
