package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"deskbell/backend/human"
)

// packages are the package managers of Linux that may have installed the program: a file that each has then (a pattern of package
// filepath), and what removes it.
var packages = []struct{ file, removes string }{
	{"/etc/debian_version", "sudo apt purge deskbell"},
	{"/var/lib/pacman/local/deskbell-*", "sudo pacman -R deskbell"},
	{"/lib/apk/db", "sudo apk del deskbell"},
	{"/usr/bin/zypper", "sudo zypper remove deskbell"},
	{"/usr/bin/dnf", "sudo dnf remove deskbell"},
}

// howToRemove says how the program at a path is removed, for the way it was installed.
func howToRemove(self string) human.Sentence {
	command := commandToRemove(self)
	if command == "" {
		return human.Sayf("To remove the program, delete %s and the programs beside it whose names begin with deskbell.", self)
	}
	return human.Sayf("To remove the program: %s", command)
}

func commandToRemove(self string) string {
	real := self
	if to, err := filepath.EvalSymlinks(self); err == nil {
		real = to
	}
	slashes, folder := filepath.ToSlash(real), filepath.Dir(real)
	switch {
	case os.Getenv("FLATPAK_ID") != "":
		return "flatpak uninstall " + os.Getenv("FLATPAK_ID")
	case strings.Contains(slashes, "/node_modules/"):
		return "npm uninstall --global deskbell"
	case strings.Contains(slashes, "/Cellar/"), strings.Contains(slashes, "/Caskroom/"):
		return "brew uninstall deskbell"
	case strings.Contains(slashes, "/scoop/apps/"):
		return "scoop uninstall deskbell"
	}
	if app, _, inside := strings.Cut(real, ".app/Contents/MacOS/"); inside {
		return "rm -r '" + app + ".app'"
	}
	if uninstaller := filepath.Join(folder, "uninstall.exe"); exists(uninstaller) {
		return `"` + uninstaller + `"`
	}
	if script := filepath.Join(filepath.Dir(folder), "lib", "deskbell", "install.sh"); exists(script) {
		command := "'" + script + "' --uninstall"
		if home, err := os.UserHomeDir(); err == nil && filepath.Dir(folder) != filepath.Join(home, ".local") {
			command = "PREFIX='" + filepath.Dir(folder) + "' " + command
		}
		return command
	}
	if runtime.GOOS == "linux" && folder == "/usr/bin" {
		for _, p := range packages {
			if found, err := filepath.Glob(p.file); err == nil && len(found) > 0 {
				return p.removes
			}
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
