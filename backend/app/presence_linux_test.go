package app_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asAda says that this process runs in the machine that polkitMachine makes.
const asAda = "DESKBELL_TEST_AS_ADA"

// polkitMachine is a system bus with polkit's own daemon, on which a user ada has a password; nothing of it is seen outside this
// process's own mounts. $1 is a folder, $2 the policy's file, the rest what ada runs.
const polkitMachine = `set -e
at=$1 policy=$2; shift 2
mount -t proc proc /proc
mount -t tmpfs tmpfs "$at/etc"
cp -a /etc/passwd /etc/shadow /etc/group "$at/etc"
mkdir "$at/etc/actions" "$at/etc/home"
cp "$policy" "$at/etc/actions"
echo "ada:x:4711:4711::$at/etc/home:/bin/sh" >>"$at/etc/passwd"
echo "ada:x:4711:" >>"$at/etc/group"
# The password is: quiet harbor
echo 'ada:$6$deskbell$ns4N1.Mv45Q0Il4Ze05tPzkV6T2hdmgk8UXduomWnnQGpRRrAF/e/vBJEaSPBbyEqgeenCQsrHLd9qLq.otnc0:19000:0:99999:7:::' >>"$at/etc/shadow"
for file in passwd shadow group; do mount --bind "$at/etc/$file" "/etc/$file"; done
mount --bind "$at/etc/actions" /usr/share/polkit-1/actions
mount -t tmpfs tmpfs /run/dbus
chown ada "$at/etc/home"
dbus-daemon --system --fork --nopidfile
/usr/lib/polkit-1/polkitd --no-debug >/dev/null &
TMPDIR=$at/etc/home setpriv --reuid 4711 --regid 4711 --init-groups "$@"
`

// On a machine without a display a person proves that they are there by their password, which polkit's own agent asks for at the
// terminal. Everything here is real: polkit, its agent, PAM, and the terminal.
func TestTheSystemAsksAtATerminal(t *testing.T) {
	if os.Getenv(asAda) == "" {
		inPolkitMachine(t)
		return
	}
	dir := t.TempDir()
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	boss.good(t, "PUT", "/api/stepup/policy", map[string]any{"answers": "critical", "rules": true, "keys": true, "gatekeeper": true}, nil)
	term := in(t, dir, `"$0" login; "$0" proof system on; echo said $?; "$0" proof; "$0" keys add bot >`+dir+`/key; echo made $?
"$0" keys add other; echo wrong $?; "$0" keys add third </dev/null; echo none $?; "$0" proof system on; echo again $?; read x; "$0" proof; echo over`)
	password := func(word string) {
		t.Helper()
		term.shows("Password:")
		term.types(word + "\n")
	}
	term.types(term.code() + "\n")
	password("quiet harbor")
	term.shows("said 0")
	term.shows("system's check  set up")
	waitFor(t, "the second question", func() bool { return strings.Count(term.written(), "Password:") == 2 })
	password("quiet harbor")
	term.shows("made 0")
	if key, err := os.ReadFile(filepath.Join(dir, "key")); err != nil || !strings.HasPrefix(string(key), "dbk_") {
		t.Errorf("%q, %v", key, err)
	}
	waitFor(t, "the third question", func() bool { return strings.Count(term.written(), "Password:") == 3 })
	password("loud harbor")
	term.shows("wrong 3")
	term.shows("did not confirm that you are there")
	term.shows("none 3")
	term.shows("where you run this at a terminal")
	waitFor(t, "the fourth question", func() bool { return strings.Count(term.written(), "Password:") == 4 })
	password("quiet harbor")
	term.shows("again 0") // asked once, by one agent
	if strings.Contains(term.written(), "already exists") {
		t.Errorf("polkit's agent was run twice:\n%s", term.text())
	}
	if all := term.written(); strings.Contains(all, "harbor") {
		t.Errorf("the terminal shows a password: %q", all)
	}
	if list := run(t, dir, nil, "keys", "list").want(t, 0, "bot"); strings.Contains(list.out, "other") || strings.Contains(list.out, "third") {
		t.Errorf("there are keys that no one proved: %s", list.out)
	}
}

// forAnyUser is a copy of this program that any user can run, in a folder of its own.
func forAnyUser(t *testing.T) string {
	t.Helper()
	at, err := os.MkdirTemp("", "program")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) })
	program := filepath.Join(at, "app.test")
	self, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(at, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	return program
}

// ownMounts has unshare give what it starts mounts of its own, and privateMounts, a line of shell for that, keeps them there. unshare
// itself can only do so where the root is a mount, which it is not in a chroot.
var ownMounts = []string{"--mount", "--propagation", "unchanged"}

const privateMounts = "awk '{print $5}' /proc/self/mountinfo | xargs -n 1 mount --make-private || exit 1"

// inPolkitMachine runs the test of this name as ada.
func inPolkitMachine(t *testing.T) {
	t.Helper()
	for _, name := range []string{"unshare", "setpriv", "dbus-daemon", "pkttyagent", "/usr/lib/polkit-1/polkitd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s here", name)
		}
	}
	if out, err := exec.Command("unshare", append(ownMounts, "--pid", "--fork", "sh", "-c", privateMounts)...).CombinedOutput(); err != nil {
		t.Skipf("this process may not make mounts of its own: %v %s", err, out)
	}
	self := forAnyUser(t)
	at := filepath.Dir(self)
	err := os.Mkdir(filepath.Join(at, "etc"), 0o755)
	policy, failed := filepath.Abs("../../build/linux/dev.deskbell.presence.policy")
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	cmd := exec.Command("unshare", append(ownMounts, "--pid", "--fork", "--kill-child", "sh", "-c", privateMounts+"\n"+polkitMachine, "sh", at, policy,
		self, "-test.run", "^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), asAda+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}
