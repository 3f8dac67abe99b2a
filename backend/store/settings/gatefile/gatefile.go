// Package gatefile reads gate.toml, which says how the gatekeeper decides, and the file of a project's own,
// .deskbell/gate.toml, which may only tighten. A file with an unknown key, a wrong value or a rule that fails its own
// examples is an error that names the file and the line; there are no half-read files.
package gatefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/settings/tomltext"
)

const (
	maxOwn     = 1 << 20 // bytes
	maxProject = 128 << 10
)

// Name is the file's name, in the data folder.
const Name = "gate.toml"

// ProjectName is the file's name in the root of a working tree.
const ProjectName = ".deskbell/" + Name

// Load reads a file over the defaults, and checks that its rules can be used and pass their examples. A missing file is an
// empty one. Errors are Invalid, and name the file and the line.
func Load(path string) (rules.Config, error) {
	data, err := readOwn(path)
	if err != nil {
		return rules.Defaults(), err
	}
	c, _, err := parse(path, data)
	return c, err
}

func readOwn(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		data, err = readAll(f, maxOwn)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "%s cannot be read: %v", path, tomltext.Reason(err))
	}
	return data, nil
}

func readAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no ordinary file")
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return data, err
}

// parse reads the user's own file.
func parse(name string, data []byte) (rules.Config, *rules.Set, error) {
	c := rules.Defaults()
	places, err := decode(data, &c, home(), false)
	if err != nil {
		return rules.Defaults(), nil, human.Wrap(human.Invalid, err, "%s, %v", name, err)
	}
	set, err := rules.Compile(c, nil)
	if err != nil {
		return rules.Defaults(), nil, human.Wrap(human.Invalid, err, "%s, %s", name, located(places, err))
	}
	return c, set, nil
}

// located is what is wrong with rules, with its line.
func located(places []tomltext.Place, err error) string {
	var f *rules.Fault
	line := 0
	if errors.As(err, &f) {
		switch {
		case f.Rule >= 0 && f.Example != "":
			line = lineOf(places, "rules", strconv.Itoa(f.Rule), f.List, strconv.Itoa(f.Index))
		case f.Rule >= 0:
			line = lineOf(places, "rules", strconv.Itoa(f.Rule))
		case f.Tool != "":
			line = lineOf(places, "tools", f.Tool, f.List, strconv.Itoa(f.Index))
		}
	}
	return (&tomltext.LineError{Line: line, Msg: human.SafeText(err)}).Error()
}

func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.ToSlash(dir)
}

func isAbs(p string) bool { return strings.HasPrefix(p, "/") || filepath.IsAbs(p) }

func clean(p string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return filepath.Clean(p)
}

// Project reads the own file of the project in a folder; nil without one. One that cannot be read, or is no such file, is
// a Config with a Problem, which rules.Compile takes for strict. It follows no link out of the folder.
func Project(root string) *rules.Config {
	data, err := readProject(root)
	if err == nil && data == nil {
		return nil
	}
	var c rules.Config
	if err == nil {
		_, err = decode(data, &c, home(), true)
	}
	if err == nil {
		err = zeros(data)
	}
	if err != nil {
		c.Problem = fmt.Sprintf("%s, %v", ProjectName, tomltext.Reason(err))
	}
	return &c
}

// zeros reports thresholds of 0, which a Config takes for absent.
func zeros(data []byte) error {
	var c rules.Config
	c.Thresholds = rules.Thresholds{LowRiskAutoApprove: -1, ParanoidMode: -1}
	places, err := decode(data, &c, "", true)
	for name, v := range map[string]float64{"low_risk_auto_approve": c.Thresholds.LowRiskAutoApprove, "paranoid_mode": c.Thresholds.ParanoidMode} {
		if err == nil && v == 0 {
			err = &tomltext.LineError{Line: lineOf(places, "thresholds", name), Msg: name + " = 0 would loosen; a project's own file may only tighten"}
		}
	}
	return err
}

func readProject(root string) (data []byte, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil //nolint:nilerr // a folder that is not there has no file
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	info, err := dir.Stat(ProjectName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no ordinary file") // opening a pipe would wait
	}
	f, err := dir.Open(ProjectName)
	if err != nil {
		return nil, err
	}
	data, err = readAll(f, maxProject)
	if data == nil {
		data = []byte{}
	}
	return data, errors.Join(err, f.Close())
}

// SetPolicy writes the policy into a file, which is made where it is missing, in one step; all else in it keeps its bytes.
// It fails, with nothing changed, where the file has mistakes.
func SetPolicy(path string, policy gate.Policy) error {
	if !slices.Contains(gate.Policies, policy) {
		return human.BadField("policy", "it must be permissive, balanced or strict, not %q", policy)
	}
	data, err := readOwn(path)
	if err != nil {
		return err
	}
	if _, _, err := parse(path, data); err != nil {
		// A file with a mistake is not overwritten.
		return human.Wrap(human.Conflict, err, "%s; fix that first", human.Inner{Err: err})
	}
	data = edit(data, policy)
	if c, _, err := parse(path, data); err != nil || c.Policy != policy {
		return human.Errorf(human.Conflict, "%s is written in a way Deskbell cannot change without breaking it; change it by hand", path)
	}
	if _, err := disk.Replace(path, bytes.NewReader(data), 0o600); err != nil {
		return human.Wrap(human.Internal, err, "%s cannot be written: %v", path, tomltext.Reason(err))
	}
	return nil
}

// edit returns the document with another policy.
func edit(data []byte, policy gate.Policy) []byte {
	value := strconv.Quote(string(policy))
	for _, p := range tomltext.Locate(data) {
		if len(p.Path) == 1 && p.Path[0] == "policy" && p.End > 0 {
			return slices.Concat(data[:p.Start], []byte(value), data[p.End:])
		}
	}
	// At the top no table is open.
	line := "policy = " + value + "\n"
	if len(data) > 0 {
		line += "\n"
	}
	return slices.Concat([]byte(line), data)
}
