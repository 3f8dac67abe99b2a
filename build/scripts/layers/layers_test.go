//go:build layers

package layers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// platform is a file of the package that chooses among those below it.
const platform = "backend/platform/choose.go"

const wails = "github.com/wailsapp/wails/v2"

var (
	jobs     = []string{"backend/queue", "backend/plan", "backend/gate", "backend/record", "backend/summary", "backend/agent"}
	adapters = []string{
		"backend/store/sqlite", "backend/transport/client", "backend/store/settings", "backend/store/datadir", "backend/platform/window",
		"backend/browser", "backend/llm", "backend/agent/tools", "backend/record/masking", "backend/platform/x11", "backend/platform/unnamed", "backend/unnamed", "backend/box",
	}
	faces   = []string{"backend/transport/api", "backend/transport/mcp", "backend/transport/hook", "backend/transport/cli"}
	callers = []string{"backend/transport/mcpproxy", "backend/agent/remote"}                               // of the server, by a client that they are given
	builtin = []string{"summarizers/builtin/facts", "summarizers/builtin/find", "summarizers/builtin/say"} // each knows those before it

	everything = slices.Concat([]string{"backend/human", "backend/kind", "backend/app", "summarizers"}, builtin, jobs, adapters, faces, callers)
)

// arrows lists what may import what: all there is, and nothing else.
func arrows() map[string][]string {
	knowsJobs := slices.Concat([]string{"backend/human", "backend/kind", "summarizers"}, builtin, jobs)
	calls := append(slices.Clone(knowsJobs), "backend/transport/client", "backend/store/datadir", "backend/store/settings")
	may := map[string][]string{
		"backend/human":          {},
		"backend/kind":           {"backend/human"},
		"summarizers":            {"backend/human", "backend/kind"},
		"backend/transport/api":  append(slices.Clone(knowsJobs), "backend/store/settings"),
		"backend/transport/mcp":  calls,
		"backend/transport/hook": calls,
		"backend/transport/cli":  append(slices.Clone(calls), "backend/box"),
		"backend/app":            everything,
		"main.go":                append(slices.Clone(everything), wails),
		"app.go":                 append(slices.Clone(everything), wails),
		"window.go":              everything,
	}
	for _, j := range jobs {
		may[j] = []string{"backend/human", "backend/kind"}
	}
	may["backend/summary"] = append([]string{"backend/human", "backend/kind", "summarizers"}, builtin...)
	for i, b := range builtin {
		may[b] = append([]string{"backend/human", "backend/kind", "summarizers"}, builtin[:i]...)
	}
	for _, a := range adapters {
		may[a] = knowsJobs
	}
	may[platform] = append(slices.Clone(knowsJobs), slices.DeleteFunc(slices.Clone(adapters), func(a string) bool { return !strings.HasPrefix(a, "backend/platform/") })...)
	for _, c := range callers {
		may[c] = append(slices.Clone(knowsJobs), "backend/transport/client")
	}
	return may
}

func TestImportsOnlyGoDown(t *testing.T) {
	linter := os.Getenv("GOLANGCI_LINT")
	if linter == "" {
		t.Fatal("GOLANGCI_LINT must name the linter; `make lint` sets it")
	}
	tree := t.TempDir()
	config, err := os.ReadFile("../../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(".golangci.yml", string(config))
	put("go.mod", fmt.Sprintf("module deskbell\n\ngo 1.26\n\nrequire %s v2.0.0\n\nreplace %[1]s => ./wails\n", wails))
	put("wails/go.mod", "module "+wails+"\n")
	put("wails/wails.go", "package wails\n")
	// Each layer's package is empty, and a package in a folder below it, which the same rule governs, imports all the
	// others: so there is no cycle, and one run of the linter sees every arrow.
	may := arrows()
	for from := range may {
		if strings.HasSuffix(from, ".go") {
			put(from, importing("main", append(slices.Clone(everything), wails)))
			continue
		}
		put(from+"/layer.go", "package layer\n")
		others := slices.DeleteFunc(slices.Clone(everything), func(p string) bool { return p == from })
		put(from+"/probe/probe.go", importing("probe", append(others, wails)))
	}
	put("backend/human/probe/io.go", importing("probe", []string{"os", "net/http", "time"}))

	refused := lint(t, linter, tree)
	for _, from := range slices.Sorted(maps.Keys(may)) {
		for _, to := range append(slices.Clone(everything), wails) {
			if to == from {
				continue
			}
			allowed := slices.Contains(may[from], to)
			if allowed == refused[from][to] {
				t.Errorf("%s imports %s: allowed %v, refused by the linter %v", from, to, allowed, refused[from][to])
			}
		}
	}
	for path, want := range map[string]bool{"os": true, "net/http": true, "time": false} {
		if refused["backend/human"][path] != want {
			t.Errorf("backend/human imports %s: refused %v", path, !want)
		}
	}
}

// importing is a file of package name with a line for each import: packages of ours are named from the root.
func importing(name string, paths []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n", name)
	for _, p := range paths {
		fmt.Fprintf(&b, "\t_ %q\n", ours(p))
	}
	return b.String() + ")\n"
}

func ours(path string) string {
	if slices.Contains(everything, path) {
		return "deskbell/" + path
	}
	return path
}

// lint runs depguard over tree and returns which imports it forbids each layer.
func lint(t *testing.T, linter, tree string) map[string]map[string]bool {
	t.Helper()
	cmd := exec.Command(linter, "run", "--enable-only", "depguard", "--output.json.path", "stdout",
		"--show-stats=false", "--issues-exit-code", "0", "./...")
	cmd.Dir = tree
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	var report struct {
		Issues []struct {
			FromLinter  string
			SourceLines []string
			Pos         struct{ Filename string }
		}
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&report); err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	refused := map[string]map[string]bool{}
	for _, issue := range report.Issues {
		if issue.FromLinter != "depguard" || len(issue.SourceLines) != 1 {
			t.Fatalf("unexpected: %+v", issue)
		}
		from := filepath.ToSlash(issue.Pos.Filename)
		if dir := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(from)), "/probe"); dir != "." && from != platform {
			from = dir
		}
		to := strings.Trim(issue.SourceLines[0], "\t_ \"")
		if refused[from] == nil {
			refused[from] = map[string]bool{}
		}
		refused[from][strings.TrimPrefix(to, "deskbell/")] = true
	}
	return refused
}
