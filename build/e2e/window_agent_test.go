//go:build window

package e2e

import (
	"encoding/json"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/agent"
	"deskbell/backend/llm/llmtest"
	"deskbell/build/e2e/desktoptest"
)

// radioButton is one of several to choose from.
const radioButton desktoptest.Role = 44

// An agent fixes a project while a person sits at the window: its plan is changed there, one call of it is allowed and one
// denied, and one question is answered. Everything the person does is done with the pointer and the keyboard.
func TestAgentInTheWindow(t *testing.T) {
	t.Parallel()
	d := newFixture(t, desktoptest.Options{Notifications: true})
	d.Env = append(d.Env, "DESKBELL_PLAN_CONFIRM_BY_HUMAN=true")
	project := filepath.Join(d.Home, "sums")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(project, name) }
	for name, text := range map[string]string{
		"sum.sh":     "echo $(($1 - $2))\n",
		"test.sh":    "echo run >>runs.log\nis=$(sh sum.sh 2 40)\n[ \"$is\" = 42 ] || { echo \"FAIL: the sum of 2 and 40 is $is\"; exit 1; }\necho PASS\n",
		"publish.sh": "echo published >>published.log\n",
		"good.sh":    "echo 42\n",
		"notes.txt":  "keep\n",
	} {
		d.Write(file(name), text)
	}
	models, modelURL := llmtest.Start(t)
	models.Script(llmtest.Step{Times: -1, Make: mend})
	d.Start(d.bin)
	d.tray.WaitItem()
	d.press("Skip setup") // of the first steps
	d.see(desktoptest.Title, "Inbox")
	d.WaitActive("Deskbell") // otherwise the plan comes as a card
	worker := d.key("worker")
	run := d.StartWith([]string{
		"DESKBELL_KEY=" + worker, "DESKBELL_MODEL_PROVIDER=openai", "DESKBELL_MODEL_NAME=" + llmtest.Model,
		"DESKBELL_MODEL_BASE_URL=" + modelURL + "/v1", "DESKBELL_MODEL_KEY=" + llmtest.Key,
	}, "env", "-C", project, d.bin, "agent", "run", "The test fails. Find out why, and fix it.")

	// In the plan one task is removed, and one gets more instructions.
	d.clickOn(desktoptest.Link, "Find the failing test and mend it")
	d.clickOn(comboBox, "More for task 2")
	d.clickOn(menuItem, "Remove")
	d.see(desktoptest.Button, "Restore: Publish it")
	d.Wait("the task's text to have the keyboard", func() bool {
		// The tasks may still move: whose the plan is now gets a place above them.
		for _, e := range d.Elements("deskbell") {
			if e.Role == desktoptest.Button && e.Name == "Mend sum.sh" {
				d.Click(middle(e.At))
			}
		}
		return d.focused() == "Task"
	})
	d.Type(" so that it adds")
	d.Key("Return")
	d.see(desktoptest.Button, "Mend sum.sh so that it adds")
	d.see(desktoptest.Button, "Send 2 changes")
	d.Screenshot(os.Getenv("E2E_SHOT"))
	if _, err := os.Stat(file("runs.log")); err == nil {
		t.Error("a task ran before the plan was confirmed")
	}
	d.press("Send 2 changes")

	d.clickOn(desktoptest.Link, "Which program should add?")
	d.clickOn(desktoptest.Entry, "Your answer")
	d.Type("expr")
	d.press("Send answer")

	d.clickOn(desktoptest.Link, "Write good.sh")
	d.clickOn(radioButton, "Allow once")
	d.press("Answer: allow once")

	d.clickOn(desktoptest.Link, "Delete notes.txt")
	d.press("Answer: deny") // what is chosen unless one chooses

	// A task was denied, so the plan was not done, whatever the model says.
	if code := d.Ended(run); code != 1 {
		t.Errorf("the agent ended with status %d", code)
	}
	for _, part := range []string{"removed: Publish it", "changed: Mend sum.sh so that it adds", "refused", "The test passes now"} {
		if !strings.Contains(run.Out()+run.Err(), part) {
			t.Errorf("the agent does not say %q\n%s%s", part, run.Out(), run.Err())
		}
	}
	test := exec.Command("sh", "test.sh")
	test.Dir = project
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("the project's test: %v\n%s", err, out)
	}
	const mended = "echo $(expr $1 + $2)\n" // the words of the plan and of the answer made it so
	for name, want := range map[string]string{
		"sum.sh": mended, "good.sh": mended, "notes.txt": "keep\n", "runs.log": "run\nrun\nrun\n", // twice by the agent, and once here
	} {
		if text, err := os.ReadFile(file(name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, not %q: %v", name, text, want, err)
		}
	}
	if _, err := os.Stat(file("published.log")); err == nil {
		t.Error("the task that was taken out ran")
	}

	// No one was asked anything else.
	d.waiting("Nothing is waiting")
	d.look("what was asked, and what came of it", func(all []desktoptest.Element) bool {
		var rows []string
		for _, e := range all {
			for _, kind := range []string{"Plan ", "Feedback ", "Permission "} {
				if e.Role == desktoptest.Link && strings.HasPrefix(e.Name, kind) {
					rows = append(rows, kind+e.Name[strings.LastIndex(e.Name, " ")+1:])
				}
			}
		}
		return strings.Join(rows, ", ") == "Permission denied, Permission allowed, Feedback answered, Plan changed"
	})
}

// clickOn clicks the one element of that role and name, once it is alive.
func (d *fixture) clickOn(role desktoptest.Role, name string) {
	d.T.Helper()
	d.Click(middle(d.see(role, name).At))
}

func middle(r image.Rectangle) (x, y int) { return (r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2 }

// fix is a model that proposes how to fix the project, and does it in the words that people gave it.
func mend(q llmtest.Request) llmtest.Answer {
	var news strings.Builder // since its own last words
	for i := len(q.Turns) - 1; i >= 0 && q.Turns[i].Role != agent.Assistant; i-- {
		for _, r := range q.Turns[i].Results {
			news.WriteString(r.Text + "\n")
		}
		news.WriteString(q.Turns[i].Text + "\n")
	}
	has := func(part string) bool { return strings.Contains(news.String(), part) }
	type object = map[string]any
	calls := func(name string, args object) llmtest.Answer {
		text, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		return llmtest.Answer{Calls: []llmtest.Call{{Name: name, Args: text}}}
	}
	done := func(note string) llmtest.Answer { return calls("end_task", object{"outcome": "done", "note": note}) }
	shell := func(what, command string) object {
		return object{"description": what, "tool_name": "shell", "args": object{"command": command}}
	}
	switch {
	case len(q.Turns) == 1:
		return calls("propose_plan", object{"message": "Find the failing test and mend it", "tasks": []object{
			shell("Run the tests", "sh test.sh"),
			shell("Publish it", "sh publish.sh"),
			{"description": "Mend sum.sh", "tool_name": "edit_file", "expected_outcome": "The test passes"},
			shell("Run the tests again", "sh test.sh"),
			shell("Keep it as the good one", "cp sum.sh good.sh"),
			shell("Clean up", "rm -rf notes.txt"),
		}})
	case has("The plan is given up") && has("refused"): // with all that was done, so this is looked for before it
		return calls("finish", object{"outcome": "done", "note": "The test passes now: sum.sh adds."})
	case has("FAIL: the sum of 2 and 40 is -38"):
		return done("the sum of 2 and 40 is -38")
	case has("Now do task") && has("Mend sum.sh so that it adds"):
		return calls("ask_human", object{"question": "Which program should add?"})
	case has("The person answered: expr"):
		return calls("edit_file", object{"path": "sum.sh", "old_text": "$(($1 - $2))", "new_text": "$(expr $1 + $2)"})
	case has("changed at line 1"):
		return done("sum.sh adds now")
	case has("PASS"):
		return done("the sum of 2 and 40 is 42")
	}
	return llmtest.Answer{Text: "I do not know what to do with: " + news.String()}
}
