package persons_test

import (
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/build/corpus/persons"
)

func click(name string) human.Action {
	a := human.Action{Type: human.Click, Button: 1, Words: "Clicked " + name}
	if name != "" {
		a.Element = &human.Element{Role: "button", Name: name}
	}
	return a
}

func file(op, path, to string) human.Action {
	return human.Action{Type: human.FileOperation, File: &human.FileChange{Op: op, Path: path, To: to}, Words: op + " " + path}
}

func TestReadingActions(t *testing.T) {
	truth := persons.Truth{
		Acts: []persons.Act{
			{Does: human.Click, On: "Save"}, {Does: human.Click, On: "OK"}, {Does: human.Typing, On: "Display", Text: "2*3=", Shows: "6"}, {Does: human.MoveWindow},
		},
		Files: []human.FileChange{{Op: "moved", Path: "a.txt", To: "old"}, {Op: "deleted", Path: "b.txt"}},
	}
	r := truth.Read([]human.Action{
		click("Save"), click(""), click("Cancel"), {Type: human.Typing, Text: "2*3=", Value: "6", Element: &human.Element{Name: "Display"}},
		file("renamed", "/home/a.txt", "/home/old/a.txt"), file("created", "/home/c.txt", ""),
	})
	if r.Acts != 6 || r.Recorded != 4 || r.Targets != 3 || r.Named != 2 || r.Shown != 1 || r.ShownRightly != 1 {
		t.Errorf("the figures are %+v", r)
	}
	for what, is := range map[string][2][]string{
		"lost":     {r.Lost, {"move_window", "file | deleted | b.txt | "}},
		"invented": {r.Invented, {"Clicked Cancel", "created /home/c.txt"}},
		"misnamed": {r.Misnamed, {"click | OK <- Clicked "}},
	} {
		if !slices.Equal(is[0], is[1]) {
			t.Errorf("%s: %q, want %q", what, is[0], is[1])
		}
	}
}

func TestJudgingClaims(t *testing.T) {
	met := true
	truth := persons.Truth{
		Acts: []persons.Act{{Does: human.Typing, On: "Name", Text: "x"}}, Met: &met, Dialogs: []string{"Rename"},
		Files: []human.FileChange{{Op: "renamed", Path: "a.txt", To: "b.txt"}, {Op: "created", Path: "c.txt"}, {Op: "moved", Path: "b.txt", To: "old"}},
	}
	for text, want := range map[string]string{
		"As expected (“b.txt”): a.txt is now /home/b.txt":                         "",
		"Renamed a.txt to b.txt in /home/work":                                    "",
		"Created /home/work/c.txt":                                                "",
		"Dialog “Rename” came up after this: clicked button Rename…":              "",
		"Expected “a.txt is renamed to b.txt”, but a.txt is now /home/b.txt":      "false",
		"Moved a.txt to /home/old/b.txt":                                          "",
		"Moved c.txt to old":                                                      "false",
		"Looked at Files; no file, form or setting was seen to change":            "false",
		"Deleted c.txt in /home/work":                                             "false",
		"Changes were not kept: “Discard” was clicked":                            "false",
		"Opened Settings and left it again with “Cancel”; nothing was done in it": "false",
		"Something else that is not known here":                                   "not judged",
	} {
		var r persons.Reading
		truth.Claims(human.Report{Findings: []human.Finding{{Kind: "done", Text: text}}}, &r)
		got := ""
		switch {
		case slices.Contains(r.False, text):
			got = "false"
		case slices.Contains(r.Unjudged, text):
			got = "not judged"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
