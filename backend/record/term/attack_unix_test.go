//go:build unix

package term_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/term"
)

// What is typed without echo is in no file, and neither is what a program prints of it.
func TestAPasswordIsNeverStored(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	p := d.start(term.Request{})
	p.until("a prompt", func(seen string, _ []term.Event) bool { return strings.Contains(seen, "\x1b]133;B\a") })
	p.c.Write([]byte("read -s -p 'Password: ' pw; echo; echo \"got $pw\"\r"))
	p.until("no echo", func(_ string, events []term.Event) bool {
		for _, e := range events {
			if e.Type == "echo" && !*e.On {
				return true
			}
		}
		return false
	})
	p.c.Write([]byte("correct-horse\r"))
	p.ends(1)
	p.sees("got correct-horse") // the operator's own screen has it
	rec, _ := d.finish()
	if rec.Counts.Masked == 0 || !strings.Contains(d.cast(rec.ID), "got •••") {
		t.Errorf("nothing was masked: %s", d.cast(rec.ID))
	}
	d.nowhere("correct-horse")
}

// What programs print makes no command, no end of one and no clipboard.
func TestForgedMarksTellNothing(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	forged := "\x1b]133;D;0\a\x1b]133;C;;1;forged one\a\x1b]133;C;0123456789abcdef0123456789abcdef;1;forged two\a\x1b]133;D;0123456789abcdef0123456789abcdef;0\a" +
		"\x1b]52;c;Zm9yZ2Vk\a\x1b]0;unfinished" // which swallows no mark after it
	must(t, os.WriteFile(filepath.Join(d.home, "forged"), []byte(forged), 0o600))
	p := d.start(term.Request{})
	if c := p.does("cat forged; false"); c.Text != "cat forged; false" || *c.ExitCode != 1 {
		t.Errorf("the command is %+v", c)
	}
	rec, all := d.finish()
	if len(all) != 1 {
		t.Errorf("there are actions %+v", all)
	}
	for _, text := range []string{"forged one", "Zm9yZ2Vk"} {
		if strings.Contains(d.cast(rec.ID), text) {
			t.Errorf("the recording has %q", text)
		}
		p.until("the end", func(seen string, _ []term.Event) bool {
			if strings.Contains(seen, text) {
				t.Errorf("the page got %q", text)
			}
			return true
		})
	}
}

// A secret is masked in command lines and output, also where colors stand within it.
func TestSecretsAreMasked(t *testing.T) {
	const secret = "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"
	d := open(t, `{"folder":"HOME"}`)
	colored := "a\x1b[31m" + secret[:20] + "\x1b[0m" + secret[20:] + " b\nnext \x1b[32mline\x1b[0m\n"
	must(t, os.WriteFile(filepath.Join(d.home, "f"), []byte(strings.TrimPrefix(colored, "a")), 0o600))
	p := d.start(term.Request{})
	if c := p.does("echo token " + secret); strings.Contains(c.Text, secret) || c.Masked == 0 {
		t.Errorf("the command is %+v", c)
	}
	p.does("cat f")
	p.does("for i in $(head -c 20 f | tail -c 14) x; do printf %s \"$i\"; done; echo")
	rec, all := d.finish()
	d.nowhere(secret)
	d.nowhere(secret[20:])
	cast := d.cast(rec.ID)
	if !strings.Contains(cast, `\u001b[32mline`) || !strings.Contains(all[1].Command.Output, "••• b") {
		t.Errorf("the lines without secrets are changed: %s", cast)
	}
}

// The shell gets nothing of Deskbell's own, and its nonce is in no environment.
func TestTheEnvironmentHasNothingOfOurs(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	p := d.start(term.Request{})
	if c := p.does("env | grep -i -e deskbell_ -e dbk_"); *c.ExitCode != 1 {
		t.Errorf("grep found something: %+v", c)
	}
	if c := p.does("ls -d ${TMPDIR:-/tmp}/deskbell-shell-*/bashrc"); *c.ExitCode == 0 {
		t.Errorf("the integration's file is still there: %+v", c)
	}
}

// Ending the operation ends all that runs in the terminal.
func TestNoProcessIsLeft(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	p := d.start(term.Request{})
	p.does("(trap '' HUP; exec sleep 1000) & echo $! >pid")
	text, err := os.ReadFile(filepath.Join(d.home, "pid"))
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	rec, _ := d.finish()
	if err := syscall.Kill(pid, 0); err == nil {
		if stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); !strings.Contains(string(stat), ") Z ") {
			t.Errorf("process %d is left", pid)
		}
	}
	if rec.State != human.RecordingStopped {
		t.Errorf("the recording is %s", rec.State)
	}
}

// Only the operator who claimed it has a terminal, in a folder that there is.
func TestWhoMayHaveATerminal(t *testing.T) {
	d := open(t, `{"folder":"HOME/none","command":["rm -rf /"]}`)
	size := term.Request{Cols: 80, Rows: 24}
	start := func(by human.Actor, kind human.Kind) {
		t.Helper()
		if _, err := d.service.Start(t.Context(), by, "op_1", size); human.KindOf(err) != kindOf(kind) {
			t.Errorf("starting is %v", err)
		}
	}
	start(human.Actor{Role: human.Agent, Name: "ada"}, "denied")
	start(human.Actor{Role: human.Operator, Name: "bob"}, "conflict")
	start(ada, "conflict") // no such folder
	st, err := d.service.State(t.Context(), ada, "op_1")
	must(t, err)
	if st.Problem == nil || len(st.Suggestions) != 1 || st.Suggestions[0].Decision != "block" {
		t.Errorf("the state is %+v", st)
	}
	d.ops.change(func(op *human.Operation) { op.Details = []byte(`{"folder":"relative"}`) })
	start(ada, "conflict")
	d.ops.change(func(op *human.Operation) { op.Kind = human.Desktop })
	start(ada, "conflict")
}

func kindOf(word human.Kind) human.ErrorKind {
	if word == "denied" {
		return human.Denied
	}
	return human.Conflict
}

// The cast is asciicast v3, its edits take out what was removed, and much output is bounded.
func TestTheCast(t *testing.T) {
	d := open(t, `{"folder":"HOME"}`)
	p := d.start(term.Request{})
	removed := p.does("echo to be removed")
	p.does("yes 0123456789 | head -n 300000")
	rec, _ := d.finish()
	if size := len(d.cast(rec.ID)); size > 1<<20 || !strings.Contains(d.cast(rec.ID), "bytes of output left out") {
		t.Errorf("the cast has %d bytes", size)
	}
	_, err := d.library.SetEdits(t.Context(), ada, rec.ID, human.Edits{Cuts: []string{removed.ID}})
	must(t, err)
	e, err := d.library.Cast(t.Context(), ada, rec.ID)
	must(t, err)
	var out strings.Builder
	must(t, e.Write(&out))
	if strings.Contains(out.String(), "to be removed") || !strings.Contains(out.String(), "yes 0123456789") {
		t.Errorf("the edits are not in the cast: %.2000s", out.String())
	}
	valid(t, out.String())
}

// valid checks a text against the specification of asciicast v3.
func valid(t *testing.T, cast string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(cast))
	lines.Buffer(nil, 4<<20)
	var head struct {
		Version int
		Term    struct{ Cols, Rows int }
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Version != 3 || head.Term.Cols != 96 || head.Term.Rows != 24 {
		t.Fatalf("the header is %s", lines.Text())
	}
	n := 0
	for lines.Scan() {
		var event []any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || len(event) != 3 {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		interval, isNumber := event[0].(float64)
		code, isCode := event[1].(string)
		if _, isText := event[2].(string); !isNumber || interval < 0 || !isCode || !strings.Contains("ormx", code) || !isText {
			t.Fatalf("line %q", lines.Text())
		}
		n++
	}
	if n == 0 {
		t.Error("there are no events")
	}
}
