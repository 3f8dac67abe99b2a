//go:build unix

package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"deskbell/backend/human"
)

// A server that is killed while an operator works in a terminal loses no command that was shown as ended, leaves no shell behind, and
// lets the operator start the next one.
func TestAKilledServerKeepsWhatATerminalRecorded(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	agent := newCaller(t, s.url, key(t, dir, "ops-bot"))
	var op human.Operation
	agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "bash", "description": "Unlock", "details": map[string]any{"command": "true", "folder": folder}}, &op)
	at := "/api/operations/" + string(op.ID) + "/terminal"
	type state struct {
		Running     bool
		RecordingID string `json:"recording_id"`
		Commands    []struct {
			Text string
			Exit *int `json:"exit_code"`
		}
	}
	open := func(s *server, boss *caller) (of state, run func(line string)) {
		boss.good(t, "POST", at, map[string]any{"cols": 96, "rows": 24, "shell": "bash"}, &of)
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+at+"/socket",
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: boss.http.Transport}, HTTPHeader: http.Header{"Authorization": {"Bearer " + boss.token}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.CloseNow() }) // the server may be gone
		conn.SetReadLimit(1 << 20)
		prompt := make(chan struct{}, 100)
		go func() {
			for {
				_, data, err := conn.Read(t.Context())
				if err != nil {
					return
				}
				for range bytes.Count(data, []byte("\x1b]133;B\a")) {
					prompt <- struct{}{}
				}
			}
		}()
		return of, func(line string) {
			<-prompt
			if err := conn.Write(t.Context(), websocket.MessageBinary, []byte(line+"\r")); err != nil {
				t.Fatal(err)
			}
		}
	}
	boss.good(t, "POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil)
	of, run := open(s, boss)
	run("echo $$ >pid; echo first-words; (exit 7)")
	run("sleep 1000")
	waitFor(t, "the second command to run", func() bool {
		var now state
		boss.good(t, "GET", at, nil, &now)
		return len(now.Commands) == 2 && now.Commands[0].Exit != nil && now.Commands[1].Text == "sleep 1000"
	})
	s.kill()

	s = serve(t, dir, nil)
	boss = operator(t, s.url, s.code)
	var rec human.Recording
	waitFor(t, "the recording to be closed", func() bool {
		boss.good(t, "GET", "/api/recordings/"+of.RecordingID, nil, &rec)
		return !rec.Running()
	})
	if rec.State != "interrupted" || rec.Reason != "crash" || rec.Complete {
		t.Errorf("the recording is %+v", rec)
	}
	var list struct{ Actions []human.Action }
	boss.good(t, "GET", "/api/recordings/"+of.RecordingID+"/actions", nil, &list)
	if n := len(list.Actions); n != 3 || *list.Actions[0].Command.Exit != 7 || list.Actions[1].Command.Exit != nil || list.Actions[2].Type != human.Missing {
		t.Errorf("%d actions are kept: %+v", n, list.Actions)
	}
	cast, err := os.ReadFile(filepath.Join(dir, "recordings", of.RecordingID, "terminal.cast"))
	if err != nil || !strings.Contains(string(cast), "first-words") || !strings.Contains(string(cast), "interrupted") {
		t.Errorf("the cast is %s, %v", cast, err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(cast)), "\n") {
		if !strings.HasPrefix(line, "#") && !json.Valid([]byte(line)) {
			t.Errorf("a line of the cast is %q", line)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the shell to be gone", func() bool { return syscall.Kill(pid, 0) != nil })

	_, run = open(s, boss)
	run("echo again")
	waitFor(t, "a command in the next terminal", func() bool {
		var now state
		boss.good(t, "GET", at, nil, &now)
		return len(now.Commands) == 1 && now.Commands[0].Exit != nil
	})
}
