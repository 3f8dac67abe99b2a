package gate_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"deskbell/backend/gate"
)

func TestEdits(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		tool, args string
		want       []gate.Edit
	}{
		"Claude Code's Write":      {"Write", `{"file_path":"/p/a","content":"x"}`, []gate.Edit{{Path: "/p/a", Content: text("x")}}},
		"an empty file":            {"Write", `{"file_path":"/p/a","content":""}`, []gate.Edit{{Path: "/p/a", Content: text("")}}},
		"Claude Code's Edit":       {"Edit", `{"file_path":"/p/a","old_string":"x","new_string":"y"}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y"}}},
		"every one":                {"Edit", `{"file_path":"/p/a","old_string":"x","new_string":"","replace_all":true}`, []gate.Edit{{Path: "/p/a", Old: "x", All: true}}},
		"an edit that makes":       {"Edit", `{"file_path":"/p/a","old_string":"","new_string":"y"}`, []gate.Edit{{Path: "/p/a", Content: text("y")}}},
		"MultiEdit":                {"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":"2","replace_all":true}]}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y"}, {Path: "/p/a", Old: "1", New: "2", All: true}}},
		"NotebookEdit":             {"NotebookEdit", `{"notebook_path":"/p/a.ipynb","cell_id":"c","new_source":"print(1)"}`, []gate.Edit{{Path: "/p/a.ipynb", New: "print(1)"}}},
		"Gemini's write_file":      {"write_file", `{"file_path":"~/a","content":"x"}`, []gate.Edit{{Path: "/home/me/a", Content: text("x")}}},
		"Gemini's replace":         {"replace", `{"file_path":"/p/a","old_string":"x","new_string":"y","expected_replacements":3}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y", All: true}}},
		"opencode's edit":          {"edit", `{"filePath":"b/../a","oldString":"x","newString":"y"}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y"}}},
		"opencode's write":         {"write", `{"filePath":"/p/a","content":"x"}`, []gate.Edit{{Path: "/p/a", Content: text("x")}}},
		"Cursor's search_replace":  {"search_replace", `{"file_path":"a","old_string":"x","new_string":"y"}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y"}}},
		"Cursor's edit_file":       {"edit_file", `{"target_file":"a","instructions":"i","code_edit":"y"}`, []gate.Edit{{Path: "/p/a", New: "y"}}},
		"MCP's write_file":         {"mcp__files__write_file", `{"path":"a","content":"x"}`, []gate.Edit{{Path: "/p/a", Content: text("x")}}},
		"MCP's edit_file":          {"mcp__files__edit_file", `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, []gate.Edit{{Path: "/p/a", Old: "x", New: "y"}}},
		"a trial":                  {"mcp__files__edit_file", `{"path":"a","dryRun":true,"edits":[{"oldText":"x","newText":"y"}]}`, nil},
		"MCP's move_file":          {"move_file", `{"source":"a","destination":"b"}`, []gate.Edit{{Path: "/p/a", MoveTo: "/p/b"}}},
		"a copy":                   {"copy_file", `{"source":"a","destination":"b"}`, nil},
		"a file deleted":           {"delete_file", `{"target_file":"a"}`, []gate.Edit{{Path: "/p/a", Delete: true}}},
		"a folder made":            {"create_directory", `{"path":"a"}`, nil},
		"the editor's create":      {"str_replace_based_edit_tool", `{"command":"create","path":"/p/a","file_text":"x"}`, []gate.Edit{{Path: "/p/a", Content: text("x")}}},
		"the editor's insert":      {"str_replace_based_edit_tool", `{"command":"insert","path":"/p/a","insert_line":3,"insert_text":"x"}`, []gate.Edit{{Path: "/p/a", New: "x"}}},
		"the editor's view":        {"str_replace_based_edit_tool", `{"command":"view","path":"/p/a"}`, nil},
		"a field that hides":       {"Write", `{"file_path":"/p/a","content":"x","content":"y"}`, nil},
		"a tool that reads":        {"Read", `{"file_path":"/p/a"}`, nil},
		"a command":                {"Bash", `{"command":"echo x > a"}`, nil},
		"no path":                  {"Write", `{"content":"x"}`, nil},
		"Codex' patch in command":  {"apply_patch", `{"command":"*** Begin Patch\n*** Add File: n\n+1\n+\n*** End Patch"}`, []gate.Edit{{Path: "/p/n", Content: text("1\n\n")}}},
		"opencode's patch deletes": {"patch", `{"patchText":"*** Begin Patch\n*** Delete File: n\n*** End Patch\n"}`, []gate.Edit{{Path: "/p/n", Delete: true}}},
		"Codex' patch": {"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ func f\n one\n-two\n+2\n\n--- three\n@@\n-x\n+y\n*** Update File: c\n-q\n*** End Patch"}`, []gate.Edit{
			{Path: "/p/a", Old: "one\ntwo\n\n-- three\n", New: "one\n2\n\n"}, {Path: "/p/a", Old: "x\n", New: "y\n"}, {Path: "/p/a", MoveTo: "/p/b"}, {Path: "/p/c", Old: "q\n"},
		}},
		"a unified patch": {"patch", `{"diff":"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@ f\n one\n-two\n--- a/x\n+++ y\ndiff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\ndiff --git a/f b/g\nrename from f\nrename to g\n"}`, []gate.Edit{
			{Path: "/p/a", Old: "one\ntwo\n-- a/x\n", New: "one\n++ y\n"}, {Path: "/p/n", Content: text("new\n")}, {Path: "/p/gone", Delete: true}, {Path: "/p/f", MoveTo: "/p/g"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := gate.Edits(gate.Call{Tool: tt.tool, Args: json.RawMessage(tt.args), Cwd: "/p", Home: "/home/me"})
			if !reflect.DeepEqual(got, tt.want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(tt.want)
				t.Errorf("%s, want %s", a, b)
			}
		})
	}
}
