package installer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/windows/registry"

	"deskbell/build/serving"
)

const (
	patience     = 2 * time.Minute
	uninstallKey = `Software\Microsoft\Windows\CurrentVersion\Uninstall\Deskbell`
	linkKey      = `Software\Classes\deskbell\shell\open\command`
	runKey       = `Software\Microsoft\Windows\CurrentVersion\Run`
	machinePath  = `SYSTEM\CurrentControlSet\Control\Session Manager\Environment`
)

// setup is the installer that is tested.
func setup(t *testing.T) string {
	path := os.Getenv("DESKBELL_SETUP")
	if path == "" {
		t.Skip("DESKBELL_SETUP does not name an installer")
	}
	return path
}

// run runs a program with the rest of the command line as it is: an installer takes the folder after /D= without quotes.
func run(t *testing.T, program, arguments string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + program + `" ` + arguments}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if err := serving.Until(patience, what, condition); err != nil {
		t.Fatal(err)
	}
}

// value is a text of the registry; none is empty.
func value(root registry.Key, path, name string) string {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }()
	text, _, err := key.GetStringValue(name)
	if err != nil {
		return ""
	}
	return text
}

// starts are the command lines of Deskbell that a hive starts when a user signs in.
func starts(t *testing.T, root registry.Key) (found []string) {
	t.Helper()
	key, err := registry.OpenKey(root, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = key.Close() }()
	names, err := key.ReadValueNames(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if line := value(root, runKey, name); strings.Contains(strings.ToLower(line), "deskbell") {
			found = append(found, line)
		}
	}
	return found
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

// An installation is where one of Deskbell's is.
type installation struct{ dir, data string }

func (i installation) program(name string) string { return filepath.Join(i.dir, name+".exe") }

// command is a command of the installed program, as it runs in a terminal.
func (i installation) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.program("deskbell"), args...)
	cmd.Env = os.Environ()
	if i.data != "" {
		cmd.Env = append(cmd.Env, "DESKBELL_DATA="+i.data)
	}
	return cmd
}

// said is what a command prints, and its exit code.
func (i installation) said(t *testing.T, args ...string) (string, int) {
	t.Helper()
	cmd := i.command(t, args...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// A server is `deskbell serve`, with an operator signed in.
type server struct {
	cmd        *exec.Cmd
	url, token string
	said       *bytes.Buffer
}

func (i installation) serve(t *testing.T) *server {
	t.Helper()
	s := &server{cmd: i.command(t, "serve", "--addr", "127.0.0.1:0"), said: &bytes.Buffer{}}
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	read, err := serving.Code(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	ready, err := read()
	if err != nil {
		s.kill()
		t.Fatal(err, s.said)
	}
	s.url = ready.URL
	var session struct{ Token string }
	s.call(t, "POST", "/api/session", map[string]any{"code": ready.Code}, &session)
	s.token = session.Token
	return s
}

// kill ends it as a crash does; more than once does nothing.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// call is a good request to the API, as the operator.
func (s *server) call(t *testing.T, method, path string, body, into any) {
	callAs(t, s.token, method, s.url+path, body, into)
}

func callAs(t *testing.T, token, method, url string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %s %v", method, url, response.Status, answer, err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(err)
	}
}

// An operation is what the test looks at of one.
type operation struct {
	ID          string `json:"operation_id"`
	Description string
}

// waiting waits for an open request with these words.
func (s *server) waiting(t *testing.T, words string) (found operation) {
	t.Helper()
	until(t, "a request: "+words, func() bool {
		var list struct{ Operations []operation }
		s.call(t, "GET", "/api/human/operations?state=pending", nil, &list)
		at := slices.IndexFunc(list.Operations, func(o operation) bool { return o.Description == words })
		if at >= 0 {
			found = list.Operations[at]
		}
		return at >= 0
	})
	return found
}

func (s *server) answer(t *testing.T, id, words string) {
	t.Helper()
	s.call(t, "POST", "/api/human/complete", map[string]any{"operation_id": id, "human_input": words}, nil)
}

// agent is the key of a new agent.
func (s *server) agent(t *testing.T, name string) string {
	t.Helper()
	var made struct{ Key string }
	s.call(t, "POST", "/api/agents", map[string]any{"name": name}, &made)
	return made.Key
}

// The installer for one user, and what people do with what it installs.
func TestTheInstallerForOneUser(t *testing.T) {
	installer := setup(t)
	i := installation{dir: filepath.Join(os.Getenv("LOCALAPPDATA"), "Programs", "Deskbell")}
	data := filepath.Join(os.Getenv("LOCALAPPDATA"), "Deskbell")
	path := value(registry.CURRENT_USER, "Environment", "Path")
	long := path + strings.Repeat(`;C:\a folder with a long name`, 60) // longer than the installer's own strings
	setPath(t, long)
	if code := run(t, installer, "/S /AutoStart"); code != 0 {
		t.Fatalf("the installer ends with %d", code)
	}
	installed(t, i, registry.CURRENT_USER)
	if got := value(registry.CURRENT_USER, "Environment", "Path"); got != long+";"+i.dir {
		t.Errorf("PATH is %q", got)
	}
	if got := starts(t, registry.CURRENT_USER); len(got) != 1 || !strings.HasPrefix(got[0], `"`+i.program("deskbellw")+`" --hidden`) {
		t.Errorf("the session starts %q", got)
	}
	if said, code := i.said(t, "autostart"); code != 0 || !strings.HasPrefix(said, "on") {
		t.Errorf("its own setting is %s (%d)", said, code)
	}
	link, err := os.ReadFile(filepath.Join(os.Getenv("APPDATA"), "Microsoft", "Windows", "Start Menu", "Programs", "Deskbell.lnk"))
	if err != nil || !bytes.Contains(link, []byte(wide("deskbellw.exe"))) {
		t.Errorf("the shortcut: %v", err)
	}
	if !bytes.Contains(link, []byte(wide("Deskbell.Deskbell"))) {
		t.Log("the shortcut has no application's id") // Wine keeps none
	}

	s := i.serve(t)
	t.Run("a request over MCP", func(t *testing.T) { overMCP(t, i, s) })
	t.Run("deskbell ring", func(t *testing.T) { ring(t, i, s) })
	t.Run("hooks", func(t *testing.T) { hooks(t, i) })
	t.Run("a recording", func(t *testing.T) { record(t, s, data) })
	key := s.agent(t, "rest")
	var open operation
	callAs(t, key, "POST", s.url+"/api/human/invoke", map[string]any{"action_type": "feedback", "description": "之后还在吗？"}, &open)

	s.kill()
	s = i.serve(t)
	if again := s.waiting(t, "之后还在吗？"); again.ID != open.ID {
		t.Errorf("after a crash the request is %+v, before it was %+v", again, open)
	}
	var kept struct{ Recordings []struct{ ID string } }
	s.call(t, "GET", "/api/recordings", nil, &kept)
	if len(kept.Recordings) != 1 {
		t.Errorf("after a crash there are %d recordings", len(kept.Recordings))
	}

	// Over what runs: it is closed first.
	if code := run(t, installer, "/S"); code != 0 {
		t.Fatalf("the installer, over what runs, ends with %d", code)
	}
	_ = s.cmd.Wait()
	installed(t, i, registry.CURRENT_USER)
	if got := value(registry.CURRENT_USER, "Environment", "Path"); got != long+";"+i.dir {
		t.Errorf("installed twice, PATH is %q", got)
	}
	s = i.serve(t)
	s.answer(t, s.waiting(t, "之后还在吗？").ID, "在。")

	uninstall(t, i, registry.CURRENT_USER, "/S")
	_ = s.cmd.Wait()
	if got := value(registry.CURRENT_USER, "Environment", "Path"); got != long {
		t.Errorf("uninstalled, PATH is %q", got)
	}
	if !there(filepath.Join(data, "deskbell.db")) {
		t.Error("the data is gone, and nobody asked for that")
	}
	for client, file := range hookFiles() {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "deskbell-hook") {
			t.Errorf("%s would still start the hook: %s", client, text)
		}
	}
}

// The installer for the machine, in a folder with spaces and Chinese letters, with its data in another.
func TestTheInstallerForTheMachine(t *testing.T) {
	installer := setup(t)
	root := filepath.Join(os.Getenv("SystemDrive")+`\`, "测试 folder")
	i := installation{dir: filepath.Join(root, "安装 here"), data: filepath.Join(root, "我的 数据")}
	defer func() { _ = os.RemoveAll(root) }()
	if code := run(t, installer, "/S /AllUsers /D="+i.dir); code != 0 {
		t.Fatalf("the installer ends with %d", code)
	}
	installed(t, i, registry.LOCAL_MACHINE)
	if got := value(registry.LOCAL_MACHINE, machinePath, "Path"); !strings.HasSuffix(got, ";"+i.dir) {
		t.Errorf("PATH is %q", got)
	}
	if got := starts(t, registry.LOCAL_MACHINE); len(got) > 0 {
		t.Errorf("the session starts %q, which was not asked for", got)
	}
	s := i.serve(t)
	ring(t, i, s)
	if !there(filepath.Join(i.data, "deskbell.db")) {
		t.Error("the data is not where DESKBELL_DATA says")
	}
	usual := filepath.Join(os.Getenv("LOCALAPPDATA"), "Deskbell")
	uninstall(t, i, registry.LOCAL_MACHINE, "/S /RemoveData")
	_ = s.cmd.Wait()
	if strings.Contains(value(registry.LOCAL_MACHINE, machinePath, "Path"), i.dir) {
		t.Error("it is still in PATH")
	}
	until(t, "no data", func() bool { return !there(usual) })
}

func setPath(t *testing.T, path string) {
	t.Helper()
	key, err := registry.OpenKey(registry.CURRENT_USER, "Environment", registry.QUERY_VALUE|registry.SET_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = key.Close() }()
	before, _, err := key.GetStringValue("Path")
	if err := key.SetExpandStringValue("Path", path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { restorePath(t, before, err == nil) })
}

func restorePath(t *testing.T, before string, was bool) {
	key, err := registry.OpenKey(registry.CURRENT_USER, "Environment", registry.SET_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = key.Close() }()
	if was {
		err = key.SetExpandStringValue("Path", before)
	} else {
		err = key.DeleteValue("Path")
	}
	if err != nil {
		t.Error(err)
	}
}

func wide(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(string(r) + "\x00")
	}
	return b.String()
}

// installed checks what every installation leaves.
func installed(t *testing.T, i installation, root registry.Key) {
	t.Helper()
	for _, name := range []string{"deskbell.exe", "deskbellw.exe", "deskbell-hook.exe", "LICENSE.txt", "uninstall.exe"} {
		if !there(filepath.Join(i.dir, name)) {
			t.Errorf("%s is not installed", name)
		}
	}
	said, code := i.said(t, "--version")
	if version := value(root, uninstallKey, "DisplayVersion"); code != 0 || version == "" || !strings.Contains(said, version) {
		t.Errorf("the system knows version %q, the program says %q", version, said)
	}
	if got, want := value(root, uninstallKey, "InstallLocation"), i.dir; got != want {
		t.Errorf("the system knows it in %q, not %q", got, want)
	}
	if got, want := value(root, linkKey, ""), `"`+i.program("deskbellw")+`" open -- "%1"`; got != want {
		t.Errorf("links start %q, not %q", got, want)
	}
}

// uninstall runs the uninstaller, whose copy continues after it has ended, and checks that nothing is left.
func uninstall(t *testing.T, i installation, root registry.Key, switches string) {
	t.Helper()
	if code := run(t, filepath.Join(i.dir, "uninstall.exe"), switches); code != 0 {
		t.Fatalf("the uninstaller ends with %d", code)
	}
	until(t, "an empty place where Deskbell was", func() bool { return !there(i.dir) })
	for _, key := range []string{uninstallKey, `Software\Classes\deskbell`} {
		if opened, err := registry.OpenKey(root, key, registry.QUERY_VALUE|registry.WOW64_64KEY); err == nil {
			_ = opened.Close()
			t.Errorf("the registry still has %s", key)
		}
	}
	if got := starts(t, root); len(got) > 0 {
		t.Errorf("the session still starts %s", got)
	}
	for _, folder := range []string{os.Getenv("APPDATA"), os.Getenv("ProgramData")} {
		if shortcut := filepath.Join(folder, "Microsoft", "Windows", "Start Menu", "Programs", "Deskbell.lnk"); there(shortcut) {
			t.Errorf("%s is still there", shortcut)
		}
	}
}

func overMCP(t *testing.T, i installation, s *server) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: i.command(t, "mcp", "--agent", "over-mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	type result struct {
		text string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "human", Arguments: map[string]any{
			"action": "invoke", "action_type": "feedback", "description": "哪种颜色？"}})
		if err != nil {
			got <- result{err: err}
			return
		}
		text, err := json.Marshal(r.StructuredContent)
		got <- result{string(text), err}
	}()
	s.answer(t, s.waiting(t, "哪种颜色？").ID, "红色 & \"red\"")
	if r := <-got; r.err != nil || !strings.Contains(r.text, "红色") {
		t.Errorf("the agent has %s %v", r.text, r.err)
	}
}

// ring has `deskbell ring` print the answer where it was called, and end with the code for it.
func ring(t *testing.T, i installation, s *server) {
	cmd := i.command(t, "ring", "在终端里？")
	cmd.Env = append(cmd.Env, "DESKBELL_KEY="+s.agent(t, fmt.Sprintf("terminal-%d", os.Getpid())))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.answer(t, s.waiting(t, "在终端里？").ID, "是的，在终端里")
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "是的，在终端里") {
		t.Errorf("it printed %q and ended with %v", out.String(), err)
	}
}

// record records the desktop while an operator works, and looks for its files.
func record(t *testing.T, s *server, data string) {
	var open operation
	callAs(t, s.agent(t, "recorded"), "POST", s.url+"/api/human/invoke", map[string]any{"action_type": "desktop", "description": "请演示"}, &open)
	s.call(t, "POST", "/api/human/claim", map[string]any{"operation_id": open.ID}, nil)
	var recording struct {
		ID string `json:"recording_id"`
	}
	s.call(t, "POST", "/api/recordings", map[string]any{"operation_id": open.ID}, &recording)
	s.call(t, "POST", "/api/recordings/"+recording.ID+"/mark", map[string]any{"text": "第一步"}, nil)
	s.call(t, "POST", "/api/recordings/"+recording.ID+"/stop", map[string]any{}, nil)
	var events struct{ Events []json.RawMessage }
	s.call(t, "GET", "/api/recordings/"+recording.ID+"/events?limit=100", nil, &events)
	if text := fmt.Sprintf("%s", events.Events); !strings.Contains(text, "第一步") {
		t.Errorf("its events are %s", text)
	}
	files, err := filepath.Glob(filepath.Join(data, "recordings", "*"))
	if err != nil || len(files) == 0 {
		t.Errorf("no file of a recording is in %s: %v", data, err)
	}
}
