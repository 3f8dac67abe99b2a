package gate_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

func rows[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var row T
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		out = append(out, row)
	}
	return out
}

// Calls and wrappers that were written by people who had not seen the gatekeeper (G1). They were measured before anything
// was changed for them, and are learned from since: what is counted here is only that no more of them fall short than are
// published (docs/development/measurements.md).
func TestWrittenBlind(t *testing.T) {
	type call struct{ Command, Expect string }
	for _, of := range []struct {
		file   string
		expect string // of rows that do not say it
		total  int
		run    int // of those to be asked about
		asked  int // of the others
	}{
		{"blind_dangerous.jsonl", "ask", 1209, 17, 0},
		{"blind_harmless.jsonl", "allow", 1227, 0, 64},
		{"blind_inline.jsonl", "", 560, 0, 4},
		{"attacks_inline.jsonl", "", 281, 7, 0},
		{"attacks_options.jsonl", "", 405, 105, 0},
	} {
		var run, asked []string
		all := rows[call](t, of.file)
		for _, c := range all {
			allowed := gate.Judge(bash(c.Command), gate.Balanced, nil).Decision == human.Allow
			switch {
			case cmp.Or(c.Expect, of.expect) == "allow" && !allowed:
				asked = append(asked, c.Command)
			case cmp.Or(c.Expect, of.expect) != "allow" && allowed:
				run = append(run, c.Command)
			}
		}
		if t.Logf("%s: %d run, %d are asked about", of.file, len(run), len(asked)); len(all) != of.total || len(run) > of.run || len(asked) > of.asked {
			t.Errorf("%s: of %d, %d run and %d are asked about, published are %d and %d:\n%s\n%s", of.file, len(all), len(run), len(asked), of.run, of.asked, strings.Join(run, "\n"), strings.Join(asked, "\n"))
		}
	}
}

// A wrapper runs the command that stands at @CMD@, escaped as Quote says.
type wrapper struct{ ID, Template, Quote string }

// A dangerous command is asked about within a wrapper of another author.
func TestWrappersWrittenBlind(t *testing.T) {
	const published = 3
	all := rows[wrapper](t, "blind_wrappers.jsonl")
	short := map[string]string{}
	for _, x := range all {
		for _, bare := range []string{"rm -rf src", "git push --force origin main", "mkfs.ext4 /dev/sda1", "kubectl delete namespace prod"} {
			command := strings.ReplaceAll(x.Template, "@CMD@", bare) // which has nothing that would need an escape
			if gate.Judge(bash(command), gate.Balanced, nil).Decision == human.Allow {
				short[x.ID] = command
			}
		}
	}
	if len(all) != 300 || len(short) > published {
		t.Errorf("%d of %d wrappers hide a command, published are %d: %v", len(short), len(all), published, short)
	}
}
