package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"deskbell/backend/box"
	"deskbell/backend/platform/confine"
)

func TestMain(m *testing.M) {
	box.Child()
	os.Exit(m.Run())
}

// boxProject is a project in a home of its own, which is the current folder.
func boxProject(t *testing.T) (root string) {
	t.Helper()
	if err := confine.UserNamespaces(); err != nil {
		t.Skip("nothing can be boxed on this machine:", err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("DESKBELL_DATA", filepath.Join(home, "data"))
	root = filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	return root
}

func inBox(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Execute(t.Context(), Program{}, append([]string{"box"}, args...), strings.NewReader("typed\n"), &o, &e)
	return code, o.String(), e.String()
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestABoxDiscardsWithoutATerminal(t *testing.T) {
	root := boxProject(t)
	code, out, errs := inBox(t, "--", "sh", "-c", "cat; echo two >> a.txt; printf '\\033[2J' > e; exit 4")
	if code != 4 || out != "typed\n" || !strings.Contains(errs, "\n+two\n") || !strings.Contains(errs, "+⟨U+001B⟩[2J") || !strings.HasSuffix(errs, "Discarded.\n") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	if got := contents(t, filepath.Join(root, "a.txt")); got != "one\n" {
		t.Error(got)
	}
	if code, _, errs := inBox(t, "true"); code != 0 || errs != "No files written.\n" {
		t.Errorf("%d %s", code, errs)
	}
}

func TestABoxKeepsWhereItIsSaid(t *testing.T) {
	root := boxProject(t)
	if code, _, errs := inBox(t, "--keep", "--", "sh", "-c", "echo two >> a.txt"); code != 0 || !strings.HasSuffix(errs, "Kept.\n") {
		t.Errorf("%d %s", code, errs)
	}
	if got := contents(t, filepath.Join(root, "a.txt")); got != "one\ntwo\n" {
		t.Error(got)
	}
	hook := filepath.Join(root, ".git", "hooks", "pre-commit")
	const writes = "mkdir .git/hooks; echo x > .git/hooks/pre-commit; echo three >> a.txt"
	if code, _, errs := inBox(t, "--keep", "--", "sh", "-c", writes); code != box.NotBoxed || !strings.Contains(errs, "--keep-all") || strings.Contains(contents(t, "a.txt"), "three") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := inBox(t, "--keep", "--time", "1s", "--", "sh", "-c", "echo three >> a.txt; sleep 20"); code != box.NotBoxed || strings.Contains(contents(t, "a.txt"), "three") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := inBox(t, "--keep-all", "--", "sh", "-c", writes); code != 0 || contents(t, hook) != "x\n" {
		t.Errorf("%d %s", code, errs)
	}
	for _, args := range [][]string{{"--keep", "--discard"}, {"--discard=false"}, {"--discard", "--discard=false"}, {"--discard", "--keep-all"}, {"--time", "0s"}, {"--disk", "x"}} {
		if code, _, errs := inBox(t, append(args, "--", "true")...); code != exitError && code != box.NotBoxed || errs == "" || errs == "No files written.\n" {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

func TestABoxSaysItInJSON(t *testing.T) {
	boxProject(t)
	if err := os.WriteFile(".env", []byte("TOKEN=x"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := inBox(t, "--json", "--", "sh", "-c", "echo said; echo two >> a.txt; head -c 10 /dev/zero > bin")
	var r boxReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err, out)
	}
	if code != 0 || errs != "said\n" || r.Outcome != "discarded" || len(r.Files) != 2 || r.Files[0].Path != "a.txt" || !strings.Contains(r.Files[0].Diff, "+two") ||
		r.Files[1].How != box.Added || r.Files[1].Diff != "" || r.Files[1].Sizes != [2]int64{0, 10} || !slices.Equal(r.Masked, []string{".env"}) {
		t.Errorf("%d %q %+v", code, errs, r)
	}
}

// A boxScreen is what a terminal shows.
type boxScreen struct {
	mu   sync.Mutex
	text strings.Builder
	new  chan struct{}
}

func (s *boxScreen) read(from *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		s.mu.Unlock()
		select {
		case s.new <- struct{}{}:
		default: // whoever waits looks at all of it
		}
		if err != nil {
			return
		}
	}
}

func (s *boxScreen) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

func TestABoxIsKeptByOneKey(t *testing.T) {
	for name, test := range map[string]struct {
		writes, early, asks, key string
		kept                     bool
	}{
		"k":                                 {"echo two >> a.txt", "", "k keeps it", "k", true},
		"d":                                 {"echo two >> a.txt", "", "k keeps it", "d", false},
		"Enter":                             {"echo two >> a.txt", "", "k keeps it", "\r", false},
		"Ctrl-C":                            {"echo two >> a.txt", "", "k keeps it", "\x03", false},
		"the end":                           {"echo two >> a.txt", "", "k keeps it", "\x04", false},
		"what was typed before":             {"echo two >> a.txt; echo began; sleep 1", "k", "k keeps it", "d", false},
		"what the terminal would answer":    {"echo two >> a.txt; printf '\\033[21t\\033[c'", "", "k keeps it", "d", false},
		"k where a hook was written":        {"echo two >> a.txt; mkdir .git/hooks; echo x > .git/hooks/pre-push", "", "a keeps it all", "kd", false},
		"a, where a hook was written":       {"echo two >> a.txt; mkdir .git/hooks; echo x > .git/hooks/pre-push", "", "a keeps it all", "a", true},
		"the input is not for the command":  {"cat > b.txt; echo two >> a.txt", "", "k keeps it", "k", true},
		"a hook and keys of all other kind": {"echo x > .envrc", "", "a keeps it all", "xyzk\r", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := boxProject(t)
			ours, theirs, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			s := &boxScreen{new: make(chan struct{}, 1)}
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.read(ours)
			}()
			code := make(chan int, 1)
			go func() {
				code <- Execute(t.Context(), Program{}, []string{"box", "--", "sh", "-c", test.writes}, theirs, theirs, theirs)
			}()
			late := time.After(20 * time.Second)
			press := func(after, keys string) {
				for !s.shows(after) {
					select {
					case <-s.new:
					case <-late:
						s.mu.Lock()
						defer s.mu.Unlock()
						t.Fatalf("no %q: %s", after, s.text.String())
					}
				}
				if _, err := ours.WriteString(keys); err != nil {
					t.Error(err)
				}
			}
			if test.early != "" {
				press("began", test.early)
			}
			press(test.asks, test.key)
			if got := <-code; got != 0 {
				t.Errorf("exit code %d", got)
			}
			if got := strings.Contains(contents(t, filepath.Join(root, "a.txt")), "two"); got != test.kept {
				t.Errorf("kept: %t", got)
			}
			if s.shows("\x1b[21t") {
				t.Error("the terminal obeys what the command says")
			}
			_ = theirs.Close()
			_ = ours.Close()
			<-done
		})
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]int64{"10": 10, "4GB": 4 << 30, "500MB": 500 << 20, "1k": 1 << 10, "2 GiB": 2 << 30, "1T": 1 << 40} {
		if n, ok := bytesIn(text); !ok || n != want {
			t.Errorf("%s: %d %t", text, n, ok)
		}
	}
	for _, text := range []string{"", "0", "-1", "GB", "1.5GB", "9999999999GB", "1GG", "1BB"} {
		if n, ok := bytesIn(text); ok {
			t.Errorf("%s: %d", text, n)
		}
	}
}
