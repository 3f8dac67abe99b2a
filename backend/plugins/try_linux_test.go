package plugins

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
)

func try(t *testing.T, command, folder string) human.Tried {
	t.Helper()
	tried, err := Try(t.Context(), command, folder)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return tried
}

// What is tried reads what its user may read, where the plan would run.
func TestATriedCommandReads(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("3\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"cat a.txt":                         "3\n1\n2\n",
		"sort a.txt | head -1; pwd":         "1\n" + dir + "\n",
		"ls nothing 2>/dev/null || echo no": "no\n",
		"cat <<X\nhere\nX":                  "here\n",
		"echo a >&2; echo b":                "a\nb\n",
	} {
		if tried := try(t, command, dir); tried.Output != want || tried.Code != 0 || tried.Said != nil {
			t.Errorf("%s: %+v", command, tried)
		}
	}
	if tried := try(t, "echo so far; exit 3", dir); tried.Code != 3 || tried.Output != "so far\n" {
		t.Errorf("a command that fails: %+v", tried)
	}
}

// Whatever is tried, nothing changes, leaves, or is ended; with every way that the system has to part processes.
func TestATriedCommandChangesNothing(t *testing.T) {
	t.Setenv("MY_TOKEN", "hunter2hunter2")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	attacks := []string{
		"echo x > a.txt", "echo x >> a.txt", ": > a.txt", "rm -f a.txt", "mv a.txt b.txt", "cp a.txt b.txt", "ln a.txt b.txt", "ln -s a.txt b.txt", "mkdir d", "rmdir empty",
		"touch a.txt", "touch -d 2001-01-01 a.txt", "chmod 777 a.txt", "mkfifo p", "truncate -s 0 a.txt", "sed -i s/3/4/ a.txt", "dd if=/dev/zero of=a.txt count=1",
		"python3 -c \"import os; os.truncate('a.txt', 0)\"", "python3 -c \"import os; os.setxattr('a.txt', 'user.x', b'1')\"", "perl -e 'unlink \"a.txt\"'",
		"exec 3<>/dev/tcp/127.0.0.1/" + port, "python3 -c \"import socket; socket.create_connection(('127.0.0.1', " + port + "))\"",
		fmt.Sprintf("kill -9 %d", other.Process.Pid), "(sleep 30; rm -f a.txt) &", "setsid nohup sh -c 'sleep 30; rm -f a.txt' >/dev/null 2>&1 &",
	}
	for name, ways := range map[string][]separation{"as here": separations(), "without namespaces": {{0}}} {
		t.Run(name, func(t *testing.T) {
			before := separations
			separations = func() []separation { return ways }
			t.Cleanup(func() { separations = before })
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "a.txt")
			if err := os.WriteFile(file, []byte("3\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			was := listing(t, dir)
			for _, attack := range attacks {
				try(t, attack, dir)
				if now := listing(t, dir); !slices.Equal(was, now) {
					t.Fatalf("%s changed %v to %v", attack, was, now)
				}
			}
			if left := processesOf(dir); len(left) > 0 {
				t.Errorf("left running: %v", left)
			}
			if tried := try(t, "env", dir); strings.Contains(tried.Output, "hunter2") || strings.Contains(tried.Output, "MY_TOKEN") {
				t.Errorf("it has the environment: %s", tried.Output)
			}
		})
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process was ended: %v", err)
	}
	deadline := time.Now().Add(50 * time.Millisecond)
	if err := listener.(*net.TCPListener).SetDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	if c, err := listener.Accept(); err == nil {
		_ = c.Close()
		t.Error("a connection came")
	}
}

// listing is what a folder has: names, modes, sizes, times, links and contents.
func listing(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(dir, e.Name())) // a folder has none
		out, err := exec.Command("getfattr", "-d", filepath.Join(dir, e.Name())).Output()
		if err != nil {
			out = nil // it is not installed everywhere
		}
		all = append(all, fmt.Sprint(e.Name(), info.Mode(), info.Size(), info.ModTime(), string(text), string(out)))
	}
	return all
}

func TestATriedCommandEnds(t *testing.T) {
	dir := t.TempDir()
	tried := try(t, "yes", dir)
	if tried.Said == nil || !strings.Contains(tried.Said.Text, "64 KB") || len(tried.Output) != tryOutput {
		t.Errorf("one that writes for ever: %v, %d bytes", tried.Said, len(tried.Output))
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	if _, err := Try(ctx, "sleep 60", dir); ctx.Err() == nil || err == nil {
		t.Errorf("one that is not waited for: %v", err)
	}
	was := confinement
	confinement = func() Confined { return Confined{Network: true} }
	t.Cleanup(func() { confinement = was })
	if _, err := Try(t.Context(), "true", dir); human.KindOf(err) != human.Unavailable {
		t.Errorf("where it cannot be confined: %v", err)
	}
}
