package human

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// table are the sentences by their codes.
func table(t *testing.T) map[Code]string {
	t.Helper()
	all := map[Code]string{}
	for line := range strings.Lines(sentences) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		code, sentence, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(code) || strings.TrimSpace(sentence) != sentence {
			t.Errorf("%q is no sentence", line)
		}
		if _, twice := all[Code(code)]; twice {
			t.Errorf("%s stands there twice", code)
		}
		all[Code(code)] = sentence
	}
	return all
}

var place = regexp.MustCompile(`\{(\w+)\}`)

func TestSay(t *testing.T) {
	s := Say("same_of_more", "n", 3)
	if s.Text != "The same of 3 more." || s.Code != "same_of_more" || s.Params["n"] != "3" {
		t.Errorf("%+v", s)
	}
	if s := Say("trust_low", "least", "{n}"); !strings.HasPrefix(s.Text, "Under {n}, so") {
		t.Errorf("a value is read for places: %q", s.Text)
	}
	if text := TextOf([]Sentence{Say("only_looks"), Say("never_done")}); text != "It only looks. That is never done." {
		t.Error(text)
	}
	masked := Masked([]Sentence{Say("model_says", "model", "m", "reason", "key k")}, func(s string) string { return strings.ReplaceAll(s, "key k", "***") })
	if said, err := json.Marshal(masked); err != nil || strings.Contains(string(said), "key k") || !strings.Contains(string(said), "***") {
		t.Errorf("%s %v", said, err)
	}
}

// unseen are folders whose errors only agents, terminals and logs show. What they say by Sayf itself, as the doctor does, is for people.
var unseen = regexp.MustCompile(`^\.\./(transport/(cli|client|hook/[^/]+\.go|mcp|mcpproxy)|app/hookprogram|agent/tools)(/|$)`)

// formats are the formats of the errors that a window may show, by their codes, with places for their verbs: every text that stands in
// a call of Errorf, BadField, Wrap or Sayf.
func formats(t *testing.T) map[Code]string {
	t.Helper()
	at := map[string]int{"Errorf": 1, "BadField": 1, "Wrap": 2, "Sayf": 0}
	all, from := map[Code]string{}, map[Code]string{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				if x, ok := f.X.(*ast.Ident); ok && x.Name == "human" {
					name = f.Sel.Name
				}
			case *ast.Ident:
				if file.Name.Name == "human" {
					name = f.Name
				}
			}
			i, ok := at[name]
			if !ok || len(call.Args) <= i || name != "Sayf" && unseen.MatchString(filepath.ToSlash(path)) {
				return true
			}
			format, ok := literal(call.Args[i])
			if !ok && file.Name.Name != "human" {
				t.Errorf("%s: the format of an error has to stand where the error is made, so that it can be said in Chinese", set.Position(call.Pos()))
			}
			code := codeOf(format)
			if code == "" {
				return true
			}
			format = replaceVerbs(format, func(n int, _ string) string { return "{" + strconv.Itoa(n) + "}" })
			if was, twice := all[code]; twice && was != format {
				t.Errorf("%s: %q and, in %s, %q have the same code %s: say one of them in other words", set.Position(call.Pos()), format, from[code], was, code)
			}
			all[code], from[code] = format, set.Position(call.Pos()).String()
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// literal is the text of a literal, or of several added up.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, is := literal(e.X)
		y, are := literal(e.Y)
		return x + y, is && are
	}
	return "", false
}

func TestSayf(t *testing.T) {
	s := Sayf("%[2]q has %.2f of %[1]d %%: read {1} again", 3, "k", 0.5)
	if s.Text != `"k" has 0.50 of 3 %: read {1} again` || s.Code != "x_has_x_of_x_read_1_again" || !maps.Equal(s.Params, Params{"1": "3", "2": `"k"`, "3": "0.50"}) {
		t.Errorf("%+v", s)
	}
	if s := Sayf("%s", "k"); s.Code != "" {
		t.Errorf("what comes from elsewhere has the code %s", s.Code)
	}
	inner := BadField("until", "is %d days in the past", 2)
	if s := Sayf("%d: %s", 7, Inner{fmt.Errorf("wrapped: %w", inner)}); s.Text != "7: "+inner.Msg || !maps.Equal(s.Params,
		Params{"1": "7", "2": inner.Msg, "2.code": "is_x_days_in_the_past", "2.field": "until", "2.1": "2"}) {
		t.Errorf("around another error: %+v", s)
	}
	if s := Sayf("%s", Inner{inner}); s.Code != "" {
		t.Errorf("an error with its field: %+v", s)
	}
	if s := Sayf("%s", Inner{Errorf(Invalid, "%d seconds", 2)}); s.Code != "x_seconds" || !maps.Equal(s.Params, Params{"1": "2"}) {
		t.Errorf("nothing but another error: %+v", s)
	}
	for _, value := range []any{State("waiting_input"), TaskRunning, RunPaused, PlanStatus("timeout"), HighRisk, Word("seconds")} {
		s := Sayf("it is %s", value)
		if code := Code(s.Params["1.code"]); code.sentence() == string(code) {
			t.Errorf("%v has no word: %+v", value, s)
		}
	}
	if s := Sayf("there: %s", Inner{errors.New("a secret")}); strings.Contains(s.Text, "secret") || len(s.Params) != 1 {
		t.Errorf("around one that is for the log: %+v", s)
	}
	if e := BadField("until", "is %d days in the past", 2); e.Msg != "until: is 2 days in the past" || e.Said.Code != "is_x_days_in_the_past" || e.Said.Params["1"] != "2" {
		t.Errorf("%+v", e)
	}
}

// Every sentence can be said in Chinese, and nothing else can: the console's table is of the same codes and places.
func TestSentencesInChinese(t *testing.T) {
	raw, err := os.ReadFile("../../frontend/messages/server/zh-CN.json")
	if err != nil {
		t.Fatal(err)
	}
	var chinese map[Code]string
	if err := json.Unmarshal(raw, &chinese); err != nil {
		t.Fatal(err)
	}
	english := table(t)
	for code, format := range formats(t) {
		if _, twice := english[code]; twice {
			t.Errorf("%s is a code of the table, and made of %q", code, format)
		}
		english[code] = format
	}
	for code, sentence := range english {
		said, ok := chinese[code]
		if !ok || strings.TrimSpace(said) == "" {
			t.Errorf("%s (%q) has no message in Chinese", code, sentence)
		}
		for _, p := range place.FindAllStringSubmatch(said, -1) {
			// match is what a rule says without words of a language.
			if !strings.Contains(sentence, p[0]) && p[1] != "match" {
				t.Errorf("%s: %q has no place %s", code, sentence, p[0])
			}
		}
		for _, p := range place.FindAllString(sentence, -1) {
			if !strings.Contains(said, p) && !strings.Contains(said, "{match}") {
				t.Errorf("%s: %q does not say %s", code, said, p)
			}
		}
	}
	for code := range chinese {
		if _, ok := english[code]; !ok {
			t.Errorf("%s is said in Chinese only", code)
		}
	}
}
