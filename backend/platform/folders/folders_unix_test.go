//go:build !windows

package folders_test

import (
	"context"
	"deskbell/backend/human"
	"deskbell/backend/platform/folders"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sh runs a script in the folder, as a person's programs would.
func (w *watch) sh(script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func TestWhatPeopleDo(t *testing.T) {
	for name, tt := range map[string]struct{ before, script, want string }{
		"a file is made":                         {"", `printf hello >a.txt`, "created a.txt 5"},
		"an empty one, too":                      {"", `touch a.txt`, "created a.txt 0"},
		"writing that pauses briefly is once":    {"", `printf a >a; sleep 0.05; printf b >>a; sleep 0.05; printf c >>a`, "created a 3"},
		"writing again later is a change":        {`printf a >a`, `printf bc >>a`, "changed a 3"},
		"the same size written anew":             {`printf ab >a`, `printf cd >a`, "changed a 2"},
		"deleted":                                {`printf a >a`, `rm a`, "deleted a"},
		"came and went":                          {"", `printf a >a; rm a`, ""},
		"copied":                                 {`printf abc >a`, `cp a b`, "created b 3"},
		"renamed":                                {`printf abc >a`, `mv a b`, "renamed a to b 3"},
		"renamed onto another":                   {`printf abc >a; printf xy >b`, `mv a b`, "renamed a to b 3"},
		"moved to another folder":                {`printf abc >a; mkdir d`, `mv a d/`, "renamed a to d/a 3"},
		"deleted, and another made":              {`printf abc >a`, `rm a; printf xyz >b`, "deleted a|created b 3"},
		"two renamed into each other":            {`printf a >a`, `mv a b; printf cd >c`, "renamed a to b 1|created c 2"},
		"moved away":                             {`printf abc >a`, `mkdir ../away; mv a ../away/`, "deleted a"},
		"moved in":                               {`mkdir ../from; printf abc >../from/a`, `mv ../from/a .`, "created a 3"},
		"a folder":                               {"", `mkdir d`, "created d (folder)"},
		"a deep folder with a file in it":        {"", `mkdir -p d/e/f; printf x >d/e/f/g`, "created d (folder)|created d/e (folder)|created d/e/f (folder)|created d/e/f/g 1"},
		"a folder renamed":                       {`mkdir -p d/e; printf x >d/e/f`, `mv d g`, "renamed d to g (folder)"},
		"a folder renamed, then written to":      {`mkdir -p d/e; printf x >d/e/f`, `mv d g; printf yz >>g/e/f`, "renamed d to g (folder)|changed g/e/f 3"},
		"a folder renamed, then a file made":     {`mkdir -p d/e; printf x >d/e/f`, `mv d g; printf 1 >g/e/h`, "renamed d to g (folder)|created g/e/h 1"},
		"a folder moved away is one":             {`mkdir -p d/e; printf x >d/e/f`, `mkdir ../away; mv d ../away/`, "deleted d (folder)"},
		"a folder moved in is all that is in it": {`mkdir -p ../from/d/e; printf x >../from/d/e/f`, `mv ../from/d .`, "created d (folder)|created d/e (folder)|created d/e/f 1"},
		"rm -r":                                  {`mkdir -p d/e; printf x >d/e/f; printf x >d/a`, `rm d/a; rm -r d`, "deleted d/a|deleted d/e/f|deleted d/e (folder)|deleted d (folder)"},
		"a link is not followed":                 {`mkdir ../there; printf x >../there/a`, `ln -s ../there l; printf y >../there/b`, "created l 8"},
		"mode and times are no change":           {`printf a >a`, `chmod 600 a; touch -d yesterday a; printf b >b`, "created b 1"},
		"hidden folders are left out":            {`mkdir -p .git/objects`, `printf x >.git/HEAD; mkdir .cache; printf x >.cache/a; printf y >b`, "created b 1"},
		"hidden files are not":                   {"", `printf x >.env`, "created .env 1"},

		"saved as gedit does":         {`printf a >a.txt`, `printf bcd >.goutputstream-X1Y2Z3; mv .goutputstream-X1Y2Z3 a.txt`, "changed a.txt 3"},
		"saved new as gedit does":     {"", `printf bcd >.goutputstream-X1Y2Z3; mv .goutputstream-X1Y2Z3 a.txt`, "created a.txt 3"},
		"saved as Vim does":           {`printf a >a.txt`, `printf x >.a.txt.swp; touch 4913; rm 4913; mv a.txt a.txt~; printf bcd >a.txt; rm a.txt~; rm .a.txt.swp`, "changed a.txt 3"},
		"saved as Emacs does":         {`printf a >a.txt`, `ln -s me@here.1 .#a.txt; mv a.txt a.txt~; printf bcd >a.txt; rm .#a.txt`, "changed a.txt 3"},
		"saved as Qt does":            {`printf a >a.txt`, `printf bcd >a.txt.Xk2jQz; mv a.txt.Xk2jQz a.txt`, "changed a.txt 3"},
		"saved as LibreOffice does":   {`printf a >a.odt`, `printf l >.~lock.a.odt#; printf bcd >lu1x.tmp; mv lu1x.tmp a.odt; rm .~lock.a.odt#`, "changed a.odt 3"},
		"downloaded as Chromium does": {"", `printf ab >a.pdf.crdownload; sleep 0.5; printf c >>a.pdf.crdownload; mv a.pdf.crdownload a.pdf`, "created a.pdf 3"},
		"downloaded as Firefox does":  {"", `touch a.pdf; printf ab >a.x7.pdf.part; mv a.x7.pdf.part a.pdf`, "created a.pdf 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "watched")
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			(&watch{t: t, root: root}).sh(tt.before)
			w := start(t, root)
			w.sh(tt.script)
			if tt.want == "" {
				w.ends()
				return
			}
			w.ends(strings.Split(tt.want, "|")...)
		})
	}
}

// The same, told by a stop at once: what is under way is not lost.
func TestStopTellsWhatIsPending(t *testing.T) {
	t.Parallel()
	w := start(t, t.TempDir())
	w.sh(`mkdir -p a/b; printf x >a/b/c`)
	w.stop()
	want := []string{"created a (folder)", "created a/b (folder)", "created a/b/c 1"}
	if got := w.told(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestTenThousandFilesQuickly(t *testing.T) {
	t.Parallel()
	const n = 10_000
	w := start(t, t.TempDir())
	for i := range n {
		if i%1000 == 0 {
			if err := os.Mkdir(fmt.Sprintf("%s/d%d", w.root, i/1000), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		// Empty: on a busy machine a file can be told of before it is written.
		if err := os.WriteFile(fmt.Sprintf("%s/d%d/f%05d", w.root, i/1000, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.until(func(told []string) bool { return len(told) >= n+10 })
	w.sh(`rm -r d*`)
	w.until(func(told []string) bool { return len(told) >= 2*(n+10) })
	seen := w.stop()
	count := map[string]int{}
	for _, line := range w.told() {
		count[line]++
	}
	for i := range n {
		name := fmt.Sprintf("d%d/f%05d", i/1000, i)
		if count["created "+name+" 0"] != 1 || count["deleted "+name] != 1 {
			t.Fatalf("%s was told of %d and %d times", name, count["created "+name+" 0"], count["deleted "+name])
		}
	}
	if seen != 2*(n+10) {
		t.Errorf("counted %d, want %d", seen, 2*(n+10))
	}
}

func TestAFolderNamedTwiceIsWatchedOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	w := start(t, root, root, link, root+"/")
	w.sh(`printf a >a`)
	w.ends("created a 1")
}

func TestAFolderThatGoes(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "watched")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var events []human.RecordedEvent
	seen, err := folders.New(clock, []string{root}, "").Run(ctx, func() { _ = os.Remove(root) }, func(e human.RecordedEvent) { events = append(events, e) })
	if human.KindOf(err) != human.Unavailable || !strings.Contains(human.SafeText(err), root) {
		t.Errorf("said %v", err)
	}
	if seen != 1 || len(events) != 1 || events[0].File.Op != "deleted" || events[0].File.Path != root {
		t.Errorf("counted %d, told %+v", seen, events)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, d := range []string{"plain/deep", "plain/.git", "sub"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		folders            []string
		status, code, says string
	}{
		"none":              {nil, "off", "", ""},
		"one":               {[]string{filepath.Join(root, "sub")}, "complete", "", ""},
		"with a hidden one": {[]string{filepath.Join(root, "plain")}, "complete", "", ".git"},
		"missing":           {[]string{filepath.Join(root, "gone")}, "missing", "no_folder", filepath.Join(root, "gone")},
		"one of two":        {[]string{filepath.Join(root, "gone"), root}, "partial", "no_folder", filepath.Join(root, "gone")},
		"a file":            {[]string{file}, "missing", "no_folder", "not a folder"},
		"not absolute":      {[]string{"sub"}, "missing", "no_folder", "absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			got := folders.New(clock, tt.folders, "").Check(t.Context())
			if got.Source != human.FileSource || got.Status != tt.status || got.Code != tt.code || !strings.Contains(got.Detail, tt.says) {
				t.Errorf("said %+v", got)
			}
			if (got.Status == "missing" || got.Status == "partial") && got.Fix == "" {
				t.Error("does not say what to do")
			}
		})
	}
}

func TestNothingToWatch(t *testing.T) {
	t.Parallel()
	_, err := folders.New(clock, []string{filepath.Join(t.TempDir(), "gone")}, "").Run(t.Context(), func() { t.Error("ready for nothing") }, func(human.RecordedEvent) {})
	if human.KindOf(err) != human.Unavailable {
		t.Errorf("said %v", err)
	}
}

func scratch(t testing.TB) string { return t.TempDir() }
