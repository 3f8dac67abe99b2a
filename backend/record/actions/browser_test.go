package actions_test

import (
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

func TestWhatWasDoneInABrowser(t *testing.T) {
	for name, tt := range map[string]struct {
		surf *surf
		en   []string // after the first: the page was opened
		zh   []string
	}{
		"the page that a tab is opened for": {browse(), []string{}, []string{"打开了 console.vendor.example"}},
		"a press and a click are one click": {
			browse().click(billing), []string{"Clicked link Billing"}, []string{"点击链接“Billing”"}},
		"a press alone is an action already":      {browse().press(billing), []string{"Clicked link Billing"}, nil},
		"two clicks on one element in short time": {browse().press(send).up(send, 1).press(send).up(send, 2), []string{"Double-clicked button Send"}, nil},
		"three, and the fourth begins anew": {
			browse().press(send).up(send, 1).press(send).up(send, 2).press(send).up(send, 3).press(send).up(send, 4), []string{"Triple-clicked button Send", "Clicked button Send"}, nil},
		"two clicks on what changed in between are two": {
			browse().press(send).up(send, 1).press(billing).up(billing, 2), []string{"Clicked button Send", "Clicked link Billing"}, nil},
		"the right button": {
			browse().event(human.RecordedEvent{Type: human.PagePress, Button: 3, Element: &billing}).event(human.RecordedEvent{Type: human.PageClick, Button: 3, Element: &billing}),
			[]string{"Right-clicked link Billing"}, nil},
		"a click nowhere in particular names the page": {
			browse().click(human.Element{Role: "generic"}), []string{"Clicked in Quota"}, []string{"在“Quota”中点击"}},
		"the words of a field are what stands in it": {
			browse().click(field).input(field, "K-04").pause(3000).input(field, "K-0417"), []string{"Clicked search field Search", "Typed K-0417 into Search"},
			[]string{"点击搜索框“Search”", "在“Search”中输入 K-0417"}},
		"Enter that sends is part of the typing, and so is the button it clicks": {
			browse().input(field, "K-0417").hit(field, "Enter").up(send, 0), []string{"Typed K-0417 into Search and pressed Enter"}, []string{"在“Search”中输入 K-0417，并按下回车"}},
		"typing after that is another": {
			browse().input(field, "K-0417").hit(field, "Enter").pause(900).input(field, "K-0420"), []string{"Typed K-0417 into Search and pressed Enter", "Typed K-0420 into Search"}, nil},
		"Enter in a text of many lines goes on": {
			browse().input(notes, "one").hit(notes, "Enter").input(notes, "one\ntwo"), []string{"Typed one two into Notes"}, nil},
		"but not where it sent it off": {
			browse().input(notes, "one").hit(notes, "Enter").input(notes, "two"), []string{"Typed one into Notes and pressed Enter", "Typed two into Notes"}, nil},
		"Tab leaves a field, Backspace belongs to it": {
			browse().input(field, "abc").hit(field, "Backspace").input(field, "ab").hit(field, "Tab").hit(send, "Tab"), []string{"Typed ab into Search", "Pressed Tab"}, nil},
		"Backspace that begins it, too": {browse().hit(field, "Backspace").input(field, ""), []string{"Cleared Search"}, []string{"清空“Search”"}},
		"a password is typed and no more": {
			browse().event(human.RecordedEvent{Type: human.PageInput, Element: &password, Count: 9, Hidden: "password"}), []string{"Typed into Password"}, []string{"在“Password”中输入（内容已隐藏）"}},
		"a password that is taken back": {
			browse().event(human.RecordedEvent{Type: human.PageInput, Element: &password, Count: 9, Hidden: "password", SecretID: 1}).hit(password, "a", "ctrl").
				event(human.RecordedEvent{Type: human.PageInput, Element: &password, Hidden: "password", SecretID: 2}),
			[]string{"Typed into Password", "Pressed Ctrl+A", "Cleared Password"}, []string{"在“Password”中输入（内容已隐藏）", "按下 Ctrl+A", "清空“Password”"}},
		"a field that says what stands in it when it is left": {
			browse().input(field, "K-04").press(send).input(field, "K-0417").up(send, 1), []string{"Typed K-0417 into Search", "Clicked button Send"}, nil},
		"what is hidden at first and no secret in the end": {
			browse().event(human.RecordedEvent{Type: human.PageInput, Element: &field, Text: "•••", Count: 9, Hidden: "secret"}).input(field, "202411057"),
			[]string{"Typed 202411057 into Search"}, nil},
		"each choice of a list, but not the steps to it": {
			browse().choice(country, "Germany").pause(2000).choice(country, "China").pause(300).choice(country, "Chile"),
			[]string{"Chose Germany in Country", "Chose Chile in Country"}, nil},
		"the same field in another frame is another": {
			browse().input(field, "a").frame(1).input(field, "b"), []string{"Typed a into Search", "Typed b into Search"}, nil},
		"pasting and what it left in the field are one": {
			browse().hit(field, "v", "ctrl").event(human.RecordedEvent{Type: human.PagePasted, Element: &field, Count: 6}).input(field, "K-0417"),
			[]string{"Pasted 6 characters into Search"}, []string{"在“Search”中粘贴了 6 个字符"}},
		"copying and cutting": {
			browse().hit(plan, "c", "ctrl").event(human.RecordedEvent{Type: human.PageCopied, Element: &plan, Count: 10, Browsing: human.Browsing{Values: []string{"copy"}}}).pause(900).
				event(human.RecordedEvent{Type: human.PageCopied, Element: &field, Count: 4, Browsing: human.Browsing{Values: []string{"cut"}}}).input(field, ""),
			[]string{"Copied 10 characters in Quota", "Cut 4 characters in Quota"}, []string{"在“Quota”中复制了 10 个字符", "在“Quota”中剪切了 4 个字符"}},
		"keys that copied nothing are keys": {browse().hit(plan, "c", "ctrl"), []string{"Pressed Ctrl+C"}, nil},
		"keys pressed again are counted":    {browse().hit(plan, "Tab").hit(plan, "Tab").hit(plan, "Shift"), []string{"Pressed Tab 2 times"}, nil},
		"a letter is a command of the page, three are a text": {
			browse().hit(plan, "j").hit(plan, "j").pause(2000).hit(plan, "o").hit(plan, "T", "shift").hit(plan, "h").hit(plan, "e").hit(plan, "e").hit(plan, "r"),
			[]string{"Pressed J 2 times", "Typed oTheer into Scale 2026"}, nil},
		"what was typed before a pause and after it": {
			browse().input(field, "a").raw(func(t *tape) {
				t.add(human.RecordedEvent{Type: human.RecordingHeld}).add(human.RecordedEvent{Type: human.RecordingGoesOn})
			}).input(field, "ab"),
			[]string{"Typed a into Search", "Recording paused", "Typed ab into Search"}, nil},
		"a value that the desktop read is none of the page's": {
			browse().input(field, "a").raw(func(t *tape) { t.value("b") }), []string{"Typed a into Search"}, nil},
		"two letters are two commands": {browse().hit(plan, "g").hit(plan, "i"), []string{"Pressed G", "Pressed I"}, nil},
		"a box checked and unchecked by a key": {
			browse().choice(terms, "checked").choice(terms, "unchecked"), []string{"Checked Terms", "Unchecked Terms"}, nil},
		"a page that is loaded begins at its top": {
			browse().scrolls(500).goes("address", "https://b.example/", "B").scrolls(200), []string{"Scrolled down in Quota", "Went to B (b.example)", "Scrolled down in B"}, nil},
		"an option of a list, and the press that opened it": {
			browse().press(country).pause(4000).choice(country, "Germany"), []string{"Chose Germany in Country"}, []string{"在“Country”中选择“Germany”"}},
		"chosen by keys": {
			browse().hit(country, "ArrowDown").choice(country, "France").hit(country, "ArrowDown").choice(country, "Germany"), []string{"Chose Germany in Country"}, nil},
		"several options": {
			browse().click(country).choice(country, "France").choice(country, "France", "Germany"), []string{"Chose France, Germany in Country"}, nil},
		"none any more": {browse().choice(country), []string{"Changed Country"}, []string{"更改了“Country”"}},
		"a date, and a slider": {
			browse().choice(born, "2026-11-21").press(volume).event(human.RecordedEvent{Type: human.PageDrag, Element: &volume, X: 40, Y: 40, Browsing: human.Browsing{Target: &volume, ToX: 90, ToY: 40}}).choice(volume, "40"),
			[]string{"Chose 2026-11-21 in Birthday", "Chose 40 in Volume"}, nil},
		"a box": {browse().press(terms).up(terms, 1).choice(terms, "checked"), []string{"Checked Terms"}, []string{"勾选“Terms”"}},
		"a box whose click says it already": {
			browse().press(terms).up(terms, 1, "unchecked").choice(terms, "unchecked"), []string{"Unchecked Terms"}, []string{"取消勾选“Terms”"}},
		"a click on the label of a box is one check": {
			browse().press(label).up(label, 1).up(terms, 1, "checked").choice(terms, "checked"), []string{"Checked Terms"}, nil},
		"a box by the space key": {
			browse().hit(terms, " ").up(terms, 0).choice(terms, "checked"), []string{"Checked Terms"}, nil},
		"a box checked and unchecked": {
			browse().press(terms).up(terms, 1).choice(terms, "checked").press(terms).up(terms, 2).choice(terms, "unchecked"), []string{"Checked Terms", "Unchecked Terms"}, nil},
		"a radio button": {browse().press(express).up(express, 1).choice(express, "checked"), []string{"Chose Express"}, []string{"选择了“Express”"}},
		"a key on a button, which may do something": {browse().hit(send, "Enter"), []string{"Pressed Enter on button Send"}, []string{"在按钮“Send”上按下 回车"}},
		"a key on the page":                         {browse().hit(plan, " "), []string{"Pressed Space"}, nil},
		"what the browser filled in": {
			browse().event(human.RecordedEvent{Type: human.PageInput, Element: &field, Text: "mei", Count: 3, Browsing: human.Browsing{Values: []string{"filled"}}}), []string{"Filled mei into Search"}, []string{"在“Search”中自动填入 mei"}},
		"and a person typed on": {
			browse().event(human.RecordedEvent{Type: human.PageInput, Element: &field, Text: "mei", Count: 3, Browsing: human.Browsing{Values: []string{"filled"}}}).input(field, "mei.lin"), []string{"Typed mei.lin into Search"}, nil},
		"a click by the Enter key": {browse().hit(send, "Enter").up(send, 0), []string{"Clicked button Send"}, nil},
		"a scroll with short rests, and one back": {
			browse().scrolls(200).pause(900).scrolls(500).scrolls(100), []string{"Scrolled down in Quota", "Scrolled up in Quota"}, []string{"在“Quota”中向下滚动", "在“Quota”中向上滚动"}},
		"a drag and the press that began it": {
			browse().press(chart).event(human.RecordedEvent{Type: human.PageDrag, Element: &chart, X: 40, Y: 40, Browsing: human.Browsing{Target: &plan, ToX: 90, ToY: 90}}),
			[]string{"Dragged picture November to heading Scale 2026"}, nil},
		"the pointer that rested": {
			browse().event(human.RecordedEvent{Type: human.PageHover, Element: &chart}), []string{"Hovered over picture November"}, []string{"悬停在图片“November”"}},
		"and then clicked": {
			browse().event(human.RecordedEvent{Type: human.PageHover, Element: &chart}).click(chart), []string{"Clicked picture November"}, nil},
		"a player by its own controls": {
			browse().media("play").pause(3000).media("seek", "75.5").pause(3000).media("volume", "40").pause(3000).click(film).media("pause"),
			[]string{"Played video Interview", "Moved video Interview to 1:15", "Set the volume of video Interview to 40%", "Paused video Interview"},
			[]string{"播放视频“Interview”", "将视频“Interview”跳转到 1:15", "将视频“Interview”的音量设为 40%", "暂停视频“Interview”"}},
		"what a page said of it, and typing that goes on meanwhile": {
			browse().click(send).pause(400).says("Sent to 3 people").input(field, "K-04").says("2 results").input(field, "K-0417"),
			[]string{"Clicked button Send", `The page showed "Sent to 3 people"`, "Typed K-0417 into Search", `The page showed "2 results"`}, []string{"点击按钮“Send”", "页面显示“Sent to 3 people”", "在“Search”中输入 K-0417", "页面显示“2 results”"}},
		"a switch that the page draws is one action": {
			browse().click(track).choice(human.Element{Role: "switch", Name: "Mail", Tag: "span", Selectors: track.Selectors}, "checked").says("Mail updated"),
			[]string{"Checked Mail", `The page showed "Mail updated"`}, nil},
		"a list that was opened, and what was chosen in it, are no messages": {
			browse().click(city).says("Leeds Porto Lyon").click(cork).says("Cork").click(send).says("Saved"), []string{"Clicked list City", "Clicked Cork", "Clicked button Send", `The page showed "Saved"`}, nil},
		"what a page said with nothing done before it, or long after": {browse().says("New mail").click(send).pause(60_000).says("New mail"), []string{"Clicked button Send"}, nil},
		"what a page says that a form brought, and one that a link did": {
			browse().click(send).goes("form", "https://b.example/", "Thanks").says("Order 1042 is placed", "loaded").click(billing).goes("link", "https://b.example/c", "Billing").says("We use cookies", "loaded"),
			[]string{"Clicked button Send", "Went to Thanks (b.example)", `The page showed "Order 1042 is placed"`, "Clicked link Billing", "Went to Billing (b.example)"}, nil},
		"dialogs": {
			browse().click(send).dialog("confirm", "Delete it?", "", true).click(send).dialog("confirm", "Delete it?", "", false).dialog("prompt", "Your name?", "Mei", true).dialog("beforeunload", "", "", true).dialog("alert", "", "", true),
			[]string{"Clicked button Send", `Answered OK to "Delete it?"`, "Clicked button Send", `Answered Cancel to "Delete it?"`, `Answered Mei to "Your name?"`, "Left the page although it asked to stay", "Answered OK to a dialog"},
			[]string{"点击按钮“Send”", "对“Delete it?”选择了“确定”", "点击按钮“Send”", "对“Delete it?”选择了“取消”", "对“Your name?”回答 Mei", "确认离开页面", "对对话框选择了“确定”"}},
		"files": {
			browse().click(cv).pause(9000).file(human.PageUpload, &cv, "cv.pdf", "").file(human.PageDownload, nil, "prices-2026.csv", "completed").file(human.PageDownload, nil, "big.iso", "canceled"),
			[]string{"Uploaded cv.pdf to CV", "Downloaded prices-2026.csv", "Canceled the download of big.iso"}, []string{"向“CV”上传 cv.pdf", "下载了 prices-2026.csv", "取消下载 big.iso"}},
		"several files": {
			browse().event(human.RecordedEvent{Type: human.PageUpload, Browsing: human.Browsing{Transfers: []human.Transfer{{Name: "a.pdf"}, {Name: "b.pdf"}}}}), []string{"Uploaded a.pdf and 1 more"}, []string{"上传了 a.pdf 等 2 个文件"}},
		"what was picked": {browse().pick("plan_name", "Scale 2026", plan), []string{"Picked plan_name"}, []string{"选取了 plan_name"}},
		"a link": {
			browse().click(billing).goes("link", "https://vendor.example/quota", "Quota"), []string{"Clicked link Billing", "Went to Quota (vendor.example)"},
			[]string{"点击链接“Billing”", "前往 Quota (vendor.example)"}},
		"other ways to go": {
			browse().goes("reload", quotaURL, "Quota").pause(9000).goes("back_forward", "https://a.example/", "A").pause(9000).goes("redirect", "https://b.example/", "https://b.example/").pause(9000).goes("fragment", "https://b.example/#prices", "B"),
			[]string{"Reloaded Quota (console.vendor.example)", "Went back or forward to A (a.example)", "Was redirected to b.example", "Went to B (b.example#prices)"}, nil},
		"an address that leads nowhere": {
			browse().in("t1", "", "https://gone.example/", "").event(human.RecordedEvent{Type: human.PageNavigated, Browsing: human.Browsing{Navigation: &human.Navigation{Kind: "address", Failed: "net::ERR_NAME_NOT_RESOLVED"}}}),
			[]string{"Could not open gone.example: net::ERR_NAME_NOT_RESOLVED"}, []string{"无法打开 gone.example：net::ERR_NAME_NOT_RESOLVED"}},
		"a status that is an error": {
			browse().in("t1", "", "https://a.example/x", "Nothing here").event(human.RecordedEvent{Type: human.PageNavigated, Browsing: human.Browsing{Navigation: &human.Navigation{Kind: "address", Status: 404}}}),
			[]string{"Went to Nothing here (a.example): status 404"}, nil},
		"an address that the page changes again and again": {
			browse().click(billing).goes("history", "https://a.example/1", "A").goes("history", "https://a.example/2", "A").goes("history", "https://a.example/3", "B"),
			[]string{"Clicked link Billing", "Went to B (a.example)"}, nil},
		"an address that stays as it is":             {browse().goes("history", quotaURL, "Quota"), []string{}, nil},
		"a page that tidies its own address at once": {browse().click(billing).goes("link", "https://a.example/", "A").goes("history", "https://a.example/?x=1", "A"), []string{"Clicked link Billing", "Went to A (a.example)"}, nil},
		"a title that a page finds later": {
			browse().click(billing).goes("link", "https://a.example/", "").in("t1", "", "https://a.example/", "Prices").scrolls(90),
			[]string{"Clicked link Billing", "Went to Prices (a.example)", "Scrolled down in Prices"}, nil},
		"a popup": {
			browse().click(billing).in("t2", "t1", "about:blank", "").event(human.RecordedEvent{Type: human.PageOpened}).event(human.RecordedEvent{Type: human.PageShown}).goes("script", "https://vendor.example/prices", "Price list").
				click(send).event(human.RecordedEvent{Type: human.PageClosed}).in("t1", "", quotaURL, "Quota").event(human.RecordedEvent{Type: human.PageShown}),
			[]string{"Clicked link Billing", "Opened popup Price list", "Clicked button Send", "Closed popup Price list"},
			[]string{"点击链接“Billing”", "打开了弹窗“Price list”", "点击按钮“Send”", "关闭了弹窗“Price list”"}},
		"a popup that is reported twice": {
			browse().click(billing).in("t2", "t1", "https://vendor.example/prices", "").event(human.RecordedEvent{Type: human.PageOpened}).goes("link", "https://vendor.example/prices", "").goes("script", "https://vendor.example/prices", "Price list"),
			[]string{"Clicked link Billing", "Opened popup Price list"}, nil},
		"a tab of one's own, and back": {
			browse().in("t2", "", "about:blank", "").event(human.RecordedEvent{Type: human.PageOpened}).event(human.RecordedEvent{Type: human.PageShown}).pause(30_000).goes("address", "https://b.example/", "B").
				in("t1", "", quotaURL, "Quota").event(human.RecordedEvent{Type: human.PageShown}),
			[]string{"Opened a tab", "Went to B (b.example)", "Switched to tab Quota"}, []string{"打开了一个标签页", "前往 B (b.example)", "切换到标签页“Quota”"}},
		"a tab in the background, and a look at it later": {
			browse().in("t2", "t1", "https://b.example/", "B").event(human.RecordedEvent{Type: human.PageOpened}).in("t1", "", quotaURL, "Quota").click(send).pause(5000).
				in("t2", "t1", "https://b.example/", "B").event(human.RecordedEvent{Type: human.PageShown}), []string{"Opened popup B", "Clicked button Send", "Switched to tab B"}, nil},
		"a popup that is left for the page it came from": {
			browse().in("t2", "t1", "https://b.example/", "B").event(human.RecordedEvent{Type: human.PageOpened}).pause(5000).in("t1", "", quotaURL, "Quota").event(human.RecordedEvent{Type: human.PageShown}),
			[]string{"Opened popup B", "Switched to tab Quota"}, nil},
		"another window and back is no other tab": {browse().pause(9000).event(human.RecordedEvent{Type: human.PageShown}), []string{}, nil},
		"a page whose loading was not heard, and then an address": {
			browse().in("t2", "", "https://b.example/", "B").event(human.RecordedEvent{Type: human.PageOpened}).pause(3000).goes("address", "https://c.example/", "C"), []string{"Opened b.example", "Went to C (c.example)"}, nil},
		"tabs that were there when the browser was joined": {
			browse().event(human.RecordedEvent{Type: human.BrowserChanged, Text: "attached"}).in("t7", "", "https://mail.example/", "Mail").event(human.RecordedEvent{Type: human.PageOpened}).event(human.RecordedEvent{Type: human.PageShown}).click(send),
			[]string{"Clicked button Send"}, nil},
		"a frame that the page fills is nothing": {browse().frame(0).goes("script", "https://ads.example/", ""), []string{}, nil},
		"what only the page did is nothing":      {browse().event(human.RecordedEvent{Type: human.PageConsole}).event(human.RecordedEvent{Type: human.PageRequest}).event(human.RecordedEvent{Type: human.PageDOM}), []string{}, nil},
		"a title that would turn the line round": {browse().goes("address", "https://b.example/", "a\u202eb\nc"), []string{"Went to a⟨U+202E⟩b c (b.example)"}, nil},
		"events that say nothing of their page": {
			&surf{tape: record().add(human.RecordedEvent{Type: human.PagePress, Button: 1}).add(human.RecordedEvent{Type: human.PageNavigated}).add(human.RecordedEvent{Type: human.PageDialog})},
			[]string{"Went to another page"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words(tt.surf.actions("en")); len(got) == 0 || !slices.Equal(got[1:], tt.en) {
				t.Errorf("English\n got %q\nwant %q", got, tt.en)
			}
			if tt.zh == nil {
				return
			}
			got := words(tt.surf.actions("zh-CN"))
			if len(tt.zh) < len(got) {
				got = got[1:]
			}
			if !slices.Equal(got, tt.zh) {
				t.Errorf("Chinese\n got %q\nwant %q", got, tt.zh)
			}
		})
	}
}

func TestPicksAreTheLastOfEachField(t *testing.T) {
	list := browse().pick("plan_name", "Scale", plan).pick("price", "1", plan).pick("plan_name", "Scale 2026", plan).pick("price", "2", plan).actions("en")
	list = actions.Apply(list, human.Edits{Cuts: []string{list[4].ID}}, "en")
	var got []string
	for _, a := range actions.Picks(list) {
		got = append(got, a.Pick.Field+" "+a.Pick.Text+" "+a.After)
	}
	if want := []string{"plan_name Scale 2026 crop-plan_name", "price 1 crop-price"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAPageThatTidiesItsAddressIsStillTheOneThatWasAskedFor(t *testing.T) {
	list := browse().goes("address", "https://b.example/", "B").goes("history", "https://b.example/#/home", "B").click(send).goes("history", "https://b.example/1", "B").goes("history", "https://b.example/2", "B").actions("en")
	if len(list) != 4 || list[1].Page.URL != "https://b.example/" || list[3].Page.URL != "https://b.example/2" {
		t.Errorf("%q at %s and %s", words(list), list[1].Page.URL, list[len(list)-1].Page.URL)
	}
}

func TestAPageHasItsOwnPictures(t *testing.T) {
	s := browse()
	shot := func(id, when string, cause uint64) {
		s.event(human.RecordedEvent{Type: human.PictureTaken, Picture: id, When: when, CausedBy: cause})
	}
	s.press(billing)
	pressed := s.last()
	shot("before", "before", pressed)
	s.up(billing, 1)
	s.in("t2", "", "https://b.example/", "B")
	shot("elsewhere", "after", 0)
	s.in("t1", "", quotaURL, "Quota")
	s.raw(func(t *tape) { t.picture("desktop", "after", 0) })
	s.input(field, "x")
	s.in("t2", "", "https://b.example/", "B")
	shot("elsewhere", "after", 0)
	s.in("t1", "", quotaURL, "Quota")
	shot("near", "typing", 0)
	shot("after", "after", pressed)
	s.raw(func(t *tape) { t.picture("desktop", "after", pressed) })
	s.scrolls(90)
	shot("later", "scroll", 0)
	var got []string
	for _, a := range s.actions("en")[1:] {
		got = append(got, a.Before+" "+a.After)
	}
	if want := []string{"before after", " near", " later"}; !slices.Equal(got, want) {
		t.Errorf("pictures %q, want %q", got, want)
	}
}

// Where an element lies is known only with the click: to ask at the press would hold the page up.
func TestAClickKnowsWhereItsElementLies(t *testing.T) {
	s := browse()
	s.event(human.RecordedEvent{Type: human.PagePress, Button: 1, X: 20, Y: 30, Element: &billing})
	placed := billing
	placed.Bounds = human.Bounds{X: 10, Y: 20, W: 80, H: 24}
	s.event(human.RecordedEvent{Type: human.PageClick, Button: 1, Count: 1, X: 20, Y: 30, Element: &placed})
	list := s.actions("en")
	if a := list[len(list)-1]; a.Type != human.Click || a.Element.Bounds != placed.Bounds || billing.Bounds != (human.Bounds{}) {
		t.Errorf("the click's element is %+v", a.Element)
	}
}
