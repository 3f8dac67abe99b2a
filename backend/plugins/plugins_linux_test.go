package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/summarizertest"
)

const examples = "../../docs/summarizers/examples"

// copied is a folder of plug-ins with one of the examples, as a user would copy it.
func copied(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(examples, name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func loaded(t *testing.T, dir string) summarizers.Summarizer {
	t.Helper()
	all, problems := Load(dir)
	if len(all) != 1 || len(problems) != 0 {
		t.Fatalf("%d summarizers, %+v", len(all), problems)
	}
	return all[0]
}

func TestTheExamplesPassTheSuite(t *testing.T) {
	for _, name := range []string{"python", "shell", "go"} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, name)
			if name == "go" {
				build := exec.CommandContext(t.Context(), "go", "build", "-o", "timing", "timing.go")
				build.Dir = filepath.Join(dir, name)
				build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			summarizertest.Run(t, loaded(t, dir))
		})
	}
}

func TestTheExamplesSayWhatThereIs(t *testing.T) {
	for name, want := range map[string]string{"python": "12,000,000", "shell": "plans-3.csv"} {
		s := loaded(t, copied(t, name))
		for _, language := range []string{"en", "zh-CN"} {
			for _, c := range summarizertest.Inputs(language) {
				if c.Name != "several recordings" {
					continue
				}
				r, err := s.Summarize(t.Context(), c.Input, func(human.Progress) {})
				if err != nil {
					t.Fatal(err)
				}
				r, _ = summarizers.Check(c.Input, r)
				if !slices.ContainsFunc(r.Findings, func(f human.Finding) bool { return strings.Contains(f.Text, want) }) || !strings.Contains(r.Text, want) {
					t.Errorf("%s says nothing of %s: %+v", name, want, r)
				}
			}
		}
	}
}

// written makes a plug-in of a shell script.
func written(t *testing.T, manifest, script string) summarizers.Summarizer {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "odd")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, ManifestFile), `{"name":"odd","title":{"en":"Odd"},"version":"2","command":["./run"],"sources":["answer"],"languages":["en"]`+manifest+`}`)
	write(t, filepath.Join(folder, "run"), script)
	if err := os.Chmod(filepath.Join(folder, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	return loaded(t, dir)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func given() summarizers.Input { return summarizertest.Inputs("en")[0].Input }

const fine = `{"line":"Fine","text":"Fine","findings":[],"suggestions":[]}`

// fails runs a plug-in that cannot end well, and returns what it is said to have done.
func fails(t *testing.T, s summarizers.Summarizer, in summarizers.Input, kind human.ErrorKind) string {
	t.Helper()
	began := time.Now()
	_, err := s.Summarize(t.Context(), in, func(human.Progress) {})
	if took := time.Since(began); took > s.About().Limit+20*time.Second {
		t.Errorf("it took %v, with a limit of %v", took, s.About().Limit)
	}
	if err == nil {
		t.Fatal("it is taken for a report")
	}
	if human.KindOf(err) != kind {
		t.Errorf("an error of kind %v: %v", human.KindOf(err), err)
	}
	text := human.SafeText(err)
	if !strings.Contains(text, "odd 2") {
		t.Errorf("it does not say which: %s", text)
	}
	nothingLeft(t, s)
	return text
}

// nothingLeft waits until no process of the plug-in is there, whosever child, and none of ours, and no working folder.
func nothingLeft(t *testing.T, s summarizers.Summarizer) {
	t.Helper()
	folder := s.(*plugin).folder
	eventually(t, "processes", func() string { return fmt.Sprint(processesOf(folder)) }, func() bool { return len(processesOf(folder)) == 0 })
	eventually(t, "children", func() string { return fmt.Sprint(children()) }, func() bool { return len(children()) == 0 })
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "deskbell-summarizer-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func eventually(t *testing.T, what string, now func() string, ok func() bool) {
	t.Helper()
	end := time.After(30 * time.Second)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("%s: %s", what, now())
		}
	}
}

func TestNonsenseIsAnErrorThatSaysWhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, tt := range map[string]struct{ script, want string }{
		"nothing":         {"exit 0", "it is empty"},
		"an exit code":    {"echo it went >&2; echo wrong >&2; exit 3", "exit code 3; its last words: “it went wrong”"},
		"words":           {"echo hello", "it is no JSON at line 1, column 1"},
		"half a report":   {`printf '{"line":"x",\n "text"'`, "it is no JSON at line 2, column 8"},
		"two reports":     {`echo '` + fine + fine + `'`, "after the JSON something follows"},
		"a list":          {`echo '[]'`, "expected object"},
		"a missing field": {`echo '{"line":"x","text":"y","findings":[]}'`, "suggestions"},
		"a wrong kind":    {`echo '{"line":"x","text":"y","findings":[{"kind":"hunch","text":"z","evidence":[]}],"suggestions":[]}'`, "findings[0].kind"},
		"a wrong field":   {`echo '{"line":"x","text":"y","findings":[{"kind":"note","text":"z","evidence":[{"kind":"action","action":"a1","id":"a1"}]}],"suggestions":[]}'`, "findings[0].evidence[0]"},
		"no UTF-8":        {`printf '\377'`, "it is not UTF-8"},
		"a signal":        {"ulimit -c 0; exec sh -c 'kill -SEGV $$; :'", "ended by SIGSEGV"},
		"control signs":   {`printf 'a\033[2Jb\a' >&2; exit 1`, "“a [2Jb”"},
	} {
		t.Run(name, func(t *testing.T) {
			s := written(t, "", "#!/bin/sh\ncat >/dev/null\n"+tt.script+"\n")
			if text := fails(t, s, given(), human.Unavailable); !strings.Contains(text, tt.want) {
				t.Errorf("it says %q, not %q", text, tt.want)
			}
		})
	}
}

func TestAProgramThatCannotBeBegun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := written(t, "", "#!/no/such/shell\n")
	if text := fails(t, s, given(), human.Unavailable); !strings.Contains(text, "could not be started: run: no such file") {
		t.Error(text)
	}
	s.(*plugin).command = []string{"no-such-program-7"}
	if text := fails(t, s, given(), human.Unavailable); !strings.Contains(text, "no-such-program-7") {
		t.Error(text)
	}
}

func TestManifestsThatAreWrong(t *testing.T) {
	dir := t.TempDir()
	whole := `{"name":"NAME","title":{"en":"x"},"command":["sh"],"sources":["answer"],"languages":["en"]`
	for name, tt := range map[string]struct{ manifest, want string }{
		"other":    {strings.Replace(whole, "NAME", "another", 1) + "}", "have to be the same"},
		"upper":    {strings.Replace(whole, "NAME", "Upper", 1) + "}", "name"},
		"kinds":    {strings.Replace(whole, "NAME", "kinds", 1) + `,"kinds":["dance"]}`, "kinds[0]"},
		"limits":   {strings.Replace(whole, "NAME", "limits", 1) + `,"limit_s":6000}`, "limit_s"},
		"typo":     {strings.Replace(whole, "NAME", "typo", 1) + `,"limits":6}`, "limits"},
		"escape":   {`{"name":"escape","title":{"en":"x"},"command":["./../x"],"sources":["answer"],"languages":["en"]}`, "out of the folder"},
		"nofile":   {`{"name":"nofile","title":{"en":"x"},"command":["./x"],"sources":["answer"],"languages":["en"]}`, "no file"},
		"absolute": {`{"name":"absolute","title":{"en":"x"},"command":["/bin/sh"],"sources":["answer"],"languages":["en"]}`, "command[0]"},
		"broken":   {`{"name":`, "no JSON at line 1"},
		"untitled": {strings.Replace(strings.Replace(whole, "NAME", "untitled", 1), `{"en":"x"}`, `{}`, 1) + "}", "title"},
	} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, ManifestFile), tt.manifest)
		_, err := open(folder)
		if err == nil || !strings.Contains(human.SafeText(err), tt.want) {
			t.Errorf("%s: %v, not %q", name, err, tt.want)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "good"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "good", ManifestFile), strings.Replace(whole, "NAME", "good", 1)+"}")
	write(t, filepath.Join(dir, "a file"), "")
	all, problems := Load(dir)
	if len(all) != 1 || len(problems) != 10 || all[0].About().Limit != defaultLimit*time.Second {
		t.Errorf("%d loaded, %+v", len(all), problems)
	}
	if all, problems := Load(filepath.Join(dir, "nowhere")); all != nil || problems != nil {
		t.Error("a folder that is not there has plug-ins")
	}
}

func TestItSeesNothingOfOurs(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("HTTPS_PROXY", "http://proxy.test")
	s := written(t, "", "#!/bin/sh\ncat >/dev/null\nenv >&2; exit 9\n")
	_, err := s.Summarize(t.Context(), given(), func(human.Progress) {})
	text := fmt.Sprint(err)
	if !strings.Contains(text, "TMPDIR=") || strings.Contains(text, "secret") || strings.Contains(text, "proxy") {
		t.Error(text)
	}
}

type pictures map[string]string

func (p pictures) Picture(_ context.Context, _ human.RecordingID, id string, width int) ([]byte, error) {
	if width != pictureWidth || p[id] == "" {
		return nil, human.Errorf(human.NotFound, "no")
	}
	return []byte(p[id]), nil
}

func TestPicturesLieInItsFolder(t *testing.T) {
	var in summarizers.Input
	for _, c := range summarizertest.Inputs("en") {
		if c.Name == "work in a browser" {
			in = c.Input
		}
	}
	in.Pictures = pictures{"p1": "one", "p2": "two"}
	for manifest, want := range map[string]string{"": "*.jpg", `,"pictures":true`: "p1.jpg p2.jpg onetwo"} {
		s := written(t, manifest, "#!/bin/sh\ncat >/dev/null\necho *.jpg $(cat p1.jpg p2.jpg 2>/dev/null) >&2; exit 9\n")
		_, err := s.Summarize(t.Context(), in, func(human.Progress) {})
		if !strings.Contains(fmt.Sprint(err), "“"+want+"”") {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

func TestWhatItReadsIsAsPublished(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		for _, c := range summarizertest.Inputs(language) {
			text, err := json.Marshal(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			if err := valid("input", text); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
	if err := valid("input", []byte(`{"version":"1"}`)); err == nil {
		t.Error("anything is valid")
	}
}

func TestItEndsWhenNobodyWaits(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := written(t, `,"limit_s":60`, "#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1; done\n")
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	if _, err := s.Summarize(ctx, given(), func(human.Progress) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	nothingLeft(t, s)
}

// listening is a server of this machine that counts who comes.
func listening(t *testing.T) (addr string, came chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came = make(chan struct{}, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			came <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String(), came
}
