package plugins

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// children are the processes that come from this one.
func children() map[int]usage { return descendants(os.Getpid()) }

// processesOf are the command lines of the processes that run something in a folder.
func processesOf(folder string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), folder) {
			found = append(found, file+": "+string(text))
		}
	}
	return found
}

// python makes a plug-in of a script in Python.
func python(t *testing.T, manifest, script string) summarizers.Summarizer {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is missing: build/scripts/setup test")
	}
	return written(t, manifest, "#!/usr/bin/env python3\nimport os, sys, time, socket\nsys.stdin.buffer.read()\n"+script+"\n")
}

// everyWay runs a test with all that the system has to part processes, and then with ever less of it, as in containers.
func everyWay(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for name, ways := range map[string][]separation{
		"as here": nil, "without user namespaces": {{apart}, {0}}, "without namespaces": {{0}}, "without namespaces and Landlock": {{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if ways != nil {
				before := separations
				separations = func() []separation { return ways }
				t.Cleanup(func() { separations = before })
			}
			if strings.HasSuffix(name, "Landlock") {
				before := landlockABI
				landlockABI = func() int { return 0 }
				t.Cleanup(func() { landlockABI = before })
			}
			t.Setenv("TMPDIR", t.TempDir())
			test(t)
		})
	}
}

func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if strings.Contains(text, w) {
			return
		}
	}
	t.Errorf("it says %q, not %q", text, want)
}

func TestAnEndlessLoopEnds(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := written(t, `,"limit_s":1`, "#!/bin/sh\ntrap '' TERM INT HUP QUIT XCPU\nwhile :; do :; done\n")
		says(t, fails(t, s, given(), human.Exhausted), "longer than its limit of 1 s")
	})
}

func TestTenGigabytesOfOutputEnd(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := written(t, `,"limit_s":20`, "#!/bin/sh\nexec head -c 10000000000 /dev/zero\n")
		says(t, fails(t, s, given(), human.Exhausted), "more than 8 MB")
		s = written(t, `,"limit_s":20`, "#!/bin/sh\nhead -c 10000000 /dev/zero | tr '\\0' 'e' >&2; exit 4\n")
		says(t, fails(t, s, given(), human.Unavailable), "exit code 4; its last words: “…eee")
	})
}

// The bombs are small ones, in case that nothing holds them: 120 processes, and 255 that each make two.
func TestAForkBombEnds(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":20`, `
for i in range(120):
    try:
        if os.fork() == 0:
            try: os.setsid()
            except OSError: pass
            time.sleep(8)
            os._exit(0)
    except OSError:
        pass
time.sleep(8)
print('`+fine+`')`)
		says(t, fails(t, s, given(), human.Exhausted), "more than 64 processes")
		s = python(t, `,"limit_s":20`, `
def burst(deep):
    for i in range(2):
        try:
            if os.fork() == 0:
                os.setsid()
                if deep: burst(deep - 1)
                time.sleep(8)
                os._exit(0)
        except OSError:
            pass
burst(6)
time.sleep(8)
print('`+fine+`')`)
		says(t, fails(t, s, given(), human.Exhausted), "more than 64 processes")
	})
}

func TestAMemoryBombEnds(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":20,"memory_mb":96`, "b = []\nwhile len(b) < 40: b.append(bytearray(b'x' * (8 << 20)))\nprint('"+fine+"')")
		_, err := s.Summarize(t.Context(), given(), func(human.Progress) {})
		says(t, fmt.Sprint(err), "MemoryError", "more memory", "SIGKILL")
		// Of all processes together.
		s = python(t, `,"limit_s":20,"memory_mb":96`, `
for i in range(5):
    if os.fork() == 0:
        b = bytearray(b'x' * (40 << 20))
        time.sleep(10)
        os._exit(0)
time.sleep(10)
print('`+fine+`')`)
		_, err = s.Summarize(t.Context(), given(), func(human.Progress) {})
		says(t, fmt.Sprint(err), "more memory", "SIGKILL")
		nothingLeft(t, s)
	})
}

func TestFilesThatAreTooLarge(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":20`, "f = open('x', 'wb')\nfor i in range(80): f.write(b'x' * (1 << 20))\nf.flush()\nprint('"+fine+"')")
		says(t, fails(t, s, given(), human.Unavailable), "File too large", "SIGXFSZ")
	})
}

func TestADaemonIsNotLeftBehind(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		// It leaves its group and session, and holds standard output open.
		s := python(t, "", `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in range(1, 32):
            try: __import__('signal').signal(s, __import__('signal').SIG_IGN)
            except (OSError, ValueError): pass
        time.sleep(300)
    os._exit(0)
print('`+fine+`')`)
		r, err := s.Summarize(t.Context(), given(), func(human.Progress) {})
		if err != nil || r.Line != "Fine" {
			t.Errorf("%+v %v", r, err)
		}
		nothingLeft(t, s)
	})
}

// Deskbell may die while a plug-in runs.
func TestItEndsWithDeskbell(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := written(t, `,"limit_s":300`, "#!/bin/sh\ntrap '' TERM INT HUP PIPE\n(trap '' HUP; while :; do sleep 1; done) &\nwhile :; do sleep 1; done\n")
		folder := s.(*plugin).folder
		deskbell := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
		deskbell.Env = append(os.Environ(), "DESKBELL_TEST_RUNS="+folder, fmt.Sprintf("DESKBELL_TEST_ALONE=%t", len(separations()) == 1))
		if err := deskbell.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the plug-in", func() string { return "did not begin" }, func() bool { return len(processesOf(folder+"/run\x00")) == 2 })
		if err := deskbell.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = deskbell.Wait() // it was killed
		eventually(t, "processes", func() string { return fmt.Sprint(processesOf(folder)) }, func() bool { return len(processesOf(folder)) == 0 })
	})
}

// What a Deskbell does that is there only to be killed.
func init() {
	instead = func() bool {
		folder := os.Getenv("DESKBELL_TEST_RUNS")
		if folder == "" {
			return false
		}
		if os.Getenv("DESKBELL_TEST_ALONE") == "true" {
			separations = func() []separation { return []separation{{0}} }
		}
		p, err := open(folder)
		if err == nil {
			_, err = p.Summarize(context.Background(), given(), func(human.Progress) {})
		}
		fmt.Fprintln(os.Stderr, err)
		return true
	}
}

func TestWritingAfterTheEnd(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":2`, "print('"+fine+"')\nsys.stdout.flush()\nos.close(1)\ntry: os.write(1, b'more')\nexcept OSError: pass\ntime.sleep(30)")
		says(t, fails(t, s, given(), human.Exhausted), "longer than its limit")
		// One that does not read, either.
		s = written(t, "", "#!/bin/sh\nexec 0<&- \necho '"+fine+"'\n")
		if r, err := s.Summarize(t.Context(), given(), func(human.Progress) {}); err != nil || r.Line != "Fine" {
			t.Errorf("%+v %v", r, err)
		}
	})
}

func TestReferencesThatDoNotExistAreDropped(t *testing.T) {
	s := written(t, "", `#!/bin/sh
echo '{"line":"Fine","text":"","findings":[{"kind":"done","text":"It worked","evidence":[{"kind":"action","recording_id":"rec_0","id":"a1"}]}],"suggestions":[]}'
`)
	r, err := s.Summarize(t.Context(), given(), func(human.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if r, dropped := summarizers.Check(given(), r); len(r.Findings) != 0 || len(dropped) != 1 {
		t.Errorf("%+v %+v", r, dropped)
	}
}

// What must not be read, written or reached is tried; what could is said on standard error.
func TestItReachesNothingBeside(t *testing.T) {
	if !Confinement().Files {
		t.Skipf("not enforced here: %v", Confinement().Missing)
	}
	home := t.TempDir() // stands for the home and the data folder
	secret := filepath.Join(home, "secret.txt")
	write(t, secret, "hidden treasure")
	addr, came := listening(t)
	host, port, _ := strings.Cut(addr, ":")
	sock := filepath.Join(home, "s")
	local, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(local) }()
	if err := unix.Bind(local, &unix.SockaddrUnix{Name: sock}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(local, 5); err != nil {
		t.Fatal(err)
	}
	everyWay(t, func(t *testing.T) {
		s := python(t, "", fmt.Sprintf(`
import signal, glob
def tries(what, do):
    try:
        r = do()
        print('REACHED', what, r, file=sys.stderr)
    except OSError as e:
        print('kept', what, file=sys.stderr)
def connect(family, to):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(5)
    return s.connect(to)
tries('secret', lambda: open(%[1]q).read())
tries('link', lambda: (os.symlink(%[1]q, 'link'), open('link').read()))
tries('hard link', lambda: os.link(%[1]q, 'hard'))
tries('shadow', lambda: open('/etc/shadow').read(9))
tries('passwd', lambda: open('/etc/passwd').read(9))
tries('list', lambda: os.listdir(%[2]q))
tries('other tmp', lambda: os.listdir('/tmp'))
tries('environment', lambda: open('/proc/%[5]d/environ').read())
if %[7]d:
  tries('write', lambda: open(%[2]q + '/x', 'w'))
  tries('own folder', lambda: open(os.path.dirname(os.path.abspath(sys.argv[0])) + '/x', 'w'))
  tries('remove', lambda: os.remove(%[1]q))
  tries('usr', lambda: open('/usr/x', 'w'))
tries('tcp', lambda: connect(socket.AF_INET, (%[3]q, %[4]s)))
tries('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (%[3]q, %[4]s)))
tries('socket', lambda: connect(socket.AF_UNIX, %[6]q))
tries('kill', lambda: os.kill(%[5]d, 0))
tries('device', lambda: os.mknod('sda', 0o60600, os.makedev(8, 0)))
open('mine', 'w').write('x')
print(os.getcwd(), open('mine').read(), file=sys.stderr)
sys.exit(5)
`, secret, home, host, port, os.Getpid(), sock, landlockABI()))
		text := fails(t, s, given(), human.Unavailable)
		// The last words are cut: look at all of them.
		all := everything(t, s)
		if landlockABI() == 0 {
			// Files can be read then, which Confinement says; the rest is still kept.
			if kept := []string{"kept tcp", "kept udp", "kept socket", "kept kill", "kept shadow"}; slices.ContainsFunc(kept, func(k string) bool {
				return !strings.Contains(all, k) && (k != "kept shadow" || os.Getuid() != 0)
			}) {
				t.Errorf("%s", all)
			}
			return
		}
		if strings.Contains(all, "REACHED") || strings.Count(all, "kept") != 17 || !strings.Contains(all, "deskbell-summarizer-") {
			t.Errorf("%s\n%s", all, text)
		}
		select {
		case <-came:
			t.Error("it came over the network")
		default:
		}
	})
	if b, err := os.ReadFile(secret); err != nil || string(b) != "hidden treasure" {
		t.Errorf("%s %v", b, err)
	}
}

// everything is all that a plug-in says on standard error.
func everything(t *testing.T, s summarizers.Summarizer) string {
	t.Helper()
	p := s.(*plugin)
	var out, errs bytes.Buffer
	working := filepath.Join(t.TempDir(), "deskbell-summarizer-x")
	if err := os.Mkdir(working, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &running{stopped: make(chan struct{}), jail: jail{
		Command: p.command, Folder: p.folder, Working: working, Env: environment(working), Seconds: 30, Memory: 512 << 20, File: maxFile, Files: maxFiles, Threads: 256,
	}}
	if _, err := r.do(strings.NewReader("{}"), &out, &errs); err != nil {
		t.Fatal(err)
	}
	return errs.String()
}

func TestConfinementIsSaid(t *testing.T) {
	c := Confinement()
	if len(c.Enforced) < 2 || c.Files != (landlockABI() > 0) {
		t.Errorf("%+v", c)
	}
	t.Logf("%+v", c)
}
