//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deskbell/build/serving"
)

// patience is for what comes within a second or two where nothing else runs.
const patience = 2 * time.Minute

// A folder is a data folder, and the program that serves it.
type folder struct {
	bin     string
	path    string
	wrap    []string // what runs the program, such as one that removes capabilities
	repairs bool     // this program has `deskbell repair`
}

func program(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("DESKBELL_BIN")
	if bin == "" {
		t.Fatal("DESKBELL_BIN is not set; run this with `make faults`")
	}
	return bin
}

func (f folder) command(args ...string) *exec.Cmd {
	args = append(append(append([]string{}, f.wrap...), f.bin), args...)
	cmd := exec.Command(args[0], args[1:]...)
	// Beside the data folder, which faults may remove.
	top := filepath.Dir(f.path)
	cmd.Env, cmd.Dir = []string{"HOME=" + top, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "DESKBELL_DATA=" + f.path}, top
	return cmd
}

// run runs a command of Deskbell to its end and returns all that it prints.
func (f folder) run(args ...string) (out string, err error) {
	cmd := f.command(args...)
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // started by then, or Start has failed
	defer timer.Stop()
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

// A server is a running `deskbell serve` with an operator signed in.
type server struct {
	cmd   *exec.Cmd
	url   string
	token string // of the operator
	errs  *output
	ended chan struct{}
}

// start starts the server. Where it does not get ready, the error has all that it printed.
func (f folder) start() (*server, error) {
	cmd := f.command("serve", "--addr", "127.0.0.1:0", "--json", "--set", "human.max_pending_requests=100000", "--set", "human.default_timeout=31622400")
	s := &server{cmd: cmd, errs: &output{}, ended: make(chan struct{})}
	read, err := serving.Code(cmd)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = s.errs
	if err := cmd.Start(); err != nil {
		_, _ = read() // it closes the pipe
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
	timer := time.AfterFunc(patience, s.kill)
	ready, err := read()
	timer.Stop()
	if err == nil {
		s.url = ready.URL
		var session struct{ Token string }
		err = s.must(http.StatusOK, http.MethodPost, "/api/session", "", map[string]any{"code": ready.Code}, &session)
		s.token = session.Token
	}
	if err != nil {
		s.kill()
		<-s.ended
		return nil, fmt.Errorf("%w\n%s", err, s.errs)
	}
	return s, nil
}

func (s *server) kill() { _ = s.cmd.Process.Kill() } // it may have ended

// stop ends the server in order, or says that it had to be killed.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(patience):
		s.kill()
		<-s.ended
		return errors.New("it did not stop in order")
	}
}

// call returns the status and the body of a reply.
func (s *server) call(method, path, token string, body any) (status int, raw []byte, err error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, s.url+path, sent)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := caller.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	raw, err = io.ReadAll(answer.Body)
	return answer.StatusCode, raw, err
}

// caller keeps a connection for each client of the load. A call must not wait for ever for a server that a fault has stopped.
var caller = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Second}, Timeout: patience}

func (s *server) must(want int, method, path, token string, body, into any) error {
	status, raw, err := s.call(method, path, token, body)
	if err != nil {
		return err
	}
	if status != want {
		return fmt.Errorf("%s %s: %d %s", method, path, status, raw)
	}
	return json.Unmarshal(raw, into)
}

// An output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// warnings are the lines of the log that are above INFO.
func (f folder) warnings() (lines []string) {
	raw, err := os.ReadFile(filepath.Join(f.path, "deskbell.log"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// A check is one line of `deskbell doctor`.
type check struct{ Name, Status, Detail, Fix string }

// doctor returns the checks that are not ok, by name.
func (f folder) doctor() (map[string]check, error) {
	out, err := f.run("doctor", "--json")
	var report struct{ Checks []check }
	at := strings.Index(out, "{")
	if at < 0 || json.Unmarshal([]byte(out[at:]), &report) != nil || len(report.Checks) == 0 {
		return nil, fmt.Errorf("deskbell doctor: %w\n%s", err, out)
	}
	bad := map[string]check{}
	for _, c := range report.Checks {
		if c.Status != "ok" {
			bad[c.Name] = c
		}
	}
	return bad, nil
}

// copied makes a copy of a data folder, without its socket.
func (f folder) copied(to string) (folder, error) {
	from := f.path
	f.path = to
	return f, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), raw, 0o600)
	})
}
