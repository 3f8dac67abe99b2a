package declared_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/agent/declared"
	"deskbell/backend/human"
)

// M5: an agent declares its name, description, capabilities and the categories of tools that it may use.
func TestDeclaredAgents(t *testing.T) {
	dir := t.TempDir()
	if all, err := declared.Read(dir); err != nil || len(all) != 1 || all[0].Name != agent.ReferenceAgent || all[0].Kept != 24*time.Hour {
		t.Fatalf("without a file: %+v, %v", all, err)
	}
	read := func(text string) ([]agent.Profile, error) {
		if err := os.WriteFile(filepath.Join(dir, agent.ProfilesFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return declared.Read(dir)
	}
	all, err := read(`
[[agent]]
name = "music"
description = "Plays music."
capabilities = ["songs", "artists"]
categories = ["entertainment"]
system = "Be brief."
open = true
keep = "30m"
folder = "~/music"

[[agent.tools]]
category = "entertainment"
command = ["./tools", "music"]
`)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	a := all[1]
	about := a.About()
	if about.Name != "music" || about.System != "Be brief." || len(about.Categories) != 1 || about.Categories[0] != "entertainment" || len(about.Capabilities) != 2 {
		t.Errorf("about %+v", about)
	}
	home, _ := os.UserHomeDir()
	if !a.Open || a.Kept != 30*time.Minute || a.Folder != filepath.Join(home, "music") || a.Tools[0].Name != "music" || a.Tools[0].Command[0] != filepath.Join(dir, "tools") {
		t.Errorf("%+v", a)
	}
	if _, err := agent.FindProfile(all, "car"); human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), "deskbell-agent, music") {
		t.Errorf("another: %v", err)
	}
	const head = "[[agent]]\nname = \"a\"\ndescription = \"x\"\n"
	for text, says := range map[string]string{
		"[[agent]]\nname = 3":             "line 2",
		"[[agent]]\nnaem = \"a\"":         `line 2: there is no field "agent.naem"`,
		"[[agent]\n":                      "line 1",
		"[[agent]]\nname = \"A b\"\n":     "small letters",
		"[[agent]]\nname = \"a\"\n":       "description is missing",
		head:                              "categories is missing",
		head + "categories = [\"fun\"]\n": `no tool is of the category "fun"`,
		head + "categories = [\"web\"]\nkeep = \"1s\"\n":                                                     "a minute at the least",
		head + "categories = [\"web\"]\nkeep = \"soon\"\n":                                                   `keep is "soon"`,
		head + "categories = [\"web\"]\nfolder = \"x\"\n":                                                    "folder must be absolute",
		head + "categories = [\"web\"]\n" + head + "categories = [\"web\"]\n":                                "declared twice",
		strings.ReplaceAll(head, `"a"`, `"deskbell-agent"`) + "categories = [\"web\"]\n":                     "is Deskbell's own",
		head + "categories = [\"fun\"]\n[[agent.tools]]\ncategory = \"fun\"\n":                               "either command or url",
		head + "categories = [\"fun\"]\n[[agent.tools]]\ncategory = \"fun\"\nurl = \"ftp://x\"\n":            "is no address",
		head + "categories = [\"fun\"]\n[[agent.tools]]\ncategory = \"\"\ncommand = [\"x\"]\n":               "of its tools must have",
		head + "categories = [\"fun\"]\n[[agent.tools]]\ncategory = \"fun\"\nname = \"a__b\"\nurl = \"x\"\n": "single _",
	} {
		if _, err := read(text); human.KindOf(err) != human.Invalid || !strings.Contains(human.SafeText(err), says) {
			t.Errorf("%q: %v, want words %q", text, err, says)
		}
	}
}
