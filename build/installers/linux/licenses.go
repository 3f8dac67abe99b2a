// Command linux prints the copyright notice of Deskbell's packages: its own license, and those of the Go modules linked into it
// and the npm packages that its page is made of, each as its authors wrote it. Run it at the top of the project with the build
// tags of the program as its only argument.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A part is somebody else's work in the program.
type part struct{ name, version, dir string }

const head = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Deskbell

Files: *
Copyright: The Deskbell authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the complete text of the Apache License, version 2.0,
 can be found in /usr/share/common-licenses/Apache-2.0.
 .
 Deskbell contains the following software, each under the terms given below it.
`

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(tags string) error {
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprint(out, head)
	modules, err := linked(tags)
	if err != nil {
		return err
	}
	packages, err := bundled("frontend")
	if err != nil {
		return err
	}
	first := map[string]string{} // who had these words first
	for _, p := range append(modules, packages...) {
		text, err := terms(p.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(out, " .\n === %s %s ===\n", p.name, p.version)
		if other := first[text]; other != "" {
			text = "As " + other + ", word for word."
		} else {
			first[text] = p.name
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, " \t\r\n\f"); line == "" {
				line = "."
			}
			fmt.Fprintf(out, " %s\n", line)
		}
	}
	return out.Flush()
}

// linked are Go itself and the modules of the program's packages.
func linked(tags string) ([]part, error) {
	cmd := exec.Command("go", "list", "-deps", "-tags", tags, "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	env := strings.Fields(string(root))
	parts := []part{{"Go", env[1], env[0]}}
	lines := strings.Fields(string(text))
	var modules []part
	for m := range slices.Chunk(lines, 3) {
		modules = append(modules, part{m[0], m[1], m[2]})
	}
	slices.SortFunc(modules, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return append(parts, slices.Compact(modules)...), nil
}

var imported = regexp.MustCompile(`(?m)(?:from|import)\s*\(?['"]((?:@[\w.-]+/)?[a-z][\w.-]*)[^'"]*['"]`)

// bundled are the npm packages that the page's sources import, and what those need.
func bundled(dir string) ([]part, error) {
	found := map[string]part{}
	var add func(name string) error
	add = func(name string) error {
		at := filepath.Join(dir, "node_modules", name)
		text, err := os.ReadFile(filepath.Join(at, "package.json"))
		if _, known := found[name]; known || err != nil {
			return nil // a module of the page itself or of Node
		}
		var p struct {
			Version                        string
			Dependencies, PeerDependencies map[string]string
		}
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found[name] = part{name, p.Version, at}
		for needed := range p.Dependencies {
			if err := add(needed); err != nil {
				return err
			}
		}
		return nil
	}
	err := filepath.WalkDir(filepath.Join(dir, "src"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "test") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range imported.FindAllSubmatch(text, -1) {
			if err := add(string(m[1])); err != nil {
				return err
			}
		}
		return err
	})
	var parts []part
	for _, p := range found {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return parts, err
}

// terms is the text of the license files in a folder.
func terms(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "PATENTS") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		text.Write(b)
		text.WriteString("\n")
	}
	if text.Len() == 0 {
		var p struct{ License string } // npm packages may name it only
		if b, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && json.Unmarshal(b, &p) == nil && p.License != "" {
			return "License: " + p.License + "\n", nil
		}
		return "", fmt.Errorf("no license in %s", dir)
	}
	return text.String(), nil
}
