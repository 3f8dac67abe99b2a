package plugins

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/summarizertest"
)

// This test program is the plug-in, too: its first argument says what it does.
func init() {
	instead = func() bool {
		if len(os.Args) < 3 || os.Args[1] != "as-plugin" {
			return false
		}
		forever := func() {
			for {
				<-time.After(time.Second)
			}
		}
		in, _ := io.ReadAll(os.Stdin)
		switch os.Args[2] {
		case "fine":
			if !bytes.HasPrefix(in, []byte(`{"version":1`)) {
				fmt.Fprintf(os.Stderr, "it begins with %.20q", in)
				os.Exit(4)
			}
			fmt.Println(`{"line":"Fine","text":"` + os.Getenv("ANTHROPIC_API_KEY") + `","findings":[],"suggestions":[]}`)
		case "fails":
			fmt.Fprintln(os.Stderr, "it went wrong")
			os.Exit(3)
		case "floods":
			for {
				if _, err := os.Stdout.Write(make([]byte, 1<<20)); err != nil {
					os.Exit(5)
				}
			}
		case "family":
			child := exec.Command(os.Args[0], "as-plugin", "stays", os.Args[3])
			child.Stdout = os.Stdout
			if err := child.Start(); err != nil {
				os.Exit(6)
			}
			forever()
		case "stays":
			f, err := os.Create(os.Args[3]) // which cannot be removed while this lives
			if err != nil {
				os.Exit(7)
			}
			defer func() { _ = f.Close() }()
			forever()
		case "leaves":
			_ = exec.Command(os.Args[0], "as-plugin", "stays", os.Args[3]).Start()
			for range 100 {
				if _, err := os.Stat(os.Args[3]); err == nil {
					break
				}
				<-time.After(50 * time.Millisecond)
			}
			fmt.Println(`{"line":"Fine","text":"","findings":[],"suggestions":[]}`)
		}
		return true
	}
}

func does(t *testing.T, manifest string, what ...string) *plugin {
	t.Helper()
	folder := filepath.Join(temp(t), "odd")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "run.exe"), self, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"name":"odd","title":{"en":"Odd"},"command":["./run.exe"],"sources":["answer"],"languages":["en"]` + manifest + `}`
	if err := os.WriteFile(filepath.Join(folder, ManifestFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := open(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.command = append(append(p.command, "as-plugin"), what...)
	return p
}

func TestPluginsOnWindows(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	in := summarizertest.Inputs("en")[0].Input
	ask := func(p *plugin) (human.Report, string) {
		r, err := p.Summarize(t.Context(), in, func(human.Progress) {})
		return r, fmt.Sprint(err)
	}
	if r, err := ask(does(t, "", "fine")); r.Line != "Fine" || r.Text != "" {
		t.Errorf("%+v %s", r, err)
	}
	for what, want := range map[string]string{"fails": "exit code 3; its last words: “it went wrong”", "floods": "more than 8 MB", "nothing": "it is empty"} {
		if _, err := ask(does(t, `,"limit_s":60`, what)); !strings.Contains(err, want) {
			t.Errorf("%s: %s", what, err)
		}
	}
	held := filepath.Join(temp(t), "held")
	began := time.Now()
	if _, err := ask(does(t, `,"limit_s":5`, "family", held)); !strings.Contains(err, "longer than its limit") || time.Since(began) > time.Minute {
		t.Errorf("%v: %s", time.Since(began), err)
	}
	gone(t, held)
	if r, err := ask(does(t, `,"limit_s":60`, "leaves", held)); r.Line != "Fine" {
		t.Errorf("%+v %s", r, err)
	}
	gone(t, held)
}

// temp is a folder for one test. That of testing is removed by calls that Wine 8 does not have.
func temp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// gone waits until a file can be removed that a process holds while it lives.
func gone(t *testing.T, file string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		t.Errorf("nobody was there to be ended: %v", err)
	}
	end := time.After(30 * time.Second)
	for os.Remove(file) != nil {
		select {
		case <-end:
			t.Fatal("it lives on")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
