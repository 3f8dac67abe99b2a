package install

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	mostProjects = 2000
	mostListed   = 32 << 20 // bytes of a client's file
)

// Projects are the folders that clients list as projects of their own: Claude Code in .claude.json, Codex in config.toml, Gemini CLI in
// trustedFolders.json. Anything may be written there: a folder is one that is there, with an absolute path of this machine, and no more
// is known of it.
func Projects(p Place) []string {
	listed := map[string]any{}
	var claude, codex struct {
		Projects map[string]any `json:"projects" toml:"projects"`
	}
	var gemini map[string]any
	readList(claudeServers(p), &claude, decode)
	readList(filepath.Join(codexHome(p), "config.toml"), &codex, toml.Unmarshal)
	readList(filepath.Join(p.Home, ".gemini", "trustedFolders.json"), &gemini, decode)
	for _, those := range []map[string]any{claude.Projects, codex.Projects, gemini} {
		for path := range those {
			listed[path] = nil
		}
	}
	paths := make([]string, 0, len(listed))
	for path := range listed {
		paths = append(paths, path)
	}
	return Folders(paths)
}

// Folders are those of paths, from elsewhere, that are folders of this machine: each once, sorted, at most 2000.
func Folders(paths []string) (dirs []string) {
	slices.Sort(paths)
	seen := map[string]bool{}
	for _, path := range paths {
		if len(seen) >= mostProjects {
			break
		}
		// A share of another machine would be asked with this user's name.
		if path = filepath.Clean(path); !filepath.IsAbs(path) || strings.HasPrefix(filepath.VolumeName(path), `\\`) || seen[path] {
			continue
		}
		seen[path] = true
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// readList reads a file that may not be there, or be anything.
func readList(path string, into any, unmarshal func([]byte, any) error) {
	f, err := os.Open(path) //nolint:gosec // of this user's own clients
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // it is only read
	if raw, err := io.ReadAll(io.LimitReader(f, mostListed+1)); err == nil && len(raw) <= mostListed {
		_ = unmarshal(raw, into) // what is wrong lists nothing
	}
}
