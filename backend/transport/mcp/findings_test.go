package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // as evidence has them
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/mcp"
)

// A shop is where work is recorded for the agent bot: clicks with pictures, and a word typed that no one shares.
type shop struct {
	*queue.Queue
	t        *testing.T
	store    *sqlite.Store
	pictures *pictures.Store
	books    *library.Library
}

func openShop(t *testing.T) shop {
	q, store := openStore(t)
	shots := pictures.New(t.TempDir())
	return shop{q, t, store, shots, library.New(library.Deps{Store: store.Recordings(), Pictures: shots, Operations: q, Encode: pictures.Encode})}
}

func (s shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// work records three clicks, a1, a6 and a11, and typing, a16, for an operation.
func (s shop) work(id human.OperationID) human.RecordingID {
	s.t.Helper()
	ctx := s.t.Context()
	rec := human.Recording{ID: human.RecordingID("rec_" + id[3:]), OperationID: id, By: mei.Name, State: human.RecordingStopped, StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	_, err := s.Claim(ctx, mei, id)
	s.must(err)
	_, err = s.RecordingBegan(ctx, mei, id, rec.ID)
	s.must(err)
	s.must(s.store.Recordings().Create(ctx, rec))
	w, err := s.pictures.Writer(rec.ID)
	s.must(err)
	var events []human.RecordedEvent
	add := func(e human.RecordedEvent) {
		e.Seq, e.At = uint64(len(events)+1), int64(len(events)+1)*int64(time.Second)
		events = append(events, e)
	}
	for i := range 3 {
		shot, _, _, err := w.Put(&record.Frame{W: 1600, H: 900, Scale: 1, Pix: bytes.Repeat([]byte{byte(i), 200, 100, 0}, 1600*900)})
		s.must(err)
		press := uint64(len(events) + 1)
		add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 5, Y: 5})
		add(human.RecordedEvent{Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 5, Y: 5})
		add(human.RecordedEvent{Source: human.ElementSource, Type: human.ElementSeen, CausedBy: press, Element: &human.Element{Role: "button", Name: fmt.Sprint("Button ", i)}})
		add(human.RecordedEvent{Source: human.ScreenSource, Type: human.PictureTaken, Picture: shot, When: "after", CausedBy: press})
		add(human.RecordedEvent{Source: human.WindowSource, Type: human.WindowActive, App: &human.App{Name: "Shop"}, Window: &human.Window{ID: "1", Title: "Orders"}})
	}
	s.must(w.Close())
	key := uint64(len(events) + 1)
	add(human.RecordedEvent{Source: human.InputSource, Type: human.KeyDown})
	add(human.RecordedEvent{Source: human.InputSource, Type: human.TextTyped, Text: "quagga", Count: 6, CausedBy: key, Until: key})
	s.must(s.store.Recordings().Append(ctx, rec, events))
	return rec.ID
}

func (s shop) edit(id human.RecordingID, change func(*human.Edits)) {
	s.t.Helper()
	e, err := s.books.Edits(s.t.Context(), mei, id)
	s.must(err)
	change(&e)
	_, err = s.books.SetEdits(s.t.Context(), mei, id, e)
	s.must(err)
}

func TestAnAgentReadsFindingsAndAsksForTheirEvidence(t *testing.T) {
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) {
			s := openShop(t)
			c := inMemory(t, mcp.ForQueue(s.Queue, s.books, bot), mcp.Options{}, version)
			id := c.use(ask("How much is it?").with(args{"wait_seconds": 0})).OperationID
			rec := s.work(id)
			click := func(action string) human.Ref { return human.Ref{Kind: human.RefAction, Recording: rec, ID: action} }
			price := human.Ref{Kind: human.RefField, ID: "price"}
			answer(t, s.Queue, id, human.Answer{
				HumanInput: "It is dear", Fields: map[string]string{"price": "12 EUR"}, SummaryID: "sum_1",
				Findings: []human.Finding{
					{ID: "f1", Kind: human.FoundValue, Text: "The price is 12 EUR", Evidence: []human.Ref{price, click("a6")}},
					{ID: "f2", Kind: human.FoundError, Text: "a secret", Evidence: []human.Ref{click("a1")}, Cut: true},
					{Kind: human.FoundNote, Text: "It was sold out before", ByHand: true},
				},
				Suggestions: []human.Finding{{Kind: human.FoundNote, Text: "Buy it", Evidence: []human.Ref{click("a6"), click("a11"), click("a16")}}},
			})
			r := c.use(args{"action": "check_result", "operation_id": id})
			if len(r.Findings) != 2 || len(r.KeyFindings) > 0 || r.Findings[0].Kind != "value" || !slices.Equal(r.Findings[0].Evidence, []string{"e1", "e2"}) || !r.Findings[1].ByHand || r.Findings[1].Evidence != nil {
				t.Errorf("findings: %s", r.textAndJSON[0])
			}
			if len(r.Suggestions) != 1 || !slices.Equal(r.Suggestions[0].Evidence, []string{"e2", "e3", "e4"}) || !strings.Contains(r.Next, "action=get_evidence") {
				t.Errorf("suggestions: %s", r.textAndJSON[0])
			}
			if strings.Contains(r.textAndJSON[0], "secret") || strings.Contains(r.textAndJSON[0], "sum_1") || len(r.Recordings) > 0 {
				t.Errorf("the agent reads %s", r.textAndJSON[0])
			}
			if got := c.use(args{"action": "check_result", "operation_id": id, "field": "findings"}).Text; got != "- value (e1, e2): The price is 12 EUR\n- note: It was sold out before\n" {
				t.Errorf("findings as a text: %q", got)
			}

			evidence := func(more args) result {
				t.Helper()
				r, err := c.try(t.Context(), args{"action": "get_evidence", "operation_id": id}.with(more), nil)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(r.textAndJSON[0], "quagga") || strings.Contains(r.textAndJSON[0], "Button 0") {
					t.Errorf("the agent reads %s", r.textAndJSON[0])
				}
				return r
			}
			all := args{"evidence": []string{"e1", "e2", "e4"}, "pictures": true}
			r = evidence(all)
			if r.Status != "ok" || len(r.Evidence) != 3 || len(r.images) > 0 || r.Evidence[0].Text != "12 EUR" || !strings.Contains(r.Evidence[1].Text, "Button 1") ||
				r.Evidence[1].When != "0:06 of "+string(rec)+", 2026-11-21T09:00:06Z" || r.Evidence[1].Where != "Shop: Orders" || !strings.Contains(r.Evidence[1].Missing, "shares no pictures") ||
				!strings.Contains(r.Evidence[2].Text, "6 characters") {
				t.Errorf("without sharing: %s", r.textAndJSON[0])
			}
			s.edit(rec, func(e *human.Edits) { e.SharePictures, e.Masks = true, []human.Mask{{W: 800, H: 900}} })
			if r = evidence(args{"evidence": "e2, e3"}); len(r.images) > 0 || len(r.Evidence) != 2 || !strings.Contains(r.Evidence[1].Picture, "pictures=true") {
				t.Errorf("without pictures: %s", r.textAndJSON[0])
			}
			r = evidence(args{"evidence": []string{"e3", "e1", "e2"}, "pictures": true})
			if len(r.images) != 2 || r.Evidence[0].Picture != "image 1: after" || r.Evidence[1].Picture != "" || r.Evidence[2].Picture != "image 2: after" {
				t.Fatalf("%d images with %s", len(r.images), r.textAndJSON[0])
			}
			shot, kind, err := image.Decode(bytes.NewReader(r.images[0].Data))
			if err != nil || kind != "jpeg" || r.images[0].MIMEType != "image/jpeg" || shot.Bounds().Dx() != 1024 {
				t.Fatalf("the first is a %s (%s), %v", kind, r.images[0].MIMEType, err)
			}
			left, _, _, _ := shot.At(100, 100).RGBA()
			_, right, _, _ := shot.At(1000, 100).RGBA()
			if left > 0x1000 || right < 0x4000 {
				t.Errorf("its masked half is %x, the other %x", left, right)
			}
			// A small budget has smaller pictures, then none.
			for budget, images := range map[int]int{900: 2, 400: 2, 230: 1, 200: 0} {
				r = evidence(args{"evidence": []string{"e2", "e3"}, "pictures": true, "max_tokens": budget})
				cost := human.Tokens(r.textAndJSON[0])
				for _, i := range r.images {
					size, _, err := image.DecodeConfig(bytes.NewReader(i.Data))
					if err != nil {
						t.Fatal(err)
					}
					cost += size.Width * size.Height / 750
				}
				if cost > budget || len(r.images) != images || images < 2 && !strings.Contains(r.textAndJSON[0], "left out: ask with a larger max_tokens") {
					t.Errorf("with %d tokens there are %d images, about %d tokens: %s", budget, len(r.images), cost, r.textAndJSON[0])
				}
			}

			s.edit(rec, func(e *human.Edits) { e.Cuts = []string{"a6"} })
			if r = evidence(args{"evidence": []string{"e2", "e3"}, "pictures": true}); len(r.images) != 1 || !strings.Contains(r.Evidence[0].Missing, "the operator left it out") || r.Evidence[0].Text != "" {
				t.Errorf("what was cut: %s", r.textAndJSON[0])
			}
			for _, tt := range []struct {
				more             args
				kind, says, name string
			}{
				{args{"evidence": []string{"e2"}}, "not_found", "the operator left it out", ""},
				{args{"evidence": []string{"e5"}}, "not_found", "its answer has e1 to e4", ""},
				{args{"evidence": []string{"../e1"}}, "invalid", "not a label", "evidence"},
				{args{"evidence": []string{}}, "invalid", "is missing", "evidence"},
				{nil, "invalid", "is missing", "evidence"},
				{args{"evidence": strings.Split(strings.Repeat("e1 ", 11), " ")[:11]}, "invalid", "at most 10", "evidence"},
				{args{"evidence": 7}, "invalid", "must be of type array", "evidence"},
				{args{"evidence": "e1", "pictures": "perhaps"}, "invalid", "must be of type boolean", "pictures"},
				{args{"evidence": "e1", "max_tokens": 199}, "invalid", "it runs from 200 to 12000", "max_tokens"},
			} {
				if r := evidence(tt.more); !r.failed || r.Kind != tt.kind || !strings.Contains(r.Message, tt.says) || r.Field != tt.name {
					t.Errorf("%v: %s", tt.more, r.textAndJSON[0])
				}
			}
			stranger := inMemory(t, mcp.ForQueue(s.Queue, s.books, other), mcp.Options{}, version)
			elsewhere, err := stranger.try(t.Context(), args{"action": "check_result", "operation_id": id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := stranger.try(t.Context(), args{"action": "get_evidence", "operation_id": id, "evidence": "e1"}, nil); err != nil || !r.failed || r.textAndJSON[0] != elsewhere.textAndJSON[0] {
				t.Errorf("a stranger reads %s, %v; elsewhere %s", r.textAndJSON[0], err, elsewhere.textAndJSON[0])
			}
			if r := c.use(args{"action": "get_summary"}); !strings.Contains(r.Text, "- Finding (e1, e2): The price is 12 EUR\n") {
				t.Errorf("get_summary: %s", r.Text)
			}
		})
	}
}

// texts draws what people and programs write: short and long, in scripts of which a model makes many tokens, with
// characters that JSON escapes.
func texts(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a", "word ", "数据库", "\"quoted\"\n", "\x00\x1f", "😀", "é", "<b>&amp;", "\u2028"}).Draw(t, "piece")
		return strings.Repeat(piece, rapid.SampledFrom([]int{0, 1, 3, 40, 400, most}).Draw(t, "times"))
	})
}

func findings(t *rapid.T, label string) (all []human.Finding) {
	for i := range rapid.SampledFrom([]int{0, 0, 1, 3, 100}).Draw(t, label) {
		f := human.Finding{Kind: human.FoundNote, Text: fmt.Sprintf("%s %d %.3900s", label, i, texts(200).Draw(t, label))}
		if rapid.Bool().Draw(t, "rests") {
			f.Evidence = []human.Ref{{Kind: human.RefRequest, ID: "description"}}
		}
		all = append(all, f)
	}
	return all
}

// TestAnyResultKeepsToItsBudget draws answers and budgets. Whatever they are, what an agent reads is whole or named.
func TestAnyResultKeepsToItsBudget(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	use := func(t *rapid.T, a args) result {
		r, err := c.try(context.Background(), a, nil)
		if err != nil || r.failed {
			t.Fatalf("%v: %v %s", a, err, r.textAndJSON[0])
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"feedback", "approve", "desktop"}).Draw(t, "kind")
		id := use(t, args{"action": "invoke", "action_type": kind, "description": "x", "details": args{"action_sequence": slices.Repeat([]string{"click"}, 40)}, "wait_seconds": 0}).OperationID
		for range rapid.IntRange(0, 3).Draw(t, "messages") {
			if _, err := q.Reply(context.Background(), mei, id, "?"+texts(5000).Draw(t, "message")); err != nil {
				t.Fatal(err)
			}
		}
		budget := rapid.SampledFrom([]int{200, 201, 300, 777, 2500, 12000, 50000}).Draw(t, "budget")
		read := func(more args) result {
			r := use(t, args{"action": "check_result", "operation_id": id, "max_tokens": budget}.with(more))
			if n := human.Tokens(r.textAndJSON[0]); n > min(budget, 12000) || r.OperationID != id || r.Status == "" || !json.Valid([]byte(r.textAndJSON[0])) || !sameJSON(r.textAndJSON[0], r.textAndJSON[1]) {
				t.Fatalf("with a budget of %d it has about %d tokens: %s", budget, n, r.textAndJSON[0])
			}
			return r
		}
		asked := read(nil)
		whole := func(r result, name string, is bool) {
			named := slices.ContainsFunc(r.Cut, func(cut string) bool {
				return cut == name || strings.HasPrefix(cut, name+" ") || strings.HasPrefix(cut, name+":")
			})
			if is == named {
				t.Fatalf("%s is whole: %t, named as cut: %t, with a budget of %d: %s", name, is, named, budget, r.textAndJSON[0])
			}
		}
		op, err := q.Get(context.Background(), mei, id)
		if err != nil {
			t.Fatal(err)
		}
		whole(asked, "messages", len(asked.Messages) == len(op.Messages) && !slices.ContainsFunc(op.Messages, func(m human.Message) bool {
			return !slices.ContainsFunc(asked.Messages, func(seen struct{ From, Text string }) bool { return seen.Text == m.Text })
		}))
		if n := len(op.Messages); n > 0 {
			whole(asked, "question", asked.Question == op.Messages[n-1].Text)
		}

		a := human.Answer{
			HumanInput: "h" + texts(20000).Draw(t, "human_input"), ExecutionResult: texts(20000).Draw(t, "execution_result"), Summary: "s" + texts(5000).Draw(t, "summary"),
			Findings: findings(t, "finding"), Suggestions: findings(t, "suggestion"), Fields: map[string]string{},
		}
		if kind == "approve" {
			a.Decision = human.Approved
		}
		if len(a.Findings) == 0 {
			for range rapid.SampledFrom([]int{0, 1, 500}).Draw(t, "key findings") {
				a.KeyFindings = append(a.KeyFindings, "k"+texts(100).Draw(t, "key finding"))
			}
		}
		for i := range rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "fields") {
			a.Fields[fmt.Sprint(i, texts(1).Draw(t, "name"))] = texts(3000).Draw(t, "field")
		}
		for i := range rapid.SampledFrom([]int{0, 1, 300}).Draw(t, "attachments") {
			a.Attachments = append(a.Attachments, fmt.Sprintf("/tmp/file-%d", i))
		}
		if kind == "desktop" {
			a.Verdict = human.WorkPartly
			for i := range rapid.SampledFrom([]int{0, 1, 40}).Draw(t, "steps") {
				a.Steps = append(a.Steps, human.StepResult{Step: i + 1, Verdict: rapid.SampledFrom([]string{"", "done", "failed"}).Draw(t, "step"), Note: texts(400).Draw(t, "note")})
			}
		}
		if _, err := q.Complete(context.Background(), mei, id, a, op.Digest); err != nil {
			t.Fatal(err)
		}
		r := read(nil)
		if r.Status != "completed" || r.Decision != string(a.Decision) || len(a.Findings) > 0 && len(r.KeyFindings) > 0 {
			t.Fatalf("%s", r.textAndJSON[0])
		}
		for name, text := range map[string][2]string{"human_input": {a.HumanInput, r.HumanInput}, "execution_result": {a.ExecutionResult, r.Result}, "summary": {a.Summary, r.Summary}} {
			if !strings.HasPrefix(text[0], text[1]) {
				t.Fatalf("%s was changed: %q", name, text[1])
			}
			whole(r, name, text[0] == text[1])
		}
		same := len(r.Findings) == len(a.Findings)
		for i := range min(len(r.Findings), len(a.Findings)) {
			same = same && r.Findings[i].Text == a.Findings[i].Text
		}
		whole(r, "findings", same)
		same = len(r.Suggestions) == len(a.Suggestions)
		for i := range min(len(r.Suggestions), len(a.Suggestions)) {
			same = same && r.Suggestions[i].Text == a.Suggestions[i].Text
		}
		whole(r, "suggestions", same)
		same = len(r.Fields) == len(a.Fields)
		for name, value := range r.Fields {
			own, is := a.Fields[name]
			same = same && is && own == value
		}
		whole(r, "fields", same)
		if len(a.Findings) == 0 {
			whole(r, "key_findings", slices.Equal(r.KeyFindings, a.KeyFindings))
		}
		same = r.Verdict == string(a.Verdict) && len(r.Steps) == len(a.Steps)
		for i := range min(len(r.Steps), len(a.Steps)) {
			same = same && r.Steps[i].Step == a.Steps[i].Step && r.Steps[i].Verdict == a.Steps[i].Verdict && r.Steps[i].Note == a.Steps[i].Note
		}
		whole(r, "steps", same)
		whole(r, "attachments", slices.Equal(r.Attachments, a.Attachments))

		// The rest can be read as the result says.
		if cut := slices.IndexFunc(r.Cut, func(cut string) bool { return strings.HasPrefix(cut, "human_input") }); cut >= 0 && len(a.HumanInput) < 3000 {
			text := r.HumanInput
			for offset := len([]rune(text)); ; {
				part := read(args{"field": "human_input", "offset": offset})
				text += part.Text
				if part.NextOffset == 0 {
					break
				}
				if part.NextOffset <= offset {
					t.Fatalf("it does not go on after %d", offset)
				}
				offset = part.NextOffset
			}
			if text != a.HumanInput {
				t.Fatalf("read on, it is %q, want %q", text, a.HumanInput)
			}
		}
	})
	for range 9 {
		c.use(ask(strings.Repeat("长", 300)).with(args{"wait_seconds": 0, "session_id": fmt.Sprint(time.Now().UnixNano())}))
	}
	for _, budget := range []int{200, 1000, 12000} {
		for _, action := range []string{"get_summary", "list_pending"} {
			r := c.use(args{"action": action, "max_tokens": budget, "limit": 100})
			if n := human.Tokens(r.textAndJSON[0]); n > budget || r.Status != "ok" || budget == 200 && len(r.Cut) == 0 && !strings.Contains(r.Text, "Left out: ") {
				t.Errorf("%s with a budget of %d has about %d tokens: %s", action, budget, n, r.textAndJSON[0])
			}
		}
	}
}

func TestTheMostImportantComesFirst(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	id := c.use(args{"action": "invoke", "action_type": "approve", "description": "Deploy?", "wait_seconds": 0}).OperationID
	a := human.Answer{
		Decision: human.Refused, HumanInput: strings.Repeat("many words ", 2000), ExecutionResult: strings.Repeat("a log\n", 2000),
		Summary: "The release is not signed.", Fields: map[string]string{"version": "2.14.0"},
		Suggestions: []human.Finding{{Kind: human.FoundNote, Text: "Sign it first."}},
	}
	for i := range 40 {
		a.Findings = append(a.Findings, human.Finding{Kind: human.FoundError, Text: fmt.Sprintf("Check %d failed: no signature.", i), Evidence: []human.Ref{{Kind: human.RefRequest, ID: "description"}}})
	}
	answer(t, q, id, a)
	r := c.use(args{"action": "check_result", "operation_id": id, "max_tokens": 300})
	if n := human.Tokens(r.textAndJSON[0]); n > 300 || r.Decision != "deny" || !strings.Contains(r.Next, "do not do it") || r.Summary != a.Summary || len(r.Findings) < 3 || r.Findings[0].Text != a.Findings[0].Text {
		t.Errorf("in 300 tokens (about %d) it reads %s", n, r.textAndJSON[0])
	}
	for _, name := range []string{"findings ", "human_input", "execution_result"} {
		if !slices.ContainsFunc(r.Cut, func(cut string) bool { return strings.HasPrefix(cut, name) }) {
			t.Errorf("%s is cut, and not named among %q", name, r.Cut)
		}
	}
	r = c.use(args{"action": "wait", "operation_id": id, "max_tokens": 1500})
	if len(r.Findings) < 15 || r.Fields["version"] != "2.14.0" || len(r.Suggestions) != 1 || len(r.HumanInput) < 100 {
		t.Errorf("in 1500 tokens it reads %s", r.textAndJSON[0])
	}
	if r = c.use(args{"action": "invoke", "action_type": "feedback", "description": "And?", "wait_seconds": 0, "max_tokens": 200}); r.Status != "pending" || r.OperationID == "" || len(r.Cut) > 0 {
		t.Errorf("invoke in 200 tokens: %s", r.textAndJSON[0])
	}
}
