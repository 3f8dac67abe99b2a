package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

// plainTexts are what pages, screens and people come up with; wildTexts what they may.
var (
	plainTexts = rapid.SampledFrom([]string{
		"", "Save", "保存", "Sign in", "登录", "Error 500", "404 Not Found", "无权限 - 后台", "Delete it?", "plan_name", "8,412,903 (70 %)", "“quoted” word", "it's fine",
		"one line\nand another", "Next", "搜索", strings.Repeat("long ", 200), "Failed: 3 of 5", "report.pdf", "已保存 3 个文件", "Müller & Söhne",
	})
	wildTexts = rapid.OneOf(plainTexts, rapid.SampledFrom([]string{
		"\u202eevil\u202c", "a\nb\tc", "\x01\xff broken", strings.Repeat("9", 500), "%s %d %!x", "“", "”", "…", "5” wide", "'", "`", "\x00", ".5",
	}), rapid.StringN(0, 30, 200))
)

var addresses = rapid.SampledFrom([]string{"", "about:blank", "https://a.example/", "https://a.example/x?y=1#z", "https://b.example/login", "file:///tmp/x.html", "::", "https://a.example/1"})

func element(t *rapid.T, texts *rapid.Generator[string]) *human.Element {
	if rapid.Bool().Draw(t, "no element") {
		return nil
	}
	e := &human.Element{
		Role: rapid.SampledFrom([]string{"button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "alert", "dialog", ""}).Draw(t, "role"),
		Name: texts.Draw(t, "name"), Tag: rapid.SampledFrom([]string{"", "button", "a", "input/submit", "input/password", "textarea"}).Draw(t, "tag"),
		Secret: rapid.Bool().Draw(t, "secret"), Hidden: rapid.SampledFrom([]string{"", "", "secret", "operator"}).Draw(t, "hidden"),
	}
	if rapid.Bool().Draw(t, "deep") {
		e.Ancestry = []human.Element{{Role: "dialog", Name: texts.Draw(t, "ancestor")}}
	}
	return e
}

var actionTypes = []human.ActionType{
	human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Scroll, human.Typing, human.Shortcut, human.Paste, human.Copy, human.SwitchWindow,
	human.OpenApp, human.CloseWindow, human.FileOperation, human.Note, human.Missing, human.OpenPage, human.ClosePage, human.SwitchPage, human.Navigate,
	human.Choose, human.Check, human.Hover, human.DialogEnded, human.Upload, human.Download, human.Extract, "else",
}

// anAction draws one, mostly with what its type has, sometimes without or with what belongs to others.
func anAction(t *rapid.T, texts *rapid.Generator[string], id int, at int64) human.Action {
	a := human.Action{
		ID: fmt.Sprintf("a%d", id), Type: rapid.SampledFrom(actionTypes).Draw(t, "type"), At: at, End: at + rapid.Int64Range(-5, 60e9).Draw(t, "took"),
		Element: element(t, texts), Words: texts.Draw(t, "words"), Count: rapid.IntRange(0, 40).Draw(t, "count"),
		Key: rapid.SampledFrom([]string{"", "Enter", "Escape"}).Draw(t, "key"), Hidden: rapid.SampledFrom([]string{"", "", "password", "operator"}).Draw(t, "hidden"),
		Before: rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(t, "before"), After: rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(t, "after"),
	}
	if id > 1 && rapid.Bool().Draw(t, "caused") {
		a.CausedBy = fmt.Sprintf("a%d", rapid.IntRange(max(1, id-3), id).Draw(t, "by"))
	}
	if rapid.IntRange(0, 3).Draw(t, "page") > 0 {
		a.Page = &human.WebPage{Target: rapid.SampledFrom([]string{"t1", "t1", "t2"}).Draw(t, "tab"), URL: addresses.Draw(t, "address"), Title: texts.Draw(t, "title")}
	} else {
		a.App, a.Window = &human.App{Name: texts.Draw(t, "app")}, &human.Window{ID: "1", Title: texts.Draw(t, "window")}
	}
	whole := rapid.IntRange(0, 9).Draw(t, "whole") > 0
	is := func(types ...human.ActionType) bool { return whole && slices.Contains(types, a.Type) }
	if is(human.Navigate, human.OpenPage) {
		a.Navigation = &human.Navigation{
			Kind:   rapid.SampledFrom([]string{"link", "form", "script", "address", "reload", "back_forward", "redirect", "history", "fragment", "restored"}).Draw(t, "kind"),
			Status: rapid.SampledFrom([]int{0, 200, 302, 401, 403, 404, 500}).Draw(t, "status"), Failed: rapid.SampledFrom([]string{"", "", "net::ERR_ABORTED", "odd"}).Draw(t, "failed"),
		}
	}
	if is(human.DialogEnded) {
		a.Dialog = &human.Dialog{Kind: rapid.SampledFrom([]string{"alert", "confirm", "prompt", "beforeunload"}).Draw(t, "dialog"), Message: texts.Draw(t, "message"), Accepted: rapid.Bool().Draw(t, "ok")}
	}
	if is(human.Upload, human.Download) {
		a.Transfers = []human.Transfer{{Name: texts.Draw(t, "file"), Size: rapid.Int64Range(0, 1e12).Draw(t, "size"), State: rapid.SampledFrom([]string{"", "completed", "canceled"}).Draw(t, "state"), Hash: strings.Repeat("0a1b", 16)}}
	}
	if is(human.Extract) {
		a.Pick = &human.Pick{Field: texts.Draw(t, "field"), Take: rapid.SampledFrom([]string{"element", "table", "list"}).Draw(t, "take"), Text: texts.Draw(t, "picked"), Header: rapid.Bool().Draw(t, "header")}
		if a.Pick.Take != "element" {
			a.Pick.Rows = rapid.SliceOfN(rapid.SliceOfN(texts, 0, 3), 0, 4).Draw(t, "rows")
		}
	}
	if is(human.Choose, human.Check) {
		a.Values = rapid.SliceOfN(texts, 0, 3).Draw(t, "values")
	}
	if is(human.FileOperation) {
		a.File = &human.FileChange{Op: rapid.SampledFrom([]string{"created", "changed", "renamed", "deleted"}).Draw(t, "op"), Path: "/w/" + texts.Draw(t, "path"), To: rapid.SampledFrom([]string{"", "/w/to.txt"}).Draw(t, "to"), Size: 12}
	}
	if is(human.Note) {
		a.Text = texts.Draw(t, "note")
	}
	if is(human.Missing) {
		a.Gap = &human.Gap{From: at, To: at + 9e9, Reason: rapid.SampledFrom([]string{"paused", "excluded", "lost", "crash", "limit"}).Draw(t, "reason"), Count: 3}
	}
	return a
}

func anInput(t *rapid.T, texts *rapid.Generator[string]) summarizers.Input {
	in := summarizers.Input{Version: 1, Language: rapid.SampledFrom([]string{"en", "zh-CN", "de", ""}).Draw(t, "language")}
	in.Operation = human.Operation{ID: "op_1", Kind: rapid.SampledFrom(kind.ForAgents()).Draw(t, "kind"), Description: texts.Draw(t, "asked")}
	steps := rapid.SliceOfN(texts, 0, 3).Draw(t, "steps")
	details := map[string]any{"action_sequence": steps, "expected_outcome": texts.Draw(t, "expected")}
	switch rapid.IntRange(0, 3).Draw(t, "fields") {
	case 0:
		details["data_to_extract"] = rapid.SliceOfN(texts, 0, 7).Draw(t, "names")
	case 1:
		details["data_to_extract"] = map[string]string{"plan_name": "text", texts.Draw(t, "wanted"): "date"}
	case 2:
		details["data_to_extract"] = []any{map[string]string{"name": texts.Draw(t, "named")}, 5, nil}
	}
	in.Operation.Details, _ = json.Marshal(details)
	in.Operation.Details = slices.Concat(in.Operation.Details) // not shared
	for _, s := range steps {
		in.Checklist = append(in.Checklist, summarizers.Step{Text: s, Done: rapid.Bool().Draw(t, "done")})
	}
	in.Answer = human.Answer{HumanInput: texts.Draw(t, "said"), ExecutionResult: texts.Draw(t, "result"), Decision: rapid.SampledFrom([]human.Decision{"", human.Approved, human.Refused}).Draw(t, "decision")}
	for i := range rapid.IntRange(0, 2).Draw(t, "messages") {
		in.Operation.Messages = append(in.Operation.Messages, human.Message{By: human.Actor{Role: rapid.SampledFrom([]human.Role{human.Agent, human.Operator}).Draw(t, "by")}, At: time.Unix(int64(i), 0), Text: texts.Draw(t, "turn")})
	}
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i := range rapid.IntRange(0, 2).Draw(t, "recordings") {
		on := rapid.Bool().Draw(t, "desktop")
		rec := summarizers.Recorded{Recording: human.Recording{ID: human.RecordingID(fmt.Sprintf("rec_%d", i)), StartedAt: start, Elapsed: 60e9, Span: 90e9, Complete: rapid.Bool().Draw(t, "complete")}, More: rapid.IntRange(0, 2).Draw(t, "more")}
		rec.Options = human.RecordingOptions{Desktop: &on, Browser: &human.BrowserOptions{}}
		at := int64(0)
		for n := range rapid.IntRange(0, 24).Draw(t, "actions") {
			at += rapid.Int64Range(0, 40e9).Draw(t, "pause")
			rec.Actions = append(rec.Actions, anAction(t, texts, n+1, at))
		}
		for n := range rapid.IntRange(0, 2).Draw(t, "commands") {
			exit := rapid.IntRange(0, 2).Draw(t, "exit")
			rec.Commands = append(rec.Commands, summarizers.Command{ID: fmt.Sprintf("c%d", n+1), At: at, End: at + 5e9, Line: texts.Draw(t, "command"), Exit: &exit, Output: texts.Draw(t, "output")})
		}
		in.Recordings = append(in.Recordings, rec)
		start = start.Add(time.Duration(rapid.Int64Range(0, 120e9).Draw(t, "later")))
	}
	if rapid.Bool().Draw(t, "filled in") {
		in.Answer.Fields = map[string]string{"plan_name": texts.Draw(t, "value"), texts.Draw(t, "other field"): texts.Draw(t, "other value")}
	}
	return in
}

// Whatever it reads, a summarizer says what can be shown, in the language asked for, and rests on what is there.
func TestAnyInputIsSummarised(t *testing.T) {
	for _, s := range All() {
		t.Run(s.About().Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := anInput(t, wildTexts)
				r, err := s.Summarize(context.Background(), in, nil)
				if err != nil {
					t.Fatal(err)
				}
				again, err := s.Summarize(context.Background(), in, func(human.Progress) {})
				if err != nil || !reflect.DeepEqual(r, again) {
					t.Fatalf("a second time it is %+v, %v, not %+v", again, err, r)
				}
				if r.Line == "" || r.Findings == nil || r.Suggestions == nil || len(r.Findings) > 16 || len(r.Suggestions) > 5 {
					t.Fatalf("line %q, %d findings, %d suggestions", r.Line, len(r.Findings), len(r.Suggestions))
				}
				fit := func(what, text string, lines bool) {
					if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool {
						return unicode.IsControl(c) && (!lines || c != '\n') || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029'
					}) {
						t.Fatalf("%s is not fit to be shown: %q", what, text)
					}
				}
				fit("the line", r.Line, false)
				fit("the text", r.Text, true)
				for _, f := range slices.Concat(r.Findings, r.Suggestions) {
					fit("a finding", f.Text, false)
					if f.Text == "" || !slices.Contains(human.FindingKinds, f.Kind) || !(f.Confidence > 0 && f.Confidence <= 1) || len(f.Evidence) == 0 {
						t.Fatalf("%+v", f)
					}
					for _, ref := range f.Evidence {
						if _, ok := in.Resolve(ref); !ok {
							t.Fatalf("%q rests on %+v, which is not there", f.Text, ref)
						}
					}
				}
			})
		})
	}
}

// What a summarizer says of work as it is stands on its evidence, all of it.
func TestNothingIsSaidThatDoesNotStand(t *testing.T) {
	for _, s := range All() {
		t.Run(s.About().Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := anInput(t, plainTexts)
				r, err := s.Summarize(context.Background(), in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, dropped := summarizers.Check(in, r); len(dropped) > 0 {
					t.Fatalf("dropped: %+v", dropped)
				}
			})
		})
	}
}

// Where nothing comes from elsewhere but names without a language, a report is in its own.
func TestTheReportIsInItsLanguage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anInput(t, wildTexts)
		in.Operation.Description, in.Operation.Messages, in.Answer, in.Checklist, in.Operation.Details = "7", nil, human.Answer{}, nil, nil
		for i := range in.Recordings {
			in.Recordings[i].Commands = nil
			for j := range in.Recordings[i].Actions {
				a := &in.Recordings[i].Actions[j]
				bare := func(e *human.Element) *human.Element {
					if e == nil {
						return nil
					}
					return &human.Element{Role: e.Role, Tag: e.Tag, Name: "7"}
				}
				a.Element, a.Target, a.Text, a.Words, a.Values, a.Key, a.File = bare(a.Element), bare(a.Target), "", "", nil, "", nil
				if a.Page != nil {
					a.Page = &human.WebPage{Target: a.Page.Target}
				}
				if a.Navigation != nil {
					a.Navigation = &human.Navigation{Kind: a.Navigation.Kind, Status: a.Navigation.Status}
				}
				a.App, a.Window, a.Transfers, a.Pick = nil, nil, nil, nil
				if a.Dialog != nil {
					a.Dialog = &human.Dialog{Kind: a.Dialog.Kind, Message: "7", Accepted: a.Dialog.Accepted}
				}
			}
		}
		for _, s := range All() {
			r, err := s.Summarize(context.Background(), in, nil)
			if err != nil {
				t.Fatal(err)
			}
			all := []string{r.Line, r.Text}
			for _, f := range slices.Concat(r.Findings, r.Suggestions) {
				all = append(all, f.Text)
			}
			for _, text := range all {
				isHan := func(c rune) bool { return unicode.Is(unicode.Han, c) }
				if in.Language == say.Chinese && text != "" && !strings.ContainsFunc(text, isHan) || in.Language != say.Chinese && strings.ContainsFunc(text, isHan) {
					t.Fatalf("%s, in %q: %q", s.About().Name, in.Language, text)
				}
			}
		}
	})
}

// Who stops it gets no report.
func TestASummaryStopsWhenItIsStopped(t *testing.T) {
	for _, s := range All() {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Summarize(ctx, surf(home, "Home").in, func(human.Progress) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", s.About().Name, err)
		}
	}
}
