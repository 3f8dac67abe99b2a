package install

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The lists of clients name folders that are there; whatever else is in them is left out.
func TestProjectsOfClients(t *testing.T) {
	home := t.TempDir()
	dir := func(name string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shop, site, tool := dir("shop 商店"), dir("site"), dir("tool")
	write := func(name, text string) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{}
	p := Place{Home: home, Env: func(name string) string { return env[name] }}
	if got := Projects(p); len(got) != 0 {
		t.Errorf("without files: %q", got)
	}
	write("notes.txt", "")
	write(".claude.json", `{"numStartups": 3, "projects": {"`+shop+`": {"allowedTools": []}, "`+shop+`/": {}, "relative": {}, "../site": 1, "/no/such/folder": {}, "`+filepath.Join(home, "notes.txt")+`": {}, "": {}}}`)
	write(".codex/config.toml", "model = \"x\"\n[projects.\""+site+"\"]\ntrust_level = \"trusted\"\n[projects.\""+shop+"\"]\ntrust_level = \"untrusted\"\n")
	write(".gemini/trustedFolders.json", `{"`+tool+`": "TRUST_FOLDER"}`)
	if got, want := Projects(p), []string{shop, site, tool}; !reflect.DeepEqual(got, want) {
		t.Errorf("the projects are %q, not %q", got, want)
	}
	// What cannot be read lists nothing, and is in the way of nothing.
	write(".codex/config.toml", "[projects\n")
	write(".gemini/trustedFolders.json", `["`+tool+`"]`)
	env["CLAUDE_CONFIG_DIR"] = filepath.Join(home, "other")
	write("other/.claude.json", `{"projects": {"`+tool+`": {}}}`)
	if got, want := Projects(p), []string{tool}; !reflect.DeepEqual(got, want) {
		t.Errorf("the projects are %q, not %q", got, want)
	}
}
