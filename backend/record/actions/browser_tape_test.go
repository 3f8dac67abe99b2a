package actions_test

import (
	"deskbell/backend/human"
)

// A surf is a tape of what is done in a browser. It begins on a page of a tab that was opened a while ago.
type surf struct {
	*tape
	page human.WebPage
}

const quotaURL = "https://console.vendor.example/billing/quota"

var (
	billing = human.Element{Role: "link", Name: "Billing", Tag: "a", Selectors: [][]string{{`aria/Billing[role="link"]`}, {"#billing"}}}
	country = human.Element{Role: "combobox", Name: "Country", Tag: "select", Selectors: [][]string{{"#country"}}}
	terms   = human.Element{Role: "checkbox", Name: "Terms", Tag: "input/checkbox", Selectors: [][]string{{"#terms"}}}
	express = human.Element{Role: "radio", Name: "Express", Tag: "input/radio", Selectors: [][]string{{"#express"}}}
	label   = human.Element{Role: "generic", Tag: "label", Name: "Terms", Selectors: [][]string{{"form > label"}}}
	field   = human.Element{Role: "searchbox", Name: "Search", Tag: "input/search", Selectors: [][]string{{"aria/Search"}, {"#q"}}}
	born    = human.Element{Role: "textbox", Name: "Birthday", Tag: "input/date", Selectors: [][]string{{"#born"}}}
	volume  = human.Element{Role: "slider", Name: "Volume", Tag: "input/range", Selectors: [][]string{{"#volume"}}}
	notes   = human.Element{Role: "textbox", Name: "Notes", Tag: "textarea", Selectors: [][]string{{"#notes"}}}
	city    = human.Element{Role: "combobox", Name: "City", Tag: "input/text", Selectors: [][]string{{"#city"}}}
	track   = human.Element{Role: "generic", Tag: "span", Selectors: [][]string{{".track"}}}
	cork    = human.Element{Role: "generic", Name: "Cork", Tag: "div", Selectors: [][]string{{"#cork"}}}
	send    = human.Element{Role: "button", Name: "Send", Tag: "button", Selectors: [][]string{{"#send"}}}
	chart   = human.Element{Role: "img", Name: "November", Tag: "rect", Selectors: [][]string{{"#nov"}}}
	plan    = human.Element{Role: "heading", Name: "Scale 2026", Tag: "h2", Selectors: [][]string{{"h2"}}}
	cv      = human.Element{Role: "button", Name: "CV", Tag: "input/file", Selectors: [][]string{{"#cv"}}}
)

// browse begins in a tab that was opened for a page, which is its first action.
func browse() *surf {
	s := &surf{tape: record(), page: human.WebPage{Target: "t1", URL: "about:blank"}}
	s.add(human.RecordedEvent{Source: human.BrowserSource, Type: human.BrowserChanged, Text: "opened", App: &human.App{Name: "Chromium", PID: 70, Exe: "chromium"}})
	s.event(human.RecordedEvent{Type: human.PageOpened})
	s.event(human.RecordedEvent{Type: human.PageShown})
	s.goes("address", quotaURL, "Quota")
	s.wait(20_000)
	return s
}

func (s *surf) event(ev human.RecordedEvent) *surf {
	page := s.page
	ev.Source, ev.Page = human.BrowserSource, &page
	s.add(ev)
	return s
}

func (s *surf) pause(ms int) *surf { s.wait(ms); return s }

func (s *surf) in(target, opener, url, title string) *surf {
	s.page = human.WebPage{Target: target, Opener: opener, URL: url, Title: title}
	return s
}

func (s *surf) frame(path ...int) *surf { s.page.Frame = path; return s }

func (s *surf) goes(kind, url, title string) *surf {
	s.page.URL, s.page.Title = url, title
	return s.event(human.RecordedEvent{Type: human.PageNavigated, Browsing: human.Browsing{Navigation: &human.Navigation{Kind: kind}}})
}

func (s *surf) press(e human.Element) *surf {
	return s.event(human.RecordedEvent{Type: human.PagePress, Element: &e, Button: 1, X: 40, Y: 40})
}

func (s *surf) up(e human.Element, count int, values ...string) *surf {
	ev := human.RecordedEvent{Type: human.PageClick, Element: &e, Button: 1, Count: count, Browsing: human.Browsing{Values: values}}
	if count > 0 {
		ev.X, ev.Y = 40, 40
	}
	return s.event(ev)
}

func (s *surf) click(e human.Element) *surf { return s.press(e).up(e, 1) }

func (s *surf) input(e human.Element, text string) *surf {
	return s.event(human.RecordedEvent{Type: human.PageInput, Element: &e, Text: text, Count: len([]rune(text))})
}

func (s *surf) choice(e human.Element, values ...string) *surf {
	return s.event(human.RecordedEvent{Type: human.PageChoice, Element: &e, Browsing: human.Browsing{Values: values}})
}

func (s *surf) hit(e human.Element, key string, mods ...string) *surf {
	return s.event(human.RecordedEvent{Type: human.PageKey, Element: &e, Key: key, Modifiers: mods})
}

func (s *surf) scrolls(y int) *surf {
	return s.event(human.RecordedEvent{Type: human.PageScrolled, Browsing: human.Browsing{ToY: y}})
}

var film = human.Element{Role: "Video", Name: "Interview", Tag: "video", Selectors: [][]string{{"#film"}}}

func (s *surf) media(values ...string) *surf {
	return s.event(human.RecordedEvent{Type: human.PageMedia, Element: &film, Browsing: human.Browsing{Values: values}})
}

// says has the page show a message.
func (s *surf) says(text string, values ...string) *surf {
	return s.event(human.RecordedEvent{Type: human.PageMessage, Text: text, Element: &human.Element{Role: "status", Tag: "p"}, Browsing: human.Browsing{Values: values}})
}

func (s *surf) dialog(kind, message, input string, accepted bool) *surf {
	return s.event(human.RecordedEvent{Type: human.PageDialog, Browsing: human.Browsing{Dialog: &human.Dialog{Kind: kind, Message: message, Input: input, Accepted: accepted}}})
}

func (s *surf) pick(name, text string, e human.Element) *surf {
	return s.event(human.RecordedEvent{Type: human.PagePicked, Element: &e, Picture: "crop-" + name, Browsing: human.Browsing{Pick: &human.Pick{Field: name, Take: human.TakeElement, Text: text}}})
}

func (s *surf) file(kind human.RecordedType, e *human.Element, name, state string) *surf {
	return s.event(human.RecordedEvent{Type: kind, Element: e, Browsing: human.Browsing{Transfers: []human.Transfer{{Name: name, State: state, Size: 18_000}}}})
}

// asks has the page send a request, which is answered after some ms.
func (s *surf) asks(method, url, kind string, status, ms int) *surf {
	s.wait(ms)
	return s.event(human.RecordedEvent{Type: human.PageRequest, Browsing: human.Browsing{Request: &human.WebRequest{Method: method, URL: url, Kind: kind, Status: status, Took: int64(ms) * 1e6}}})
}

// raw are events of the desktop in between.
func (s *surf) raw(f func(t *tape)) *surf { f(s.tape); return s }
