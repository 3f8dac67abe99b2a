// Package pty starts programs on pseudo-terminals: a Unix one, or ConPTY on Windows. It says which shells are installed.
package pty

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"deskbell/backend/record/term"
)

// Shells returns the installed shells that Deskbell knows, the operator's own first. The first call asks each for its version
// and may take a few seconds; later ones return what that found. Safe for concurrent use.
var Shells = sync.OnceValue(func() []term.Shell { return find(own()) })

var number = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// find looks for shells in the search path.
func find(own string) []term.Shell {
	var all []term.Shell
	seen := map[string]bool{}
	for _, name := range append([]string{own}, names...) {
		path, err := exec.LookPath(name)
		if name == "" || err != nil {
			continue
		}
		base := strings.ToLower(strings.TrimSuffix(filepath.Base(path), ".exe"))
		if seen[base] {
			continue
		}
		seen[base] = true
		all = append(all, term.Shell{Name: base, Path: path, Version: version(base, path)})
	}
	return all
}

// version asks a shell for its version; empty where it does not say in time.
func version(name, path string) string {
	switch name {
	case "bash", "zsh", "fish", "pwsh":
	default:
		return "" // others may take the question for something to run
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = append(os.Environ(), "BASH_ENV=", "ENV=")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return number.FindString(string(out[:min(len(out), 200)]))
}
