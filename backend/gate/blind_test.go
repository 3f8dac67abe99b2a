package gate_test

import (
	"bufio"
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
	type call struct{ Command, Why string }
	runs := func(command string) bool {
		return gate.Judge(bash(command), gate.Balanced, nil).Decision == human.Allow
	}
	for _, of := range []struct {
		file  string
		run   bool // what falls short runs, or is asked about
		most  int
		total int
	}{{"blind_dangerous.jsonl", true, 21, 500}, {"blind_harmless.jsonl", false, 39, 500}} {
		var short []string
		all := rows[call](t, of.file)
		for _, c := range all {
			if runs(c.Command) == of.run {
				short = append(short, c.Command)
			}
		}
		if len(all) != of.total || len(short) > of.most {
			t.Errorf("%s: %d of %d fall short, published are %d:\n%s", of.file, len(short), len(all), of.most, strings.Join(short, "\n"))
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
