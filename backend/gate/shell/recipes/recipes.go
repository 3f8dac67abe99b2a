// Package recipes reads the files that say how a project is built, tested and run, as far as they say which commands run: makefiles, justfiles,
// scripts of package.json, CMakeLists.txt; and says what a file holds, by its name.
package recipes

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/gate/lazy"
)

// Scripts is the shell text of scripts of a package.json, with what runs before and after each.
func Scripts(text string, names []string) string {
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &file) != nil {
		return text // what it is then, npm does not run either
	}
	var b strings.Builder
	for _, name := range names {
		for _, n := range []string{"pre" + name, name, "post" + name} {
			if s, ok := file.Scripts[n]; ok {
				b.WriteString(s)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// Makefile is the shell text that make runs of a Makefile for its targets: their recipes and those of what they need,
// and what $(shell) runs as the file is read.
func Makefile(text string, targets []string) string {
	recipes := map[string][]string{}
	needs := map[string][]string{}
	vars := map[string]string{}
	var current []string
	first := ""
	var shells strings.Builder
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if rest := line; strings.Contains(line, "$(shell ") {
			for n := 0; n < 20; n++ {
				_, after, ok := strings.Cut(rest, "$(shell ")
				if !ok {
					break
				}
				end := Closing(after)
				shells.WriteString(after[:end] + "\n")
				rest = after[end:]
			}
		}
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, t := range current {
				recipes[t] = append(recipes[t], strings.TrimLeft(recipe, "@-+ "))
			}
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		if i := strings.IndexAny(line, ":="); i > 0 && (line[i] == '=' || strings.HasPrefix(line[i:], ":=") || strings.HasPrefix(line[i:], "::=")) {
			name := strings.Trim(line[:i], " \t?+!:")
			value := strings.TrimLeft(line[i:], ":= \t")
			if len(vars) < 200 && len(value) < 1000 {
				vars[name] = value
			}
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, ":")
		deps, inline, _ := strings.Cut(rest, ";")
		current = strings.Fields(head)
		for _, t := range current {
			needs[t] = append(needs[t], strings.Fields(deps)...)
			if inline != "" {
				recipes[t] = append(recipes[t], strings.TrimLeft(inline, "@-+ "))
			}
			if first == "" && !strings.HasPrefix(t, ".") {
				first = t
			}
		}
	}
	if len(targets) == 0 {
		targets = []string{first}
	}
	var b strings.Builder
	done := map[string]bool{}
	var add func(t string)
	add = func(t string) {
		if done[t] || len(done) > 200 {
			return
		}
		done[t] = true
		for _, n := range needs[t] {
			add(n)
		}
		for _, r := range recipes[t] {
			b.WriteString(r + "\n")
		}
	}
	for _, t := range targets {
		if recipes[t] == nil && needs[t] == nil { // by a pattern: any of them
			for _, name := range slices.Sorted(maps.Keys(recipes)) {
				if strings.Contains(name, "%") || strings.Contains(name, "$") {
					add(name)
				}
			}
		}
		add(t)
	}
	return shells.String() + expandMake(b.String(), vars)
}

// Justfile is the shell text of a justfile's recipes; the same, with indents of any kind and variables in braces.
func Justfile(text string, targets []string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, " ") {
			lines[i] = "\t" + strings.TrimLeft(line, " \t")
		}
	}
	out := strings.ReplaceAll(strings.Join(lines, "\n"), "$", "$$")
	return strings.NewReplacer("{{", "${_just", "}}", "}").Replace(Makefile(out, targets))
}

// maxExpanded is how long a line of a makefile may become by its variables, in bytes.
const maxExpanded = 32 << 10

// expandMake puts the values of variables into recipes; the rest is left to the shell as variables that are not known.
func expandMake(s string, vars map[string]string) string {
	for range 3 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] != '$' || i+1 >= len(s) {
				b.WriteByte(s[i])
				continue
			}
			switch s[i+1] {
			case '$':
				b.WriteString("$$")
				i++
			case '(', '{':
				end := Closing(s[i+2:])
				name := s[i+2 : i+2+end]
				i += 2 + end
				if v, ok := vars[name]; ok {
					b.WriteString(v)
				} else if run, ok := strings.CutPrefix(name, "shell "); ok {
					b.WriteString("$$(" + run + ")")
				} else {
					b.WriteString("$${_make}")
				}
			default: // $@, $<
				b.WriteString("$${_make}")
				i++
			}
		}
		if b.Len() > maxExpanded {
			break
		}
		if s = b.String(); !strings.Contains(strings.ReplaceAll(s, "$$", ""), "$") {
			break
		}
	}
	return strings.ReplaceAll(s, "$$", "$")
}

// Closing is where the bracket ends that s is within.
func Closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth == 0 {
				return i
			}
			depth--
		case '\n':
			return i
		}
	}
	return len(s)
}

// Language is the language of a file of code, by its name; empty for other files.
func Language(name string) string {
	switch path.Ext(name) {
	case ".py", ".pyi":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts":
		return "javascript"
	case ".rb", ".rake":
		return "ruby"
	case ".pl", ".pm", ".t":
		return "perl"
	case ".php":
		return "php"
	case ".lua":
		return "lua"
	case ".go":
		return "go"
	case ".rs":
		return "rust"
	case ".c", ".cc", ".cpp", ".h", ".hpp", ".java", ".kt", ".swift", ".cs", ".zig", ".scala", ".ex", ".exs":
		return "compiled"
	case ".sh", ".bash", ".zsh", ".bats":
		return "sh"
	}
	return ""
}

// Kind is what a file holds, by its name: a language, or "settings" (they may hold commands), "build" (a language that
// builders run, of which too little is known to say that it is harmless), "text" (nothing runs it), or empty.
func Kind(name string) string {
	if lang := Language(name); lang != "" {
		return lang
	}
	base := path.Base(name)
	if kind := fileKinds()[base]; kind != "" {
		return kind
	}
	if strings.HasPrefix(base, ".env") {
		return "text"
	}
	return fileKinds()["*"+path.Ext(base)]
}

// fileKinds are files by their names, or by an asterisk and what they end in.
var fileKinds = sync.OnceValue(kinds)

func kinds() map[string]string {
	out := map[string]string{}
	for kind, names := range map[string]string{
		"ruby":   "Rakefile Gemfile Podfile Vagrantfile Guardfile Capfile Fastfile Appfile Brewfile Dangerfile Appraisals *.gemspec *.ru *.podspec",
		"python": "SConstruct SConscript wscript",
		"sh":     ".envrc PKGBUILD APKBUILD *.ebuild",
		"build": "CMakeLists.txt *.cmake *.gradle *.ninja *.nix *.bzl BUILD BUILD.bazel WORKSPACE MODULE.bazel *.tf *.hcl *.sbt *.groovy Jenkinsfile *.ac *.am *.m4 *.el *.dhall *.pri *.pro *.csproj *.fsproj " +
			"*.vcxproj *.proj *.targets *.props build.xml pom.xml *.lisp *.clj *.edn *.scm *.rkt *.hs *.cabal *.ml *.erl *.hrl *.jl *.r *.R *.m *.gp *.plt *.tcl *.nim *.cr *.d *.dart *.vim *.fish *.ps1 *.bat *.cmd",
		"settings": "*.json *.jsonc *.json5 *.yml *.yaml *.toml *.ini *.cfg *.conf *.config *.properties *.xml *.plist .npmrc .yarnrc .babelrc .eslintrc .mocharc Procfile Justfile justfile Tiltfile Earthfile",
		"text": "*.md *.txt *.rst *.adoc *.csv *.tsv *.log *.lock *.html *.htm *.css *.scss *.less *.svg *.png *.jpg *.gif *.pdf *.snap *.golden *.diff *.patch *.sql *.graphql *.proto *.out *.tmp " +
			".gitignore .gitattributes .dockerignore .editorconfig LICENSE README Makefile makefile GNUmakefile *.mk Dockerfile Containerfile",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = kind
		}
	}
	return out
}

var cmakeCalls = lazy.Pattern(`(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*\(`)

// cmakeBuilds are the commands of CMake that only say what is built of what.
var cmakeBuilds = lazy.Set("cmake_minimum_required project add_executable add_library target_link_libraries target_include_directories target_compile_options target_compile_definitions target_compile_features target_sources " +
	"set unset option message if elseif else endif foreach endforeach while endwhile find_package find_library find_path include_directories link_libraries add_compile_options add_definitions add_compile_definitions " +
	"add_subdirectory enable_testing add_test set_property set_target_properties set_tests_properties get_property list string math gtest_discover_tests cmake_policy enable_language set_directory_properties")

// OnlyBuilds says whether a CMakeLists.txt only says what is built of what.
func OnlyBuilds(text string) bool {
	if strings.Contains(text, "#[") || strings.Contains(text, "LAUNCH") || strings.Contains(text, "CMAKE_CXX_COMPILER") || strings.Contains(text, "CMAKE_C_COMPILER") {
		return false
	}
	for _, m := range cmakeCalls.FindAllStringSubmatch(text, -1) {
		if !cmakeBuilds()[strings.ToLower(m[1])] {
			return false
		}
	}
	return true
}
