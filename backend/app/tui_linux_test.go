package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// A pane is a terminal in a tmux of its own.
type pane struct {
	t    testing.TB
	sock string
}

func openPane(t testing.TB, dir string, env []string, script string) pane {
	t.Helper()
	p := pane{t, filepath.Join(t.TempDir(), "tmux")}
	cmd := program(t, dir, append(env, "TERM=screen", "LANG=C.UTF-8"), "-S", p.sock, "-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", "sh", "-c", script, os.Args[0])
	path, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = path, "tmux"
	runWith(t, cmd).want(t, 0)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", p.text())
		}
		_ = exec.Command("tmux", "-S", p.sock, "kill-server").Run() // it may have ended
	})
	return p
}

func (p pane) text() string {
	said, _ := exec.Command("tmux", "-S", p.sock, "capture-pane", "-p").Output() // what waits for it says that it is empty
	return string(said)
}

// drawn is the text with its colors.
func (p pane) drawn() string {
	said, _ := exec.Command("tmux", "-S", p.sock, "capture-pane", "-p", "-e").Output() // an empty one has none
	return string(said)
}

// aColor is one that is not the terminal's own.
var aColor = regexp.MustCompile(`\x1b\[(\d+;)*(3[0-7]|9[0-7])[;m]`)

func (p pane) press(keys ...string) {
	p.t.Helper()
	if said, err := exec.Command("tmux", append([]string{"-S", p.sock, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, said)
	}
}

func (p pane) shows(part string) {
	p.t.Helper()
	waitFor(p.t, part, func() bool { return strings.Contains(p.text(), part) })
}

// A person reads and answers in the inbox on a whole terminal; what an agent sends neither draws nor answers there.
func TestTheInboxOnAWholeTerminal(t *testing.T) {
	t.Parallel()
	run(t, t.TempDir(), nil, "tui").want(t, 3, "needs a terminal")
	d := newFixture(t)
	term := openPane(t, d.dir, nil, `"$0" login && "$0" tui; echo over; read x`)
	code := ""
	waitFor(t, "a code", func() bool { code = aCode.FindString(term.text()); return code != "" })
	term.press(code, "Enter")
	term.shows("Nothing waits. Requests show here")
	details := `{"action":"DROP TABLE old","risk_level":"critical"}`
	answer := d.during(t, []string{"ring", "--type", "approve", "--details", details, "Drop it\x1b[2J\x1b]0;mine\a now"}, func(op human.Operation) {
		term.shows("Drop it⟨U+001B⟩[2J⟨U+001B⟩]0;mine⟨U+0007⟩ now")
		term.press("Enter")
		term.shows("sha256 " + op.Digest[:20])
		waitFor(t, "the form", func() bool {
			if strings.Contains(term.text(), "To continue, type: approve") {
				return true
			}
			term.press("a") // it does nothing for half a second
			return false
		})
		term.press("C-u", "yes", "C-s")
		term.shows("! To continue, type: approve")
		if now := d.rung(t); now.State.Terminal() {
			t.Error("it was answered without the word")
		}
		term.press("C-u", "approve", "Tab", "do it", "C-s")
		term.shows("Approved.")
	})
	answer.want(t, 0, "approved by", "do it")
	term.press("Escape")
	term.shows("Nothing waits")
	// A narrow terminal, another language of the terminal, and no colors.
	if said, err := exec.Command("tmux", "-S", term.sock, "resize-window", "-x", "50", "-y", "12").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	term.press("Tab")
	term.shows("Drop it⟨U+001B⟩")
	if drawn := term.drawn(); !aColor.MatchString(drawn) {
		t.Errorf("a critical risk has no color: %q", drawn)
	}
	term.press("q")
	term.shows("over")
	plain := openPane(t, d.dir, []string{"NO_COLOR=1", "LC_ALL=zh_CN.UTF-8"}, `"$0" tui --code `+d.invite(t)+`; echo over; read x`)
	plain.shows("没有等待的请求")
	plain.press("Tab")
	plain.shows("Drop it⟨U+001B⟩")
	if drawn := plain.drawn(); aColor.MatchString(drawn) {
		t.Errorf("colors in spite of NO_COLOR: %q", drawn)
	}
	plain.press("q")
}
