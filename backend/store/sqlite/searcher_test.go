package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// found is what a search finds, as "group: title (excerpt)".
func (h *history) found(text string) (all []string) {
	h.Helper()
	lists, err := h.Search(h.Context(), human.SearchQuery{Text: text, Limit: human.MaxHits})
	if err != nil {
		h.Fatalf("Search(%q): %v", text, err)
	}
	for _, list := range lists {
		if list.Count != len(list.Hits) {
			h.Errorf("%s: %d hits, counted %d", list.Group, len(list.Hits), list.Count)
		}
		for _, hit := range list.Hits {
			line := fmt.Sprintf("%s: %s", list.Group, hit.Title)
			if hit.Excerpt != "" {
				line += " (" + hit.Excerpt + ")"
			}
			all = append(all, line)
		}
	}
	return all
}

func learned(findings ...string) human.Event {
	e := done("I did it")
	for _, text := range findings {
		e.Answer.Findings = append(e.Answer.Findings, human.Finding{Kind: human.FoundNote, Text: text, Evidence: []human.Ref{{Kind: human.RefAnswer, ID: "human_input"}}})
	}
	*e.Answer = e.Answer.Kept()
	return e
}

func (h *history) record(id human.RecordingID, op human.OperationID, events ...human.RecordedEvent) {
	h.Helper()
	rec := recording(id)
	rec.OperationID = op
	if err := h.Recordings().Create(h.Context(), rec); err != nil {
		h.Fatal(err)
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	rec.State = human.RecordingStopped
	if err := h.Recordings().Append(h.Context(), rec, events); err != nil {
		h.Fatal(err)
	}
}

func window(at int64, title string) human.RecordedEvent {
	return human.RecordedEvent{At: at, Source: human.WindowSource, Type: human.WindowActive, App: &human.App{Name: "Terminal"}, Window: &human.Window{Title: title}}
}

func (h *history) decided(id, call string) {
	h.Helper()
	if err := h.Gate().PutDecision(h.Context(), service.Decision{ID: id, At: epoch, Agent: "bot", Call: call, Decision: human.Allow}, nil); err != nil {
		h.Fatal(err)
	}
}

// seeded has something in every group.
func seeded(t *testing.T, opts Options) *history {
	h := newHistory(t, opts)
	h.add("op_1", ring("Sign in to AWS with the hardware key"))
	h.add("op_2", ring("Rotate the keys", details(`{"command":"aws iam"}`)), learned("The AWS bill is paid by account 4182, not by the vendor", "账单由供应商支付"))
	h.add("op_3", ring("部署失败，请检查"), done("ok"))
	h.record("rec_1", "op_1", window(5, "Inbox"), window(124e9, "aws sso login"), human.RecordedEvent{At: 130e9, Type: human.TextTyped, Text: "typedword"},
		human.RecordedEvent{At: 131e9, Type: human.ElementSeen, Element: &human.Element{Name: "secretname", Secret: true}})
	h.decided("dec_1", "aws s3 ls s3://logs")
	h.decided("dec_2", "删除 /tmp/x")
	return h
}

func TestOneSearchFindsEverything(t *testing.T) {
	h := seeded(t, Options{searchFor: time.Hour})
	look := func() {
		t.Helper()
		for text, want := range map[string][]string{
			"aws": {
				"operations: Sign in to AWS with the hardware key", "operations: Rotate the keys (The AWS bill is paid by account 4182, not by the vendor)",
				"recordings: Sign in to AWS with the hardware key (Terminal · aws sso login)",
				"findings: The AWS bill is paid by account 4182, not by the vendor (Rotate the keys)",
				"decisions: aws s3 ls s3://logs",
			},
			"bill vend":  {"operations: Rotate the keys (The AWS bill is paid by account 4182, not by the vendor)", "findings: The AWS bill is paid by account 4182, not by the vendor (Rotate the keys)"},
			"供应商":        {"operations: Rotate the keys (账单由供应商支付)", "findings: 账单由供应商支付 (Rotate the keys)"},
			"检查":         {"operations: 部署失败，请检查"},
			"删除":         {"decisions: 删除 /tmp/x"},
			"rotate":     {"operations: Rotate the keys"}, // not its finding: that does not say so
			"typedword":  nil,
			"secretname": nil,
			"…":          nil,
			"":           nil,
			`"`:          nil,
			"\uE000f":    nil,
		} {
			if got := h.found(text); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q finds\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	look()
	h.reopen(Options{searchFor: time.Hour})
	look()
	// What an older version wrote has no index of recordings and decisions.
	h.tamper(`DELETE FROM recorded_texts; DROP TABLE decided_1; DELETE FROM decided_parts`)
	h.reopen(Options{searchFor: time.Hour})
	look()
}

func TestARecordingsHitSaysWhere(t *testing.T) {
	h := seeded(t, Options{searchFor: time.Hour})
	lists, err := h.Search(t.Context(), human.SearchQuery{Text: "sso", Group: human.FoundRecordings, Limit: 5})
	if err != nil || len(lists) != 1 {
		t.Fatal(lists, err)
	}
	if hit := lists[0].Hits[0]; hit.Offset != 124e9 || hit.Recording != "rec_1" || hit.Operation != "op_1" || hit.Kind != human.Feedback {
		t.Errorf("%+v", hit)
	}
}

func TestWhatIsDeletedIsNotFound(t *testing.T) {
	h := seeded(t, Options{searchFor: time.Hour})
	if err := h.Recordings().Delete(t.Context(), "rec_1"); err != nil {
		t.Fatal(err)
	}
	if got := h.found("sso"); got != nil {
		t.Errorf("found %q", got)
	}
	var n int
	if err := h.reads.QueryRow(`SELECT count(*) FROM recorded_search_data WHERE instr(block, 'sso') > 0`).Scan(&n); err != nil || n > 0 {
		t.Errorf("%d blocks of the index still have it: %v", n, err)
	}
}

func TestTheBestComesFirst(t *testing.T) {
	h := newHistory(t, Options{partSize: 3, searchFor: time.Hour})
	h.add("op_old", ring("deploy the shop"))
	h.add("op_ended", ring("deploy the shop"), done("yes"))
	h.add("op_inside", ring("undeploy the workshop: deploy"), done("yes"))
	for i := range 20 {
		h.add(human.OperationID(fmt.Sprintf("op_%d", i)), ring("something else"), done("deploy it to the shop"))
	}
	lists, err := h.Search(t.Context(), human.SearchQuery{Text: "deploy the shop", Limit: 2})
	if err != nil || len(lists) != 1 {
		t.Fatal(lists, err)
	}
	if l := lists[0]; l.Count != 22 || l.More || l.Hits[0].Operation != "op_old" || l.Hits[1].Operation != "op_ended" {
		t.Errorf("%+v", l)
	}
}

func TestSearchRejects(t *testing.T) {
	h := newHistory(t, Options{searchFor: time.Hour})
	for name, q := range map[string]human.SearchQuery{
		"no limit":   {Text: "a"},
		"too many":   {Text: "a", Limit: human.MaxHits + 1},
		"a long one": {Text: strings.Repeat("a", maxQuery+1), Limit: 1},
	} {
		if _, err := h.Search(t.Context(), q); human.KindOf(err) != human.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A group that had no time to finish is no error, and does not look as if there were nothing.
func TestASearchOutOfTimeSaysSo(t *testing.T) {
	h := seeded(t, Options{searchFor: 1})
	lists, err := h.Search(t.Context(), human.SearchQuery{Text: "aws", Limit: 5})
	if err != nil || len(lists) != len(human.HitGroups) {
		t.Fatal(lists, err)
	}
	for _, l := range lists {
		if l.Count != 0 || !l.More || l.Hits == nil {
			t.Errorf("%+v", l)
		}
	}
}

// What is old and closed is found by the index, whatever stands before it.
func TestTheIndexFindsWhatIsOld(t *testing.T) {
	h := newHistory(t, Options{searchFor: time.Hour})
	h.add("op_zebra", ring("a zebra"), learned("its stripes"))
	h.decided("dec_zebra", "feed zebra")
	for i := range lookedAt + 10 {
		h.add(human.OperationID(fmt.Sprintf("op_%03d", i)), ring("a horse"), done("yes"))
		h.decided(fmt.Sprintf("dec_%d", i), "feed horse")
	}
	for text, want := range map[string]string{"zebra": "[operations: a zebra decisions: feed zebra]", "stripes": "[operations: a zebra (its stripes) findings: its stripes (a zebra)]"} {
		if got := fmt.Sprint(h.found(text)); got != want {
			t.Errorf("%q finds %s, want %s", text, got, want)
		}
	}
}

// Words are whole but for the last, which may be the beginning of one, by the index and without it alike.
func TestWordsAreWholeButForTheLast(t *testing.T) {
	h := newHistory(t, Options{searchFor: time.Hour})
	h.add("op_1", ring("workshops and shops"))
	for text, found := range map[string]bool{"shop": true, "shops": true, "work": true, "orkshop": false, "shop and": false, "work shops": false, "and shops workshops": true} {
		if got := h.found(text) != nil; got != found {
			t.Errorf("%q found: %v", text, got)
		}
	}
}

// What many match ends at a bound, and says so.
func TestCommonWordsAreBounded(t *testing.T) {
	h := newHistory(t, Options{partSize: 16, searchFor: time.Hour})
	for i := range human.MaxHits + 20 {
		h.add(human.OperationID(fmt.Sprintf("op_%03d", i)), ring("deploy"), learned("deployed"))
		h.decided(fmt.Sprintf("dec_%d", i), "deploy")
	}
	lists, err := h.Search(t.Context(), human.SearchQuery{Text: "d", Limit: 1})
	if err != nil || len(lists) != 3 {
		t.Fatal(lists, err)
	}
	for _, l := range lists {
		if l.Count != human.MaxHits || !l.More || len(l.Hits) != 1 {
			t.Errorf("%s: %d, more %v", l.Group, l.Count, l.More)
		}
	}
}

func TestAWordOfItsOwnRanksFirst(t *testing.T) {
	for _, tt := range []struct {
		text, word string
		want       int
	}{
		{"replace the lock", "lock", 3}, {"unlock the lock", "lock", 3}, {"unlock the locks", "lock", 2}, {"unlock", "lock", 1}, {"key", "lock", 0}, {"user_id.txt", "id", 3},
		{"供应商名单", "供应商", 3}, {"确认供应商", "供应商", 2}, {"打开lock文件", "lock", 3},
	} {
		if got := standing(tt.text, tt.word); got != tt.want {
			t.Errorf("in %q stands %q: %d, want %d", tt.text, tt.word, got, tt.want)
		}
	}
	h := newHistory(t, Options{searchFor: time.Hour})
	h.add("op_1", ring("Replace the lock of the safe"), done("yes"))
	h.add("op_2", ring("Both locks of the safe")) // is open, and newer
	h.add("op_3", ring("The clock locks up"))
	want := []string{"operations: Replace the lock of the safe", "operations: The clock locks up", "operations: Both locks of the safe"}
	if got := h.found("lock"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it finds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
