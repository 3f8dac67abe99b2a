package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/record/retention"
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

// The history with its recordings is a folder: without what the operator removed, and never over what is there.
func TestTheHistoryWithRecordings(t *testing.T) {
	d := newFixture(t)
	pen, err := d.files.Writer("rec_1")
	must(t, err)
	picture, _, _, err := pen.Put(&record.Frame{W: 8, H: 8, Scale: 1, Pix: make([]byte, 4*8*8)})
	must(t, err)
	must(t, pen.Close())
	ctx := t.Context()
	rec := human.Recording{ID: "rec_1", OperationID: d.op.ID, State: human.RecordingStopped, StartedAt: d.began}
	must(t, d.store.Recordings().Create(ctx, rec))
	typed := func(seq uint64, at time.Duration, text string) human.RecordedEvent {
		return human.RecordedEvent{Seq: seq, At: int64(at), Source: human.WindowSource, Type: human.WindowActive, App: &human.App{Name: text}, Window: &human.Window{Title: text}}
	}
	must(t, d.store.Recordings().Append(ctx, rec, []human.RecordedEvent{
		typed(1, time.Second, "=shown"), {Seq: 2, At: int64(2 * time.Second), Source: human.InputSource, Type: human.PointerDown, Button: 1},
		{Seq: 3, At: int64(2 * time.Second), Source: human.InputSource, Type: human.PointerUp, Button: 1},
		{Seq: 4, At: int64(3 * time.Second), Source: human.ScreenSource, Type: human.PictureTaken, Picture: picture, When: "after", CausedBy: 2}, typed(5, 9*time.Second, "secret"),
		{Seq: 6, At: int64(9 * time.Second), Source: human.InputSource, Type: human.PointerDown, Button: 1}, {Seq: 7, At: int64(9 * time.Second), Source: human.InputSource, Type: human.PointerUp, Button: 1},
	}))
	all := decoded[library.Actions](d, "recordings", "show", "rec_1", "--json")
	_, err = d.store.Recordings().SetEdits(ctx, "rec_1", human.Edits{Cuts: []string{all.Actions[len(all.Actions)-1].ID}})
	must(t, err)
	to := filepath.Join(t.TempDir(), "out")
	told := decoded[struct{ Bytes int64 }](d, "history", "export", "--with-recordings", "-o", to, "--since", "2020-01-01", "--until", "2100-01-01", "--json")
	var bytes int64
	text := map[string]string{}
	must(t, filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		bytes += int64(len(data))
		text[strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(to)+"/")] = string(data)
		return err
	}))
	if len(text) != 5 || bytes != told.Bytes || !strings.HasPrefix(text["recordings/rec_1/pictures/"+picture+".png"], "\x89PNG") {
		t.Errorf("%d bytes in %v, and it says %d", bytes, slices.Collect(maps.Keys(text)), told.Bytes)
	}
	var op human.Operation
	if err := json.Unmarshal([]byte(text["history.jsonl"]), &op); err != nil || op.ID != d.op.ID {
		t.Errorf("the history is %q, %v", text["history.jsonl"], err)
	}
	if events := text["recordings/rec_1/events.jsonl"]; strings.Count(events, "\n") != 4 || !strings.Contains(events, "=shown") || strings.Contains(events, "secret") {
		t.Errorf("events: %s", events)
	}
	rows, err := csv.NewReader(strings.NewReader(text["recordings/rec_1/actions.csv"])).ReadAll()
	if err != nil || len(rows) != len(all.Actions) || strings.Contains(fmt.Sprint(rows), "secret") || !strings.Contains(fmt.Sprint(rows), "'=shown") {
		t.Errorf("actions: %q, %v", rows, err)
	}
	for _, args := range [][]string{{"-o", to}, {"-o", to, "--with-recordings"}, {"--with-recordings"}, {"--since", "today"}} {
		d.run(exitError, append([]string{"history", "export"}, args...)...)
	}
	if out, _ := d.run(exitYes, "history", "export", "-o", "-", "--until", "2020-01-01"); out != "" {
		t.Errorf("before there was anything: %s", out)
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 1 {
		t.Errorf("beside it is %v, %v", left, err)
	}
}

// What was removed may end only after the next action began: a button that was held while a key was pressed.
func TestHiddenEventsMayBeLate(t *testing.T) {
	hidden := hiddenEvents([]human.Action{{At: 1, Cut: true, Seqs: []uint64{2, 5}}, {At: 3, Seqs: []uint64{4}}})
	for seq, at := range []int64{0, 0, 1, 2, 3, 4, 4} {
		if got, want := hidden(human.RecordedEvent{Seq: uint64(seq), At: at}), seq == 2 || seq == 3 || seq == 5; got != want {
			t.Errorf("event %d: %t", seq, got)
		}
	}
}

func TestDeletingInATerminal(t *testing.T) {
	d := newFixture(t)
	if _, errs := d.run(exitError, "delete", "op_1"); !strings.Contains(errs, "--yes") || d.ran > 0 {
		t.Errorf("without a question: %q, %d", errs, d.ran)
	}
	d.says("deskbell backup delete 2026-11-28T030000Z", "delete", "op_1", "op_2", "--yes")
	if got := decoded[retention.Deletion](d, "delete", "op_1", "op_2", "--yes", "--json"); len(got.Operations) != 2 || len(got.Copies.Files) != 1 || d.ran != 2 {
		t.Errorf("it says %+v", got)
	}
}

// What one Deskbell exported is in the history of another, marked, as it was, and once; a bad line imports nothing.
func TestImportingAHistory(t *testing.T) {
	from := newFixture(t)
	ada, bot := human.Actor{Role: human.Operator, Name: "ada"}, human.Actor{Role: human.Agent, Name: "bot"}
	ctx := t.Context()
	const many = 150 // more than are sent at once
	for i := range many {
		op, _, err := from.queue.Ring(ctx, human.Request{
			Kind: human.Feedback, Description: fmt.Sprintf("imported %d", i), AgentID: "bot", Priority: 7, SessionID: "s", IdempotencyKey: fmt.Sprint("key", i),
			Details: json.RawMessage(`{"risk_level":"high","found":"needle"}`), Context: json.RawMessage(`{"project":"shop"}`),
		}, false)
		must(t, err)
		switch i {
		case 0:
			_, err = from.queue.Cancel(ctx, bot, op.ID, "never mind")
		default:
			_, err = from.queue.Reply(ctx, ada, op.ID, "which?")
			must(t, err)
			_, err = from.queue.Complete(ctx, ada, op.ID, human.Answer{HumanInput: "=yes", Summary: "done"}, "")
		}
		must(t, err)
	}
	file := filepath.Join(t.TempDir(), "theirs.jsonl")
	from.run(exitYes, "history", "export", "-o", file, "--text", "imported")
	exported, err := os.ReadFile(file)
	must(t, err)

	d := newFixture(t)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	first := string(exported[:strings.Index(string(exported), "\n")])
	for line, says := range map[string]string{"{": "JSON", `{"operation_id":"../x"}`: "operation_id", `{"operation_id":"` + "\xff" + `"}`: "not UTF-8", strings.Replace(first, `"description":"`, `"description":"`+strings.Repeat("<", 800_000), 1): "bytes"} {
		must(t, os.WriteFile(bad, []byte(string(exported)+line+"\n"), 0o600))
		if _, errs := d.run(exitError, "history", "import", bad); !strings.Contains(errs, fmt.Sprintf("line %d of", many+1)) || !strings.Contains(errs, says) {
			t.Errorf("with the line %s: %q", line, errs)
		}
	}
	if out, _ := d.run(exitYes, "history", "export", "-o", "-", "--text", "imported"); out != "" {
		t.Errorf("of a bad file it imported %s", out)
	}
	open := strings.Replace(strings.Replace(first, `"completed"`, `"pending"`, 1), `"operation_id":"`, `"operation_id":"open`, 1)
	must(t, os.WriteFile(file, []byte(open+"\n"+string(exported)), 0o600))
	if got := decoded[importing](d, "history", "import", file, "--json"); got != (importing{human.ImportResult{Imported: many}, 1}) {
		t.Errorf("it says %+v", got)
	}
	if got := decoded[human.ImportResult](d, "history", "import", file, "--json"); got != (human.ImportResult{There: many}) {
		t.Errorf("again it says %+v", got)
	}
	before := map[human.OperationID]human.Operation{}
	for line := range strings.Lines(string(exported)) {
		var op human.Operation
		must(t, json.Unmarshal([]byte(line), &op))
		before[op.ID] = op
	}
	out, _ := d.run(exitYes, "history", "export", "-o", "-", "--text", "needle")
	for line := range strings.Lines(out) {
		var op human.Operation
		must(t, json.Unmarshal([]byte(line), &op))
		was := before[op.ID]
		delete(before, op.ID)
		if i := op.Import; i == nil || i.By.Name != "ada" || i.From != "theirs.jsonl" || time.Since(i.At) > time.Minute {
			t.Fatalf("marked by %+v", i)
		}
		if op.Description != was.Description || string(op.Details) != string(was.Details) || op.State != was.State || fmt.Sprint(op.Messages) != fmt.Sprint(was.Messages) || fmt.Sprintf("%+v", op.Result) != fmt.Sprintf("%+v", was.Result) && op.Result.HumanInput != was.Result.HumanInput || !op.CreatedAt.Equal(was.CreatedAt) || op.ProjectName != "shop" || op.Risk != human.HighRisk {
			t.Errorf("it was\n%+v, is\n%+v", was, op)
		}
		_, answered := d.queue.Complete(ctx, ada, op.ID, human.Answer{HumanInput: "again"}, "")
		if _, said := d.queue.Reply(ctx, ada, op.ID, "more"); human.KindOf(said) != human.Conflict || human.KindOf(answered) != human.Conflict {
			t.Errorf("answered: %v, said: %v", answered, said)
		}
	}
	if len(before) > 0 {
		t.Errorf("%d are missing", len(before))
	}
	undelivered, err := d.store.Undelivered(ctx, "bot")
	if err != nil || len(undelivered) > 0 {
		t.Errorf("to be delivered: %v, %v", undelivered, err)
	}
	must(t, d.store.Rebuild(ctx))
	if again, _ := d.run(exitYes, "history", "export", "-o", "-", "--text", "needle"); again != out {
		t.Error("a rebuild changes what was imported")
	}
}
