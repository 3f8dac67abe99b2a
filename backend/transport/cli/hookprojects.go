package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"deskbell/backend/human"
)

// projectsFile is where a data folder keeps the folders of projects in whose settings Deskbell wrote its hook: a string in JSON a line.
// Lines are added only, so that two installations at once lose none.
func projectsFile(data string) string { return filepath.Join(data, "hooks", "projects") }

// noteProject remembers a project. It is done before its settings are written.
func noteProject(data, dir string) error {
	if slices.Contains(notedProjects(data), dir) {
		return nil
	}
	file := projectsFile(data)
	line, err := json.Marshal(dir)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s cannot be written: %v; without it `deskbell uninstall` does not find the hook", file, err)
	}
	return nil
}

// notedProjects are those that were remembered. Other programs may have written there, too.
func notedProjects(data string) (dirs []string) {
	raw, err := os.ReadFile(projectsFile(data))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(raw) {
		var dir string
		if json.Unmarshal(line, &dir) == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
