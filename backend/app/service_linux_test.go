package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The server is started by a systemd of its own, starts again when it was killed, and a person signs in in a terminal.
func TestServiceOfSystemd(t *testing.T) {
	t.Parallel()
	const systemd = "/lib/systemd/systemd"
	if _, err := os.Stat(systemd); err != nil || os.Geteuid() != 0 {
		t.Skip("it needs systemd, and root for a folder of its own in /run")
	}
	home, runtime := scratch(t), t.TempDir()
	dir := filepath.Join(t.TempDir(), "data %u é")
	// systemd starts only where the machine was started with it, which it sees by a folder, and where there are control groups,
	// which a chroot may lack; systemctl does nothing in a chroot unless SYSTEMD_IGNORE_CHROOT says so.
	script := "set -e\n" + privateMounts + `
mount -t tmpfs none /run/systemd 2>/dev/null || { mkdir -p /run/systemd; mount -t tmpfs none /run/systemd; }
mkdir -p /run/systemd/system
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
` + systemd + ` --user --unit=basic.target > "$HOME/systemd.log" 2>&1 &
manager=$!
trap 'kill $manager; wait $manager || true' EXIT
n=0; until systemctl --user show --property=Version > /dev/null 2>&1; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
"$0" service
"$0" service install --addr 127.0.0.1:0
echo ---again
"$0" service install --addr 127.0.0.1:0
"$0" service status
first=$(systemctl --user show deskbell -p MainPID --value); echo "first $first"
kill -9 $first
n=0; while now=$(systemctl --user show deskbell -p MainPID --value); [ "$now" = $first ] || [ "$now" = 0 ]; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
echo restarted
n=0; until "$0" service status | grep -q "started by systemd"; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
tmux -S "$HOME/tmux" -f /dev/null new-session -d -x 110 -y 30 sh -c '"$1" login; "$1" inbox; read x' sh "$0"
n=0; while code=$(tmux -S "$HOME/tmux" capture-pane -p | sed -n 's/.*Code \([0-9A-Z-]*\).*/\1/p'); [ -z "$code" ]; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
tmux -S "$HOME/tmux" send-keys "$code" Enter
n=0; until tmux -S "$HOME/tmux" capture-pane -p | grep "Nothing waits"; do n=$((n+1)); [ $n -lt 600 ]; sleep 0.1; done
tmux -S "$HOME/tmux" kill-server
journal=$(grep -c "$code" "$HOME/systemd.log" "$DESKBELL_DATA"/*.log || true); echo "codes in logs: $journal"
"$0" service uninstall
"$0" service uninstall
[ ! -e "$HOME/.config/systemd/user/deskbell.service" ]
echo gone
`
	cmd := program(t, dir, []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "XDG_CONFIG_DIRS=/nonexistent", "LANG=C.UTF-8", "TERM=screen", "SYSTEMD_IGNORE_CHROOT=1"}, append(ownMounts, "sh", "-c", script, os.Args[0])...)
	path, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = path, "unshare"
	r := runWith(t, cmd)
	r.want(t, 0)
	for _, part := range []string{
		"`deskbell service install` has systemd start Deskbell", "Writes " + home, fmt.Sprintf(`"serve" "--data" "%s"`, strings.ReplaceAll(dir, "%", "%%")), "Deskbell runs, and listens on http://127.0.0.1:",
		"---again\nWritten already", "started by systemd", "restarted", "Nothing waits", "gone",
	} {
		if !strings.Contains(r.out, part) {
			t.Errorf("it does not say %q:\n%s\n%s", part, r.out, r.err)
		}
	}
	for _, part := range []string{"Sign in with `deskbell login`", "Your data stays in", "There is no service"} {
		if !strings.Contains(r.err, part) {
			t.Errorf("it does not say %q:\n%s", part, r.err)
		}
	}
	for line := range strings.Lines(r.out) {
		if file, count, found := strings.Cut(line, ".log:"); found && strings.TrimSpace(count) != "0" {
			t.Errorf("a code was written to %s", file)
		}
	}
}
