//go:build installers

package installers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/build/e2e/desktoptest"
)

const scripts = "../../installers/linux/"

// made is the file in build/dist that ends so.
func made(t *testing.T, ending string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("../../dist", "*"+ending))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d files in build/dist end in %s: run `make test-deb`", len(all), ending)
	}
	path, err := filepath.Abs(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
	return string(text)
}

// cleanRoot is a system without Deskbell. Making it takes minutes, so it is kept for a week, as long as Deskbell needs the same
// packages; a test that did not leave it as it was does not say so again.
func cleanRoot(t *testing.T, deb string) (root string) {
	t.Helper()
	root, err := filepath.Abs("../../tools/_root") // an underscore: the go command does not look into it
	if err != nil {
		t.Fatal(err)
	}
	clean := root + ".clean"
	want := output(t, "dpkg-deb", "-f", deb, "Depends")
	said, err := os.ReadFile(clean)
	info, statErr := os.Stat(clean)
	if err != nil || statErr != nil || string(said) != want || time.Since(info.ModTime()) > 7*24*time.Hour {
		output(t, "rm", "-rf", "--one-file-system", root)
		output(t, scripts+"clean-root", root, deb)
	} else if err := os.Remove(clean); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			if err := os.WriteFile(clean, []byte(want), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	return root
}

// changing are the files that every installation changes, and their folders: logs, caches, and the package manager's own.
var changing = regexp.MustCompile(`^(tmp|dev|proc|var/(log|cache|lib/apt)|var/lib/dpkg/(lock|lock-frontend|status-old|triggers/Lock))(/|$)`)

// files are all files and folders below dir, but for those that always change.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case !changing.MatchString(name):
			all = append(all, name)
		case e.IsDir():
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// difference is what is in the sorted list a and not in the sorted list b.
func difference(a, b []string) (only []string) {
	for _, one := range a {
		if _, found := slices.BinarySearch(b, one); !found {
			only = append(only, one)
		}
	}
	return only
}

// An answer is what the agent gets.
type answer struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
	Decision    string `json:"decision"`
}

// request sends a request through `deskbell mcp` in the root and waits for its answer.
func request(ctx context.Context, env []string, root string) (a answer, err error) {
	server := exec.Command(scripts+"in-root", root, "deskbell", "mcp", "--agent", "release-bot")
	server.Env = env
	session, err := mcp.NewClient(&mcp.Implementation{Name: "release-bot", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	call := map[string]any{"action": "invoke", "action_type": "approve", "description": "Roll out api 2.14.0 to staging",
		"details": map[string]any{"action": "kubectl rollout restart deploy/api", "impact": "One service", "risk_level": "medium"}}
	for {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "human", Arguments: call})
		if err != nil {
			return a, err
		}
		text, err := json.Marshal(result.StructuredContent)
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		if err != nil || a.Status != "pending" {
			return a, err
		}
		call = map[string]any{"action": "wait", "operation_id": a.OperationID}
	}
}

// A user's whole way: the package is installed where nothing of it is, an agent asks, a person clicks, and the package is
// removed while the app runs. What stays is the user's data.
func TestDebInCleanRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a root folder of its own")
	}
	deb := made(t, "_amd64.deb")
	root := cleanRoot(t, deb)
	before := files(t, root)
	if text, err := os.ReadFile(deb); err != nil || os.WriteFile(filepath.Join(root, "deskbell.deb"), text, 0o644) != nil {
		t.Fatal("the package cannot be copied: ", err)
	}
	inRoot := func(args ...string) string { return output(t, scripts+"in-root", append([]string{root}, args...)...) }
	inRoot("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "--no-install-recommends", "install", "/deskbell.deb")
	os.Remove(filepath.Join(root, "deskbell.deb"))
	if said := inRoot("deskbell", "--version"); !strings.Contains(deb, strings.Fields(said)[1]) {
		t.Errorf("the program of %s says %s", deb, said)
	}
	inRoot("deskbell-hook", "--version")

	d := desktoptest.Start(t, desktoptest.Options{Accessible: true, Notifications: true})
	data := filepath.Join(d.Home, "data")
	d.Env = append(d.Env, "DESKBELL_DATA="+data, "DESKBELL_ADDR=127.0.0.1:0", "XDG_CACHE_HOME="+filepath.Join(d.Home, ".cache"))
	panel := d.StartPanel()
	app := d.Start(scripts+"in-root", root, "deskbell", "--hidden")
	panel.WaitItem()

	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	type end struct {
		answer
		err error
	}
	ended := make(chan end, 1)
	go func() {
		a, err := request(ctx, d.Env, root)
		ended <- end{a, err}
	}()
	var approve desktoptest.Element
	d.Wait("the card with Approve on it", func() bool {
		for _, e := range d.Elements("deskbell") {
			if e.Role == desktoptest.Button && strings.Contains(e.Name, "Approve") && e.Enabled {
				approve = e
				return true
			}
		}
		return false
	})
	if shot := os.Getenv("DESKBELL_SHOT"); shot != "" {
		d.Screenshot(shot)
	}
	middle := approve.At.Min.Add(approve.At.Max).Div(2)
	d.Click(middle.X, middle.Y)
	if e := <-ended; e.err != nil || e.Status != "completed" || e.Decision != "approve" {
		t.Fatalf("the agent got %+v", e)
	}

	said := inRoot("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "purge", "deskbell")
	if !strings.Contains(said, ".local/share/deskbell") {
		t.Errorf("the removal does not say where the data is: %s", said)
	}
	d.Wait("the app to end", func() bool { return !app.Running() })
	for _, pid := range processes(t, root) {
		t.Errorf("process %s of the package is left", pid)
	}
	after := files(t, root)
	if left, gone := difference(after, before), difference(before, after); len(left)+len(gone) > 0 {
		t.Errorf("after the removal there is more: %q, and less: %q", left, gone)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error("the user's data is gone: ", err)
	}
}

// processes are those that run in the root.
func processes(t *testing.T, root string) (pids []string) {
	t.Helper()
	want, err := os.Stat(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/[0-9]*/root")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		var s syscall.Stat_t
		if syscall.Stat(path, &s) == nil && s.Ino == want.Sys().(*syscall.Stat_t).Ino && s.Dev == want.Sys().(*syscall.Stat_t).Dev {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// wanted is in every package.
var wanted = []string{
	"usr/bin/deskbell", "usr/bin/deskbell-hook", "usr/share/applications/deskbell.desktop", "usr/share/doc/deskbell/copyright",
	"usr/share/icons/hicolor/512x512/apps/deskbell.png", "usr/share/man/man1/deskbell.1.gz",
	"usr/share/metainfo/dev.deskbell.Deskbell.metainfo.xml", "usr/share/polkit-1/actions/dev.deskbell.presence.policy",
}

func TestPackagesHaveWhatTheyNeed(t *testing.T) {
	for _, tt := range []struct{ ending, tool, list string }{
		{".deb", "dpkg-deb", "-c"}, {".rpm", "rpm", "-qpl"}, {".pkg.tar.zst", "bsdtar", "-tf"}, {".apk", "tar", "-tzf"},
	} {
		listed := output(t, tt.tool, tt.list, made(t, tt.ending))
		for _, name := range wanted {
			if !strings.Contains(listed, name+"\n") {
				t.Errorf("the %s lacks %s", tt.ending, name)
			}
		}
	}
	needs := output(t, "rpm", "-qpR", made(t, ".rpm"))
	if !strings.Contains(needs, "libwebkit2gtk-4.1.so.0()(64bit)") {
		t.Errorf("the rpm needs only: %s", needs)
	}
	if info, err := os.Stat(made(t, ".deb")); err != nil || info.Size() >= 23e6 {
		t.Errorf("the deb has %d bytes (%v); it is to stay under 23 MB", info.Size(), err)
	}
}

// The same programs at the same commit give the same packages, byte for byte.
func TestPackTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	again := t.TempDir()
	output(t, scripts+"pack", "../../.stamps/linux", again)
	entries, err := os.ReadDir(again)
	if err != nil || len(entries) != 5 {
		t.Fatalf("%d packages (%v)", len(entries), err)
	}
	for _, e := range entries {
		output(t, "cmp", filepath.Join(again, e.Name()), filepath.Join("../../dist", e.Name()))
	}
}

// The archive for the home folder: installed over itself and removed, it leaves the user's own files.
func TestArchiveInHome(t *testing.T) {
	home := t.TempDir()
	output(t, "tar", "-xzf", made(t, ".tar.gz"), "-C", home)
	unpacked, err := filepath.Glob(filepath.Join(home, "deskbell-*"))
	if err != nil || len(unpacked) != 1 {
		t.Fatal("the archive has not one folder: ", unpacked, err)
	}
	data := filepath.Join(home, ".local/share/deskbell/deskbell.db")
	if err := errors.Join(os.MkdirAll(filepath.Dir(data), 0o700), os.WriteFile(data, []byte("requests"), 0o600)); err != nil {
		t.Fatal(err)
	}
	before := files(t, filepath.Join(home, ".local"))
	install := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(unpacked[0], "install.sh"), args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("install.sh %v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	install()
	if said := install(); strings.Contains(said, "cannot start") {
		t.Error(said)
	}
	program := filepath.Join(home, ".local/bin/deskbell")
	if said := output(t, program, "--version"); !strings.HasPrefix(said, "deskbell ") {
		t.Error(said)
	}
	desktop := filepath.Join(home, ".local/share/applications/deskbell.desktop")
	if text, err := os.ReadFile(desktop); err != nil || !strings.Contains(string(text), "Exec="+program+" open %u") {
		t.Errorf("%v: %s", err, text)
	}
	output(t, "desktop-file-validate", desktop)
	codex := filepath.Join(home, ".codex", "config.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(codex), 0o700), os.WriteFile(codex, []byte("model = \"x\""), 0o600), os.RemoveAll(filepath.Dir(data))); err != nil {
		t.Fatal(err)
	}
	connect := exec.Command(program, "connect", "codex", "--yes")
	connect.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if text, err := connect.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := os.ReadFile(codex); err != nil || !strings.Contains(string(text), program) {
		t.Errorf("%v: %s", err, text)
	}
	if said := install("--uninstall"); !strings.Contains(said, "settings of Codex") {
		t.Error(said)
	}
	if entries, err := os.ReadDir(filepath.Dir(codex)); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if text, err := os.ReadFile(codex); err != nil || string(text) != "model = \"x\"" {
		t.Errorf("%v: %s", err, text)
	}
	if err := errors.Join(os.RemoveAll(filepath.Dir(data)), os.MkdirAll(filepath.Dir(data), 0o700), os.WriteFile(data, []byte("requests"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if after := files(t, filepath.Join(home, ".local")); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
}
