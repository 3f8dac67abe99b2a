package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

func sheetOf(tasks []human.Task, margin string) string {
	var b strings.Builder
	writeTasks(&b, tasks, margin, func(int) []string { return []string{"a remark"} })
	return b.String()
}

// What is written and read again is the same to the byte, and nothing of it is invisible.
func TestTasksSurviveTheEditor(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z '"\\\n\t#=\[\]{}.]{0,40}`),
		rapid.SampledFrom([]string{"'''", "a'", "\n", "\n\na\n", "#", "\x1b[2J\u202e", "\u3000全角", "\U0001F600", "a\r\nb", `C:\x`, "''", "\u2028", "[[tasks]]"}),
	)
	value := func() *rapid.Generator[any] {
		one := rapid.OneOf(
			rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Map(rapid.Float64Range(-1e30, 1e30), func(f float64) any { return f }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Just[any](nil),
		)
		return rapid.OneOf(one, rapid.Map(rapid.SliceOfN(one, 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, one, 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		var tasks []human.Task
		for i := range rapid.IntRange(1, 4).Draw(t, "n") {
			task := human.Task{
				ID: string(rune('a' + i)), Description: "x" + text.Draw(t, "description"), Tool: text.Draw(t, "tool"), Type: text.Draw(t, "type"),
				Priority: rapid.IntRange(-3, 9).Draw(t, "priority"), ExpectedOutcome: text.Draw(t, "outcome"),
			}
			if rapid.Bool().Draw(t, "args") {
				args, err := json.Marshal(rapid.MapOfN(text, value(), 0, 4).Draw(t, "args"))
				if err != nil {
					t.Fatal(err)
				}
				task.Args = args
			}
			tasks = append(tasks, task)
		}
		written := sheetOf(tasks, "")
		if visible(written) != written {
			t.Fatalf("it shows what cannot be seen: %q", written)
		}
		_, sub, err := readPlan([]byte(written), tasks)
		if err != nil || !human.SameTasks(sub.Tasks, tasks) {
			t.Fatalf("%v\n%s\nbecame %+v", err, written, sub.Tasks)
		}
		// As a remark it counts for nothing, and without the marks it is the same again.
		commented := sheetOf(tasks, "# ")
		if _, sub, _ := readPlan([]byte(commented), tasks); len(sub.Tasks) != 0 {
			t.Fatalf("remarks count:\n%s", commented)
		}
		plain := strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll("\n"+commented, "\n# a remark", ""), "\n"), "\n# ", "\n")
		if _, sub, err := readPlan([]byte(plain), tasks); err != nil || !human.SameTasks(sub.Tasks, tasks) {
			t.Fatalf("%v\n%s\nbecame %+v", err, plain, sub.Tasks)
		}
	})
}

func TestATaskIsWrittenAsAPersonChangesIt(t *testing.T) {
	got := sheetOf([]human.Task{
		{ID: "t1", Description: "Say \"hello\"", Tool: "bash", Args: json.RawMessage(`{"command":"echo \"hi\"\nls \u003e x","n":2,"deep":{"a":[1.5,true]}}`)},
		{ID: "t2", Description: "Nothing known", Args: json.RawMessage(`{"a":null}`)},
	}, "")
	want := `
# a remark
[[tasks]]
id = "t1"
description = 'Say "hello"'
tool_name = "bash"
args.command = '''
echo "hi"
ls > x'''
args.deep = {a = [1.5, true]}
args.n = 2

# a remark
[[tasks]]
id = "t2"
description = "Nothing known"
args_json = '''
{
  "a": null
}'''
`
	if got != want {
		t.Errorf("%s", got)
	}
}

func TestWhatIsWrongWithAPlansText(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "there is no task",
		"# nothing":                  "there is no task",
		"[[tasks]]\nid = \"t1\"":     "task 1 has no description",
		"[[tasks]]\ndescription = x": "line 2, column",
		"[[tasks]]\ndescription = \"x\"\ntol = \"bash\"":                                         "line 3: there is no tasks.tol",
		"[[tasks]]\nid = \"a\"\ndescription = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"y\"": "tasks 1 and 2 have the same id",
		"[[tasks]]\ndescription = \"x\"\nargs_json = '[]'":                                       "not a JSON object",
		"[[tasks]]\ndescription = \"x\"\nargs_json = '{}'\nargs.a = 1":                           "both",
		"[[tasks]]\ndescription = \"x\"\nargs.a = nan":                                           "JSON cannot express",
		"[[tasks]]\ndescription = \"x\"\npriority = 1.5":                                         "line 3",
		`{"message": "x"}`:                                         "there is no task",
		"{\"message\": \"x\",\n \"tasks\": [}":                     "line 2: it is not JSON: ",
		`{"message": "x", "tasks": [{"description"`:                "incomplete",
		"{\"tasks\":\n[{\"description\": 3}]}":                     "line 2: tasks.description must not be: number",
		`{"tasks": [{"description": "x"}], "x": 1}`:                `unknown field "x"`,
		`[{"description": "x", "tool": "y"}]`:                      `unknown field "tool"; a plan has session_id`,
		"[{\"description\": \"x\"},\n]":                            "line 2: it is not JSON: ",
		"{\"tasks\": [{\"description\": \"x\"}]}\n{\"tasks\": []}": "line 1: there is more after the plan",
		`[]`: "there is no task",
	} {
		_, _, err := readPlan([]byte(text), nil)
		if err == nil || human.KindOf(err) != human.Invalid || !strings.Contains(human.SafeText(err), want) {
			t.Errorf("%q: %v, which does not say %q", text, err, want)
		}
	}
}

// A plan says the same in JSON and in TOML.
func TestAPlansFile(t *testing.T) {
	five := 5
	for _, text := range []string{
		`{"session_id":"s","message":"m","why":"w","timeout_seconds":3,"priority":5,"confirmations":2,"operators":["Mei"],"idempotency_key":"k","context":{"cwd":"/p"},"tasks":[{"description":"x","args":{"a":1}}]}`,
		"session_id = \"s\"\nmessage = \"m\"\nwhy = \"w\"\ntimeout_seconds = 3\npriority = 5\nconfirmations = 2\noperators = [\"Mei\"]\nidempotency_key = \"k\"\ncontext.cwd = \"/p\"\n[[tasks]]\ndescription = \"x\"\nargs.a = 1\n",
	} {
		_, got, err := readPlan([]byte(text), nil)
		want := plan.Submission{
			SessionID: "s", Message: "m", Why: "w", Timeout: 3, Priority: &five, Confirmations: 2, Operators: []string{"Mei"}, IdempotencyKey: "k",
			Context: json.RawMessage(`{"cwd":"/p"}`), Tasks: []human.Task{{Description: "x", Args: json.RawMessage(`{"a":1}`)}},
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%v: %s, want %s", err, a, b)
		}
	}
}
