package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const version = "1.2.3-rc.1"

// release writes a release's files and their manifests, and returns the folder of the manifests.
func release(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	for _, m := range manifests {
		file := filepath.Join(dist, "deskbell-"+version+"-"+m.about)
		if err := os.WriteFile(file, []byte(m.about), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dist, version, "owner/deskbell", io.Discard); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dist, "manifests")
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every manifest names the file that it is about and its very sum, and has nothing unfilled.
func TestManifests(t *testing.T) {
	dir := release(t)
	for _, m := range manifests {
		text := read(t, dir, m.template)
		if strings.Contains(text, "{{") || strings.Contains(text, "<no value>") {
			t.Errorf("%s is not filled in:\n%s", m.template, text)
		}
		if strings.HasPrefix(m.template, "winget/") && !strings.Contains(m.template, "installer") {
			continue
		}
		url := "https://github.com/owner/deskbell/releases/download/v" + version + "/deskbell-" + version + "-" + m.about
		for _, want := range []string{url, fmt.Sprintf("%x", sha256.Sum256([]byte(m.about)))} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %s:\n%s", m.template, want, text)
			}
		}
	}
}

// A file that is not there has no manifest.
func TestNoFileNoManifest(t *testing.T) {
	dist := t.TempDir()
	var said strings.Builder
	if err := write(dist, version, "owner/deskbell", &said); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said.String(), "not written"); n != len(manifests) {
		t.Errorf("it said\n%s", said.String())
	}
	if _, err := os.Stat(filepath.Join(dist, "manifests")); err == nil {
		t.Error("manifests were written")
	}
}

// The three files of winget are YAML of one schema version, one package and one version, with the fields that winget requires.
func TestWinget(t *testing.T) {
	dir := release(t)
	for name, required := range map[string][]string{
		"":              {"PackageIdentifier", "PackageVersion", "DefaultLocale", "ManifestType", "ManifestVersion"},
		".installer":    {"PackageIdentifier", "PackageVersion", "Installers", "ManifestType", "ManifestVersion"},
		".locale.en-US": {"PackageIdentifier", "PackageVersion", "PackageLocale", "Publisher", "PackageName", "License", "ShortDescription", "ManifestType", "ManifestVersion"},
	} {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(read(t, dir, "winget/Deskbell.Deskbell"+name+".yaml")), &m); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		for _, key := range required {
			if m[key] == nil || m[key] == "" {
				t.Errorf("%q lacks %s", name, key)
			}
		}
		if m["PackageVersion"] != version || m["PackageIdentifier"] != "Deskbell.Deskbell" || m["ManifestVersion"] != "1.12.0" {
			t.Errorf("%q is %v", name, m)
		}
	}
}

func TestScoop(t *testing.T) {
	var m struct {
		Version, Description, Homepage, License string
		Architecture                            map[string]struct{ URL, Hash string }
		Bin                                     []string
		AutoUpdate                              struct {
			Architecture map[string]struct{ URL string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, release(t), "scoop/deskbell.json")), &m); err != nil {
		t.Fatal(err)
	}
	now := m.Architecture["64bit"]
	if m.Version != version || m.Homepage == "" || m.License == "" || len(now.Hash) != 64 || len(m.Bin) != 2 {
		t.Errorf("the manifest is %+v", m)
	}
	if next := strings.ReplaceAll(m.AutoUpdate.Architecture["64bit"].URL, "$version", version); next != now.URL {
		t.Errorf("updates come from %s, this version from %s", next, now.URL)
	}
}

// Ruby takes the formula and the cask, where there is one.
func TestHomebrew(t *testing.T) {
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("there is no ruby")
	}
	dir := release(t)
	for _, name := range []string{"Casks", "Formula"} {
		if out, err := exec.CommandContext(t.Context(), ruby, "-c", filepath.Join(dir, "homebrew", name, "deskbell.rb")).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// bash takes the PKGBUILD, and .SRCINFO says what it says.
func TestAUR(t *testing.T) {
	dir := filepath.Join(release(t), "aur")
	bash := exec.CommandContext(t.Context(), "bash", "-euc", `. ./PKGBUILD; declare -F package >/dev/null
		[[ $pkgver == 1.2.3rc1 ]] # pacman takes it for older than 1.2.3
		printf 'pkgbase = %s\n\tpkgdesc = %s\n\tpkgver = %s\n\tpkgrel = %s\n\turl = %s\n' "$pkgname" "$pkgdesc" "$pkgver" "$pkgrel" "$url"
		printf '\tarch = %s\n' "${arch[@]}"; printf '\tlicense = %s\n' "${license[@]}"; printf '\tdepends = %s\n' "${depends[@]}"
		printf '\tprovides = %s\n' "${provides[@]}"; printf '\tconflicts = %s\n' "${conflicts[@]}"; printf '\toptions = %s\n' "${options[@]}"
		printf '\tsource = %s\n' "${source[@]}"; printf '\tsha256sums = %s\n' "${sha256sums[@]}"; printf '\npkgname = %s\n' "$pkgname"`)
	bash.Dir = dir
	out, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text := read(t, dir, ".SRCINFO"); text != string(out) {
		t.Errorf(".SRCINFO is\n%s\nthe PKGBUILD says\n%s", text, out)
	}
}
