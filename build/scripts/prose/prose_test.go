package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	list, err := os.ReadFile("../../words.tsv")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 60)
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // a part of each line; empty where nothing is found
	}{
		"plain words pass":      {files: map[string]string{"README.md": "The gatekeeper blocks it: `no setting mends`.\n\n```\nmend\n```\n"}},
		"a document":            {files: map[string]string{"README.md": "One.\nThe [deed](README.md) is done.\n"}, want: `README.md:2: "deed": say action`},
		"a phrase on two lines": {files: map[string]string{"README.md": "One.\nIts time\nis up.\n"}, want: `README.md:2: "time is up": say overdue`},
		"a misspelled word":     {files: map[string]string{"README.md": "One.\n\nThe recieved colours.\n"}, want: `"colours": is spelled "colors"|README.md:3: "recieved": is spelled "received"`},
		"a message":             {files: map[string]string{"frontend/messages/plan/en.json": "{\n  \"mend\": \"Mend it, {nobody}\"\n}\n"}, want: `en.json:2: "Mend": say fix`},
		"a comment":             {files: map[string]string{"backend/x/x.go": "// Package x does.\npackage x\n\n// House is\n// a deed.\nvar House int\n"}, want: `x.go:4: "House": say app|x.go:5: "deed"`},
		"a sentence in Go":      {files: map[string]string{"backend/x/x.go": "package x\n\nconst (\n\ta = \"nobody\"\n\tb = `the\n\tfloor`\n)\n"}, want: `x.go:5: "floor": say hard limit`},
		"a test's sentences":    {files: map[string]string{"backend/x/x_test.go": "package x\n\nconst a = \"nobody there\"\n"}},
		"links":                 {files: map[string]string{"README.md": "# A `b` c\n[1](#a-b-c) [2](#x)\n[3](docs/a.md#there) [4](docs/no.md) [5](https://example.org/x.md)\n", "docs/a.md": "## There\n"}, want: "README.md:2: a link to #x, where no heading|README.md:3: a link to docs/no.md, which is not there"},
		"a document on its own": {files: map[string]string{"README.md": "[1](docs/a.md)\n", "docs/a.md": "A.\n", "docs/b.md": "B.\n"}, want: "docs/b.md:1: no document links here"},
		"a long cell":           {files: map[string]string{"README.md": "| a | b |\n| --- | --- |\n| a \\| b | " + long + "|\n"}, want: "README.md:3: a cell of 299 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tt.files[wordList] = string(list)
			for file, content := range tt.files {
				file = filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			n, err := check(root, &out)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(tt.want, "|")
			if tt.want == "" {
				want = nil
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if n != len(want) {
				t.Fatalf("%d findings, want %d:\n%s", n, len(want), &out)
			}
			for i, w := range want {
				if !strings.Contains(lines[i], w) {
					t.Errorf("finding %q, want %q", lines[i], w)
				}
			}
		})
	}
}
