package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"deskbell/backend/human"
)

const installHint = "Install Google Chrome, Chromium, Microsoft Edge or Brave, or name one in the setting recording.browser.path."

// A candidate is a place where a browser may be.
type candidate struct {
	name string
	file string // absolute, or looked up in PATH
}

// Find returns the browser that is used, as locate finds it. version is "" where the system does not say it.
func Find(path string) (name, version, file string, err error) {
	if name, file, err = locate(path); err != nil {
		return "", "", "", err
	}
	return name, versionOf(file), file, nil
}

// locate returns the browser at path, or the first of Chrome, Chromium, Edge and Brave that is installed. It starts no
// program: on a busy machine one takes seconds to say its version. NotFound says what to install.
func locate(path string) (name, file string, err error) {
	if path != "" {
		file, err := exec.LookPath(path)
		if errors.Is(err, exec.ErrDot) {
			err = nil
		}
		if err != nil {
			return "", "", human.Wrap(human.NotFound, err, "The browser named in the setting recording.browser.path is not there or cannot be run: %s. %s", path, installHint)
		}
		return nameOf(file), file, nil
	}
	for _, c := range candidates() {
		if found, err := exec.LookPath(c.file); err == nil {
			return c.name, found, nil
		}
	}
	return "", "", human.Errorf(human.NotFound, "No browser was found that Deskbell can record. %s", installHint)
}

// nameOf is what people call the browser of an executable.
func nameOf(file string) string {
	base := strings.ToLower(filepath.Base(file))
	switch {
	case strings.Contains(base, "edge"):
		return "Microsoft Edge"
	case strings.Contains(base, "brave"):
		return "Brave"
	case strings.Contains(base, "chromium"):
		return "Chromium"
	case strings.Contains(base, "chrome"):
		return "Google Chrome"
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

var dotted = regexp.MustCompile(`\d+(\.\d+){1,3}`)

// askVersion runs the executable with --version, which answers without opening a window on Linux and macOS.
func askVersion(file string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "--version")
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return dotted.FindString(string(out))
}
