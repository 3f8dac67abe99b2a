package x11

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deskbell/backend/human"
)

// appOf makes an application of what a window says: the class of its WM_CLASS, and the process. Its name is
// that of its desktop file, as menus show it; else the class; else the executable's.
func appOf(class, instance string, pid int) human.App {
	app := human.App{PID: pid, Exe: executable(pid)}
	names := desktopNames()
	for _, key := range []string{class, instance, app.Exe} {
		if name := names[strings.ToLower(key)]; key != "" && name != "" {
			app.Name = name
			return app
		}
	}
	for _, name := range []string{class, instance, app.Exe} {
		if name != "" {
			app.Name = name
			return app
		}
	}
	app.Name = "unknown"
	return app
}

// executable is the file name of a process's program; empty where it cannot be known: another user's, or
// one of another machine.
func executable(pid int) string {
	if pid <= 0 {
		return ""
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), " (deleted)") // replaced by an update since it was started
}

// desktopNames are the names of applications by the class of their windows and by the name of their
// desktop file (Desktop Entry Specification: StartupWMClass), in lower case. They are read once.
var desktopNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, dir := range applicationDirs() {
		files, _ := filepath.Glob(filepath.Join(dir, "*.desktop"))
		for _, file := range files {
			name, class, ok := readDesktopFile(file)
			if !ok {
				continue
			}
			for _, key := range []string{class, strings.TrimSuffix(filepath.Base(file), ".desktop")} {
				key = strings.ToLower(key)
				if _, there := names[key]; !there && key != "" { // an earlier folder goes before
					names[key] = name
				}
			}
		}
	}
	return names
})

// applicationDirs are where desktop files are (XDG Base Directory Specification).
func applicationDirs() []string {
	data := os.Getenv("XDG_DATA_HOME")
	if home, err := os.UserHomeDir(); data == "" && err == nil {
		data = filepath.Join(home, ".local", "share")
	}
	shared := os.Getenv("XDG_DATA_DIRS")
	if shared == "" {
		shared = "/usr/local/share:/usr/share"
	}
	var dirs []string
	for _, dir := range append([]string{data}, filepath.SplitList(shared)...) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Join(dir, "applications"))
		}
	}
	return dirs
}

func readDesktopFile(file string) (name, class string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	inEntry := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inEntry = line == "[Desktop Entry]"
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !inEntry:
		case key == "Type" && value != "Application":
			return "", "", false
		case key == "Name":
			name = value
		case key == "StartupWMClass":
			class = value
		}
	}
	return name, class, name != ""
}
