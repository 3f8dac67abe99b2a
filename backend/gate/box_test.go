package gate_test

import (
	"encoding/json"
	"testing"

	"deskbell/backend/gate"
)

func TestACommandOfAShellIsPutInPlaceOfAnother(t *testing.T) {
	for name, tt := range map[string]struct{ tool, args, command, want string }{
		"the usual":               {"Bash", `{"command":"make && ls","description":"Build","timeout":120000}`, "make && ls", `{"command":"box <x> & 'y'","description":"Build","timeout":600000}`},
		"another name":            {"run_shell_command", `{"cmd":"make","n":1.50}`, "make", `{"cmd":"box <x> & 'y'","n":1.50,"timeout":600000}`},
		"another spelling":        {"shell", `{"Command":"make"}`, "make", `{"Command":"box <x> & 'y'","timeout":600000}`},
		"exact arguments":         {"shell", `{"command":["bash","-lc","make"]}`, "", ""},
		"two commands":            {"Bash", `{"command":"make","cmd":"ls"}`, "", ""},
		"one twice":               {"Bash", `{"command":"make","command":"ls"}`, "", ""},
		"none":                    {"Bash", `{"description":"x"}`, "", ""},
		"an empty one":            {"Bash", `{"command":" "}`, "", ""},
		"no object":               {"Bash", `["make"]`, "", ""},
		"a tool that runs none":   {"Write", `{"file_path":"a","content":"b"}`, "", ""},
		"a byte that ends a text": {"Bash", `{"command":"a\u0000b"}`, "", ""},
	} {
		call := gate.Call{Tool: tt.tool, Args: json.RawMessage(tt.args)}
		command, ok := gate.ShellCommand(call)
		if command != tt.command || ok != (tt.command != "") {
			t.Errorf("%s: %q, %v", name, command, ok)
		}
		args, ok := gate.WithCommand(call, "box <x> & 'y'", map[string]any{"timeout": 600000})
		if string(args) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %s, %v", name, args, ok)
		}
	}
}
