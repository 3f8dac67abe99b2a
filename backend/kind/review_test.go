package kind_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func TestAReviewIsChecked(t *testing.T) {
	op := human.Operation{Kind: human.Review, Details: json.RawMessage(`{"focus":["Locks",{"title":"Names"}]}`)}
	text, long := "x", strings.Repeat("x", 65<<10)
	comment := func(change func(*human.CodeComment)) *human.Answer {
		c := human.CodeComment{File: "a.go", Line: 3, EndLine: 4, Side: "new", Text: "why?", Severity: "major", Suggestion: &text}
		change(&c)
		return &human.Answer{WorkAnswer: human.WorkAnswer{Comments: []human.CodeComment{c}}}
	}
	focus := func(all ...human.FocusResult) *human.Answer {
		return &human.Answer{WorkAnswer: human.WorkAnswer{Focus: all}}
	}
	for name, tt := range map[string]struct {
		answer *human.Answer
		field  string // at fault; "" is right
	}{
		"a comment":               {comment(func(*human.CodeComment) {}), ""},
		"only a suggestion":       {comment(func(c *human.CodeComment) { c.Text = "" }), ""},
		"one line":                {comment(func(c *human.CodeComment) { c.EndLine = 0 }), ""},
		"a comment on nothing":    {comment(func(c *human.CodeComment) { c.File = "" }), "comments.file"},
		"line 0":                  {comment(func(c *human.CodeComment) { c.Line = 0 }), "comments.line"},
		"a negative line":         {comment(func(c *human.CodeComment) { c.Line = -1 }), "comments.line"},
		"a range backwards":       {comment(func(c *human.CodeComment) { c.EndLine = 2 }), "comments.end_line"},
		"no side":                 {comment(func(c *human.CodeComment) { c.Side = "" }), "comments.side"},
		"an unknown severity":     {comment(func(c *human.CodeComment) { c.Severity = "fatal" }), "comments.severity"},
		"nothing said":            {comment(func(c *human.CodeComment) { c.Text, c.Suggestion = " \n", nil }), "comments.text"},
		"too much said":           {comment(func(c *human.CodeComment) { c.Text = long }), "comments.text"},
		"no text":                 {comment(func(c *human.CodeComment) { c.Text = "\xff" }), "comments.text"},
		"a suggestion for before": {comment(func(c *human.CodeComment) { c.Side = "old" }), "comments.suggestion"},
		"too long a suggestion":   {comment(func(c *human.CodeComment) { c.Suggestion = &long }), "comments.suggestion"},
		"too many":                {&human.Answer{WorkAnswer: human.WorkAnswer{Comments: make([]human.CodeComment, 501)}}, "comments"},
		"areas":                   {focus(human.FocusResult{Area: "Locks", Verdict: "good"}, human.FocusResult{Area: "Names", Verdict: "problem", Note: "odd"}), ""},
		"an area not asked for":   {focus(human.FocusResult{Area: "Speed", Verdict: "good"}), "focus.area"},
		"an area twice":           {focus(human.FocusResult{Area: "Locks", Verdict: "good"}, human.FocusResult{Area: "Locks", Verdict: "good"}), "focus.area"},
		"no verdict on an area":   {focus(human.FocusResult{Area: "Locks"}), "focus.verdict"},
		"too long a note":         {focus(human.FocusResult{Area: "Locks", Verdict: "good", Note: long}), "focus.note"},
		"a verdict alone":         {&human.Answer{WorkAnswer: human.WorkAnswer{Verdict: human.ReviewApprove}}, ""},
		"a verdict of work":       {&human.Answer{WorkAnswer: human.WorkAnswer{Verdict: human.WorkDone}}, "verdict"},
		"words alone":             {&human.Answer{HumanInput: "fine"}, ""},
		"nothing":                 {&human.Answer{}, "human_input"},
	} {
		err := kind.Review.Check(op, tt.answer)
		e := new(human.Error)
		if got := ""; errors.As(err, &e) {
			got = e.Field
			if got != tt.field {
				t.Errorf("%s: %v", name, err)
			}
		} else if tt.field != "" {
			t.Errorf("%s: it passes", name)
		}
	}
}

func TestTheChangeOfARepositoryIsNamedInOneWay(t *testing.T) {
	for details, want := range map[string]any{
		`{"git":{"folder":"/r","range":"main..work"}}`:     kind.GitChange{Folder: "/r", Range: "main..work", Base: "main", Head: "work"},
		`{"git":{"folder":"/r","range":"main...work"}}`:    kind.GitChange{Folder: "/r", Range: "main...work", Base: "main", Head: ".work"},
		`{"git":{"folder":"/r","range":"main.."}}`:         kind.GitChange{Folder: "/r", Range: "main..", Base: "main", Head: "HEAD"},
		`{"git":{"folder":"/r","range":"..work"}}`:         kind.GitChange{Folder: "/r", Range: "..work", Base: "HEAD", Head: "work"},
		`{"git":{"folder":"/r","range":"v1"}}`:             kind.GitChange{Folder: "/r", Range: "v1", Base: "v1"},
		`{"git":{"folder":"/r","base":"a","head":"b"}}`:    kind.GitChange{Folder: "/r", Base: "a", Head: "b"},
		`{"git":{"folder":"/r","staged":true}}`:            kind.GitChange{Folder: "/r", Staged: true},
		`{"git":{"folder":"/r"}}`:                          kind.GitChange{Folder: "/r", Worktree: true},
		`{"git":{"folder":"r"}}`:                           "details.git.folder",
		`{"git":{"folder":"//server/share"}}`:              "details.git.folder",
		`{"git":{"folder":"/r","head":"b"}}`:               "details.git.base",
		`{"git":{"folder":"/r","base":"b","staged":true}}`: "details.git",
		`{"git":"/r"}`: "details.git",
		`{"diff":"x"}`: "",
	} {
		got, err := kind.GitChangeOf(human.Operation{Kind: human.Review, Details: json.RawMessage(details)})
		if want, is := want.(kind.GitChange); is {
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v", details, got, err)
			}
			continue
		}
		if e := new(human.Error); !errors.As(err, &e) || e.Field != want {
			t.Errorf("%s: %v", details, err)
		}
	}
}
