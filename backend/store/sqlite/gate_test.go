package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

func decided(n int, decision human.Ruling) service.Decision {
	return service.Decision{
		ID: fmt.Sprintf("dec_%03d", n), At: epoch.Add(time.Duration(n) * time.Minute).UTC().Truncate(time.Microsecond), Agent: "bot", Project: "/src/api", Session: "s1",
		Tool: "bash", Call: fmt.Sprintf("make Target-%d", n), Decision: decision, Rules: []string{"rule.mine", "run.make"}, Verbs: []human.EffectVerb{},
	}
}

// G10: every decision is there, page by page, by what one looks for.
func TestTheGatekeepersLog(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	g := h.Gate()
	for i := range 25 {
		d := decided(i, human.Allow)
		if i%5 == 0 {
			d.Decision, d.OperationID, d.Outcome = human.Ask, human.OperationID(fmt.Sprint("op_", i)), service.Waiting
		}
		if i%2 == 1 {
			d.Project = "/src/web"
		}
		if err := g.PutDecision(ctx, d, []string{fmt.Sprintf("/src/api/f%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	h.reopen(Options{})
	g = h.Gate()
	var got []string
	f := service.LogFilter{Limit: 10}
	for {
		page, err := g.Decisions(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Decisions {
			got = append(got, d.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	if len(got) != 25 || got[0] != "dec_024" || got[24] != "dec_000" || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("the log, newest first: %v", got)
	}
	for name, c := range map[string]struct {
		f    service.LogFilter
		want int
	}{
		"decision": {service.LogFilter{Decision: human.Ask}, 5},
		"project":  {service.LogFilter{Project: "/src/web"}, 12},
		"text":     {service.LogFilter{Text: "TARGET-2"}, 6}, // 2, 20 to 24
		"since":    {service.LogFilter{Since: decided(20, "").At}, 5},
		"agent":    {service.LogFilter{Agent: "nobody"}, 0},
		"all":      {service.LogFilter{Decision: human.Ask, Project: "/src/api", Text: "target-1", Since: decided(10, "").At}, 1},
	} {
		page, err := g.Decisions(ctx, c.f)
		if err != nil || len(page.Decisions) != c.want {
			t.Errorf("by %s: %d, want %d, %v", name, len(page.Decisions), c.want, err)
		}
	}
	if _, err := g.Decisions(ctx, service.LogFilter{Cursor: "-!"}); human.KindOf(err) != human.Invalid {
		t.Errorf("a cursor that is none: %v", err)
	}
	n, err := g.Count(ctx, decided(10, "").At)
	if err != nil || n != (service.Counts{Allowed: 12, Asked: 3}) {
		t.Errorf("counts %+v, %v", n, err)
	}
	if roots, err := g.Projects(ctx, 5); err != nil || !slices.Equal(roots, []string{"/src/api", "/src/web"}) {
		t.Errorf("projects %v, %v", roots, err)
	}
	uses, err := g.Uses(ctx)
	if err != nil || uses["mine"].Times != 25 || !uses["mine"].Last.Equal(decided(24, "").At) || len(uses) != 1 {
		t.Errorf("uses %+v, %v", uses, err)
	}
	for path, want := range map[string]bool{"/src/api/f3": true, "/src/api/f99": false} {
		if made, err := g.Made(ctx, "s1", path); err != nil || made != want {
			t.Errorf("%s was made: %t, %v", path, made, err)
		}
	}
	if made, err := g.Made(ctx, "s2", "/src/api/f3"); err != nil || made {
		t.Errorf("another session made it: %t, %v", made, err)
	}
}

func TestHowAQuestionEndedIsWrittenDown(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	g := h.Gate()
	d := decided(1, human.Ask)
	d.OperationID, d.Outcome, d.Makes = "op_1", service.Waiting, []string{"/src/api/new"}
	if err := g.PutDecision(ctx, d, nil); err != nil {
		t.Fatal(err)
	}
	if w, err := g.Waiting(ctx); err != nil || len(w) != 1 || w[0].ID != d.ID {
		t.Fatalf("waiting %+v, %v", w, err)
	}
	at := d.At.Add(time.Minute)
	d.Outcome, d.By, d.AnsweredAt = service.Allowed, "Ann", &at
	if err := g.EndDecision(ctx, d, d.Makes); err != nil {
		t.Fatal(err)
	}
	h.reopen(Options{})
	g = h.Gate()
	if w, err := g.Waiting(ctx); err != nil || len(w) != 0 {
		t.Errorf("still waiting %+v, %v", w, err)
	}
	got, err := g.DecisionOf(ctx, "op_1")
	if err != nil || got.Outcome != service.Allowed || got.By != "Ann" {
		t.Errorf("ended %+v, %v", got, err)
	}
	if _, err := g.DecisionOf(ctx, "op_2"); human.KindOf(err) != human.NotFound {
		t.Errorf("one that is not there: %v", err)
	}
	if made, err := g.Made(ctx, "s1", "/src/api/new"); err != nil || !made {
		t.Errorf("what it made: %t, %v", made, err)
	}
	for since, want := range map[time.Time]int{at: 1, at.Add(time.Microsecond): 0} {
		if a, err := g.Answered(ctx, since); err != nil || len(a) != want {
			t.Errorf("answered since %s: %d, want %d, %v", since, len(a), want, err)
		}
	}
}

func TestOperatorsRules(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	until := epoch.Add(time.Hour).UTC()
	r := human.GateRule{ID: "gr_1", Decision: human.Allow, Command: "go test **", Project: "/src/api", Until: &until, Source: human.RuleOperator, By: "Ann"}
	if err := h.Gate().PutRule(ctx, r); err != nil {
		t.Fatal(err)
	}
	if err := h.Gate().Dismiss(ctx, "k"); err != nil {
		t.Fatal(err)
	}
	h.reopen(Options{})
	all, err := h.Gate().Rules(ctx)
	if err != nil || len(all) != 1 || all[0].Command != r.Command || !all[0].Until.Equal(until) {
		t.Errorf("rules %+v, %v", all, err)
	}
	if keys, err := h.Gate().Dismissed(ctx); err != nil || !slices.Equal(keys, []string{"k"}) {
		t.Errorf("dismissed %v, %v", keys, err)
	}
	if err := h.Gate().DropRule(ctx, "gr_1"); err != nil {
		t.Error(err)
	}
	if err := h.Gate().DropRule(ctx, "gr_1"); human.KindOf(err) != human.NotFound {
		t.Errorf("dropped twice: %v", err)
	}
}
