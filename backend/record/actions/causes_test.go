package actions_test

import (
	"testing"

	"deskbell/backend/human"
)

func TestWhatLedToWhat(t *testing.T) {
	popup := func(s *surf) *surf {
		return s.in("t2", "t1", "about:blank", "").event(human.RecordedEvent{Type: human.PageOpened})
	}
	for name, tt := range map[string]struct {
		surf  *surf
		cause string // words of what led to the last action; "": nothing
	}{
		"a link that was clicked":                     {browse().click(billing).goes("link", "https://a.example/", "A"), "Clicked link Billing"},
		"a slow one":                                  {browse().click(billing).pause(8000).goes("link", "https://a.example/", "A"), "Clicked link Billing"},
		"one that nobody clicked":                     {browse().click(billing).pause(30_000).goes("link", "https://a.example/", "A"), ""},
		"a form that Enter sent":                      {browse().input(field, "x").hit(field, "Enter").up(send, 0).goes("form", "https://a.example/", "A"), "Typed x into Search and pressed Enter"},
		"a script after a check":                      {browse().click(billing).pause(900).press(terms).up(terms, 1, "checked").goes("script", "https://a.example/", "A"), "Checked Terms"},
		"a script by itself":                          {browse().goes("script", "https://a.example/", "A"), ""},
		"a script long after a click":                 {browse().click(billing).pause(9000).goes("script", "https://a.example/", "A"), ""},
		"a route of an application":                   {browse().click(billing).goes("history", "https://a.example/", "A"), "Clicked link Billing"},
		"a redirect":                                  {browse().click(billing).goes("link", "https://a.example/", "A").goes("redirect", "https://b.example/", "B"), ""},
		"an address":                                  {browse().click(billing).goes("address", "https://a.example/", "A"), ""},
		"a key that reloads":                          {browse().hit(plan, "F5").goes("reload", quotaURL, "Quota"), "Pressed F5"},
		"scrolling is no cause of a link":             {browse().click(billing).scrolls(90).goes("link", "https://a.example/", "A"), "Clicked link Billing"},
		"a click in another tab is none":              {browse().click(billing).in("t2", "", "https://c.example/", "C").goes("script", "https://a.example/", "A"), ""},
		"a click in the tab that opened it":           {popup(browse().click(billing)), "Clicked link Billing"},
		"what the browser says led to it":             {browse().click(billing).raw(func(t *tape) { t.wait(60_000) }).event(human.RecordedEvent{Type: human.PageDownload, CausedBy: 6}), "Clicked link Billing"},
		"a dialog that waited long":                   {browse().click(send).pause(60_000).dialog("confirm", "Delete it?", "", true), "Clicked button Send"},
		"where an answer led":                         {browse().click(send).dialog("confirm", "Leave?", "", true).goes("script", "https://a.example/", "A"), `Answered OK to "Leave?"`},
		"a download":                                  {browse().click(billing).file(human.PageDownload, nil, "a.csv", "completed"), "Clicked link Billing"},
		"files chosen by a button":                    {browse().click(send).pause(20_000).file(human.PageUpload, &cv, "cv.pdf", ""), "Clicked button Send"},
		"a popup that its own button closes":          {popup(browse()).goes("script", "https://p.example/", "P").click(send).event(human.RecordedEvent{Type: human.PageClosed}), "Clicked button Send"},
		"a double click":                              {browse().click(send).press(send).up(send, 2).goes("link", "https://a.example/", "A"), "Double-clicked button Send"},
		"what a page said before the next click":      {browse().click(billing).pause(900).click(send).raw(func(t *tape) { t.at -= 700e6 }).says("Saved"), "Clicked link Billing"},
		"a click that the desktop reports later":      {browse().click(billing).goes("link", "https://a.example/", "A").raw(func(t *tape) { t.at -= 50e6; t.click(300, 300) }), "Clicked link Billing"},
		"a click that the desktop reported before it": {browse().raw(func(t *tape) { t.click(300, 300) }).click(billing).goes("link", "https://a.example/", "A"), "Clicked link Billing"},
	} {
		t.Run(name, func(t *testing.T) {
			list := tt.surf.actions("en")
			last := list[len(list)-1]
			got := ""
			for _, a := range list {
				if last.CausedBy == a.ID {
					got = a.Words
				}
			}
			if got != tt.cause || (got == "") != (last.CausedBy == "") {
				t.Errorf("%q is caused by %s %q, want %q; all: %q", last.Words, last.CausedBy, got, tt.cause, words(list))
			}
		})
	}
}
