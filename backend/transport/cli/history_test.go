package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestHistoryInATerminal(t *testing.T) {
	d := newFixture(t)
	const many = 520 // more than a page
	for i := range many {
		kind := human.Feedback
		if i%2 == 0 {
			kind = human.Bash
		}
		_, _, err := d.queue.Ring(t.Context(), human.Request{Kind: kind, Description: fmt.Sprintf("=number %d\x1b[2J", i), AgentID: fmt.Sprintf("bot-%d", i%60), Priority: 5}, false)
		must(t, err)
	}
	t.Chdir(t.TempDir())
	out, _ := d.run(exitYes, "history", "export", "-o", "-")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var newest human.Operation
	if err := json.Unmarshal([]byte(lines[0]), &newest); err != nil || len(lines) != many+1 || !strings.HasPrefix(newest.Description, fmt.Sprintf("=number %d", many-1)) {
		t.Errorf("%d lines, the first %q: %v", len(lines), lines[0], err)
	}
	if out, _ := d.run(exitYes, "history", "export", "-o", "-", "--type", "bash", "--agent", "bot-4", "--days", "2"); strings.Count(out, "\n") != 9 {
		t.Errorf("of one agent and kind: %s", out)
	}
	told := decoded[struct {
		File  string
		Bytes int64
	}](d, "history", "export", "--format", "csv", "--json")
	file, err := os.Open(told.File)
	must(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != many+2 || !strings.HasPrefix(rows[1][7], "'=number") {
		t.Errorf("the table %+v has %d rows: %v", told, len(rows), err)
	}
	for _, args := range [][]string{{"--format", "pdf"}, {"--days", "-1"}} {
		d.run(exitError, append([]string{"history", "export"}, args...)...)
	}
	d.kept = ""
	t.Setenv("DESKBELL_KEY", "")
	if _, errs := d.run(exitError, "history", "export"); !strings.Contains(errs, "only an operator") {
		t.Errorf("without a session: %q", errs)
	}
}
