package procedure_test

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// editing is a recording of an editor: what one opened, wrote and saved.
func editing(id human.RecordingID, file, text string) (human.Recording, []human.Action) {
	app := &human.App{Name: "Editor", Exe: "editor"}
	window := func(id, title string) *human.Window { return &human.Window{ID: id, Title: title} }
	el := func(role, name string, in ...human.Element) *human.Element {
		return &human.Element{Role: role, Name: name, Ancestry: append(in, human.Element{Role: "window", Name: "Editor"})}
	}
	field := el("textbox", "File name", human.Element{Role: "group", Name: "Where"})
	main, open := window("1", "untitled - Editor"), window("2", "Open")
	edited := window("1", file+" - Editor")
	at := int64(0)
	list := []human.Action{
		{Type: human.OpenApp, Window: main},
		{Type: human.Click, Element: el("menu", "File"), Window: main},
		{Type: human.Click, Element: el("menuitem", "Open…", human.Element{Role: "menu", Name: "File"}), Window: main},
		{Type: human.SwitchWindow, Element: el("dialog", "Open"), Window: open},
		{Type: human.Click, Element: field, Window: open},
		{Type: human.Shortcut, Key: "a", Modifiers: []string{"ctrl"}, Element: field, Window: open},
		{Type: human.Typing, Text: file, Value: file, Key: "Tab", Element: field, Window: open},
		{Type: human.Shortcut, Key: "Tab", Count: 1, Element: field, Window: open},
		{Type: human.Click, Element: el("button", "Open", human.Element{Role: "tablist", Name: "Recent"}), Window: open},
		{Type: human.Typing, Text: text, Value: text, Element: el("textbox", ""), Window: edited},
		{Type: human.Shortcut, Key: "s", Modifiers: []string{"ctrl"}, Count: 1, Element: el("textbox", ""), Window: window("1", "*"+file+" - Editor")},
		{Type: human.Click, X: 4, Y: 9, Window: edited},
		{Type: human.CloseWindow, Window: edited},
	}
	for i := range list {
		list[i].ID, list[i].App, list[i].At, list[i].End = string(rune('a'+i)), app, at, at+50e6
		list[i].Words = string(list[i].Type)
		at += 400e6
	}
	return human.Recording{ID: id}, list
}

// What was done in a program becomes steps with the windows and elements they are done in, and what differs a parameter, in titles, too.
func TestCompileDesktop(t *testing.T) {
	var taught []human.Procedure
	for _, values := range [][2]string{{"bill.txt", "Nordwind"}, {"offer.txt", "Kranich & Co"}} {
		rec, list := editing("rec_"+human.RecordingID(values[0]), values[0], values[1])
		p, err := procedure.Compile("note the customer", rec, list)
		if err != nil {
			t.Fatal(err)
		}
		taught = append(taught, p)
	}
	p, _ := procedure.Align(taught)
	var did []string
	for _, s := range p.Steps {
		said := s.Do + " " + s.Window.Title
		if s.Target != nil {
			said += "/" + s.Target.Role + "/" + s.Target.Name + "/" + s.Target.Beside
		}
		said += " " + s.Text + s.Key
		for _, c := range s.Then {
			said += " [" + c.Is + " " + c.Text + "]"
		}
		did = append(did, said)
	}
	want := []string{
		"click untitled - Editor/menu/File/ ",
		"click untitled - Editor/menuitem/Open…/  [opened Open]",
		"change Open/textbox/File name/Where {file_name} [value {file_name}]",
		"click Open/button/Open/ ",
		"change {file_name} - Editor/textbox// {text} [value {text}] [title *{file_name} - Editor]",
		"press *{file_name} - Editor/textbox// s [title {file_name} - Editor]",
		"close {file_name} - Editor ",
	}
	if !slices.Equal(did, want) {
		t.Errorf("it is\n%s\nnot\n%s", strings.Join(did, "\n"), strings.Join(want, "\n"))
	}
	if p.Where != "desktop" || len(p.Parameters) != 2 {
		t.Errorf("%s, %+v", p.Where, p.Parameters)
	}
	if why := procedure.Blocked(p, procedure.Standard); why != nil {
		t.Errorf("it is not run: %s", why.Text)
	}
	filled, err := procedure.Fill(p, map[string]string{"file_name": "draft.txt", "text": "x"})
	if err != nil || filled.Steps[6].Window.Title != "draft.txt - Editor" || filled.Steps[4].Then[1].Window.Title != "*draft.txt - Editor" {
		t.Errorf("%v, %+v", err, filled.Steps[6].Window)
	}
}

// What has no element, and what is secret, is not run.
func TestDesktopLint(t *testing.T) {
	rec, list := editing("rec_1", "bill.txt", "Nordwind")
	for name, c := range map[string]struct {
		change func(*human.Action)
		rule   string
	}{
		"a place alone":    {func(a *human.Action) { a.Element = nil }, "cannot_be_done_again"},
		"an unknown one":   {func(a *human.Action) { a.Element = &human.Element{Role: "unknown", Name: "Open"} }, "cannot_be_done_again"},
		"one with no name": {func(a *human.Action) { a.Element = &human.Element{Role: "button"} }, "cannot_be_done_again"},
		"a drag":           {func(a *human.Action) { a.Type = human.Drag }, "cannot_be_done_again"},
		"a secret": {func(a *human.Action) {
			a.Type, a.Hidden, a.Text, a.Element = human.Typing, "password", "", &human.Element{Role: "textbox", Name: "Password", Secret: true}
		}, "secret_on_desktop"},
		"a pasted text": {func(a *human.Action) { a.Type = human.Paste }, "cannot_be_done_again"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := slices.Clone(list)
			c.change(&changed[8])
			p, err := procedure.Compile("note", rec, changed)
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(procedure.Lint(p), func(f procedure.LintFinding) bool { return f.Rule == c.rule && f.Level == procedure.LintError })
			if !found || procedure.Blocked(p, procedure.Permissive) == nil {
				t.Errorf("%+v", procedure.Lint(p))
			}
		})
	}
}
