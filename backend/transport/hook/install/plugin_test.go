package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// calls runs the plug-in as opencode does, with a hook that is a script, and returns what became of the arguments, or why
// the call was blocked.
func calls(t *testing.T, script string, limit time.Duration) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("needs node and a shell")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "hook")
	if script != "" {
		put2(t, program, "#!/bin/sh\n"+script)
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put2(t, filepath.Join(dir, "deskbell.mjs"), string(pluginFor(Command{Program: []string{program}, Data: dir, Limit: limit})))
	put2(t, filepath.Join(dir, "run.mjs"), `
import * as plugin from "./deskbell.mjs"
if (Object.keys(plugin).length !== 1) throw new Error("opencode takes every export for a plug-in")
const hooks = await plugin.Deskbell({ directory: "/srv/shop", worktree: "/srv" })
const args = { command: "rm -rf build", force: true }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "ses_1", callID: "call_1" }, { args })
  console.log(JSON.stringify(args))
} catch (error) {
  console.log("refused: " + error.message)
}
`)
	out, err := exec.Command(node, filepath.Join(dir, "run.mjs")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestThePluginLetsRunWhatIsAllowedAndNothingElse(t *testing.T) {
	for script, want := range map[string]string{
		`cat > /dev/null; echo '{"decision":"allow"}'`:                                  `{"command":"rm -rf build","force":true}`,
		`cat > /dev/null; echo '{"decision":"allow","args":{"command":"rm -r build"}}'`: `{"command":"rm -r build"}`,
		`cat > /dev/null; echo '{"decision":"deny","message":"Ada refused it."}'`:       `refused: Ada refused it.`,
		`cat > /dev/null; echo '{"decision":"deny","message":"It broke."}'; exit 2`:     `refused: It broke.`,
		`cat > /dev/null; echo '{"decision":"allow"}'; exit 1`:                          `refused: Deskbell blocked this call.`,
		`exec echo '{"decision":"maybe"}'`:                                              `refused: Deskbell blocked this call.`,
		`echo hello`:                                                                    `ended without an answer (0)`,
		`exit 0`:                                                                        `ended without an answer (0)`,
		`kill -9 $$`:                                                                    `ended without an answer (SIGKILL)`,
		``:                                                                              `could not be started`,
	} {
		if got := calls(t, script, time.Minute); got != want && (!strings.HasPrefix(got, "refused: Deskbell blocked this call: its hook ") || !strings.Contains(got, want)) {
			t.Errorf("%s: %s", script, got)
		}
	}
	if got := calls(t, "exec sleep 60", 300*time.Millisecond); !strings.Contains(got, "did not answer in time") {
		t.Error(got)
	}
}

func TestThePluginTellsTheWholeCall(t *testing.T) {
	got := calls(t, `message=$(cat | sed 's/"/\\"/g'); echo "{\"decision\":\"deny\",\"message\":\"$message $*\"}"`, time.Minute)
	text, args, _ := strings.Cut(strings.TrimPrefix(got, "refused: "), "} opencode")
	var said map[string]any
	if err := json.Unmarshal([]byte(text+"}"), &said); err != nil {
		t.Fatal(err, got)
	}
	if said["event"] != "tool.execute.before" || said["tool"] != "bash" || said["callID"] != "call_1" || said["directory"] != "/srv/shop" ||
		said["args"].(map[string]any)["command"] != "rm -rf build" || !strings.Contains(args, "--limit 60") || !strings.Contains(args, "--data ") {
		t.Error(got)
	}
}
