//go:build installers

package installers

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // apk's own sums
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestLintersAcceptThePackages(t *testing.T) {
	output(t, "lintian", "--allow-root", "--fail-on", "error,warning", made(t, ".deb"))
	output(t, "desktop-file-validate", "../../linux/deskbell.desktop")
	dir := t.TempDir()
	output(t, "dpkg-deb", "-x", made(t, ".deb"), dir)
	output(t, "appstreamcli", "validate", "--no-net", filepath.Join(dir, "usr/share/metainfo/dev.deskbell.Deskbell.metainfo.xml"))
}

// Nothing that rpmlint says is left but what rpmlint.toml accepts.
func TestRpmlint(t *testing.T) {
	// The files of an rpm of nfpm's have absolute names, and rpmlint has cpio unpack them: as root it would install the package.
	cpio, err := exec.LookPath("cpio")
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "cpio"), []byte("#!/bin/sh\nexec "+cpio+" --no-absolute-filenames \"$@\"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	if said := output(t, "rpmlint", "-c", scripts+"rpmlint.toml", made(t, ".rpm")); !strings.Contains(said, "0 errors, 0 warnings") {
		t.Error(said)
	}
}

// pacman itself installs the Arch package into an empty folder, finds every file as the package says, and removes them all.
func TestPacman(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("pacman installs for root only")
	}
	root := t.TempDir()
	config := filepath.Join(root, "pacman.conf")
	err := errors.Join(os.MkdirAll(filepath.Join(root, "var/lib/pacman"), 0o700), os.WriteFile(config, []byte("[options]\nArchitecture = x86_64\nSigLevel = Never\nLocalFileSigLevel = Never\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	pacman := func(args ...string) string {
		t.Helper()
		return output(t, "pacman", append(args, "--noconfirm", "--root", root, "--dbpath", filepath.Join(root, "var/lib/pacman"), "--config", config,
			"--cachedir", filepath.Join(root, "cache"), "--gpgdir", filepath.Join(root, "gpg"), "--hookdir", filepath.Join(root, "hooks"), "--logfile", filepath.Join(root, "log"))...)
	}
	pacman("-U", "--nodeps", "--nodeps", "--noscriptlet", made(t, ".pkg.tar.zst"))
	if said := pacman("-Qkk"); !strings.Contains(said, " 0 altered files") {
		t.Error(said)
	}
	said := pacman("-Qi")
	if !regexp.MustCompile(`(?m)^Version +: [0-9.]+([a-z]+[0-9.]+(dev[.][0-9]+)?)?-1$`).MatchString(said) || !regexp.MustCompile(`(?m)^Packager +: .+ <.+>$`).MatchString(said) {
		t.Error(said)
	}
	if script := output(t, "bsdtar", "-xOf", made(t, ".pkg.tar.zst"), ".INSTALL"); !strings.Contains(script, "pre_remove() {\n"+removal(t)) {
		t.Errorf("before it is removed: %s", script)
	}
	pacman("-R", "--nodeps", "--nodeps", "--noscriptlet", "deskbell")
	if _, err := os.Stat(filepath.Join(root, "usr")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the removal there is %q (%v)", files(t, filepath.Join(root, "usr")), err)
	}
}

// removal is the script that packages run before the programs go.
func removal(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(scripts + "prerm.sh")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each package manager's words for a removal end the programs, and those for an upgrade do not.
func TestRemovalEndsPrograms(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "deskbell")
	text, err := os.ReadFile(sleep)
	if err == nil {
		err = os.WriteFile(program, text, 0o700) //nolint:gosec // a program
	}
	if err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(removal(t), "/usr/bin/", dir+"/") // not a Deskbell of whoever runs the test
	for word, ends := range map[string]bool{"remove": true, "0": true, "1.2.4dev17-1": true, "1.2.3_pre17-r1": true, "upgrade": false, "1": false} {
		running := exec.CommandContext(t.Context(), program, "1000")
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = running.Wait() // a signal ends it
		}()
		output(t, "sh", "-c", script, "prerm", word)
		if !ends {
			select {
			case <-ended:
				t.Errorf("%s ended the program", word)
				continue
			default:
			}
			if err := running.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		<-ended
	}
}

// A segment is one of the archives that an apk is made of.
type segment struct {
	sum   string // of its bytes as they are in the package
	files []segmentFile
}

type segmentFile struct {
	tar.Header
	text []byte
}

func (s segment) file(name string) string {
	for _, f := range s.files {
		if f.Name == name {
			return string(f.text)
		}
	}
	return ""
}

// segments takes an apk apart: one gzip stream after the other, each a tar of which only the last has an end.
func segments(t *testing.T, path string) (all []segment) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for rest := bytes.NewReader(raw); rest.Len() > 0; {
		begin := len(raw) - rest.Len()
		unpacked, err := gzip.NewReader(rest)
		if err != nil {
			t.Fatal(err)
		}
		unpacked.Multistream(false)
		var s segment
		archive := tar.NewReader(unpacked)
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			var text []byte
			if err == nil {
				text, err = io.ReadAll(archive)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, segmentFile{*header, text})
		}
		if _, err := io.Copy(io.Discard, unpacked); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(raw[begin : len(raw)-rest.Len()])
		s.sum = hex.EncodeToString(sum[:])
		all = append(all, s)
	}
	return all
}

// Debian has no apk, so what apk itself looks at is looked at here: https://wiki.alpinelinux.org/wiki/Apk_spec
func TestApk(t *testing.T) {
	all := segments(t, made(t, ".apk"))
	if len(all) != 2 {
		t.Fatalf("%d segments: control and data are wanted, and no signature", len(all))
	}
	control, data := all[0], all[1]
	info := map[string][]string{}
	lines := bufio.NewScanner(strings.NewReader(control.file(".PKGINFO")))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " = ")
		if !ok && !strings.HasPrefix(lines.Text(), "#") && lines.Text() != "" {
			t.Errorf("not a field of .PKGINFO: %q", lines.Text())
		}
		info[name] = append(info[name], value)
	}
	for name, want := range map[string]string{
		"pkgname": "deskbell", "arch": "x86_64", "license": "Apache-2[.]0", "datahash": data.sum, "pkgdesc": ".{10,80}", "maintainer": ".+ <.+>",
		"pkgver": `[0-9]+([.][0-9]+)*(_(alpha|beta|pre|rc)[0-9]*)?-r[0-9]+`,
	} {
		if got := info[name]; len(got) != 1 || !regexp.MustCompile("^"+want+"$").MatchString(got[0]) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if len(info["depend"]) < 5 {
		t.Errorf("it needs only %q", info["depend"])
	}
	if control.file(".pre-deinstall") != removal(t) {
		t.Error("nothing ends the programs before they are removed")
	}
	for _, f := range data.files {
		if f.Mode&^0o755 != 0 || f.Uid != 0 || f.Gid != 0 {
			t.Errorf("%s has mode %o and owner %d:%d", f.Name, f.Mode, f.Uid, f.Gid)
		}
		sum := sha1.Sum(f.text) //nolint:gosec // as above
		if f.Typeflag == tar.TypeReg && f.PAXRecords["APK-TOOLS.checksum.SHA1"] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has another sum", f.Name)
		}
	}
}

// The oldest systems that docs/install.md names have glibc 2.34; a program that was linked on a newer one may ask for more.
func TestTheProgramsNeedNoNewerGlibc(t *testing.T) {
	program, err := elf.Open("../../.stamps/linux/deskbell")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	symbols, err := program.ImportedSymbols()
	if err != nil || len(symbols) == 0 {
		t.Fatal(err)
	}
	for _, s := range symbols {
		minor, is := strings.CutPrefix(s.Version, "GLIBC_2.")
		if n, err := strconv.Atoi(strings.Split(minor, ".")[0]); is && (err != nil || n > 34) {
			t.Errorf("%s is of %s", s.Name, s.Version)
		}
	}
}

// Packages that are published name who answers for them; no address is made up.
func TestPublishedPackagesNameTheirMaintainer(t *testing.T) {
	version := func(what string, env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "../../scripts/version", what)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
		said, err := cmd.Output()
		return strings.TrimSpace(string(said)), err
	}
	const ann = "Ann O'Hara <ann@deskbell.test>"
	for _, tt := range []struct {
		maintainer, repository string
		good                   bool
	}{{ann, "ann/deskbell", true}, {"", "ann/deskbell", false}, {"ann@deskbell.test", "ann/deskbell", false}, {ann, "", false}, {ann, "deskbell", false}} {
		if _, err := version("published", "DESKBELL_MAINTAINER="+tt.maintainer, "GITHUB_REPOSITORY="+tt.repository); (err == nil) != tt.good {
			t.Errorf("%q in %q: %v", tt.maintainer, tt.repository, err)
		}
	}
	if got, err := version("maintainer", "DESKBELL_MAINTAINER="+ann); got != ann || err != nil {
		t.Errorf("the maintainer is %q, %v", got, err)
	}
	wanted, err := version("maintainer", "DESKBELL_MAINTAINER="+os.Getenv("DESKBELL_MAINTAINER"))
	if err != nil {
		t.Fatal(err)
	}
	for ending, args := range map[string][]string{".deb": {"dpkg-deb", "-f", made(t, ".deb"), "Maintainer"}, ".rpm": {"rpm", "-qp", "--qf", "%{PACKAGER}", made(t, ".rpm")}} {
		if got := strings.TrimSpace(output(t, args[0], args[1:]...)); got != wanted {
			t.Errorf("the maintainer of the %s is %q, not %q", ending, got, wanted)
		}
	}
	workflow, err := os.ReadFile("../../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	if check := fmt.Sprintf("run: %s published", "build/scripts/version"); strings.Count(string(workflow), check) != 1 {
		t.Errorf("the release workflow does not say %q", check)
	}
}
