package flow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

func written(t *testing.T, name string, list ...human.Action) string {
	t.Helper()
	var b strings.Builder
	if err := write(name, &b, flow.Input{Title: "Order", Actions: list}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// order are the actions of a form that is filled in and sent, with a question and a popup.
func order() []human.Action {
	var r tape
	r.add(human.Action{Type: human.Navigate, Page: at("/form"), Navigation: &human.Navigation{Kind: "address"}, Words: "Opened /form"})
	r.add(human.Action{Type: human.Typing, Page: at("/form"), Value: "Mei ${DESKBELL_SECRET_1}", Count: 3, Element: tagged(element("textbox", "Name", `aria/Name[role="textbox"]`, "#name"), "input/text")})
	r.add(human.Action{Type: human.Typing, Page: at("/form"), Hidden: "password", Count: 9, Key: "Enter", Element: tagged(element("textbox", "Password", `aria/Password[role="textbox"]`, "#pw"), "input/password")})
	r.add(human.Action{Type: human.Choose, Page: at("/form"), Values: []string{"Large"}, Element: tagged(element("combobox", "Size", `aria/Size[role="combobox"]`, "#size"), "select")})
	c := r.add(human.Action{Type: human.Click, Button: 1, Page: at("/form"), Element: element("button", "Delete", `aria/Delete[role="button"]`, `[data-testid="del"]`)})
	r.add(human.Action{Type: human.DialogEnded, Page: at("/form"), CausedBy: c, Dialog: &human.Dialog{Kind: "confirm", Message: "Sure?"}})
	r.add(human.Action{Type: human.Click, Button: 1, Page: at("/form"), Element: &human.Element{Role: "button", Name: "Deep", Tag: "button", Selectors: [][]string{{"my-host", "#deep"}}}})
	c = r.add(human.Action{Type: human.Click, Button: 1, Page: at("/form"), Element: element("link", "Open", `aria/Open[role="link"]`, "#open")})
	r.add(human.Action{Type: human.OpenPage, Page: popup("/popup"), CausedBy: c})
	r.add(human.Action{Type: human.Click, Button: 1, Page: popup("/popup"), Element: element("button", "Done", `aria/Done[role="button"]`, "#done")})
	return r.list
}

func TestAProjectForSelenium(t *testing.T) {
	type entry struct {
		Command, Target, Value, WindowHandleName string
		OpensWindow                              bool
	}
	var p struct {
		Version, URL string
		Tests        []struct{ Commands []entry }
		Suites       []struct{ Tests []string }
	}
	if err := json.Unmarshal([]byte(written(t, "selenium", order()...)), &p); err != nil {
		t.Fatal(err)
	}
	if p.URL != host+"/form" || len(p.Tests) != 1 || len(p.Suites) != 1 {
		t.Fatalf("%+v", p)
	}
	var got []string
	for _, c := range p.Tests[0].Commands {
		if c.Command == "echo" {
			continue
		}
		line := c.Command + " " + c.Target + " = " + c.Value
		if c.OpensWindow {
			line += " opens " + c.WindowHandleName
		}
		got = append(got, strings.TrimSpace(line))
	}
	want := `store  = DESKBELL_SECRET_1
setWindowSize 1280x720 =
open ` + host + `/form =
storeWindowHandle tab1 =
type css=#name = Mei $ {DESKBELL_SECRET_1}
type css=#pw = ${DESKBELL_SECRET_1}
sendKeys css=#pw = ${KEY_ENTER}
select css=#size = label=Large
click css=[data-testid="del"] =
dismissConfirmation  =
click css=#open =  opens tab2
selectWindow handle=${tab2} =
click css=#done =`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("the commands are\n%s\nnot\n%s", text, want)
	}
}

func TestASpecForCypress(t *testing.T) {
	code := written(t, "cypress", order()...)
	has(t, code, "import '@testing-library/cypress/add-commands';", "cy.viewport(1280, 720);", "cy.visit('http://127.0.0.1:8080/form');",
		"cy.findByRole('textbox', { name: 'Name' }).clear();", ".type('Mei ${DESKBELL_SECRET_1}', { delay: 0, parseSpecialCharSequences: false });",
		".type(Cypress.env('DESKBELL_SECRET_1'),", ".type('{enter}');", ".select(['Large']);",
		"cy.once('window:confirm', () => false);", "cy.findByRole('button', { name: 'Delete' }).click();", "cy.get('my-host').shadow().find('#deep').click();")
	if strings.Contains(code, "Done") || !strings.Contains(code, "// Cypress has one tab") {
		t.Errorf("what was done in another tab is in it, or nothing says that it is not:\n%s", code)
	}
}

// What a format cannot say is known before a file is written, and is what stands at its head (P9).
func TestWhatAFormatCannotSayIsKnownBefore(t *testing.T) {
	list := append(order(), human.Action{ID: "a99", Type: human.Drag, Page: at("/form"), Element: element("", "", "#a"), Target: element("", "", "#b")})
	for _, f := range flow.Formats {
		file := written(t, f.Name, list...)
		says := f.Says(flow.Input{Title: "Order", Actions: list})
		if len(says) == 0 {
			t.Errorf("%s says nothing", f.Name)
		}
		for _, said := range says {
			if said.Code == "" || !strings.Contains(file, said.Text) {
				t.Errorf("%s: the file does not say %+v", f.Name, said)
			}
		}
		if f.Name != "playwright" && f.Name != "selenium" {
			continue
		}
		for _, said := range says {
			if strings.Contains(said.Text, "rag") {
				t.Errorf("%s can drag, and says %q", f.Name, said.Text)
			}
		}
	}
}

// What is done to a player is done by its own functions: where its controls are is the browser's affair.
func TestPlayersInEveryFormat(t *testing.T) {
	film := tagged(element("Video", "Interview", "#film"), "video")
	for values, want := range map[string]string{
		"play": "m.play();", "pause": "m.pause();", "seek 75.5": "m.currentTime = 75.5;", "mute": "m.muted = true;", "unmute": "m.muted = false;",
		"volume 40": "m.volume = 0.4;", "speed 1.5": "m.playbackRate = 1.5;", "fullscreen": "m.requestFullscreen();", "window": "document.exitFullscreen();",
	} {
		list := []human.Action{
			{Type: human.Navigate, Page: at("/"), Navigation: &human.Navigation{Kind: "address"}},
			{Type: human.PlayMedia, Page: at("/"), Element: film, Values: strings.Fields(values)},
		}
		for _, f := range flow.Formats {
			if got := written(t, f.Name, list...); strings.Count(got, want) != 1 {
				t.Errorf("%s of %s is not in %s", f.Name, values, got)
			}
		}
	}
}
