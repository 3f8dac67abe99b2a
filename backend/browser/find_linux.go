package browser

import "os"

func candidates() []candidate {
	return []candidate{
		{"Google Chrome", "google-chrome-stable"},
		{"Google Chrome", "google-chrome"},
		{"Google Chrome", "/opt/google/chrome/chrome"},
		{"Chromium", "chromium"},
		{"Chromium", "chromium-browser"},
		{"Microsoft Edge", "microsoft-edge-stable"},
		{"Microsoft Edge", "microsoft-edge"},
		{"Brave", "brave-browser-stable"},
		{"Brave", "brave-browser"},
		{"Brave", "brave"},
		{"Chromium", "/snap/bin/chromium"},
		{"Google Chrome", "google-chrome-beta"},
	}
}

func versionOf(file string) string { return askVersion(file) }

// noDisplay says that there is nothing a window could be shown on.
func noDisplay() bool { return os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" }
