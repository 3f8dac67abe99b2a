//go:build installers

package installers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var libraries = regexp.MustCompile(`/\S+`)

// gnome puts stand-ins for GNOME's runtime and SDK into the user's Flatpak, since the real ones come from a server: they have a shell,
// and what the manifest's commands call.
func gnome(t *testing.T, repo string) {
	t.Helper()
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for _, name := range []string{"org.gnome.Platform", "org.gnome.Sdk"} {
		dir := t.TempDir()
		for _, program := range []string{"sh", "cp", "install"} {
			path, err := exec.LookPath(program)
			if err != nil {
				t.Fatal(err)
			}
			output(t, "install", "-D", path, filepath.Join(dir, "usr/bin", program))
			for _, library := range libraries.FindAllString(output(t, "ldd", path), -1) {
				output(t, "install", "-D", library, filepath.Join(dir, "usr", strings.TrimPrefix(library, "/usr")))
			}
		}
		metadata := "[Runtime]\nname=" + name + "\nruntime=org.gnome.Platform/" + arch + "/48\nsdk=org.gnome.Sdk/" + arch + "/48\n"
		for file, text := range map[string]string{"metadata": metadata, "usr/bin/appstream-compose": "#!/bin/sh\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "files"), 0o755); err != nil { //nolint:gosec // of a system
			t.Fatal(err)
		}
		output(t, "flatpak", "build-export", "--runtime", "--disable-sandbox", repo, dir, "48")
	}
	output(t, "flatpak", "--user", "remote-add", "--no-gpg-verify", "local", repo)
	output(t, "flatpak", "--user", "install", "--noninteractive", "-y", "local", "org.gnome.Platform//48", "org.gnome.Sdk//48")
}

// The manifest is built as its first lines say, from the archive, into an app that starts.
func TestFlatpak(t *testing.T) {
	manifest, err := filepath.Abs("../../installers/flatpak/dev.deskbell.Deskbell.yml")
	if err != nil {
		t.Fatal(err)
	}
	show := exec.CommandContext(t.Context(), "flatpak-builder", "--show-manifest", manifest)
	show.Dir = t.TempDir() // it leaves a folder where it runs
	shown, err := show.Output()
	var said struct {
		Modules []struct{ Sources []struct{ Path string } }
	}
	if err == nil {
		err = json.Unmarshal(shown, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	if exec.CommandContext(t.Context(), "bwrap", "--dev-bind", "/", "/", "true").Run() != nil {
		t.Skip("bubblewrap cannot make namespaces here")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(home, name))
	}
	gnome(t, filepath.Join(home, "repo"))

	source := filepath.Join(filepath.Dir(manifest), said.Modules[0].Sources[0].Path)
	t.Cleanup(func() { _ = os.RemoveAll(source) }) // the next run makes it again
	output(t, "mkdir", "-p", source)
	output(t, "tar", "-xzf", made(t, ".tar.gz"), "--strip-components=1", "-C", source)
	app := filepath.Join(home, "app")
	output(t, "flatpak-builder", "--user", "--disable-cache", "--disable-rofiles-fuse", "--force-clean", "--state-dir="+filepath.Join(home, "state"), app, manifest)

	if said := output(t, "flatpak", "build", app, "deskbell-hook", "--version"); !strings.HasPrefix(said, "deskbell-hook ") {
		t.Errorf("in the sandbox it says %s", said)
	}
	for _, name := range []string{"files/bin/deskbell", "export/share/icons/hicolor/512x512/apps/dev.deskbell.Deskbell.png"} {
		if _, err := os.Stat(filepath.Join(app, name)); err != nil {
			t.Error(err)
		}
	}
	output(t, "desktop-file-validate", filepath.Join(app, "export/share/applications/dev.deskbell.Deskbell.desktop"))
	found, err := filepath.Glob(filepath.Join(app, "export/share/metainfo/*.xml"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if text, err := os.ReadFile(found[0]); err != nil || !strings.Contains(string(text), `<launchable type="desktop-id">dev.deskbell.Deskbell.desktop</launchable>`) {
		t.Errorf("%v: %s", err, text)
	}
	metadata, err := os.ReadFile(filepath.Join(app, "metadata"))
	if err != nil || !strings.Contains(string(metadata), "\ncommand=deskbell\n") || !strings.Contains(string(metadata), "\nshared=network;ipc;\n") {
		t.Errorf("%v: %s", err, metadata)
	}
}
