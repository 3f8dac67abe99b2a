package term_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/term"
)

func TestCommandsAreToldApart(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(shell + " is not installed; `make test` installs it on Debian")
			}
			tellApart(t, shell)
		})
	}
}

func tellApart(t *testing.T, shell string) {
	d := open(t, `{"command":["make deploy ENV=staging","ls /nowhere"],"folder":"HOME"}`)
	must(t, os.WriteFile(filepath.Join(d.home, ".zshrc"), []byte("PS1='own> '\nsetopt hist_ignore_space\n"), 0o600)) // without one, zsh asks what to put there
	must(t, os.WriteFile(filepath.Join(d.home, ".bashrc"), []byte("HISTCONTROL=ignorespace\n"), 0o600))
	p := d.start(term.Request{Shell: shell})
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
	if c := p.does("echo 'a\\b' \"ü\""); c.Text != "echo 'a\\b' \"ü\"" {
		t.Errorf("a command with quotes is %+v", c)
	}
	if c := p.does(" echo kept-out"); c.Text != "" || *c.ExitCode != 0 {
		t.Errorf("a command that is kept out of the history is %+v", c)
	}
	rec, all := d.finish()
	if rec.State != human.RecordingStopped || rec.Reason != "operator" || !rec.Complete || !strings.HasPrefix(rec.Options.Terminal.Shell, shell) {
		t.Errorf("the recording is %+v", rec)
	}
	if len(all) != 8 || !strings.HasPrefix(all[0].Words, "$ echo hello (exit 0, ") || !strings.Contains(all[1].Command.Output, "/nowhere") {
		t.Errorf("actions are %+v", all)
	}
}

// A terminal ends with the claim on its operation, however that ends; nothing else in the journal ends it.
func TestATerminalEndsWithItsOperation(t *testing.T) {
	for _, by := range []human.EventType{human.Finished, human.Withdrawn, human.TurnedDown, human.Released} {
		t.Run(string(by), func(t *testing.T) {
			d := open(t, `{"folder":"HOME"}`)
			p := d.start(term.Request{})
			p.does("true")
			entry := func(id human.OperationID, e human.EventType) human.Entry {
				return human.Entry{ID: id, Event: human.Event{Type: e}}
			}
			journal := func(all ...human.Entry) error {
				return d.service.EndWith(t.Context(), func(yield func(human.Entry, error) bool) {
					for _, e := range all {
						if !yield(e, nil) {
							return
						}
					}
				})
			}
			must(t, journal(entry("op_2", by), entry("op_1", human.Expired), entry("op_1", human.Asked)))
			if st, err := d.service.State(t.Context(), ada, "op_1"); err != nil || !st.Running {
				t.Fatalf("it ended with the wrong event: %+v, %v", st, err)
			}
			must(t, journal(entry("op_1", by)))
			select {
			case <-p.over:
			case <-time.After(20 * time.Second):
				t.Fatal("it did not end")
			}
			rec, all := d.recorded("rec_1")
			if rec.Running() || rec.Reason != "operation_ended" || !rec.Complete || len(all) != 1 {
				t.Errorf("the recording is %+v with %d actions", rec, len(all))
			}
		})
	}
}

// Of a program that prints without end, a page that draws slowly has little before it, so that what a key prints is seen soon.
func TestASlowPageHasLittleBeforeIt(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	_, err := d.service.Start(t.Context(), ada, "op_1", term.Request{Cols: 96, Rows: 24})
	must(t, err)
	c, err := d.service.Connect(t.Context(), ada, "op_1")
	must(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	next := func() []byte {
		for {
			out, _, ok := c.Next(ctx)
			if !ok {
				t.Fatal("the terminal ended, or nothing more came")
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	var seen []byte
	for !bytes.Contains(seen, []byte("\x1b]133;B\a")) {
		out := next()
		seen = append(seen, out...)
		must(t, c.Ack(len(out)))
	}
	c.Write([]byte("yes 0123456789\r"))
	const speed = 500 << 10 // bytes a second
	drawn := 0
	for drawn < 1<<20 {
		out := next()
		<-time.After(time.Duration(len(out)) * time.Second / speed)
		drawn += len(out)
		must(t, c.Ack(len(out)))
	}
	c.Write([]byte("Q")) // echoed after what is before it
	before := 0
	for {
		out := next()
		if at := bytes.IndexByte(out, 'Q'); at >= 0 {
			before += at
			break
		}
		before += len(out)
		<-time.After(time.Duration(len(out)) * time.Second / speed)
		must(t, c.Ack(len(out)))
	}
	if before > 128<<10 {
		t.Errorf("the echo comes after %d bytes", before)
	}
	t.Logf("the echo came after %d bytes", before)
}
