// Command kinds writes what follows from backend/kind outside of Go: the names of fields that the console reads, and the
// table of kinds in docs/agents.md. Run it from the top of the tree; with -check it writes nothing, and ends with 1 where
// a file is not as it would write it.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

const (
	console = "frontend/src/kinds/fields.ts"
	page    = "docs/agents.md"
	begin   = "<!-- kinds: written by `make generate` -->\n"
	end     = "<!-- kinds: end -->\n"
)

func main() {
	check := flag.Bool("check", false, "compare, and write nothing")
	flag.Parse()
	old, err := os.ReadFile(page)
	if err != nil {
		fail(err)
	}
	before, rest, begins := bytes.Cut(old, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !begins || !ends {
		fail(fmt.Errorf("%s has no lines %q and %q", page, begin, end))
	}
	for path, want := range map[string][]byte{
		console: fields(),
		page:    []byte(string(before) + begin + table() + end + string(after)),
	} {
		is, err := os.ReadFile(path)
		switch {
		case *check && (err != nil || !bytes.Equal(is, want)):
			fail(fmt.Errorf("%s is not what backend/kind says: run 'make generate'", path))
		case !*check:
			if err := os.WriteFile(path, want, 0o644); err != nil {
				fail(err)
			}
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kinds:", err)
	os.Exit(1)
}

// fields is a TypeScript module: the names under which each kind's fields are looked for.
func fields() []byte {
	type field struct {
		Names []string `json:"names"`
		All   bool     `json:"all,omitempty"`
	}
	var b bytes.Buffer
	b.WriteString("// Written by `make generate` from backend/kind. Do not edit.\n\n")
	b.WriteString("/** The kinds of operations, in the order they are shown. */\n")
	fmt.Fprintf(&b, "export const kinds = [%s] as const;\n\n", quoted(kind.Names()))
	b.WriteString("/** A field of details: the names it is looked for under, and whether all that were sent are shown. */\n")
	b.WriteString("export interface Field { names: readonly string[]; all?: boolean }\n\n")
	b.WriteString("/** The fields of details that have a place of their own, by kind and name. */\n")
	b.WriteString("export const fields = {\n")
	for _, k := range kind.All {
		fmt.Fprintf(&b, "  %s: {\n", k.Name)
		for _, f := range k.Fields {
			line, err := json.Marshal(field{append([]string{f.Name}, f.Aliases...), f.All})
			if err != nil {
				fail(err)
			}
			fmt.Fprintf(&b, "    %s: %s,\n", f.Name, line)
		}
		b.WriteString("  },\n")
	}
	b.WriteString("} as const satisfies Record<(typeof kinds)[number], Record<string, Field>>;\n")
	return b.Bytes()
}

func quoted(kinds []human.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = "'" + string(k) + "'"
	}
	return strings.Join(words, ", ")
}

// table is a section for each kind that agents ask for.
func table() string {
	var b strings.Builder
	for _, k := range kind.All {
		if !k.Agents {
			continue
		}
		fmt.Fprintf(&b, "\n**`%s`**: %s. Its answer holds `%s`.\n\n", k.Name, k.Doc, strings.Join(k.Answer, "`, `"))
		b.WriteString("| field | what it says | also read as |\n| --- | --- | --- |\n")
		for _, f := range k.Fields {
			also := ""
			if len(f.Aliases) > 0 {
				also = "`" + strings.Join(f.Aliases, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Doc, also)
		}
	}
	return b.String() + "\n"
}
