// Package declared reads the agents that a user declares in a file: agents.toml in the data folder.
package declared

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// The bounds of a declaration.
const (
	maxFile   = 1 << 20
	maxAgents = 100
	maxText   = 16 << 10
	maxTools  = 20
	maxKept   = 90 * 24 * time.Hour
)

// kept is how long a conversation waits for its next message where its agent does not say.
const kept = 24 * time.Hour

var (
	names      = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	categories = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
)

// builtin is the reference agent.
func builtin() agent.Profile {
	return agent.Profile{
		Name: agent.ReferenceAgent, Description: "Deskbell's reference agent", Kept: kept,
		Categories: []string{string(agent.Shell), string(agent.Files), string(agent.Web), string(agent.Remote)},
	}
}

// Read reads the agents of a data folder: the reference agent first, then those of the file, in its order. Without the file there
// is only the first. Errors are Invalid and say where in the file something is wrong.
func Read(dir string) ([]agent.Profile, error) {
	return ReadFile(filepath.Join(dir, agent.ProfilesFile))
}

// ReadFile does, of any file.
func ReadFile(path string) ([]agent.Profile, error) {
	all := []agent.Profile{builtin()}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, human.Wrap(human.Unavailable, err, "%s cannot be read", path)
	case len(text) > maxFile:
		return nil, human.Errorf(human.Invalid, "%s is %d bytes long; the limit is %d", path, len(text), maxFile)
	}
	var file struct {
		Agent []agent.Profile `toml:"agent"`
	}
	d := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		var at *toml.DecodeError
		var unknown *toml.StrictMissingError
		switch {
		case errors.As(err, &unknown) && len(unknown.Errors) > 0:
			row, _ := unknown.Errors[0].Position()
			return nil, human.Wrap(human.Invalid, err, "%s, line %d: there is no field %q of an agent", path, row, strings.Join(unknown.Errors[0].Key(), "."))
		case errors.As(err, &at):
			row, column := at.Position()
			return nil, human.Wrap(human.Invalid, err, "%s, line %d, column %d: %v", path, row, column, err)
		}
		return nil, human.Wrap(human.Invalid, err, "%s: %v", path, err)
	}
	if len(file.Agent) > maxAgents {
		return nil, human.Errorf(human.Invalid, "%s declares %d agents; the limit is %d", path, len(file.Agent), maxAgents)
	}
	for _, a := range file.Agent {
		if err := check(&a, filepath.Dir(path)); err != nil {
			return nil, human.Wrap(human.Invalid, err, "%s: the agent %q: %s", path, human.OneLine(a.Name, 60), human.SafeText(err))
		}
		if slices.ContainsFunc(all, func(o agent.Profile) bool { return o.Name == a.Name }) {
			return nil, human.Errorf(human.Invalid, "%s: the agent %q is declared twice, or is Deskbell's own", path, a.Name)
		}
		all = append(all, a)
	}
	return all, nil
}

// check says what is wrong with a declaration, and completes it. Commands and folders that begin with ./ are of the file's folder.
func check(a *agent.Profile, dir string) (err error) {
	a.Kept = kept
	if a.Keep != "" {
		if a.Kept, err = time.ParseDuration(a.Keep); err != nil || a.Kept < time.Minute || a.Kept > maxKept {
			return human.Errorf(human.Invalid, "keep is %q; it must be a time such as 30m or 24h, a minute at the least and at most %v", human.OneLine(a.Keep, 40), maxKept)
		}
	}
	switch {
	case !names.MatchString(a.Name):
		return human.Errorf(human.Invalid, "the name must have 1 to 40 characters: small letters, digits, - and _")
	case strings.TrimSpace(a.Description) == "":
		return human.Errorf(human.Invalid, "description is missing; say in a sentence what the agent is for")
	case len(a.Description) > maxText || len(a.System) > maxText || len(strings.Join(a.Capabilities, "")) > maxText:
		return human.Errorf(human.Invalid, "description, system and capabilities must not be longer than %d bytes each", maxText)
	case len(a.Categories) == 0:
		return human.Errorf(human.Invalid, "categories is missing; name the sorts of tools that the agent may use")
	case len(a.Tools) > maxTools:
		return human.Errorf(human.Invalid, "it has %d servers of tools; the limit is %d", len(a.Tools), maxTools)
	}
	if a.Folder, err = folder(a.Folder, dir); err != nil {
		return err
	}
	known := []string{string(agent.Shell), string(agent.Files), string(agent.Web)}
	for i := range a.Tools {
		t := &a.Tools[i]
		if err := checkTools(t, a.Name, dir); err != nil {
			return err
		}
		known = append(known, t.Category)
	}
	for _, c := range a.Categories {
		if !slices.Contains(known, c) {
			return human.Errorf(human.Invalid, "no tool is of the category %q; there are %s", human.OneLine(c, 60), strings.Join(known, ", "))
		}
	}
	return nil
}

func checkTools(t *agent.ToolServer, name, dir string) error {
	if t.Name == "" {
		t.Name = name
	}
	switch {
	case !categories.MatchString(t.Category):
		return human.Errorf(human.Invalid, "the category %q of its tools must have 1 to 40 characters: small letters, digits, - and _", human.OneLine(t.Category, 60))
	case !names.MatchString(t.Name) || strings.Contains(t.Name, "__"):
		return human.Errorf(human.Invalid, "the name %q of its tools must have 1 to 40 characters: small letters, digits, - and single _", human.OneLine(t.Name, 60))
	case (len(t.Command) == 0) == (t.URL == ""):
		return human.Errorf(human.Invalid, "its tools %s need either command or url", t.Name)
	case t.URL != "":
		u, err := url.Parse(t.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return human.Errorf(human.Invalid, "the url of its tools %s is no address, such as http://127.0.0.1:9000/mcp", t.Name)
		}
		return nil
	}
	for i, word := range t.Command {
		if strings.HasPrefix(word, "./") {
			t.Command[i] = filepath.Join(dir, word)
		}
	}
	return nil
}

// folder is a folder in full.
func folder(path, dir string) (string, error) {
	if path == "" {
		return "", nil
	}
	if rest, is := strings.CutPrefix(path, "~/"); is || path == "~" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", human.Wrap(human.Invalid, err, "folder is %q, and your home folder is not known", path)
		}
		path = filepath.Join(home, rest)
	} else if strings.HasPrefix(path, "./") || path == "." {
		path = filepath.Join(dir, path)
	}
	if !filepath.IsAbs(path) {
		return "", human.Errorf(human.Invalid, "folder must be absolute, or begin with ~/ or ./")
	}
	return path, nil
}
