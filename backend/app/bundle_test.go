package app_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deskbell/backend/store/datadir"
)

// Secrets and what agents and operators wrote are planted wherever the bundle looks, and none is in it.
func TestBundleHasNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const secret, words = "ghp_" + "q7Zk2Lw9Xv4Rt8Yp3Nm6Bc1Vd5Fg0HjK8sTa", "quarterly figures of the merger"
	agent, runtime := key(t, dir, "release-bot"), t.TempDir()
	const crashFile = "deskbell-crash-1234"
	if err := os.WriteFile(filepath.Join(runtime, crashFile), []byte("deskbell 1.0\n\npanic: "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"config.toml":    "[model]\nprovider = \"openai\"\nname = \"" + words + "\"\nbase_url = \"https://ada:hunter2secret@model.example/v1\"\n[recording]\nfolders = [\"/srv/" + words + "\"]\n",
		datadir.Log:      `{"time":"t","level":"WARN","msg":"not sent","err":"key ` + secret + `","description":"` + words + `"}` + "\n",
		"pictures/a.png": secret, "known_agents": agent,
		"attachments/" + strings.Repeat("a", 64) + "/data": words, "attachments/" + strings.Repeat("a", 64) + "/by-x.json": `{"name":"` + words + `"}`,
		datadir.Crashes + "/.999999.at":                     crashFile,
		datadir.Crashes + "/" + "secret-" + secret + ".log": words,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "bundle.zip")
	if out, err := program(t, dir, []string{"XDG_RUNTIME_DIR=" + runtime}, "doctor", "--bundle", file).CombinedOutput(); err == nil || !strings.Contains(string(out), "--yes") {
		t.Errorf("it wrote without asking: %v %s", err, out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("there is a bundle without a yes")
	}
	out, _ := program(t, dir, []string{"XDG_RUNTIME_DIR=" + runtime}, "doctor", "--bundle", file, "--yes").CombinedOutput() // its status is the doctor's
	packed, err := zip.OpenReader(file)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer packed.Close()
	all, names := string(out), ""
	for _, f := range packed.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all += f.Name + string(text)
		names += " " + f.Name
		if !strings.Contains(string(out), "===== "+f.Name) {
			t.Errorf("%s was not shown", f.Name)
		}
	}
	for _, no := range []string{secret, words, "hunter2secret", agent} {
		if strings.Contains(all, no) {
			t.Errorf("the bundle has %q", no)
		}
	}
	for _, want := range []string{"about.txt", "report.txt", "settings.txt", "sizes.txt", "log.txt", "crashes/crash-"} {
		if !strings.Contains(names, want) {
			t.Errorf("the bundle has no %s:%s", want, names)
		}
	}
	reports := datadir.CrashReports(dir)
	if len(reports) != 1 {
		t.Fatalf("reports: %v", reports)
	}
	if text, err := os.ReadFile(reports[0]); err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%v: %s", err, text)
	}
	if left, _ := os.ReadDir(runtime); len(left) > 0 {
		t.Errorf("what is not masked is left: %v", left)
	}
	if !regexp.MustCompile(`attachments +[0-9]+ bytes, files: 2\n`).MatchString(all) {
		t.Error("it does not say how large attachments are")
	}
	if !strings.Contains(all, `msg="not sent"`) || !strings.Contains(all, "panic: ") {
		t.Errorf("the bundle tells nothing:\n%s", all)
	}
}
