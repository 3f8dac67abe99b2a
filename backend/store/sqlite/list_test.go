package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/queue"
)

func TestSearch(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("Please review the résumé parser", details(`{"file_path":"src/parser.go","nested":{"list":["first","Ärger im \"Büro\""]},"count":4711}`)))
	h.add("op_2", ring("数据库迁移失败，请检查", details(`{"action":"rollback 生产环境","risk_level":"high"}`)))
	h.add("op_3", ring("Deploy to prod? It's 100% ready: a-b_c OR (d) NOT \"e\"*"))
	h.add("op_4", ring("parsing again", by("claude-2")), asked("which Zanzibar cluster?"), done("use the Kilimanjaro one"))
	h.add("op_5", ring("東京タワーの写真と서울의 지도", by("Claude-2")), declined("too much wasabi"))

	for name, tt := range map[string]struct {
		text string
		want []human.OperationID
	}{
		"a word":                             {"parser", []human.OperationID{"op_1"}},
		"any case":                           {"PARSER", []human.OperationID{"op_1"}},
		"without its accents":                {"resume", []human.OperationID{"op_1"}},
		"with accents that are not there":    {"dêploy", []human.OperationID{"op_3"}},
		"the last word's beginning":          {"review pars", []human.OperationID{"op_1"}},
		"one letter":                         {"p", []human.OperationID{"op_4", "op_3", "op_1"}},
		"only the last word's beginning":     {"rev parser", nil},
		"all words, in any order":            {"parser the please", []human.OperationID{"op_1"}},
		"one word that is not there":         {"parser nowhere", nil},
		"a path":                             {"src/parser.go", []human.OperationID{"op_1"}},
		"a string deep in details":           {"buro", []human.OperationID{"op_1"}},
		"a name in details is no text":       {"file_path", nil},
		"Chinese, in the middle":             {"库迁移", []human.OperationID{"op_2"}},
		"Chinese, one character":             {"检", []human.OperationID{"op_2"}},
		"Chinese, not in this order":         {"移迁", nil},
		"Chinese, two parts":                 {"数据 检查", []human.OperationID{"op_2"}},
		"Chinese in details, beside English": {"rollback 环境", []human.OperationID{"op_2"}},
		"Japanese":                           {"タワー", []human.OperationID{"op_5"}},
		"Korean":                             {"지도", []human.OperationID{"op_5"}},
		"an operator's question":             {"zanzibar", []human.OperationID{"op_4"}},
		"the answer":                         {"kilimanjaro", []human.OperationID{"op_4"}},
		"the reason":                         {"wasabi", []human.OperationID{"op_5"}},
		"an agent":                           {"claude-2", []human.OperationID{"op_5", "op_4"}},
		"operators of the index are words":   {"OR NOT", []human.OperationID{"op_3"}},
		"quotes":                             {`"e"`, []human.OperationID{"op_3"}},
		"a lone quote among words":           {`deploy " prod`, []human.OperationID{"op_3"}},
		"brackets and stars":                 {"(d) *", []human.OperationID{"op_3"}},
		"columns are not named":              {"body:deploy", nil},
		"a minus excludes nothing":           {"-deploy", []human.OperationID{"op_3"}},
		"a caret":                            {"^deploy", []human.OperationID{"op_3"}},
		"nothing to search for":              {"?! * \"", nil},
		"a filter's own word":                {agentTag("bot"), nil},
		"NUL":                                {"par\x00ser", nil},
		"not UTF-8":                          {"\xff parser", []human.OperationID{"op_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			for order := range queue.Recent + 1 {
				got := h.ids(queue.Filter{Text: tt.text, Order: order})
				if order == queue.Newest && !slices.Equal(got, tt.want) || len(got) != len(tt.want) {
					t.Errorf("search for %q in order %d = %v, want %v", tt.text, order, got, tt.want)
				}
			}
		})
	}
	h.wantIDs(queue.Filter{Text: "p", AgentID: "claude-2"}, "op_4")
	h.wantIDs(queue.Filter{Text: "p", Open: true}, "op_3", "op_1")
	h.wantIDs(queue.Filter{Text: "p", States: []human.State{human.Completed, human.Declined}}, "op_4")
	h.wantIDs(queue.Filter{Text: "p", States: []human.State{human.Completed, human.Pending}}, "op_4", "op_3", "op_1")
	h.wantIDs(queue.Filter{Text: "p", Kind: human.Bash})
	for _, text := range []string{strings.Repeat("a", maxQuery+1), strings.Repeat("a ", maxWords+1)} {
		_, err := h.List(t.Context(), queue.Filter{Text: text})
		wantKind(t, err, human.Invalid)
	}
}

// A text beyond the bounds is not found, and does no harm to what comes before it.
func TestSearchBounds(t *testing.T) {
	h := newHistory(t, Options{})
	long := `{"a":"beginning","b":"` + strings.Repeat("填充 ", detailsText) + `","c":"ending"}`
	h.add("op_1", ring("long", details(long)))
	h.add("op_1", asked(strings.Repeat("more ", bodyText)))
	h.wantIDs(queue.Filter{Text: "beginning"}, "op_1")
	h.wantIDs(queue.Filter{Text: "填充"}, "op_1")
	h.wantIDs(queue.Filter{Text: "ending"})
	h.wantIDs(queue.Filter{Text: "more"}, "op_1")
}

func TestListRefuses(t *testing.T) {
	h := newHistory(t, Options{})
	for i := range 3 {
		h.add(human.OperationID(fmt.Sprint("op_", i)), ring("x"))
	}
	page, err := h.List(t.Context(), queue.Filter{Limit: 1})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	for name, f := range map[string]queue.Filter{
		"limit":                     {Limit: -1},
		"limit above":               {Limit: queue.MaxPage + 1},
		"cursor":                    {Cursor: "%"},
		"cursor of nonsense":        {Cursor: "bm9uc2Vuc2U"},
		"cursor of another order":   {Cursor: page.Next, Order: queue.Urgent},
		"an order that is not here": {Order: 9},
	} {
		_, err := h.List(t.Context(), f)
		if human.KindOf(err) != human.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.List(ctx, queue.Filter{}); err == nil {
		t.Error("List with a dead context gives no error")
	}
}

func TestLookups(t *testing.T) {
	h := newHistory(t, Options{})
	keyed := func(key string) func(*human.Request) {
		return func(r *human.Request) { r.IdempotencyKey = key }
	}
	h.add("op_1", ring("one", keyed("k"), details(`{ "a": 1 }`), func(r *human.Request) { r.Context = json.RawMessage(`{"c":2}`) }))
	h.add("op_2", ring("two", keyed("k"), by("other"), func(r *human.Request) { r.Priority = 9 }))
	h.add("op_3", ring("three"), done("yes"))
	h.add("op_4", ring("four"), declined("no"))
	h.add("op_5", ring("five"))

	for key, want := range map[[2]string]human.OperationID{{"bot", "k"}: "op_1", {"other", "k"}: "op_2"} {
		if id, err := h.ByKey(t.Context(), key[0], key[1]); err != nil || id != want {
			t.Errorf("ByKey(%v) = %s, %v, want %s", key, id, err, want)
		}
	}
	for _, key := range [][2]string{{"bot", ""}, {"bot", "K"}, {"nobody", "k"}} {
		_, err := h.ByKey(t.Context(), key[0], key[1])
		wantKind(t, err, human.NotFound)
	}

	// A second ring with the key changes nothing, wherever it stands in its group.
	before, head := h.dump(), h.live.seq()
	err := h.try("op_9", ring("again", keyed("k")))
	wantKind(t, err, human.Conflict)
	if after := h.dump(); !reflect.DeepEqual(before, after) || h.live.seq() != head {
		t.Error("a refused ring left something")
	}
	if entries, err := h.Operation(t.Context(), "op_9"); err != nil || len(entries) != 0 {
		t.Errorf("a refused ring left %v, %v", entries, err)
	}

	var ids []human.OperationID
	err = h.Open(t.Context(), func(is queue.Standing) error {
		ids = append(ids, is.ID)
		entries, err := h.Operation(t.Context(), is.ID)
		if err != nil {
			return err
		}
		op, err := human.Fold(is.ID, entries)
		if err != nil {
			return err
		}
		if is.ExpiresAt != nil != (op.ExpiresAt != nil) || is.ExpiresAt != nil && !is.ExpiresAt.Equal(*op.ExpiresAt) || is.Leaving != nil != (op.Leaving != nil) || !is.CreatedAt.Equal(op.CreatedAt) {
			t.Errorf("Open gives\n%+v\nthe journal folds to\n%+v", is, op)
		}
		is.ExpiresAt, is.Leaving, is.CreatedAt = nil, nil, time.Time{}
		if want := (queue.Standing{ID: op.ID, Version: op.Version, AgentID: op.AgentID, Kind: op.Kind, Priority: op.Priority, Overdue: op.Overdue, TeamState: op.TeamState}); !reflect.DeepEqual(is, want) {
			t.Errorf("Open gives %+v, want %+v", is, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	if want := []human.OperationID{"op_1", "op_2", "op_5"}; !slices.Equal(ids, want) {
		t.Errorf("Open = %v, want %v", ids, want)
	}
	stop := errors.New("stop")
	if err := h.Open(t.Context(), func(queue.Standing) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Open after an error of its reader: %v", err)
	}

	undelivered := func(want ...human.OperationID) {
		t.Helper()
		if got, err := h.Undelivered(t.Context(), "bot"); err != nil || !slices.Equal(got, want) {
			t.Errorf("Undelivered = %v, %v, want %v", got, err, want)
		}
	}
	undelivered("op_4", "op_3")
	h.add("op_4", human.Event{Type: human.Delivered})
	undelivered("op_3")
	h.add("op_4", human.Event{Type: human.Commented, By: ann, Text: "one more thing"})
	undelivered("op_4", "op_3")
}

// A big request is stored once; what comes after it is small.
func TestDetailsAreStoredOnce(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("big", details(`{"a":"`+strings.Repeat("x", 1<<20)+`"}`)))
	for range 20 {
		h.add("op_1", asked("hm"))
	}
	var size int
	if err := h.reads.QueryRow(`SELECT (SELECT sum(length(payload)) FROM journal) + (SELECT sum(length(data)) FROM operations)`).Scan(&size); err != nil {
		t.Fatal(err)
	}
	if size > 16<<10 {
		t.Errorf("beside the details, 21 events take %d bytes", size)
	}
	h.reopen(Options{})
	h.add("op_1", done("found"))
	h.wantIDs(queue.Filter{Text: "found"}, "op_1")
}

// model answers a filter from the folded operations, the slow and obvious way.
func model(ops []human.Operation, words map[human.OperationID][]string, f queue.Filter) []human.OperationID {
	type numbered struct {
		n int
		human.Operation
	}
	var hits []numbered
	for n, op := range ops {
		if len(f.States) > 0 && !slices.Contains(f.States, op.State) || f.Open && op.State.Terminal() || f.Kind != "" && op.Kind != f.Kind ||
			f.Plan != "" && (op.Kind != human.Plan || op.PlanOutcome() != f.Plan) ||
			f.AgentID != "" && op.AgentID != f.AgentID || !f.Since.IsZero() && op.UpdatedAt.Before(f.Since) {
			continue
		}
		if f.Text != "" && !slices.ContainsFunc(words[op.ID], func(w string) bool { return strings.HasPrefix(w, f.Text) }) {
			continue
		}
		hits = append(hits, numbered{n, op})
	}
	slices.SortFunc(hits, func(a, b numbered) int {
		switch f.Order {
		case queue.Urgent:
			return cmp.Or(b.Priority-a.Priority, a.n-b.n)
		case queue.Recent:
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), b.n-a.n)
		case queue.Newest:
		}
		return b.n - a.n
	})
	ids := []human.OperationID{}
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

var planStatuses = []human.PlanStatus{human.PlanPending, human.PlanConfirmed, human.PlanModified, human.PlanSentBack, human.PlanCancelled, human.PlanTimeout}

// The list knows a plan's status as the plan does (P3).
func TestPlansByStatus(t *testing.T) {
	h := newHistory(t, Options{})
	answered := func(action human.PlanAction, decision human.Decision, tasks ...human.Task) human.Event {
		return human.Event{Type: human.Finished, By: ann, Answer: &human.Answer{Decision: decision, HumanInput: "so", Plan: &human.PlanAnswer{Action: action, Tasks: tasks}}}
	}
	system := human.Actor{Role: human.System}
	var ops []human.Operation
	for i, ended := range [][]human.Event{
		nil,
		{{Type: human.ClaimedBy, By: ann}},
		{asked("which?")},
		{{Type: human.Expired}},
		{answered(human.ConfirmPlan, human.Approved)},
		{{Type: human.Expired}, answered(human.ConfirmPlan, human.Approved)},
		{answered(human.ModifyPlan, human.Approved)},
		{answered(human.ModifyPlan, human.Approved, human.Task{ID: "t1", Description: "Look"})},
		{answered(human.CancelPlan, human.Refused)},
		{done("no plan in it")},
		{declined("not mine")},
		{{Type: human.Withdrawn, By: bot, Text: "another way"}},
		{{Type: human.Withdrawn, By: system, Text: "shut down"}},
		{{Type: human.Expired}, {Type: human.Withdrawn, By: bot, Text: "gave up"}},
		{{Type: human.Expired}, {Type: human.Withdrawn, By: system, Text: "its time is up"}},
	} {
		for _, kind := range []human.Kind{human.Plan, human.Feedback} {
			id := human.OperationID(fmt.Sprintf("op_%s_%d", kind, i))
			h.add(id, append([]human.Event{ring("x", func(r *human.Request) { r.Kind = kind })}, ended...)...)
			entries, err := h.Operation(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			op, err := human.Fold(id, entries)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, op)
		}
	}
	for _, status := range planStatuses {
		f := queue.Filter{Plan: status}
		want := model(ops, nil, f)
		if got := h.ids(f); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s plans: %v, want %v", status, got, want)
		}
		h.wantIDs(queue.Filter{Plan: status, Kind: human.Feedback})
	}
}

// Random histories: every filter in every order, page by page, gives what the model gives; and the
// projection made anew is the one that grew.
func TestProjection(t *testing.T) {
	words := []string{"alpha", "alphabet", "beta", "部", "署"}
	agents := []string{"bot", "Bot", "b.t"}
	rapid.Check(t, func(rt *rapid.T) {
		opts := Options{
			narrow:    rapid.SampledFrom([]int{2, 5, 1000}).Draw(rt, "narrow"),
			partSize:  rapid.SampledFrom([]int{3, 1000}).Draw(rt, "part size"),
			lateTexts: rapid.SampledFrom([]int{1, 2, 5, 1000}).Draw(rt, "late texts"),
		}
		h := newHistory(t, opts)
		defer h.Close()
		var ids []human.OperationID
		texts := map[human.OperationID][]string{}
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			word := rapid.SampledFrom(words).Draw(rt, "word")
			if len(ids) == 0 || rapid.IntRange(0, 2).Draw(rt, "ring") == 0 {
				id := human.OperationID(fmt.Sprintf("op_%d", i))
				h.add(id, ring("x", func(r *human.Request) {
					r.Kind = rapid.SampledFrom(kind.ForAgents()).Draw(rt, "kind")
					r.AgentID = rapid.SampledFrom(agents).Draw(rt, "agent")
					r.Priority = rapid.IntRange(0, 2).Draw(rt, "priority")
					r.Details, _ = json.Marshal(map[string]string{"a": word, "risk_level": "high"})
				}))
				ids = append(ids, id)
				texts[id] = append(texts[id], word)
				continue
			}
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			until := epoch
			e := rapid.SampledFrom([]human.Event{
				{Type: human.ClaimedBy, By: ann}, {Type: human.Released, By: ann}, {Type: human.Started, By: ann}, asked(word),
				{Type: human.Replied, By: bot, Text: word}, {Type: human.Commented, By: ann, Text: word}, {Type: human.Snoozed, By: ann, Until: &until},
				{Type: human.Shown, Channel: "card"}, {Type: human.Seen, Channel: "card"}, {Type: human.Expired}, done(word), declined(word),
				{Type: human.Withdrawn, By: bot, Text: word}, {Type: human.Delivered}, {Type: human.InputSaved, By: ann, Answer: &human.Answer{Summary: "draft"}},
			}).Draw(rt, "event")
			switch err := h.try(id, e); {
			case err == nil && (e.Text != "" || e.Type == human.Finished):
				texts[id] = append(texts[id], word)
			case err != nil && human.KindOf(err) != human.Conflict:
				rt.Fatal(err)
			}
			if rapid.IntRange(0, 15).Draw(rt, "reopen") == 0 {
				h.reopen(opts)
			}
		}
		var ops []human.Operation
		for _, id := range ids {
			entries, err := h.Operation(context.Background(), id)
			if err != nil {
				rt.Fatal(err)
			}
			op, err := human.Fold(id, entries)
			if err != nil {
				rt.Fatal(err)
			}
			ops = append(ops, op)
		}
		check := func() {
			f := queue.Filter{
				Open:   rapid.Bool().Draw(rt, "open"),
				Order:  queue.Order(rapid.IntRange(0, 2).Draw(rt, "order")),
				States: rapid.SliceOfNDistinct(rapid.SampledFrom(human.States), 0, 3, rapid.ID).Draw(rt, "states"),
				Limit:  rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(rt, "limit"),
			}
			if rapid.Bool().Draw(rt, "by kind") {
				f.Kind = rapid.SampledFrom(kind.ForAgents()).Draw(rt, "kind")
			}
			if rapid.Bool().Draw(rt, "by plan's status") {
				f.Plan = rapid.SampledFrom(planStatuses).Draw(rt, "plan's status")
			}
			if rapid.Bool().Draw(rt, "by agent") {
				f.AgentID = rapid.SampledFrom(agents).Draw(rt, "agent")
			}
			if rapid.Bool().Draw(rt, "by text") {
				f.Text = rapid.SampledFrom(append(words, "al")).Draw(rt, "text")
			}
			if rapid.IntRange(0, 3).Draw(rt, "by time") == 0 {
				f.Since = epoch.Add(time.Duration(rapid.IntRange(0, h.events).Draw(rt, "since")) * time.Second)
			}
			if got, want := h.ids(f), model(ops, texts, f); !slices.Equal(got, want) {
				rt.Fatalf("List(%+v) = %v, want %v", f, got, want)
			}
		}
		for range 12 {
			check()
		}
		grown := h.dump()
		if err := h.Rebuild(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if made := h.dump(); !slices.Equal(grown, made) {
			rt.Fatalf("the projection made anew differs:\n%s\ngrown:\n%s", strings.Join(made, "\n"), strings.Join(grown, "\n"))
		}
		check()
		h.add(ids[0], human.Event{Type: human.Shown, Channel: "tray"}) // it goes on
	})
}

// Whatever a person types is searched for and never understood as the index's own language; and a text is
// found by its own words.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"deploy", `"`, `a" OR "b`, "NEAR(a b)", "col:x", "a*", "^a", "(", "部署abc", "-x +y {z}", "\x00", "\xff", "a\u0301", "🛎 bell", "ﬁ", "\ue000sopen", "١٢٣", "a'b", "x\u200dy"} {
		f.Add(text)
	}
	dir := f.TempDir()
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	n := 0
	f.Fuzz(func(t *testing.T, text string) {
		n++
		id := human.OperationID(fmt.Sprintf("op_%d", n))
		e := ring(text)
		e.At = epoch
		if _, err := s.Append(t.Context(), id, 0, e); err != nil {
			t.Fatal(err)
		}
		page, err := s.List(t.Context(), queue.Filter{Text: text, Limit: 1})
		if human.KindOf(err) == human.Invalid && err != nil {
			return // too long
		}
		if err != nil {
			t.Fatalf("search for %q: %v", text, err)
		}
		match, err := matchText(text)
		if err != nil || match == "" {
			return
		}
		if len(page.Operations) == 0 && plain(text) {
			t.Errorf("%q does not find the text it was taken from", text)
		}
	})
}

// plain says whether text has a letter or digit that both we and SQLite's older Unicode tables know.
func plain(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}
