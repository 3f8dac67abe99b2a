package actions_test

import (
	"slices"
	"testing"

	"deskbell/backend/human"
)

// beside is a browser's window on a desktop that is recorded as well.
func beside() *surf {
	s := &surf{tape: record().window("w1", "Contracts - Signer", "Signer", 7), page: human.WebPage{Target: "t1", URL: "about:blank"}}
	s.opened("w2", "Quota - Chromium", "Chromium", 70).window("w2", "Quota - Chromium", "Chromium", 70).wait(4000)
	s.add(human.RecordedEvent{Source: human.BrowserSource, Type: human.BrowserChanged, Text: "opened", App: &human.App{Name: "Chromium", PID: 70, Exe: "chromium"}})
	s.event(human.RecordedEvent{Type: human.PageOpened})
	s.event(human.RecordedEvent{Type: human.PageShown})
	return s.goes("address", quotaURL, "Quota").pause(20_000)
}

func TestWhatThePageAndTheDesktopSawIsOneAction(t *testing.T) {
	for name, tt := range map[string]struct {
		surf *surf
		want []string // after the first: the browser's window and its tab were opened
	}{
		"the window and its tab": {beside(), []string{}},
		"a click": {
			beside().raw(func(t *tape) { t.press(1, 300, 300) }).press(billing).raw(func(t *tape) { t.release(1, 300, 300) }).up(billing, 1), []string{"Clicked link Billing"}},
		"a click that the page reports late": {
			beside().raw(func(t *tape) { t.click(300, 300).on(logIn) }).click(billing), []string{"Clicked link Billing"}},
		"a click that the desktop reports late": {
			beside().click(billing).raw(func(t *tape) { t.click(300, 300) }), []string{"Clicked link Billing"}},
		"a double click": {
			beside().raw(func(t *tape) { t.click(300, 300) }).click(send).raw(func(t *tape) { t.click(300, 300) }).press(send).up(send, 2), []string{"Double-clicked button Send"}},
		"two clicks, each with its own": {
			beside().raw(func(t *tape) { t.click(300, 300) }).click(send).pause(900).raw(func(t *tape) { t.click(500, 300) }).click(billing), []string{"Clicked button Send", "Clicked link Billing"}},
		"a click that was not in the page": {
			beside().raw(func(t *tape) { t.click(300, 20).on(human.Element{Role: "button", Name: "Reload"}) }).pause(900).click(send), []string{"Clicked button Reload", "Clicked button Send"}},
		"one beside that of another button": {
			beside().raw(func(t *tape) { t.press(3, 300, 300).release(3, 300, 300) }).click(send), []string{"Right-clicked in Quota - Chromium", "Clicked button Send"}},
		"a drag": {
			beside().raw(func(t *tape) { t.press(1, 300, 300) }).press(chart).raw(func(t *tape) { t.move(400, 400).release(1, 400, 400) }).
				event(human.RecordedEvent{Type: human.PageDrag, Element: &chart, X: 40, Y: 40, Browsing: human.Browsing{Target: &plan, ToX: 90, ToY: 90}}),
			[]string{"Dragged picture November to heading Scale 2026"}},
		"typing, however many runs it was": {
			beside().raw(func(t *tape) { t.types("K-0").wait(700).types("417") }).input(field, "K-0417"), []string{"Typed K-0417 into Search"}},
		"typing that the desktop reports late": {
			beside().raw(func(t *tape) { t.strokes(3) }).input(field, "K-0").raw(func(t *tape) { t.text("K-0", t.last()-6, t.last()-1) }), []string{"Typed K-0 into Search"}},
		"typing that goes on": {
			beside().raw(func(t *tape) { t.types("K-0") }).input(field, "K-0").pause(900).raw(func(t *tape) { t.types("417") }).input(field, "K-0417"), []string{"Typed K-0417 into Search"}},
		"typing and the Enter that sends": {
			beside().raw(func(t *tape) { t.types("K-0") }).input(field, "K-0").raw(func(t *tape) { t.key("Enter") }).hit(field, "Enter").up(send, 0), []string{"Typed K-0 into Search and pressed Enter"}},
		"typing that the desktop takes for a password": {
			beside().raw(func(t *tape) { t.hidden(6, "unknown_field") }).input(field, "K-0417"), []string{"Typed K-0417 into Search"}},
		"an address that is typed": {
			beside().raw(func(t *tape) { t.key("l", "ctrl") }).hit(plan, "l", "ctrl").raw(func(t *tape) { t.types("b.example").key("Enter") }).goes("address", "https://b.example/", "B").pause(900).raw(func(t *tape) { t.types("K-0") }).input(field, "K-0"),
			[]string{"Went to B (b.example)", "Typed K-0 into Search"}},
		"what is typed before that into the page is none of it": {
			beside().raw(func(t *tape) { t.types("K-0") }).input(field, "K-0").pause(900).raw(func(t *tape) { t.types("b.example").key("Enter") }).goes("address", "https://b.example/", "B"),
			[]string{"Typed K-0 into Search", "Went to B (b.example)"}},
		"a box by the space key": {
			beside().raw(func(t *tape) { t.strokes(1) }).choice(terms, "checked").raw(func(t *tape) { t.hidden(1, "unknown_field") }), []string{"Checked Terms"}},
		"the space key on a button": {
			beside().raw(func(t *tape) { t.strokes(1) }).hit(send, " ").raw(func(t *tape) { t.text(" ", t.last()-2, t.last()-1) }), []string{"Pressed Space on button Send"}},
		"letters that no field takes": {
			beside().raw(func(t *tape) { t.strokes(1) }).hit(plan, "a").raw(func(t *tape) { t.strokes(1) }).hit(plan, "b").raw(func(t *tape) { t.strokes(1) }).hit(plan, "c").raw(func(t *tape) { t.hidden(3, "unknown_field") }),
			[]string{"Typed abc into Scale 2026"}},
		"the browser's own keys and buttons": {
			beside().raw(func(t *tape) { t.key("t", "ctrl") }).in("t2", "", "chrome://newtab/", "New Tab").event(human.RecordedEvent{Type: human.PageOpened}).pause(3000).
				raw(func(t *tape) { t.click(150, 30) }).in("t1", "", quotaURL, "Quota").event(human.RecordedEvent{Type: human.PageShown}).pause(3000).
				raw(func(t *tape) { t.click(110, 70) }).goes("reload", quotaURL, "Quota").pause(3000).raw(func(t *tape) { t.key("w", "ctrl") }).event(human.RecordedEvent{Type: human.PageClosed}),
			[]string{"Opened a tab", "Switched to tab Quota", "Reloaded Quota (console.vendor.example)", "Closed tab Quota"}},
		"a key": {
			beside().raw(func(t *tape) { t.key("F5") }).hit(plan, "F5"), []string{"Pressed F5"}},
		"copying and pasting": {
			beside().raw(func(t *tape) { t.key("c", "ctrl").clip("text", "Scale 2026") }).hit(plan, "c", "ctrl").event(human.RecordedEvent{Type: human.PageCopied, Element: &plan, Count: 10, Browsing: human.Browsing{Values: []string{"copy"}}}).
				pause(900).raw(func(t *tape) { t.key("v", "ctrl") }).hit(field, "v", "ctrl").event(human.RecordedEvent{Type: human.PagePasted, Element: &field, Count: 10}).input(field, "Scale 2026"),
			[]string{"Copied 10 characters in Quota", "Pasted 10 characters into Search"}},
		"copying by the page's own menu": {
			beside().event(human.RecordedEvent{Type: human.PageCopied, Element: &plan, Count: 10}).raw(func(t *tape) { t.clip("text", "Scale 2026") }), []string{"Copied 10 characters in Quota"}},
		"a scroll": {
			beside().raw(func(t *tape) { t.scroll(300, 300, 1).scroll(300, 300, 1).wait(500).scroll(300, 300, 1) }).pause(200).scrolls(300), []string{"Scrolled down in Quota"}},
		"a list's own window": {
			beside().raw(func(t *tape) { t.click(300, 300) }).press(country).pause(900).raw(func(t *tape) { t.click(300, 340) }).choice(country, "Germany"), []string{"Chose Germany in Country"}},
		"a dialog's button": {
			beside().raw(func(t *tape) { t.click(300, 300) }).click(send).pause(4000).raw(func(t *tape) { t.click(400, 200).on(human.Element{Role: "button", Name: "OK"}) }).dialog("confirm", "Delete it?", "", true),
			[]string{"Clicked button Send", `Answered OK to "Delete it?"`}},
		"a pick": {
			beside().raw(func(t *tape) { t.click(300, 300) }).pick("plan_name", "Scale 2026", plan), []string{"Picked plan_name"}},
		"a popup and its window": {
			beside().click(billing).raw(func(t *tape) { t.opened("d3", "Price list", "Chromium", 70).window("d3", "Price list", "Chromium", 70) }).
				in("t2", "t1", "https://vendor.example/prices", "Price list").event(human.RecordedEvent{Type: human.PageOpened}), []string{"Clicked link Billing", "Opened popup Price list"}},
		"another program's window is another": {
			beside().raw(func(t *tape) { t.opened("w9", "Inbox", "Mail", 9).window("w9", "Inbox", "Mail", 9) }).in("t2", "t1", "https://vendor.example/prices", "Price list").event(human.RecordedEvent{Type: human.PageOpened}),
			[]string{"Opened Mail", "Opened popup Price list"}},
		"what goes on in another program parts what is typed": {
			beside().input(field, "a").raw(func(t *tape) {
				t.window("w1", "Contracts - Signer", "Signer", 7).window("w2", "Quota - Chromium", "Chromium", 70)
			}).pause(3000).input(field, "ab"),
			[]string{"Typed a into Search", "Switched to Contracts - Signer", "Switched to Quota - Chromium", "Typed ab into Search"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words(tt.surf.actions("en")); len(got) == 0 || got[0] != "Opened console.vendor.example" || !slices.Equal(got[1:], tt.want) {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestAnActionOfBothSidesHasThePlaceOfThePageAndTheEventsOfBoth(t *testing.T) {
	s := beside()
	s.raw(func(t *tape) { t.press(1, 300, 300).on(logIn).picture("desktop", "before", t.last()-1) }).press(billing)
	pressed := s.last()
	s.event(human.RecordedEvent{Type: human.PictureTaken, Picture: "page", When: "before", CausedBy: pressed})
	s.raw(func(t *tape) { t.release(1, 300, 300).picture("desktop2", "after", pressed-1) }).up(billing, 1).
		event(human.RecordedEvent{Type: human.PictureTaken, Picture: "page2", When: "after", CausedBy: pressed})
	list := s.actions("en")
	a := list[len(list)-1]
	first := pressed - 3
	if a.ID != list[len(list)-1].ID || a.Seqs[0] != first || len(a.Seqs) != 5 || !slices.IsSorted(a.Seqs) {
		t.Errorf("%s is made of %v; the first is %d", a.ID, a.Seqs, first)
	}
	if a.X != 40 || a.Element.Name != "Billing" || a.Page == nil || a.Page.Target != "t1" || a.Window == nil || a.Window.ID != "w2" || a.App.PID != 70 {
		t.Errorf("%+v", a)
	}
	if a.At != s.events[first-1].At || a.End != s.events[pressed+3].At {
		t.Errorf("it lasts from %d to %d", a.At, a.End)
	}
	if a.Before != "page" || a.After != "page2" {
		t.Errorf("its pictures are %q and %q: those of the page have its points", a.Before, a.After)
	}
}

func TestAScrollOfBothSidesCountsTheNotchesOfTheWheel(t *testing.T) {
	list := beside().raw(func(t *tape) { t.scroll(300, 300, 1).scroll(300, 300, 1) }).scrolls(240).actions("en")
	a := list[len(list)-1]
	if a.Type != human.Scroll || a.Count != 2 || a.DeltaY != 2 || a.ToY != 240 || len(a.Seqs) != 3 {
		t.Errorf("%+v", a)
	}
}

func TestAnElementThatOnlyTheDesktopSawHasNoPlaceInThePage(t *testing.T) {
	s := beside().raw(func(t *tape) { t.click(300, 300).on(logIn) }).event(human.RecordedEvent{Type: human.PagePress, Button: 1, X: 40, Y: 40})
	list := s.actions("en")
	a := list[len(list)-1]
	if a.Words != "Clicked button Log in" || a.Element.Bounds != (human.Bounds{}) || logIn.Bounds == (human.Bounds{}) {
		t.Errorf("%q %+v", a.Words, a.Element)
	}
}
