package say

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[.\d]*[a-z]`)

// arguments is how many arguments a sentence takes.
func arguments(format string) int {
	most, next := 0, 0
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		next++
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		most = max(most, next)
	}
	return most
}

func TestBothLanguagesTakeTheSameArguments(t *testing.T) {
	for key, s := range sentences {
		if a, b := arguments(s.english), arguments(s.chinese); a != b {
			t.Errorf("%q takes %d arguments in English and %d in Chinese", key, a, b)
		}
	}
}

// Every sentence that the code says is in the tables and gets its arguments, and every sentence in the tables is said.
func TestSentencesAreThoseThatAreSaid(t *testing.T) {
	literals := map[string]bool{}
	for _, file := range slices.Concat(sources(t, "."), sources(t, "../find")) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil {
					literals[s] = true
				}
			case *ast.CallExpr:
				key, ok := saidKey(n)
				if !ok {
					break
				}
				s, ok := sentences[key]
				if !ok {
					t.Errorf("%q is said and in no table", key)
				} else if got, want := len(n.Args)-1, arguments(s.english); got != want {
					t.Errorf("%q is said with %d arguments and takes %d", key, got, want)
				}
			}
			return true
		})
	}
	for key := range sentences {
		if !literals[key] && !strings.HasPrefix(key, "network ") {
			t.Errorf("%q is never said", key)
		}
	}
}

// saidKey is the key of a call of say, the function of package find or the method of ours.
func saidKey(call *ast.CallExpr) (string, bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name != "say" || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	key, err := strconv.Unquote(lit.Value)
	return key, err == nil
}

// sources are the files of a package, without its tests and the tables.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "sentences.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	if len(out) == 0 {
		t.Fatalf("no files in %s", dir)
	}
	return out
}
