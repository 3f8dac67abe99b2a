package term_test

import (
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/term"
)

func TestCommandsAreToldApart(t *testing.T) {
	d := open(t, `{"command":["make deploy ENV=staging","ls /nowhere"],"folder":"HOME"}`)
	p := d.start(term.Request{})
	if c := p.does("echo hello"); c.Text != "echo hello" || *c.ExitCode != 0 || c.Folder != d.home || c.Lines != 1 || c.Suggestion != nil {
		t.Errorf("echo is %+v", c)
	}
	if c := p.does("ls /nowhere"); c.ExitCode == nil || *c.ExitCode != 2 || c.Suggestion == nil || *c.Suggestion != 1 || c.Edited {
		t.Errorf("ls is %+v", c)
	}
	if c := p.does("make deploy ENV=prod"); c.Suggestion == nil || *c.Suggestion != 0 || !c.Edited {
		t.Errorf("make is %+v", c)
	}
	p.does("mkdir a; cd a")
	if c := p.does("false"); c.Folder != d.home+"/a" || *c.ExitCode != 1 {
		t.Errorf("false is %+v", c)
	}
	if c := p.does("false"); c.Text != "false" {
		t.Errorf("a repeated command is %+v", c)
	}
	rec, all := d.finish()
	if rec.State != human.RecordingStopped || rec.Reason != "operator" || !rec.Complete {
		t.Errorf("the recording is %+v", rec)
	}
	var words []string
	for _, a := range all {
		words = append(words, a.Words)
	}
	t.Log(strings.Join(words, "\n"))
	t.Log(d.cast(rec.ID))
	if len(all) != 6 || !strings.HasPrefix(words[0], "$ echo hello (exit 0, ") {
		t.Errorf("actions are %q", words)
	}
	if all[1].Command.Output == "" || !strings.Contains(all[1].Command.Output, "/nowhere") {
		t.Errorf("the output is %q", all[1].Command.Output)
	}
}
