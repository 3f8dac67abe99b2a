package box

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
)

// What a hostile program does is written in Python, which is kept in the project.
const hostile = `
import ctypes, errno, fcntl, mmap, os, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def tries(what, do):
    try:
        r = do()
        print('REACHED', what, repr(r)[:80], flush=True)
    except (OSError, ValueError) as e:
        print('kept', what, flush=True)
def call(number, *args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *args)
    if r == -1: raise OSError(ctypes.get_errno(), 'call')
    return r
def c(name, *args):
    ctypes.set_errno(0)
    r = getattr(libc, name)(*args)
    if r == -1: raise OSError(ctypes.get_errno(), name)
    return r
def connect(family, to, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.settimeout(3)
    return s.connect(to)
def allowed(what, do):
    try: do()
    except OSError as e: print('LOST', what, e, flush=True)
    else: print('has', what, flush=True)
`

// attack runs a hostile program in a box, and returns what it says.
func attack(t *testing.T, root, script string, set ...func(*Options)) (Ending, string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Fatal("python3 is missing: build/scripts/setup test")
	}
	write(t, filepath.Join(root, "hostile.py"), hostile+script)
	b := boxed(t, root, "exec /usr/bin/python3 hostile.py", set...)
	return runs(t, b)
}

// allKept says that a hostile program tried so many things and got none.
func allKept(t *testing.T, said string, tried int) {
	t.Helper()
	if strings.Contains(said, "REACHED") || strings.Contains(said, "LOST") || strings.Contains(said, "Traceback") || strings.Count(said, "kept ") != tried {
		t.Errorf("%d kept, not %d:\n%s", strings.Count(said, "kept "), tried, said)
	}
}

// local listens on a UNIX socket of a kind at an address; a "@" begins an abstract one.
func local(t *testing.T, kind int, at string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: at})
	}
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
}

func TestItReachesNoNetwork(t *testing.T) {
	root := project(t)
	// Sockets where the box can see their names: in a tool's folder of the home.
	tool := filepath.Join(os.Getenv("HOME"), ".cargo", "bin")
	write(t, filepath.Join(tool, "here"), "")
	local(t, unix.SOCK_STREAM, filepath.Join(tool, "s"))
	local(t, unix.SOCK_DGRAM, filepath.Join(tool, "d"))
	abstract := fmt.Sprintf("@deskbell-box-test-%d", os.Getpid())
	local(t, unix.SOCK_STREAM, abstract)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packets.Close() }()
	_, tcp, _ := net.SplitHostPort(listener.Addr().String())
	_, udp, _ := net.SplitHostPort(packets.LocalAddr().String())
	e, said := attack(t, root, fmt.Sprintf(`
tool = %q
print(sorted(os.listdir(tool)))
tries('tcp', lambda: connect(socket.AF_INET, ('127.0.0.1', %s)))
tries('tcp out', lambda: connect(socket.AF_INET, ('192.0.2.1', 80)))
tries('tcp6', lambda: connect(socket.AF_INET6, ('2001:db8::1', 80)))
tries('udp out', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))
tries('dns', lambda: socket.getaddrinfo('example.com', 80))
tries('stream', lambda: connect(socket.AF_UNIX, tool + '/s'))
tries('datagram', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', tool + '/d'))
tries('abstract', lambda: connect(socket.AF_UNIX, '\0' + %q))
def pair(kind): # a pair of datagram sockets can be sent from to any
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.sendto(b'x', tool + '/d')
def raw(kind):
    fds = (ctypes.c_int * 2)()
    call(53 if os.uname().machine == 'x86_64' else 199, 1, kind, 0, fds)
tries('pair', lambda: pair(socket.SOCK_DGRAM))
tries('raw pair', lambda: raw(3))

tries('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
tries('packet', lambda: socket.socket(17, socket.SOCK_RAW))
tries('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
tries('io_uring', lambda: call(425, 8, ctypes.create_string_buffer(120)))
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'box', ('127.0.0.1', %s)) # to its own loopback
def itself():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(1)
    connect(socket.AF_INET, s.getsockname())
allowed('its own loopback', itself)
allowed('pairs of streams', lambda: socket.socketpair())
`, tool, tcp, strings.TrimPrefix(abstract, "@"), udp)+"", func(o *Options) {})
	if e.Code != 0 || strings.Count(said, "has ") != 2 {
		t.Errorf("%+v", e)
	}
	allKept(t, said, 14)
	_ = listener.(*net.TCPListener).SetDeadline(time.Now())
	if c, err := listener.Accept(); err == nil {
		t.Errorf("it came from %s", c.RemoteAddr())
	}
	_ = packets.SetReadDeadline(time.Now())
	if n, from, err := packets.ReadFrom(make([]byte, 10)); err == nil {
		t.Errorf("%d bytes came from %s", n, from)
	}
}

func TestItWritesNowhereElse(t *testing.T) {
	root := project(t)
	home := os.Getenv("HOME")
	outside := filepath.Join(home, "notes.txt")
	tool := filepath.Join(home, ".cargo", "bin", "tool")
	other := filepath.Join(home, "work", "other", "main.go")
	for _, path := range []string{outside, tool, other} {
		write(t, path, "mine")
	}
	shared, err := os.CreateTemp("/tmp", "deskbell-box-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(shared.Name()) })
	shm := filepath.Join("/dev/shm", filepath.Base(shared.Name()))
	write(t, shm, "mine")
	t.Cleanup(func() { _ = os.Remove(shm) })
	_, said := attack(t, root, fmt.Sprintf(`
tool, shared, shm, other, outside, root = %q, %q, %q, %q, %q, %q
mine = os.path.basename(shared) + 'x'
def put(path): os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)) # a hole is found before it does harm
tries('tool', lambda: put(tool))
tries('tool by a link', lambda: (os.symlink(tool, 'l'), put('l')))
tries('tool by a hard link', lambda: os.link(tool, 'h'))
tries('tool by rename', lambda: os.rename(tool, root + '/moved'))
tries('tool by the root of a process', lambda: put('/proc/self/root' + tool))
tries('tool by that of the first', lambda: put('/proc/1/root' + tool))
tries('tool chmod', lambda: os.chmod(tool, 0o777))
tries('tool truncate', lambda: os.truncate(tool, 0))
tries('the old root', lambda: os.listdir('/oldroot'))
tries('other project', lambda: put(other))
tries('host tmp', lambda: open(shared).read())
tries('host shm', lambda: open(shm).read())
tries('etc', lambda: put('/etc/passwd'))
tries('usr', lambda: put('/usr/x'))
tries('dev', lambda: put('/dev/x'))
tries('sysctl', lambda: put('/proc/sys/kernel/hostname'))
tries('sysrq', lambda: put('/proc/sysrq-trigger'))
tries('core pattern', lambda: put('/proc/sys/kernel/core_pattern'))
tries('the score of another', lambda: put('/proc/1/oom_score_adj'))
tries('cgroup', lambda: os.mkdir('/sys/fs/cgroup/x'))
tries('memory of the first process', lambda: open('/proc/1/mem', 'r+b'))
tries('its files', lambda: open('/proc/1/environ').read())
tries('mount', lambda: c('mount', b'none', b'/tmp', b'tmpfs', 0, None))
tries('remount', lambda: c('mount', b'none', b'/', None, 32 | 4096, None))
tries('umount', lambda: c('umount2', root.encode(), 2))
tries('open_tree', lambda: call(428, -100, b'/', 1))
tries('fsopen', lambda: call(430, b'tmpfs', 0))
tries('unshare', lambda: c('unshare', 0x10000000))
tries('unshare mounts', lambda: c('unshare', 0x20000))
tries('setns', lambda: c('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0))
tries('clone', lambda: call(56 if os.uname().machine == 'x86_64' else 220, 0x10000000 | 17, 0, 0, 0, 0))
tries('clone3', lambda: call(435, ctypes.create_string_buffer(88), 88))
tries('pivot_root', lambda: call(155 if os.uname().machine == 'x86_64' else 41, b'/tmp', b'/tmp'))
tries('chroot', lambda: os.chroot('/tmp'))
tries('ptrace', lambda: c('ptrace', 16, 1, 0, 0))
tries('by handle', lambda: call(304 if os.uname().machine == 'x86_64' else 265, -100, ctypes.create_string_buffer(64), 0))
tries('a device', lambda: os.mknod('sda', 0o60600, os.makedev(8, 0)))
tries('TIOCSTI', lambda: fcntl.ioctl(os.openpty()[1], 0x5412, b'x'))
tries('the terminal', lambda: os.open('/dev/tty', os.O_RDWR))
tries('setuid', lambda: os.setuid(12345))
tries('a host name', lambda: socket.sethostname('x'))
tries('memfd', lambda: os.memfd_create('x'))
tries('signals', lambda: os.kill(%d, 0))
tries('a signal to all of init', lambda: os.kill(2**22 - 1, 9))
for name in ('notes.txt', '.bashrc'):
    put(os.path.expanduser('~/' + name)) # its own home
put('/tmp/' + mine); put('/dev/shm/' + mine); put('made'); os.chmod('made', 0o4755)
`, tool, shared.Name(), shm, other, outside, root, os.Getpid()))
	allKept(t, said, 44)
	for _, path := range []string{outside, tool, other, shm} {
		if got := read(t, path); got != "mine" {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{filepath.Join(home, ".bashrc"), shared.Name() + "x"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

func TestItReadsNoSecrets(t *testing.T) {
	root := project(t, ".env", "TOKEN=hidden", "deploy.key", "hidden", ".env.example", "TOKEN=", "sub/.aws/credentials", "hidden", "shown.pem", "shown")
	home := os.Getenv("HOME")
	secrets := []string{".ssh/id_ed25519", ".aws/credentials", ".gnupg/x", ".config/gcloud/x", ".kube/config", ".docker/config.json", ".netrc", ".cargo/credentials.toml",
		".mozilla/firefox/x/logins.json", ".claude/.credentials.json", ".local/share/deskbell/deskbell.db", ".m2/settings-security.xml", ".gradle/gradle.properties", ".cargo/config.toml", ".config/git/credentials", ".pub-cache/credentials.json", ".pyenv/deep/.env", ".local/share/app/x", "work/other/.env", "Documents/letter.txt"}
	for _, path := range secrets {
		write(t, filepath.Join(home, path), "hidden")
	}
	data := filepath.Join(home, ".pyenv", "deskbell-data")
	write(t, filepath.Join(data, "x.db"), "hidden")
	secrets = append(secrets, ".pyenv/deskbell-data/x.db")
	write(t, filepath.Join(home, ".local", "bin", "tool"), "")
	write(t, filepath.Join(home, ".pyenv", "bin", "tool"), "")
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(home, ".local", "bin")+":"+filepath.Join(home, ".ssh"))
	t.Setenv("API_TOKEN", "hidden")
	t.Setenv("SSH_AUTH_SOCK", "/hidden")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/hidden")
	t.Setenv("XDG_RUNTIME_DIR", "/run/hidden")
	t.Setenv("DISPLAY", ":hidden")
	t.Setenv("GIVEN", "given")
	var names []string
	for _, path := range secrets {
		names = append(names, fmt.Sprintf("%q", filepath.Join(home, path)))
	}
	e, said := attack(t, root, fmt.Sprintf(`
for path in [%s, '/etc/shadow', '/etc/gshadow']:
    tries(path, lambda: open(path).read())
for tool in ('.local/bin/tool', '.pyenv/bin/tool'): allowed(tool, lambda: open(os.path.expanduser('~/' + tool)).read())
for path in ('.env', 'deploy.key'): print('empty' if open(path).read() == '' else 'REACHED', path)
print('empty' if os.listdir('sub/.aws') == [] else 'REACHED')
print(open('.env.example').read(), open('shown.pem').read(), os.environ['GIVEN'])
print('REACHED' if 'hidden' in str(os.environ) else 'clean')
for pid in os.listdir('/proc'):
    if pid.isdigit() and 'hidden' in open('/proc/' + pid + '/cmdline').read(): print('REACHED', pid)
    if pid.isdigit() and pid != '1' and 'hidden' in open('/proc/' + pid + '/environ').read(): print('REACHED', pid)
tries('a process of the host', lambda: open('/proc/%d/environ').read() if %[2]d > 100 else open('/none'))
tries('a boxed copy', lambda: os.listdir(os.path.expanduser('~/.cache/deskbell')))
`, strings.Join(names, ", "), os.Getpid()), func(o *Options) {
		o.Hidden = []string{data}
		o.Shown = []string{filepath.Join(root, "shown.pem")}
		o.Variables = []string{"GIVEN"}
	})
	if e.Code != 0 || strings.Count(said, "empty") != 3 || !strings.Contains(said, "TOKEN= shown given\nclean") || strings.Contains(said, "hidden'") {
		t.Errorf("%+v\n%s", e, said)
	}
	allKept(t, said, len(secrets)+4)
}

func TestMaskedFilesStay(t *testing.T) {
	root := project(t, ".env", "TOKEN=hidden", "conf/server.key", "hidden", "conf/x", "x", "kept/id_rsa", "hidden")
	b := boxed(t, root, `echo TOKEN=new > .env; rm -r conf; rm kept/id_rsa; echo y > y`)
	if e, said := runs(t, b); e.Code != 0 {
		t.Fatal(e, said)
	}
	c := changes(t, b)
	if got := lines(c); got != "deleted conf/x\nadded y\nlost .env" {
		t.Error(got)
	}
	if err := b.Keep(c); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{".env": "TOKEN=hidden", "conf/server.key": "hidden", "kept/id_rsa": "hidden", "y": "y\n"} {
		if got := read(t, filepath.Join(root, path)); got != text {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestABombEnds(t *testing.T) {
	for name, test := range map[string]struct {
		script, want string
		limits       Limits
	}{
		"time":   {"trap '' TERM INT HUP; while :; do :; done", "longer than its limit of 1s", Limits{Time: time.Second}},
		"memory": {"exec /usr/bin/python3 -c \"b = []\nwhile len(b) < 60: b.append(bytearray(b'x' * (8 << 20)))\"", "", Limits{Memory: 128 << 20}},
		"memory of all": {`for i in 1 2 3 4 5 6; do /usr/bin/python3 -c "
import time
b = bytearray(b'x' * (60 << 20)); time.sleep(20)" & done; wait`, "more memory than its limit", Limits{Memory: 200 << 20}},
		"a large file":       {"head -c 100000000 /dev/zero > big", "", Limits{Disk: 10 << 20}},
		"many files":         {"i=0; while [ $i -lt 100 ]; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); done; while :; do :; done", "wrote more than its limit", Limits{Disk: 20 << 20}},
		"temporary files":    {"head -c 100000000 /dev/zero > /tmp/big", "", Limits{Memory: 64 << 20}},
		"memory in a device": {"head -c 100000000 /dev/zero > /dev/shm/big", "", Limits{Memory: 64 << 20}},
		"forks":              {"bomb() { bomb | bomb & }; bomb; wait; exit 9", "", Limits{Processes: 60, Time: 3 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t)
			b := boxed(t, root, test.script, func(o *Options) { o.Limits = test.limits })
			began := time.Now()
			done := make(chan struct{})
			most := make(chan int)
			go func() { most <- mostProcesses(done) }()
			e, said := runs(t, b)
			close(done)
			if n := <-most; n > 80 {
				t.Errorf("%d processes", n)
			}
			if e.Code == 0 || !strings.Contains(e.Reason, test.want) || time.Since(began) > 15*time.Second {
				t.Errorf("%+v after %s: %.300s", e, time.Since(began), said)
			}
			nothingLeft(t, b)
		})
	}
}

// Root, whom no limit of processes binds, and no control group.
func TestProcessesAreCounted(t *testing.T) {
	was := groupParents
	groupParents = func() []confine.GroupParent { return nil }
	defer func() { groupParents = was }()
	want := "more processes than its limit of 60"
	if os.Getuid() != 0 {
		want = "" // the kernel lets no more begin
	}
	b := boxed(t, project(t), "set -e; i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done; wait", func(o *Options) { o.Limits = Limits{Processes: 60, Time: 15 * time.Second} })
	if e, said := runs(t, b); e.Code == 0 || !strings.Contains(e.Reason, want) {
		t.Errorf("%+v: %.300s", e, said)
	}
	nothingLeft(t, b)
}

// mostProcesses is the number of this process's descendants at its highest.
func mostProcesses(done <-chan struct{}) (most int) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return most
		case <-ticker.C:
			most = max(most, len(confine.Descendants(os.Getpid())))
		}
	}
}

func nothingLeft(t *testing.T, b *Box) {
	t.Helper()
	if all := confine.Descendants(os.Getpid()); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
	_ = b
}

// A signal, as of a child that ended, interrupts a fork that the kernel asks about; not all shells try it again.
func TestNoForkIsInterrupted(t *testing.T) {
	b := boxed(t, project(t), "i=0; while [ $i -lt 1000 ]; do true | true | true; i=$((i+1)); done")
	if e, said := runs(t, b); e.Code != 0 {
		t.Errorf("%+v %s", e, said)
	}
}

func TestADaemonEndsWithTheCommand(t *testing.T) {
	root := project(t)
	b := boxed(t, root, `(trap '' HUP TERM; setsid sh -c 'while :; do echo x >> grows; done' > /dev/null 2>&1 &) ; exit 3`)
	if e, said := runs(t, b); e.Code != 3 {
		t.Errorf("%+v %s", e, said)
	}
	nothingLeft(t, b)
}

// What Deskbell's own parent left open is not the command's.
func TestItHasNoFilesOfOthers(t *testing.T) {
	root := project(t)
	dir, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0) // which is not closed by exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(dir) }()
	_, said := attack(t, root, `
for fd in sorted(os.listdir('/proc/self/fd'), key=int):
    try: print(fd, os.readlink('/proc/self/fd/' + fd))
    except OSError: pass
`)
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "0 /dev/null") && !strings.Contains(line, "pipe:") {
			t.Errorf("it has %s", line)
		}
	}
}

// Deskbell may die while a command runs, and while it keeps what was written.
func TestItEndsWithDeskbell(t *testing.T) {
	root := project(t, "a", "a")
	deskbell := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	deskbell.Env = append(os.Environ(), "DESKBELL_TEST_BOX="+root)
	if err := deskbell.Start(); err != nil {
		t.Fatal(err)
	}
	boxes := filepath.Join(os.Getenv("HOME"), ".cache", "deskbell", "boxes")
	var pids map[int]confine.Usage
	eventually(t, "the command begins", func() bool {
		begun, _ := filepath.Glob(filepath.Join(boxes, "box-*", treeName, "begun"))
		pids = confine.Descendants(deskbell.Process.Pid)
		return len(begun) == 1
	})
	if err := deskbell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = deskbell.Wait() // it was killed
	eventually(t, "its processes end", func() bool {
		for pid := range pids {
			if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(state), ") Z ") {
				return false
			}
		}
		return true
	})
	if len(pids) < 2 {
		t.Errorf("%v", pids)
	}
	// The next box removes what this one left.
	boxed(t, root, "true")
	if left, _ := filepath.Glob(filepath.Join(boxes, "box-*")); len(left) != 1 {
		t.Error(left)
	}
}

// What a Deskbell does that is there only to be killed.
func init() {
	instead = func() bool {
		root := os.Getenv("DESKBELL_TEST_BOX")
		if root == "" {
			return false
		}
		keepAndDie(root)
		return true
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(20 * time.Second)
	for !is() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("not yet: %s", what)
		}
	}
}
