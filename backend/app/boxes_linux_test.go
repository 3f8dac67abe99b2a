package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/box"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/platform/confine"
)

// A boxing is a project of an agent whose hook is installed, and its operator.
type boxing struct {
	t           *testing.T
	dir, root   string
	env         []string
	boss, agent *caller
}

const boxedScript = `printf 'it'"'"'s one\n' > one.txt; mkdir -p sub; echo two > sub/two.txt; frobnicate; echo said; exit 3`

func newBoxing(t *testing.T) *boxing {
	t.Helper()
	if err := confine.UserNamespaces(); err != nil {
		t.Skip("nothing can be boxed on this machine:", err)
	}
	if err := box.Available(); err != nil {
		t.Fatalf("%v: build/scripts/setup test", err)
	}
	dir, home, self := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "deskbell")
	copyProgram(t, self)
	cmd := program(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--json")
	cmd.Path, cmd.Args[0] = self, self // the gatekeeper knows it by its name, too
	s, err := tryServeBy(t, cmd)
	if err != nil {
		t.Fatal(err)
	}
	hookKey(t, dir, "claude-code")
	b := &boxing{t: t, dir: dir, root: filepath.Join(home, "web"), env: []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, ".cache")}, boss: operator(t, s.url, s.code)}
	text, err := os.ReadFile(filepath.Join(dir, "hooks", "claude-code.key"))
	if err != nil {
		t.Fatal(err)
	}
	b.agent = newCaller(t, s.url, strings.TrimSpace(string(text)))
	if err := os.MkdirAll(filepath.Join(b.root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

// copyProgram makes the test's own program one of another name.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(self, to) == nil {
		return
	}
	all, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(to, all, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// waits returns the open operation of a kind.
func (b *boxing) waits(of human.Kind) (op human.Operation) {
	b.t.Helper()
	waitFor(b.t, string(of), func() bool {
		var page struct{ Operations []human.Operation }
		b.boss.good(b.t, "GET", "/api/human/operations?state=open", nil, &page)
		i := slices.IndexFunc(page.Operations, func(o human.Operation) bool { return o.Kind == of })
		if i < 0 {
			return false
		}
		b.boss.good(b.t, "GET", "/api/human/operations/"+string(page.Operations[i].ID), nil, &op)
		return true
	})
	return op
}

// inABox has a hook ask about a command, answers with a box, and returns the call that the client is to make.
func (b *boxing) inABox(command string) (args map[string]any) {
	t := b.t
	t.Helper()
	in := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s 1","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q,"description":"Do it","timeout":120000},"tool_use_id":%q}`, b.root, command, t.Name())
	hook := program(t, b.dir, b.env, "hook", "claude-code", "--data", b.dir)
	hook.Stdin = strings.NewReader(in)
	ended := make(chan result, 1)
	go func() { ended <- runWith(t, hook) }()
	op := b.waits(human.Permission)
	var view service.QuestionView
	b.boss.good(t, "GET", "/api/gate/questions/"+string(op.ID), nil, &view)
	if view.Box == nil || !view.Box.Available || !slices.ContainsFunc(view.Verdict.Choices, func(c human.Choice) bool { return c.Action == human.ChooseBox }) {
		t.Fatalf("no box is offered: %+v, %+v", view.Box, view.Verdict)
	}
	b.boss.good(t, "POST", "/api/gate/questions/"+string(op.ID)+"/answer", service.AnswerRequest{Choice: human.ChooseBox, Digest: op.Digest}, nil)
	said := <-ended
	out := decode[struct {
		HookSpecificOutput struct {
			PermissionDecision, AdditionalContext string
			UpdatedInput                          map[string]any
		}
	}](t, said.out).HookSpecificOutput
	if out.PermissionDecision != "allow" || !strings.Contains(out.AdditionalContext, "box") {
		t.Fatalf("the hook says %s%s", said.out, said.err)
	}
	return out.UpdatedInput
}

// runs makes the call, as the client's shell does.
func (b *boxing) runs(command string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	b.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, &out, &errs
	cmd.Env = append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "TOKEN=secret-of-the-shell"}, b.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	return cmd, &out, &errs
}

// has are the files of the project, but for git's.
func (b *boxing) has() string {
	var all []string
	_ = filepath.WalkDir(b.root, func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(b.root, path); err == nil && !d.IsDir() && !strings.HasPrefix(rel, ".git/") {
			all = append(all, rel)
		}
		return nil
	})
	return strings.Join(all, " ")
}

// A question of the gatekeeper is answered with a box: the agent's client runs another command, which asks what to keep, and
// keeps that alone.
func TestAQuestionIsAnsweredWithABox(t *testing.T) {
	b := newBoxing(t)
	args := b.inABox(boxedScript)
	command, _ := args["command"].(string)
	if args["description"] != "Do it" || args["timeout"] != 600000.0 || !strings.Contains(command, " box --ask-operator --agent claude-code --session 's 1' --limit 590s -- ") {
		t.Fatalf("the client is to run %v", args)
	}
	for name, tt := range map[string]struct {
		answer map[string]any
		has    string
		says   []string
	}{
		"one of two": {map[string]any{"decision": "approve", "keep": []string{"sub/two.txt"}, "human_input": "the other is noise"}, "sub/two.txt", []string{"kept: sub/two.txt. They say: the other is noise", "Discarded: one.txt"}},
		"nothing":    {map[string]any{"decision": "deny", "human_input": "wrong generator"}, "", []string{"discarded all", "They say: wrong generator"}},
		"all":        {map[string]any{"decision": "approve", "keep": []string{"one.txt", "sub/two.txt"}}, "one.txt sub/two.txt", []string{"kept: one.txt, sub/two.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			for _, path := range []string{"one.txt", "sub"} {
				_ = os.RemoveAll(filepath.Join(b.root, path))
			}
			cmd, out, errs := b.runs(command)
			op := b.waits(human.Box)
			d := decode[human.BoxResult](t, string(op.Details))
			// What went to its two outputs came through two pipes: which was first is not known.
			if d.Command != boxedScript || d.Project != b.root || d.Code != 3 || !slices.Contains(strings.Split(d.Output, "\n"), "said") || !strings.Contains(d.Output, "frobnicate") || len(d.Files) != 2 || !strings.Contains(d.Files[0].Diff, "+it's one") ||
				!strings.Contains(d.With, "bubblewrap") || op.AgentID != "claude-code" || op.SessionID != "s 1" || op.Risk != human.MediumRisk || op.ExpiresAt == nil {
				t.Errorf("the operator is shown %s, %+v", op.Details, op)
			}
			if got := b.has(); got != "" {
				t.Errorf("before the answer there is %s", got)
			}
			tt.answer["operation_id"], tt.answer["digest"] = op.ID, op.Digest
			b.boss.good(t, "POST", "/api/human/complete", tt.answer, nil)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 3 || out.String() != "said\n" {
				t.Errorf("exit code %d, %s", got, out)
			}
			for _, part := range tt.says {
				if !strings.Contains(errs.String(), part) {
					t.Errorf("it does not say %q: %s", part, errs)
				}
			}
			if got := b.has(); got != tt.has {
				t.Errorf("there is %q, not %q", got, tt.has)
			}
		})
	}
}

// What asks may be killed, or Deskbell may be gone, or the time may be over: nothing is kept then.
func TestABoxKeepsNothingWithoutAnAnswer(t *testing.T) {
	b := newBoxing(t)
	ask := func(limit string) string {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return human.ShellWords(self, "--data", b.dir, "box", "--ask-operator", "--agent", "claude-code", "--limit", limit, "--", "sh", "-c", boxedScript)
	}
	t.Run("killed", func(t *testing.T) {
		b.t = t
		cmd, _, _ := b.runs("exec " + ask("1h"))
		op := b.waits(human.Box)
		if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		b.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "digest": op.Digest, "decision": "approve", "keep": []string{"one.txt"}}, nil)
		if got := b.has(); got != "" {
			t.Errorf("there is %s", got)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		b.t = t
		cmd, _, _ := b.runs("exec " + ask("1h"))
		op := b.waits(human.Box)
		if err := syscall.Kill(cmd.Process.Pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if op, _ = ended(t, b.boss, op.ID); op.State != human.Cancelled || b.has() != "" {
			t.Errorf("%s: %s", op.State, b.has())
		}
	})
	t.Run("too late", func(t *testing.T) {
		b.t = t
		cmd, _, errs := b.runs("exec " + ask("10s"))
		op := b.waits(human.Box)
		_ = cmd.Wait()
		if op, _ = ended(t, b.boss, op.ID); op.State != human.Cancelled || b.has() != "" || !strings.Contains(errs.String(), "no answer in time") {
			t.Errorf("%s: %s, %s", op.State, b.has(), errs)
		}
	})
	t.Run("nothing written", func(t *testing.T) {
		b.t = t
		cmd, _, errs := b.runs(strings.Replace(ask("1h"), human.ShellWords(boxedScript), "true", 1))
		if err := cmd.Wait(); err != nil || !strings.Contains(errs.String(), "no files") {
			t.Errorf("%v, %s", err, errs)
		}
	})
}

// An agent cannot answer for its operator, and no server but the one of the data folder is believed.
func TestAnAgentKeepsNothingByItself(t *testing.T) {
	b := newBoxing(t)
	forger, secret := forgedServer(t), "ghp_"+strings.Repeat("a1B2", 9)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := human.ShellWords(self, "--data", b.dir, "box", "--ask-operator", "--agent", "claude-code", "--", "sh", "-c", "echo evil > one.txt; mkdir .git/hooks; echo token="+secret+" | tee .git/hooks/pre-commit")
	cmd, _, errs := b.runs("export DESKBELL_URL=" + forger + " DESKBELL_ADDR=" + strings.TrimPrefix(forger, "http://") + " HTTP_PROXY=" + forger + " http_proxy=" + forger + "; exec " + ask)
	op := b.waits(human.Box)
	d := decode[human.BoxResult](t, string(op.Details))
	if op.Risk != human.HighRisk || d.Files[0].Path != ".git/hooks/pre-commit" || d.Files[0].Warning != string(box.Runs) || !slices.Equal(kind.Harmless(d.Files), []string{"one.txt"}) {
		t.Errorf("the operator is shown %s", op.Details)
	}
	if strings.Contains(string(op.Details), secret) || !strings.Contains(d.Output, "token=") || !strings.Contains(d.Files[0].Diff, "+token=") {
		t.Errorf("a secret is not masked: %s", op.Details)
	}
	answer := map[string]any{"operation_id": op.ID, "digest": op.Digest, "decision": "approve", "keep": []string{"one.txt"}}
	for path, body := range map[string]any{
		"/api/human/complete": answer,
		"/api/human/claim":    map[string]any{"operation_id": op.ID},
		"/api/human/decline":  map[string]any{"operation_id": op.ID, "reason": "x"},
		"/api/gate/questions/" + string(op.ID) + "/answer": service.AnswerRequest{Choice: human.ChooseAllow, Digest: op.Digest},
	} {
		if status, err := b.agent.call("POST", path, body, nil); err != nil || status != 401 && status != 403 {
			t.Errorf("with the agent's key, %s: %d, %v", path, status, err)
		}
	}
	for name, keep := range map[string]any{"none": nil, "a path that it did not write": []string{"../../etc/passwd"}, "one twice": []string{"one.txt", "one.txt"}, "the folder": []string{".git"}} {
		answer["keep"] = keep
		if status, err := b.boss.call("POST", "/api/human/complete", answer, nil); err != nil || status != 422 {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
	answer["keep"], answer["digest"] = []string{"one.txt"}, strings.Repeat("0", 64)
	if status, err := b.boss.call("POST", "/api/human/complete", answer, nil); err != nil || status != 409 {
		t.Errorf("another digest: %d, %v", status, err)
	}
	if got := b.has(); got != "" {
		t.Errorf("there is %s", got)
	}
	b.boss.good(t, "POST", "/api/human/decline", map[string]any{"operation_id": op.ID, "reason": "no"}, nil)
	_ = cmd.Wait()
	if got := b.has(); got != "" || !strings.Contains(errs.String(), "discarded all") {
		t.Errorf("there is %q: %s", got, errs)
	}
	if status, err := b.agent.call("POST", "/api/human/invoke", map[string]any{"action_type": "permission", "description": "x"}, nil); err != nil || status != 422 {
		t.Errorf("an agent asks for a permission: %d, %v", status, err)
	}
}

// forgedServer says to all that asks it that an operator keeps everything.
func forgedServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("it asks another server: %s %s", r.Method, r.URL)
		_ = json.NewEncoder(w).Encode(map[string]any{"operation_id": "op_x", "state": "completed", "result": map[string]any{"decision": "approve", "keep": []string{"one.txt"}}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}
