package browser

import (
	"os"
	"path/filepath"
)

func candidates() []candidate {
	programs := []candidate{
		{"Google Chrome", "Google Chrome.app/Contents/MacOS/Google Chrome"},
		{"Chromium", "Chromium.app/Contents/MacOS/Chromium"},
		{"Microsoft Edge", "Microsoft Edge.app/Contents/MacOS/Microsoft Edge"},
		{"Brave", "Brave Browser.app/Contents/MacOS/Brave Browser"},
	}
	folders := []string{"/Applications"}
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, filepath.Join(home, "Applications"))
	}
	var all []candidate
	for _, folder := range folders {
		for _, p := range programs {
			all = append(all, candidate{p.name, filepath.Join(folder, p.file)})
		}
	}
	return all
}

func versionOf(file string) string { return askVersion(file) }

func noDisplay() bool { return false }
