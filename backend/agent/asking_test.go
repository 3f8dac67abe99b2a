package agent_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"deskbell/backend/agent"
)

// asked is a reply of the corpus, which was written by someone who had not seen the judge.
type asked struct {
	ID, Lang, Text, Note string
	Worked, Asks         bool
}

func askingCorpus(t testing.TB, path string) (all []asked) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a asked
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// M3: 400 replies in Chinese and English by a writer who had not seen the judge, which are only measured with; measurements.md has
// the first reading. The goal of 97 % is not reached: what is held here is what was, so that no change loses it.
func TestAskingOrAnswering(t *testing.T) {
	all := askingCorpus(t, "testdata/asking.jsonl")
	right, missed, invented := map[string]int{}, 0, 0
	for _, a := range all {
		_, asks := agent.WordsJudge{}.Asks(agent.Reply{Text: a.Text}, a.Worked)
		switch {
		case asks == a.Asks:
			right[a.Lang]++
		case a.Asks:
			missed++
		default:
			invented++
		}
	}
	total := right["en"] + right["zh"]
	t.Logf("%d of %d right; en %d, zh %d; %d questions missed, %d answers taken for questions", total, len(all), right["en"], right["zh"], missed, invented)
	if len(all) != 400 || total < 356 {
		t.Errorf("%d of %d are right, fewer than 356", total, len(all))
	}
}
