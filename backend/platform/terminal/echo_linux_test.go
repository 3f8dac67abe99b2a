package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/build/e2e/desktoptest"
)

func run(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // that it was killed is no news
	})
	return cmd.Process.Pid
}

// A program asks for a password by switching the echo off; nothing else that happens in a terminal is secret.
func TestTerminals(t *testing.T) {
	d := desktoptest.Start(t, desktoptest.Options{Width: 800, Height: 600, Bare: true})
	for name, tt := range map[string]struct {
		command string
		secret  bool
	}{
		"cat":                         {`exec cat`, false},
		"a shell at its prompt":       {`exec bash --norc -i`, false},
		"read -s":                     {`read -s word`, true},
		"getpass":                     {`python3 -c 'import getpass; getpass.getpass()'`, true},
		"a program below a shell's":   {`bash -c 'sh -c "stty -echo; cat"; true'; true`, true},
		"an editor":                   {`stty -echo -icanon; exec cat`, false},
		"a shell in tmux":             {`exec tmux -L SOCKET -f /dev/null new-session 'bash --norc -i'`, false},
		"a password in tmux":          {`exec tmux -L SOCKET -f /dev/null new-session 'bash -c "read -s word"'`, true},
		"an echo switched off and on": {`stty -echo; stty echo; exec cat`, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			begun := filepath.Join(dir, "begun")
			command := strings.ReplaceAll(tt.command, "SOCKET", filepath.Base(dir)+filepath.Base(filepath.Dir(dir)))
			term := exec.Command("xterm", "-T", "Terminal", "-e", "bash", "-c", "touch "+begun+"; "+command)
			term.Env = append(d.Env, "TMUX_TMPDIR="+os.TempDir())
			pid := run(t, term)
			if strings.Contains(command, "tmux") {
				t.Cleanup(func() { endTmux(t, strings.Fields(command)[3]) })
			}
			desktoptest.Wait(t, "the terminal", func() bool { _, err := os.Stat(begun); return err == nil })
			g := New()
			in := record.Placed{App: human.App{Name: "XTerm", PID: pid}}
			ask := func() bool {
				secret, err := g.Secret(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return secret
			}
			if tt.secret {
				desktoptest.Wait(t, "the echo to be off", ask)
			} else {
				// What is begun has to be under way before it can be wrong.
				desktoptest.Wait(t, "the program", func() bool { return g.Terminal(t.Context(), in) && settled(t, pid, command) })
				if ask() {
					t.Error("secret")
				}
			}
			if !g.Terminal(t.Context(), in) {
				t.Error("no terminal")
			}
		})
	}
}

// settled says whether the last program of a command runs: below its terminal, or below the tmux server of its socket.
func settled(t *testing.T, pid int, command string) bool {
	t.Helper()
	want := "cat"
	if strings.Contains(command, "bash --norc -i") {
		want = "bash"
	}
	if strings.Contains(command, "tmux") {
		server, err := askTmux(strings.Fields(command)[3], "display-message", "-p", "#{pid}")
		if err != nil {
			return false
		}
		if pid, err = strconv.Atoi(server); err != nil {
			t.Fatal(err)
		}
	}
	queue, names := children(pid), []string{}
	for len(queue) > 0 {
		if s, err := stat(queue[0]); err == nil {
			names = append(names, s.command)
		}
		queue = append(queue[1:], children(queue[0])...)
	}
	return slices.Contains(names, want) && !slices.Contains(names, "stty") && !slices.Contains(names, "touch")
}

// endTmux returns once the server of that socket has ended: the terminals of any server count.
func endTmux(t *testing.T, socket string) {
	server, err := askTmux(socket, "display-message", "-p", "#{pid}")
	if err == nil {
		_, err = askTmux(socket, "kill-server")
	}
	if err != nil {
		t.Fatalf("tmux: %v", err)
	}
	pid, err := strconv.Atoi(server)
	if err != nil {
		t.Fatal(err)
	}
	desktoptest.Wait(t, "the end of tmux", func() bool { return !slices.Contains(servers(), pid) })
}

// askTmux returns what the server of a socket answers, and an error as long as none serves it.
func askTmux(socket string, question ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-L", socket}, question...)...)
	cmd.Env = append(os.Environ(), "TMUX_TMPDIR="+os.TempDir())
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// A window that is no terminal hides nothing, even when it was started from one that does.
func TestOtherWindows(t *testing.T) {
	g := New()
	for what, pid := range map[string]int{"no process": 0, "one that is gone": 1 << 22, "one without a terminal": run(t, exec.Command("sleep", "1000"))} {
		in := record.Placed{App: human.App{PID: pid}}
		if secret, err := g.Secret(t.Context(), in); secret || err != nil || g.Terminal(t.Context(), in) {
			t.Errorf("%s: %t, %v", what, secret, err)
		}
	}
	dir := t.TempDir()
	begun := filepath.Join(dir, "begun")
	// script(1) gives a terminal without a window; the program in it stands for a window that was started there.
	cmd := exec.Command("script", "-qc", "stty -echo; bash -c 'echo $$ > "+begun+".part; mv "+begun+".part "+begun+"; sleep 1000 & wait'", "/dev/null")
	outer := run(t, cmd)
	desktoptest.Wait(t, "the program", func() bool { _, err := os.Stat(begun); return err == nil })
	if secret, err := g.Secret(t.Context(), record.Placed{App: human.App{PID: outer}}); !secret || err != nil {
		t.Errorf("the terminal itself: %t, %v", secret, err)
	}
	text, err := os.ReadFile(begun)
	if err != nil {
		t.Fatal(err)
	}
	var inner int
	for _, digit := range strings.TrimSpace(string(text)) {
		inner = inner*10 + int(digit-'0')
	}
	if secret, err := g.Secret(t.Context(), record.Placed{App: human.App{PID: inner}}); secret || err != nil {
		t.Errorf("a program that was started from it: %t, %v", secret, err)
	}
}

func BenchmarkSecret(b *testing.B) {
	// This process stands for a terminal: below it is what the test runs.
	pid := os.Getppid()
	g := New()
	for b.Loop() {
		clear(g.known) // the walk is what takes its time
		if _, err := g.Secret(b.Context(), record.Placed{App: human.App{PID: pid}}); err != nil {
			b.Fatal(err)
		}
	}
}
