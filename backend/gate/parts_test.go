package gate_test

import (
	"strings"
	"testing"

	"deskbell/backend/gate"
)

// The commands of a call are all that it is only where nothing else stands in it: a rule about one of them may then decide about the call.
func TestPartsAreTheWholeCall(t *testing.T) {
	for _, tt := range []struct {
		call  gate.Call
		parts int
		whole bool
	}{
		{bash("ls; pwd"), 2, true},
		{tool("Bash", object{"command": []any{"ls", "-l"}}), 1, true},
		{tool("Bash", object{"command": "ls", "env": object{}}), 1, true},
		{tool("Bash", object{"command": "ls", "env": object{"LD_PRELOAD": "/tmp/x.so"}}), 1, false},
		{tool("Bash", object{"command": "ls", "env": "LD_PRELOAD=/tmp/x.so"}), 1, false},
		{tool("Bash", object{"command": "ls", "cmd": "rm -rf /srv"}), 2, false},
		{tool("Bash", object{"command": "rm", "args": []string{"-rf", "/srv"}}), 2, false},
		{tool("Bash", object{"command": []any{"ls", 5}}), 0, false},
		{tool("Bash", object{"command": object{"line": "ls"}}), 0, false},
		{tool("Bash", object{}), 0, false},
		{tool("PowerShell", object{"command": "Get-Date"}), 1, true},
		{tool("PowerShell", object{"command": "Get-Date; Remove-Item x"}), 1, false},
		{tool("PowerShell", object{"command": "Get-Date", "script": "Remove-Item x"}), 2, false},
		{tool("Read", object{"file_path": "a.txt"}), 0, false},
		{gate.Call{Tool: "Bash", Args: []byte(`{"command":`)}, 0, false},
		{bash(strings.Repeat("ls;", gate.MaxArgs/3)), 0, false},
	} {
		parts, whole := gate.Parts(tt.call, nil)
		if len(parts) != tt.parts || whole != tt.whole {
			t.Errorf("%s %.100s: %d parts, whole %t", tt.call.Tool, tt.call.Args, len(parts), whole)
		}
	}
}
