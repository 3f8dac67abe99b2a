package app_test

import (
	"bufio"
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
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/app"
	"deskbell/backend/box"
	"deskbell/backend/human"
	"deskbell/backend/plugins"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/cli"
	"deskbell/build/serving"
)

// asProgram makes the test's own binary behave as the program, so that tests have real processes without
// building the window.
const asProgram = "DESKBELL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	plugins.Child()
	box.Child()
	if os.Getenv(asProgram) != "" {
		program := app.Program("1.0-test", "0123456789ab, 2026-01-31", fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Deskbell</title>")}})
		_, here, _, _ := runtime.Caller(0)
		program.Chinese, _ = os.ReadFile(filepath.Join(filepath.Dir(here), "../../frontend/messages/server/zh-CN.json")) // the doctor's test misses it
		program.Window = func(cli.Start) error {
			return human.Errorf(human.Unavailable, "this test has no window")
		}
		os.Exit(cli.Execute(context.Background(), program, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(asEliciting) != "" {
		eliciting()
		return
	}
	if to := os.Getenv(asPoster); to != "" {
		post(to)
		return
	}
	goleak.VerifyTestMain(m)
}

// asPoster makes the test's own binary a program that posts to the URL in it, with the token and the body in its arguments, says the
// status and the answer, and runs what the rest of its arguments say before it hangs up: programs, with "then" between them.
const asPoster = "DESKBELL_TEST_AS_POSTER"

func post(to string) {
	r, err := http.NewRequest("POST", to, strings.NewReader(os.Args[2]))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+os.Args[1])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(answer.Body)
	fmt.Printf("%d %s\n", answer.StatusCode, strings.TrimSpace(string(text)))
	for rest := os.Args[3:]; len(rest) > 0; {
		end := slices.Index(rest, "then")
		if end < 0 {
			end = len(rest)
		}
		cmd := exec.Command(rest[0], rest[1:end]...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
		rest = rest[min(end+1, len(rest)):]
	}
}

// program is a command of the program on a data folder, with a clean environment.
func program(t testing.TB, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append([]string{asProgram + "=1", "DESKBELL_DATA=" + dir, "HOME=" + scratch(t), "PATH=" + os.Getenv("PATH"),
		"LOCALAPPDATA=" + os.Getenv("LOCALAPPDATA"), "GORACE=" + os.Getenv("GORACE"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
	return cmd
}

// A result is how a command ended.
type result struct {
	out, err string
	code     int
}

// run runs a command to its end.
func run(t testing.TB, dir string, env []string, args ...string) result {
	t.Helper()
	return runWith(t, program(t, dir, env, args...))
}

func runWith(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// want checks how a command ended and what it said, on either stream.
func (r result) want(t testing.TB, code int, says ...string) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nout: %s\nerr: %s", r.code, code, r.out, r.err)
	}
	for _, part := range says {
		if !strings.Contains(r.out+r.err, part) {
			t.Errorf("it does not say %q\nout: %s\nerr: %s", part, r.out, r.err)
		}
	}
	return r
}

func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// A server is a running `deskbell serve --json`.
type server struct {
	cmd                *exec.Cmd
	errs               *bytes.Buffer
	ended              chan struct{}
	said               string // on standard output
	url, console, code string
}

// serve starts a server and waits until it is ready.
func serve(t testing.TB, dir string, env []string, args ...string) *server {
	t.Helper()
	s, err := tryServe(t, dir, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryServe(t testing.TB, dir string, env []string, args ...string) (*server, error) {
	t.Helper()
	return tryServeBy(t, program(t, dir, env, append([]string{"serve", "--addr", "127.0.0.1:0", "--json"}, args...)...))
}

// tryServeBy starts the server of a command.
func tryServeBy(t testing.TB, cmd *exec.Cmd) (*server, error) {
	t.Helper()
	s := &server{cmd: cmd, errs: &bytes.Buffer{}, ended: make(chan struct{})}
	s.cmd.Stderr = s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	read, err := serving.Code(s.cmd)
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(s.kill)
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	go func() {
		defer close(s.ended)
		rest, _ := io.ReadAll(lines)
		_ = s.cmd.Wait()
		if len(rest) > 0 {
			fmt.Fprintf(s.errs, "more than one line on standard output: %q", rest)
		}
	}()
	if err != nil {
		<-s.ended
		return nil, fmt.Errorf("the server did not start: %s", s.errs)
	}
	ready, err := read()
	if err != nil {
		return nil, err
	}
	s.said, s.url, s.console, s.code = line, ready.URL, ready.Console, ready.Code
	return s, nil
}

// kill ends it as a crash would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// stop ends it in order.
func (s *server) stop(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not stop")
	}
	if s.cmd.ProcessState.ExitCode() != 0 || s.errs.Len() > 0 {
		t.Errorf("exit code %d, %s", s.cmd.ProcessState.ExitCode(), s.errs)
	}
}

// key makes an agent's key on a data folder.
func key(t testing.TB, dir, name string) (key string) {
	t.Helper()
	onKeys(t, dir, func(store *sqlite.Store) (err error) {
		key, err = store.AddKey(t.Context(), name, false)
		return err
	})
	return key
}

// revoke revokes an agent's keys on a data folder.
func revoke(t testing.TB, dir, name string) {
	t.Helper()
	onKeys(t, dir, func(store *sqlite.Store) error {
		_, err := store.RevokeKey(t.Context(), name)
		return err
	})
}

func onKeys(t testing.TB, dir string, do func(*sqlite.Store) error) {
	t.Helper()
	keys, err := app.Program("", "", nil).Keys(t.Context(), dir)
	if err == nil {
		err = errors.Join(do(keys.(*sqlite.Store)), keys.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A caller is one user of the API. It speaks plain HTTP, so that it believes nothing the client package does.
type caller struct {
	url, token string
	http       *http.Client
}

func newCaller(t testing.TB, url, token string) *caller {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{url, token, &http.Client{Transport: transport, Timeout: time.Minute}}
}

// operator opens an operator's session with a one-time code.
func operator(t testing.TB, url, code string) *caller {
	t.Helper()
	c := newCaller(t, url, "")
	var session struct{ Token string }
	if status, err := c.call("POST", "/api/session", map[string]string{"code": code}, &session); err != nil || status/100 != 2 {
		t.Fatalf("no session: %d, %v", status, err)
	}
	c.token = session.Token
	return c
}

// call makes one request and decodes a good answer. An error means that there was no whole answer.
func (c *caller) call(method, path string, body, into any) (status int, err error) {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, c.url+path, in)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode/100 == 2 && into != nil {
		return resp.StatusCode, json.Unmarshal(text, into)
	}
	return resp.StatusCode, nil
}

// good is call for a request that must succeed.
func (c *caller) good(t testing.TB, method, path string, body, into any) {
	t.Helper()
	if status, err := c.call(method, path, body, into); err != nil || status/100 != 2 {
		t.Fatalf("%s %s: %d, %v", method, path, status, err)
	}
}

func serverFile(dir string) string { return filepath.Join(dir, "server.json") }
