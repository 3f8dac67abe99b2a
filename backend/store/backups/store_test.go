package backups

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/workspace"
)

func openTree(dir string) (Tree, error) {
	r, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	return r, nil
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func store(t testing.TB) *Store {
	return New(t.TempDir(), func() time.Time { return noon }, nil, openTree)
}

// bash is a call of a shell with its verdict.
func bash(cwd, command string) (gate.Call, human.Verdict) {
	args, _ := json.Marshal(map[string]string{"command": command})
	call := gate.Call{Tool: "Bash", Args: args, Cwd: cwd, Root: cwd, Home: "/home/nobody"}
	return call, gate.Judge(call, gate.Balanced, nil)
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// picture tells everything at and below a path: kinds, permissions, times, contents, links.
func picture(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		fmt.Fprintf(&b, "%q %v", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			fmt.Fprintf(&b, " to %q %v", to, err)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			fmt.Fprintf(&b, " %d %x %v %v", len(data), sha256.Sum256(data), info.ModTime().UnixNano(), err)
		default:
			fmt.Fprintf(&b, " %v", info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhatIsBackedUpComesBack(t *testing.T) {
	s := store(t)
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(top, fmt.Sprint(n), "root")
		if err := os.MkdirAll(root, 0o755); err != nil {
			rt.Fatal(err)
		}
		dirs := []string{root}
		name := rapid.StringMatching(`[a-zA-Z0-9 ._\[\]'"é漢-]{1,12}`)
		var last []func()
		for range rapid.IntRange(0, 25).Draw(rt, "entries") {
			to := filepath.Join(rapid.SampledFrom(dirs).Draw(rt, "in"), name.Draw(rt, "name"))
			if _, err := os.Lstat(to); err == nil || filepath.Dir(filepath.Clean(to)) == filepath.Dir(root) || !strings.HasPrefix(filepath.Clean(to), root+string(filepath.Separator)) {
				continue
			}
			mode := fs.FileMode(rapid.SampledFrom([]uint32{0o644, 0o600, 0o755, 0o444, 0o700, 0o640}).Draw(rt, "mode"))
			at := time.Unix(rapid.Int64Range(1, 2_000_000_000).Draw(rt, "at"), rapid.Int64Range(0, 9).Draw(rt, "part")*100_000_000)
			var err error
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				if err = os.Mkdir(to, 0o755); err == nil {
					dirs = append(dirs, to)
					last = append([]func(){func() { _ = errors.Join(os.Chmod(to, mode|0o500), os.Chtimes(to, at, at)) }}, last...)
				}
			case 1:
				if err = os.Symlink(rapid.SampledFrom([]string{"nowhere", ".", "..", "/etc/passwd", "../../x"}).Draw(rt, "link"), to); runtime.GOOS == "windows" {
					err = nil
				}
			default:
				data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "data")
				err = errors.Join(os.WriteFile(to, data, 0o600), os.Chmod(to, mode), os.Chtimes(to, at, at))
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		for _, f := range last {
			f()
		}
		before := picture(t, root)
		call, v := bash(filepath.Dir(root), "rm -rf root")
		b, err := s.Backup(t.Context(), call, v)
		if err != nil {
			rt.Fatal(err)
		}
		if b.Stash || filepath.Dir(b.Path) != s.dir || !b.Until.Equal(noon.Add(Life)) {
			rt.Fatalf("%+v", b)
		}
		if after := picture(t, root); after != before {
			rt.Fatalf("the originals changed:\n%s\n%s", before, after)
		}
		for _, d := range dirs {
			_ = os.Chmod(d, 0o700)
		}
		if err := os.RemoveAll(root); err != nil {
			rt.Fatal(err)
		}
		back, err := s.Restore(t.Context(), b.ID)
		if err != nil || back != (human.Restored{Files: b.Files, Bytes: b.Bytes}) {
			rt.Fatalf("%+v of %+v, %v", back, b, err)
		}
		if after := picture(t, root); after != before {
			rt.Fatalf("not what it was:\n%s\n%s", before, after)
		}
		for _, d := range dirs {
			_ = os.Chmod(d, 0o700)
		}
	})
}

func TestRestoreOverwritesNothing(t *testing.T) {
	s, dir := store(t), t.TempDir()
	write(t, dir+"/a/one", "1")
	write(t, dir+"/a/two", "2")
	call, v := bash(dir, "rm -rf a")
	b, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	if b.Files != 2 || b.Bytes != 2 {
		t.Errorf("%+v", b)
	}
	if b.ID != filepath.Base(b.Path) {
		t.Errorf("%+v", b)
	}
	if err := errors.Join(os.RemoveAll(dir+"/a"), os.Mkdir(dir+"/a", 0o750)); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/a/two", "newer")
	if _, err := s.Restore(t.Context(), b.ID); human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), filepath.Join(dir, "a", "two")) {
		t.Errorf("over a file: %v", err)
	}
	if _, err := os.Lstat(dir + "/a/one"); err == nil {
		t.Error("half of it was put back")
	}
	if data, err := os.ReadFile(dir + "/a/two"); err != nil || string(data) != "newer" {
		t.Errorf("what is there became %q, %v", data, err)
	}
	write(t, dir+"/a/two", "2")
	if back, err := s.Restore(t.Context(), b.ID); err != nil || back != (human.Restored{Files: 1, Bytes: 1, Kept: 1}) {
		t.Errorf("beside a file that is the same: %+v, %v", back, err)
	}
	if info, err := os.Lstat(dir + "/a"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("the folder that is there became %v, %v", info, err)
	}
	if back, err := s.Restore(t.Context(), b.ID); err != nil || back != (human.Restored{Kept: 2}) {
		t.Errorf("once more: %+v, %v", back, err)
	}
	if err := os.RemoveAll(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(b.Path, m.Items[1].Copy)
	if info, err := os.Lstat(copied); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Lstat(b.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	write(t, copied, "X")
	if _, err := s.Restore(t.Context(), b.ID); err == nil {
		t.Error("a damaged copy was put back")
	}
	for _, id := range []string{"", "..", b.ID + "/..", "20260501T120000Z-00000000"} {
		if _, err := s.Restore(t.Context(), id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := s.Show(id); human.KindOf(err) != human.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestWhatACallTakesAwayIsCopied(t *testing.T) {
	for command, want := range map[string][]string{
		"rm one.txt":                 {"one.txt"},
		"rm *.txt":                   {".hidden.txt", "one.txt", "two.txt"},
		"rm one.txt; rm 'sub/three'": {"one.txt", "sub/three"},
		"echo x > one.txt":           {"one.txt"},
		"echo x > link":              {"link", "two.txt"},
		"rm link":                    {"link"},
		"rm none.txt":                {},
		"rm -r sub":                  {"sub", "sub/three"},
		"cd sub && rm three":         {"sub/three"},
		"echo x > new.txt":           {},
		"rm link2/three":             {"link2/three"},
	} {
		t.Run(command, func(t *testing.T) {
			s, dir := store(t), t.TempDir()
			for _, name := range []string{"one.txt", "two.txt", ".hidden.txt", "sub/three"} {
				write(t, filepath.Join(dir, name), name)
			}
			if errors.Join(os.Symlink("two.txt", dir+"/link"), os.Symlink("sub", dir+"/link2")) != nil {
				t.Skip("no symbolic links here")
			}
			call, v := bash(dir, command)
			b, err := s.Backup(t.Context(), call, v)
			if err != nil {
				t.Fatal(err)
			}
			m, err := ReadManifest(b.Path)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, i := range m.Items {
				rel, _ := filepath.Rel(dir, i.Path)
				got = append(got, rel)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

func TestNoCopyIsSaid(t *testing.T) {
	s, dir := store(t), t.TempDir()
	write(t, dir+"/one", "1")
	write(t, dir+"/two", "2")
	for _, command := range []string{"rm $X", "rm **/x", "ls", "rm one; rm $(cat two)", "git reset --hard"} {
		call, v := bash(dir, command)
		if b, err := s.Backup(t.Context(), call, v); err == nil || human.SafeText(err) == "" {
			t.Errorf("%s: %+v", command, b)
		}
	}
	call, v := bash(dir, "rm -r .")
	call.Cwd = filepath.Dir(dir)
	v.Effects = []human.Effect{{Verb: human.FilesystemDelete, Target: dir, Certainty: human.Certain}}
	s.maxFiles = 2
	if _, err := s.Backup(t.Context(), call, v); human.KindOf(err) != human.Exhausted {
		t.Errorf("too many files: %v", err)
	}
	s.maxFiles, s.maxBytes = 10, 1
	if _, err := s.Backup(t.Context(), call, v); human.KindOf(err) != human.Exhausted {
		t.Errorf("too many bytes: %v", err)
	}
	s.maxBytes = 100
	v.Effects[0].Target = filepath.Dir(s.dir)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), call, v); human.KindOf(err) != human.Conflict {
		t.Errorf("the copies themselves: %v", err)
	}
	s.free = func(string) (uint64, error) { return spare, nil }
	v.Effects[0].Target = dir
	if _, err := s.Backup(t.Context(), call, v); human.KindOf(err) != human.Exhausted || !strings.Contains(err.Error(), "space") {
		t.Errorf("a full disk: %v", err)
	}
	s.free = disk.Free
	done, cancel := context.WithCancel(t.Context())
	cancel()
	v.Effects[0].Target = dir
	if _, err := s.Backup(done, call, v); err == nil {
		t.Error("without time")
	}
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		if err := os.Chmod(dir+"/one", 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Backup(t.Context(), call, v); human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), "one") {
			t.Errorf("unreadable: %v", err)
		}
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// A file that changes between the first reading and the checks is no copy.
func TestAChangeMeanwhileIsFound(t *testing.T) {
	s, dir := store(t), t.TempDir()
	write(t, dir+"/one", "1")
	items, err := s.survey(t.Context(), map[string]bool{dir + "/one": true})
	if err != nil {
		t.Fatal(err)
	}
	into, done, err := s.folder(noon, "sha256:0123456789")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	write(t, dir+"/one", "22")
	if _, err := s.fill(t.Context(), into, Manifest{Items: items}); human.KindOf(err) != human.Conflict {
		t.Error(err)
	}
}

func TestPruneDeletesOnlyItsOwn(t *testing.T) {
	s, dir := store(t), t.TempDir()
	at := noon
	s.now = func() time.Time { return at }
	write(t, dir+"/one", "1")
	call, v := bash(dir, "rm one")
	old, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	same, err := s.Backup(t.Context(), call, v)
	if err != nil || same.Path == old.Path {
		t.Fatalf("%v %v", same, err)
	}
	at = noon.Add(Life - time.Hour)
	young, err := s.Backup(t.Context(), call, v)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(s.dir, "mine")
	write(t, foreign+"/x", "x")
	killed := filepath.Join(s.dir, "20260501T120000Z-01234567")
	write(t, killed+"/files/x", "x")
	busy, done, err := s.folder(at, "sha256:fedcba9876")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); err != nil || len(list) != 3 || list[0] != young {
		t.Errorf("%v %v", list, err)
	}
	look := func(want ...string) {
		t.Helper()
		if err := s.Prune(t.Context()); err != nil {
			t.Error(err)
		}
		entries, _ := os.ReadDir(s.dir)
		got := map[string]bool{}
		for _, e := range entries {
			got[filepath.Join(s.dir, e.Name())] = true
		}
		for _, w := range want {
			if !got[w] {
				t.Errorf("%s is gone", w)
			}
			delete(got, w)
		}
		if len(got) > 0 {
			t.Errorf("left: %v", got)
		}
	}
	look(old.Path, same.Path, young.Path, foreign, busy)
	at = noon.Add(Life)
	done()
	look(young.Path, foreign)
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir+"-none",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
