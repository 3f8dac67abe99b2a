// Package plugins runs executables of the user's own as summarizers (H12): a folder with a manifest beside any
// program, which gets an operation as JSON on its standard input and writes a report as JSON to its standard
// output. Each run is confined as far as the system can do it; Confinement says how far that is.
package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// ManifestFile is what the manifest is called in a plug-in's folder.
const ManifestFile = "summarizer.json"

// What a manifest may ask for at most, and what it gets where it does not say.
const (
	maxLimit      = 600  // seconds
	defaultLimit  = 30   // seconds
	maxMemory     = 4096 // MB
	defaultMemory = 512  // MB
)

// A Manifest says what a plug-in is and how it is run.
type Manifest struct {
	Name          string               `json:"name" pattern:"^[a-z0-9][a-z0-9_-]{0,39}$" doc:"The name of its folder, and what settings and commands call it."`
	Title         map[string]string    `json:"title" doc:"For people, by language: en, zh-CN."`
	Version       string               `json:"version,omitempty" doc:"Its own, for people."`
	Command       []string             `json:"command" minItems:"1" doc:"The program and its arguments. What begins with ./ is a file of this folder; else the program is one of the system's, such as python3 or sh."`
	Kinds         []human.Kind         `json:"kinds,omitempty" doc:"Of operations; none: all."`
	Sources       []summarizers.Source `json:"sources" minItems:"1" enum:"answer,desktop,browser,terminal" doc:"What it can read; it is asked where one of them is there."`
	Languages     []string             `json:"languages" minItems:"1" enum:"en,zh-CN" doc:"It can write; the first where another is asked for."`
	Deterministic bool                 `json:"deterministic,omitempty" doc:"The same input gives the same report."`
	Limit         float64              `json:"limit_s,omitempty" minimum:"0.1" maximum:"600" doc:"Seconds it may take, on the clock and of each processor; absent: 30."`
	Memory        int                  `json:"memory_mb,omitempty" minimum:"16" maximum:"4096" doc:"Megabytes it may use; absent: 512."`
	Pictures      bool                 `json:"pictures,omitempty" doc:"It gets the pictures that the actions name, as files ID.jpg in its working folder."`
}

// A Problem is a plug-in that cannot be used, and why.
type Problem struct {
	Folder string `json:"folder"`
	Text   string `json:"text" doc:"What is wrong and what to do, for the operator."`
}

// Load reads the plug-ins of a folder, in the order of their names. A folder that is not there has none. Nothing is
// run. What it returns is safe for concurrent use.
func Load(dir string) ([]summarizers.Summarizer, []Problem) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{{Folder: dir, Text: "the folder cannot be read: " + reason(err)}}
	}
	var all []summarizers.Summarizer
	var problems []Problem
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if info, err := os.Stat(folder); strings.HasPrefix(e.Name(), ".") || err != nil || !info.IsDir() {
			continue
		}
		p, err := open(folder)
		if err != nil {
			problems = append(problems, Problem{Folder: folder, Text: human.SafeText(err)})
			continue
		}
		all = append(all, p)
	}
	return all, problems
}

var fileName = regexp.MustCompile(`^\./[^\x00]+$`)

// open reads one plug-in.
func open(folder string) (*plugin, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "%s: %s", folder, reason(err))
	}
	wrong := func(format string, args ...any) error {
		return human.Errorf(human.Invalid, "%s: %s; see docs/summarizers", ManifestFile, fmt.Sprintf(format, args...))
	}
	text, err := os.ReadFile(filepath.Join(folder, ManifestFile))
	if err != nil {
		return nil, wrong("it cannot be read: %s", reason(err))
	}
	var m Manifest
	if err := valid("manifest", text); err != nil {
		return nil, wrong("%v", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, wrong("%v", err)
	}
	if m.Name != filepath.Base(folder) {
		return nil, wrong("name is %q, and its folder is called %q: they have to be the same", m.Name, filepath.Base(folder))
	}
	if len(m.Title) == 0 {
		return nil, wrong("title is empty")
	}
	p := &plugin{Manifest: m, folder: folder}
	for i, word := range m.Command {
		switch {
		case fileName.MatchString(word):
			file := filepath.Join(folder, filepath.FromSlash(word))
			if !filepath.IsLocal(filepath.FromSlash(word)) {
				return nil, wrong("command[%d]: %q leads out of the folder", i, word)
			}
			if _, err := os.Stat(file); err != nil {
				return nil, wrong("command[%d]: there is no file %q in the folder", i, word)
			}
			p.command = append(p.command, file)
		case i == 0 && (word == "" || strings.ContainsAny(word, `/\`)):
			return nil, wrong("command[0]: %q is neither a file of the folder (./NAME) nor the name of a program", word)
		default:
			p.command = append(p.command, word)
		}
	}
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	if p.Memory == 0 {
		p.Memory = defaultMemory
	}
	return p, nil
}

// A plugin is one executable of the user's.
type plugin struct {
	Manifest
	folder  string
	command []string
}

func (p *plugin) About() summarizers.About {
	return summarizers.About{
		Name: p.Name, Title: maps.Clone(p.Title), Kinds: slices.Clone(p.Kinds), Sources: slices.Clone(p.Sources),
		Languages: slices.Clone(p.Languages), Limit: p.limit(), Deterministic: p.Deterministic, Pictures: p.Pictures,
	}
}

func (p *plugin) limit() time.Duration { return time.Duration(p.Limit * float64(time.Second)) }

// reason is the part of an error that people need: without the call and the path that the message has already.
func reason(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	return err.Error()
}

// place says where in a text an offset lies.
func place(text []byte, offset int64) string {
	before := text[:min(max(offset, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
