package app_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
)

// The recipe of the threat model: an agent that runs as another user has its key and the server's address. It asks, and can do
// nothing else.
func TestAnAgentAsAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root starts programs as another user")
	}
	d := newFixture(t)
	self := forAnyUser(t)
	home := filepath.Join(filepath.Dir(self), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	key := key(t, d.dir, "coder")
	agent := func(env []string, args ...string) *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = home
		cmd.Env = append([]string{asProgram + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "DESKBELL_KEY=" + key}, env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4711, Gid: 4711}}
		return cmd
	}
	there := []string{"DESKBELL_URL=" + d.url}

	// It asks, as the recipe says, and reads the answer.
	ring := agent(there, self, "ring", "--type", "approve", "--details", `{"action":"make deploy","risk_level":"medium"}`, "Deploy?")
	var said bytes.Buffer
	ring.Stdout, ring.Stderr = &said, &said
	if err := ring.Start(); err != nil {
		t.Fatal(err)
	}
	op := d.rung(t)
	if op.AgentID != "coder" {
		t.Errorf("the request is of %q", op.AgentID)
	}

	// It reads nothing of the operator's, and starts nothing on the data folder.
	for _, file := range []string{"deskbell.db", "server.json", "stepup.key", "deskbell.log"} {
		runWith(t, agent(nil, "cat", filepath.Join(d.dir, file))).want(t, 1, "Permission denied")
	}
	runWith(t, agent(nil, "ls", d.dir)).want(t, 2, "Permission denied")
	runWith(t, agent([]string{"DESKBELL_URL=unix:" + filepath.Join(d.dir, "deskbell.sock")}, self, "wait", string(op.ID))).want(t, 3, "no Deskbell answers")
	for _, command := range []string{"keys list", "keys add mine", "inbox", "serve --json", "doctor"} {
		r := runWith(t, agent([]string{"DESKBELL_DATA=" + d.dir}, append([]string{self}, strings.Fields(command)...)...))
		if r.code == 0 || strings.Contains(r.out, "coder") {
			t.Errorf("%s: exit code %d, %s%s", command, r.code, r.out, r.err)
		}
	}

	// It answers nothing: neither by its key nor by a login.
	runWith(t, agent(there, self, "answer", string(op.ID), "--approve")).want(t, 3, "only an operator")
	runWith(t, agent(there, self, "login")).want(t, 3, "deskbell login")
	runWith(t, agent(there, self, "keys", "add", "mine")).want(t, 3, "only an operator")
	if status, err := newCaller(t, d.url, key).call("POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": "approve", "digest": op.Digest}, nil); err != nil || status != http.StatusForbidden {
		t.Errorf("by its key: %d, %v", status, err)
	}
	var now human.Operation
	d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &now)
	if now.State.Terminal() {
		t.Fatalf("it is %s", now.State)
	}
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": "approve", "digest": now.Digest}, nil)
	if err := ring.Wait(); err != nil || !strings.Contains(said.String(), "approved") {
		t.Errorf("%v: %s", err, said.String())
	}
}
