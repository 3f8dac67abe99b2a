// Command manifests writes what package managers need to know of a release: a Homebrew formula and cask, winget and Scoop
// manifests, and an AUR package, each with the sums of the very files in the folder of a release. A manifest whose file
// is not there is not written; the command says so.
package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"text/template"
)

//go:embed all:templates
var templates embed.FS

// A manifest is one template, and the name of the file of the release that it is about, after deskbell-VERSION-.
type manifest struct{ template, about string }

// manifests are all there are. The name of the file that is made is that of the template.
var manifests = []manifest{
	{"homebrew/Casks/deskbell.rb", "macos-universal.dmg"},
	{"homebrew/Formula/deskbell.rb", "linux-amd64.tar.gz"},
	{"winget/Deskbell.Deskbell.yaml", "windows-amd64-setup.exe"},
	{"winget/Deskbell.Deskbell.installer.yaml", "windows-amd64-setup.exe"},
	{"winget/Deskbell.Deskbell.locale.en-US.yaml", "windows-amd64-setup.exe"},
	{"scoop/deskbell.json", "windows-amd64.zip"},
	{"aur/PKGBUILD", "linux-amd64.tar.gz"},
	{"aur/.SRCINFO", "linux-amd64.tar.gz"},
}

// word is where a version that is no release has its word.
var word = regexp.MustCompile(`-([a-z]+)[.]`)

// values are what templates know of a release.
type values struct {
	Version    string // as programs say it
	Arch       string // the version as Arch takes it: 1.2.3rc1 is before 1.2.3 there, and 1.2.3_rc.1 after it
	Repository string // OWNER/NAME on GitHub
	Homepage   string
	Release    string // the address of the release's files
	About      string // one line
	File       string // the name of the file
	SHA256     string
}

func main() {
	version := flag.String("version", "", "the `version` of the files")
	dist := flag.String("dist", "build/dist", "the `folder` of the release; the manifests go into its folder manifests")
	repository := flag.String("repository", "", "`OWNER/NAME` on GitHub, where the files will be; build/scripts/version says it")
	flag.Parse()
	if *version == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *repository == "" {
		fmt.Println("manifests: not written: they name the address of a release, and DESKBELL_REPOSITORY is not set")
		return
	}
	if err := write(*dist, *version, *repository, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

// write writes all manifests whose files are there, and a line for each to out.
func write(dist, version, repository string, out io.Writer) error {
	for _, m := range manifests {
		text, err := templates.ReadFile("templates/" + m.template)
		if err != nil {
			return err
		}
		v := values{
			Version: version, Arch: word.ReplaceAllString(version, "$1"), Repository: repository,
			Homepage: "https://github.com/" + repository, Release: "https://github.com/" + repository + "/releases/download/v" + version,
			About: "Lets AI agents ask a human", File: "deskbell-" + version + "-" + m.about,
		}
		v.SHA256, err = sum(filepath.Join(dist, v.File))
		if errors.Is(err, fs.ErrNotExist) {
			_, _ = fmt.Fprintf(out, "%s: not written, %s is not there\n", m.template, v.File)
			continue
		}
		if err != nil {
			return err
		}
		t, err := template.New(m.template).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var made bytes.Buffer
		if err := t.Execute(&made, v); err != nil {
			return err
		}
		to := filepath.Join(dist, "manifests", filepath.FromSlash(m.template))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, made.Bytes(), 0o644); err != nil { //nolint:gosec // it is to be published
			return err
		}
		_, _ = fmt.Fprintln(out, to)
	}
	return nil
}

func sum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
