//go:build unix

package tools_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/agent/tools"
	"deskbell/backend/gate"
)

func TestACommand(t *testing.T) {
	t.Setenv("DESKBELL_KEY", "a key of ours")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	shell := tools.Shell{Dir: real}
	for name, tt := range map[string]struct {
		args   any
		says   []string
		not    string
		failed bool
	}{
		"what it prints, on both streams": {args: with{"command": "echo one; echo two >&2"}, says: []string{"one\n", "two\n", "[exit code 0]"}},
		"its exit code":                   {args: with{"command": "exit 7"}, says: []string{"[exit code 7]"}, failed: true},
		"a signal that ended it":          {args: with{"command": "kill -9 $$"}, says: []string{"[exit code 137]"}, failed: true},
		"the working folder":              {args: with{"command": "pwd"}, says: []string{real + "\n"}},
		"another folder":                  {args: with{"command": "pwd", "cwd": "sub"}, says: []string{real + "/sub\n"}},
		"a folder that is not there":      {args: with{"command": "pwd", "cwd": "none"}, says: []string{"no folder"}, failed: true},
		"no input":                        {args: with{"command": "cat; echo after"}, says: []string{"after"}},
		"no key of ours":                  {args: with{"command": "env"}, says: []string{"PATH="}, not: "a key of ours"},
		"much output":                     {args: with{"command": "echo first; yes | head -c 1000000; echo last"}, says: []string{"first\n", "last\n", "bytes left out"}},
		"no text":                         {args: with{"command": `printf 'a\000\377b'`}, says: []string{"a\uFFFD\uFFFDb"}},
		"no command":                      {args: with{"command": " "}, says: []string{"empty"}, failed: true},
		"an argument there is not":        {args: with{"command": "true", "shell": "zsh"}, says: []string{`no argument "shell"; there are command, cwd, timeout`}, failed: true},
		"an argument twice":               {args: `{"command":"true","command":"id"}`, says: []string{"twice"}, failed: true},
		"an argument by another case":     {args: `{"command":"true","Command":"id"}`, says: []string{`no argument "Command"`}, failed: true},
		"no object":                       {args: `["true"]`, says: []string{"must be a JSON object"}, failed: true},
		"two objects":                     {args: `{"command":"true"} {}`, says: []string{"after the arguments"}, failed: true},
		"a wrong kind":                    {args: with{"command": 5}, says: []string{"command must not be a number"}, failed: true},
		"a time that is none":             {args: with{"command": "true", "timeout": -1}, says: []string{"timeout"}, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			out := call(t, shell, tt.args)
			if out.Failed != tt.failed {
				t.Errorf("failed is %v", out.Failed)
			}
			for _, part := range tt.says {
				if !strings.Contains(out.Text, part) {
					t.Errorf("it does not say %q: %q", part, out.Text)
				}
			}
			if tt.not != "" && strings.Contains(out.Text, tt.not) {
				t.Errorf("it says %q", tt.not)
			}
			if len(out.Text) > 34<<10 {
				t.Errorf("%d bytes", len(out.Text))
			}
		})
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !zombie(pid) {
		select {
		case <-ctx.Done():
			t.Fatalf("process %d is still there", pid)
		case <-tick.C:
		}
	}
}

// zombie says whether a process has ended and only nobody has asked how: where there is no init, as in a container.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(state, "Z")
}

func TestACommandEndsWithAllThatItStarted(t *testing.T) {
	for name, tt := range map[string]struct {
		command string
		timeout any
		cancel  bool
		says    string
	}{
		"when its time is up":         {command: "sleep 600 & echo $! >pid; wait", timeout: 0.5, says: "its time is up"},
		"when the run ends":           {command: "sleep 600 & echo $! >pid; touch begun; wait", cancel: true, says: "the run was ended"},
		"when it leaves something":    {command: "sleep 600 & echo $! >pid; echo done", says: "done\n[exit code 0]"},
		"when it takes no signal":     {command: "trap '' TERM INT HUP; sleep 600 & echo $! >pid; while true; do wait; done", timeout: 0.5, says: "its time is up"},
		"when its output never stops": {command: "yes & echo $! >pid; wait", timeout: 0.5, says: "its time is up"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := with{"command": tt.command}
			if tt.timeout != nil {
				args["timeout"] = tt.timeout
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				go func() {
					defer cancel()
					for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
						if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil || t.Context().Err() != nil {
							tick.Stop()
							return
						}
					}
				}()
			}
			out, err := tools.Shell{Dir: dir}.Run(ctx, object(t, args))
			if tt.cancel != errors.Is(err, context.Canceled) || !strings.Contains(out.Text, tt.says) {
				t.Errorf("%v, %q", err, out.Text)
			}
			gone(t, filepath.Join(dir, "pid"))
		})
	}
}

// The gatekeeper knows what these tools do by their names and arguments.
func TestTheGatekeeperUnderstandsTheTools(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		tool, args string
		rule       string
	}{
		"a command":        {"shell", `{"command":"rm -rf src"}`, "delete"},
		"a reading":        {"read_file", `{"path":"a.txt"}`, "read"},
		"a list":           {"list_files", `{"path":"."}`, "read"},
		"a search":         {"search_files", `{"pattern":"x","path":"."}`, "read"},
		"a writing":        {"write_file", `{"path":"a.txt","content":"x"}`, "write"},
		"an edit":          {"edit_file", `{"path":"a.txt","old_text":"x","new_text":"y"}`, "write"},
		"a request":        {"http_request", `{"url":"https://example.com"}`, "network"},
		"a request with a": {"http_request", `{"url":"https://example.com","method":"DELETE"}`, "network"},
	} {
		t.Run(name, func(t *testing.T) {
			v := gate.Look(gate.Call{Tool: tt.tool, Args: []byte(tt.args), Cwd: dir, Root: dir}, nil)
			found := false
			for _, e := range v.Effects {
				if strings.HasPrefix(e.Rule, "tool.unknown") {
					t.Errorf("it does not know %s: %+v", tt.tool, e)
				}
				found = found || strings.Contains(string(e.Verb), tt.rule)
			}
			if !found {
				t.Errorf("no effect is %q: %+v", tt.rule, v.Effects)
			}
		})
	}
}
