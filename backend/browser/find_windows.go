package browser

import (
	"os"
	"path/filepath"
)

func candidates() []candidate {
	programs := []candidate{
		{"Google Chrome", `Google\Chrome\Application\chrome.exe`},
		{"Microsoft Edge", `Microsoft\Edge\Application\msedge.exe`},
		{"Brave", `BraveSoftware\Brave-Browser\Application\brave.exe`},
		{"Chromium", `Chromium\Application\chrome.exe`},
	}
	var all []candidate
	for _, p := range programs {
		for _, root := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			if folder := os.Getenv(root); folder != "" {
				all = append(all, candidate{p.name, filepath.Join(folder, p.file)})
			}
		}
	}
	return all
}

// versionOf reads the version from the folder beside the executable that is named after it: asking the executable
// would open a window.
func versionOf(file string) string {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return ""
	}
	version := ""
	for _, e := range entries {
		if found := dotted.FindString(e.Name()); e.IsDir() && found == e.Name() {
			version = found // in order of names; the newest is mostly the last
		}
	}
	return version
}

func noDisplay() bool { return false }
