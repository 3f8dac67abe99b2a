package builtin

import (
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// both is work in a browser, then on the desktop: two recordings, the second begun two minutes after the first.
func both(lang string) summarizers.Input {
	s := surf("https://bank.example/", "Rates").asks(`{"data_to_extract":["rate"],"expected_outcome":"rates.csv is saved"}`)
	s.pick("rate", "7.62").click("link", "CSV").file(human.Download, "rates.csv", "completed", 12)
	in := s.in
	off := false
	in.Recordings[0].Options.Desktop = &off
	w := work("Files").file("created", "/home/mei/rates.csv", "").click("button", "Import").dialog("Import failed").click("button", "OK")
	rec := w.in.Recordings[0]
	rec.ID, rec.StartedAt = "rec_2", in.Recordings[0].StartedAt.Add(30*time.Second)
	in.Recordings = append(in.Recordings, rec)
	in.Answer = human.Answer{Fields: map[string]string{"rate": "7.62"}, HumanInput: "The import has to wait.", ExecutionResult: "downloaded"}
	in.Operation.Messages = []human.Message{{By: human.Actor{Role: human.Operator}, Text: "Which account is it for?"}}
	return (&worker{in: in}).input(lang)
}

func TestAllIsToldAsOne(t *testing.T) {
	for lang, want := range map[string][]string{
		say.English: {
			"outcome: Result: downloaded", "outcome: As expected (“rates.csv is saved”): rates.csv was downloaded", "value: rate: 7.62",
			"error: Dialog “Import failed” came up after this: clicked button Import; it was answered with “OK”",
			"undone: The operator's question is open: Which account is it for?", "done: Downloaded", "note: The operator says: The import has to wait",
		},
		say.Chinese: {"outcome: 执行结果：downloaded", "error: 点击按钮“Import”后，出现对话框“Import failed”，选择了“OK”", "note: 操作者说明：The import has to wait"},
	} {
		in := both(lang)
		r := report(t, joined(), in)
		got := said(r.Findings)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: not found: %s\n%s", lang, text, got)
			}
		}
		// A download and the file it came to are one.
		n := 0
		for _, f := range r.Findings {
			if f.Kind != human.FoundDone || !strings.Contains(f.Text, "rates.csv") {
				continue
			}
			n++
			refs := map[human.RecordingID]bool{}
			for _, ref := range f.Evidence {
				refs[ref.Recording] = true
			}
			if len(refs) != 2 {
				t.Errorf("%q rests on %v", f.Text, f.Evidence)
			}
		}
		if n != 1 {
			t.Errorf("%s: the file is told %d times: %s", lang, n, got)
		}
		first, second := "First recording (browser", "Second recording (desktop"
		if lang == say.Chinese {
			first, second = "第一段录制（浏览器", "第二段录制（桌面"
		}
		if i, j := strings.Index(r.Text, first), strings.Index(r.Text, second); i < 0 || j < i {
			t.Errorf("%s: the recordings are not told in their order:\n%s", lang, r.Text)
		}
	}
}

func TestNoFindingIsToldTwice(t *testing.T) {
	in := both(say.English)
	in.Recordings = append(in.Recordings, in.Recordings[1]) // a copy of it, under another name
	in.Recordings[2].ID = "rec_3"
	r := report(t, joined(), in)
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if seen[f.Text] {
			t.Errorf("told twice: %s", f.Text)
		}
		seen[f.Text] = true
	}
}
