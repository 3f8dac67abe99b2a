package plugins

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/platform/confine"
	"deskbell/summarizers"
)

// children are the processes that come from this one.
func children() map[int]confine.Usage { return confine.Descendants(os.Getpid()) }

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
		"without namespaces and control groups": {{0}},
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
			if strings.HasSuffix(name, "groups") {
				before := groupParents
				groupParents = func() []confine.GroupParent { return nil }
				t.Cleanup(func() { groupParents = before })
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

// These bombs are never still: one doubles; of the other, 20 processes each begin the next one and end, so that whoever
// looks for them finds those that are gone. Both stop by themselves after 10 s, in case that nothing holds them.
func TestABusyForkBombEnds(t *testing.T) {
	const bomb = `
end = time.monotonic() + 10
def again():
    try:
        return os.fork()
    except OSError:
        return -1
`
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":20`, bomb+"while time.monotonic() < end: again()")
		says(t, fails(t, s, given(), human.Exhausted), "more than 64 processes")
		nothingLeft(t, s)
		s = python(t, `,"limit_s":1`, bomb+`
for i in range(20):
    if again() == 0:
        os.setsid()
        while time.monotonic() < end:
            if again() > 0: os._exit(0)
while time.monotonic() < end: pass`)
		began := time.Now()
		says(t, fails(t, s, given(), human.Exhausted), "longer than its limit of 1 s", "more time of the processor")
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
		nothingLeft(t, s)
	})
}

// A program that makes threads, and no processes.
func TestThreadsAreCounted(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, `,"limit_s":20`, `
import threading
threading.stack_size(65536)
held = threading.Event()
try:
    for n in range(2000): threading.Thread(target=held.wait, daemon=True).start()
except RuntimeError: pass
print('threads', 64 < n < 256, n, file=sys.stderr)
sys.stderr.flush()
os._exit(3)`)
		says(t, fails(t, s, given(), human.Unavailable), "threads True")
	})
}

// Each process stays within its own limit of time, and all of them together do not.
func TestTheTimeOfAllProcessesCounts(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		s := python(t, "", `
while True:
    child = os.fork()
    if child == 0:
        began = time.process_time()
        while time.process_time() - began < 0.4: pass
        os._exit(0)
    os.waitpid(child, 0)`)
		p := s.(*plugin)
		r := &running{stopped: make(chan struct{}), jail: p.jail(p.command, t.TempDir())}
		r.jail.Seconds = 1
		if _, err := r.do(strings.NewReader("{}"), io.Discard, io.Discard); err != nil {
			t.Error(err)
		}
		says(t, r.violation(), "more time of the processor")
	})
}

// A plug-in cannot change what a file is marked with: not by any of the calls that do it, and not by calls of other
// processors' numbers, which the filter would not know.
func TestNothingIsMarked(t *testing.T) {
	home := t.TempDir()
	const script = `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
at, home = -100, %q
def tries(what, do):
    ctypes.set_errno(0)
    try: bad = ctypes.get_errno() if do() == -1 else 0
    except OSError as e: bad = e.errno
    print(what, 'kept' if bad == errno.EPERM else 'REACHED %%d' %% bad, file=sys.stderr)
def call(number, *args): return libc.syscall(ctypes.c_long(number), *args)
path, b = home.encode(), ctypes.create_string_buffer(64)
mine = open('mine', 'w')
tries('chmod', lambda: os.chmod(home, 0o777))
tries('fchmod', lambda: os.fchmod(mine.fileno(), 0o777))
tries('fchmodat', lambda: libc.fchmodat(at, path, 0o777, 0))
tries('fchmodat2', lambda: call(452, at, path, 0o777, 0x100))
tries('chown', lambda: os.chown(home, os.getuid(), os.getgid()))
tries('lchown', lambda: os.lchown(home, os.getuid(), os.getgid()))
tries('fchown', lambda: os.fchown(mine.fileno(), os.getuid(), os.getgid()))
tries('fchownat', lambda: libc.fchownat(at, path, os.getuid(), os.getgid(), 0))
tries('utimensat', lambda: os.utime(home, (1, 1)))
tries('futimens', lambda: os.utime(mine.fileno(), (1, 1)))
tries('setxattr', lambda: os.setxattr(home, 'user.x', b'1'))
tries('lsetxattr', lambda: os.setxattr(home, 'user.x', b'1', follow_symlinks=False))
tries('fsetxattr', lambda: os.setxattr(mine.fileno(), 'user.x', b'1'))
tries('removexattr', lambda: os.removexattr(home, 'user.x'))
tries('lremovexattr', lambda: os.removexattr(home, 'user.x', follow_symlinks=False))
tries('fremovexattr', lambda: os.removexattr(mine.fileno(), 'user.x'))
tries('setxattrat', lambda: call(463, at, path, 0, b'user.x', b, 16))
tries('removexattrat', lambda: call(466, at, path, 0, b'user.x'))
tries('file_setattr', lambda: call(469, at, path, b, 24, 0))
tries('FS_IOC_SETFLAGS', lambda: libc.ioctl(mine.fileno(), ctypes.c_ulong(0x40086602), b))
tries('FS_IOC_FSSETXATTR', lambda: libc.ioctl(mine.fileno(), ctypes.c_ulong(0x401c5820), b))
if os.uname().machine == 'x86_64':
    for number, name in ((90, 'old chmod'), (92, 'old chown'), (94, 'old lchown'), (132, 'utime'), (235, 'utimes'), (261, 'futimesat')):
        tries(name, lambda: call(number, *((at, path, None) if number == 261 else (path, 0o777, 0o777))))
sys.exit(5)`
	everyWay(t, func(t *testing.T) {
		all := everything(t, python(t, "", fmt.Sprintf(script, home)))
		want := 21
		if runtime.GOARCH == "amd64" {
			want += 6
		}
		if strings.Contains(all, "REACHED") || strings.Count(all, "kept") != want {
			t.Error(all)
		}
		if runtime.GOARCH != "amd64" {
			return
		}
		s := python(t, "", "import ctypes\nctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 90), b'.', 0o777)\nprint('"+fine+"')")
		says(t, fails(t, s, given(), human.Unavailable), "SIGSYS")
		// chmod by the numbers of the 32-bit processor. Kernels without those numbers answer int 0x80 with SIGSEGV.
		s = python(t, "", `
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
m.write(b'\xb8\x0f\x00\x00\x00\xcd\x80\xc3')
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
print('`+fine+`')`)
		says(t, fails(t, s, given(), human.Unavailable), "SIGSYS", "SIGSEGV")
	})
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() == 0o777 {
		t.Error(info, err)
	}
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
	r := &running{stopped: make(chan struct{}), jail: p.jail(p.command, working)}
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
