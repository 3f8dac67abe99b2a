package actions_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

func TestWhatWasDoneAndHowItIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		tape *tape
		en   []string
		zh   []string
	}{
		"a press and a release are a click on what was under it": {
			signer().click(20, 20).on(logIn), []string{"Clicked button Log in"}, []string{"点击按钮“Log in”"}},
		"a click on nothing that has a name is a click in the window": {
			signer().click(20, 20), []string{"Clicked in Contracts - Signer"}, []string{"在“Contracts - Signer”中点击"}},
		"a click of which nothing is known is still an action": {
			record().click(20, 20), []string{"Clicked"}, []string{"点击"}},
		"a press still held is an action already": {
			signer().press(1, 20, 20).on(logIn), []string{"Clicked button Log in"}, nil},
		"a release without its press is nothing": {signer().release(1, 20, 20), []string{}, nil},
		"nor is a second one": {
			signer().click(20, 20).release(1, 300, 300), []string{"Clicked in Contracts - Signer"}, nil},
		"plain moves are nothing": {signer().move(1, 1).move(300, 300), []string{}, nil},
		"a trembling hand still clicks": {
			signer().press(1, 20, 20).move(22, 21).move(23, 20).release(1, 22, 20).on(logIn), []string{"Clicked button Log in"}, nil},
		"two clicks in half a second are a double click": {
			signer().click(20, 20).on(contracts).wait(400).click(21, 20), []string{"Double-clicked list Contracts"}, []string{"双击列表“Contracts”"}},
		"two clicks with more time between are two": {
			signer().click(20, 20).wait(500).click(20, 20).on(logIn), []string{"Clicked in Contracts - Signer", "Clicked button Log in"}, nil},
		"two clicks apart are two": {
			signer().click(20, 20).click(30, 20), []string{"Clicked in Contracts - Signer", "Clicked in Contracts - Signer"}, nil},
		"two clicks of different buttons are two": {
			signer().click(20, 20).press(3, 20, 20).release(3, 20, 20), []string{"Clicked in Contracts - Signer", "Right-clicked in Contracts - Signer"}, nil},
		"two clicks with a key between are two": {
			signer().click(20, 20).key("Escape").click(20, 20), []string{"Clicked in Contracts - Signer", "Pressed Escape", "Clicked in Contracts - Signer"}, nil},
		"three are a triple click": {
			signer().click(20, 20).click(20, 20).click(20, 20).on(user), []string{"Triple-clicked in Contracts - Signer"}, nil},
		"the fourth begins anew": {
			signer().click(20, 20).on(user).click(20, 20).click(20, 20).click(20, 20), []string{"Triple-clicked field User", "Clicked in Contracts - Signer"}, nil},
		"the right button, and a click with keys held": {
			signer().press(3, 20, 20).release(3, 20, 20).on(contracts).wait(600).click(20, 20, "ctrl", "shift").on(contracts),
			[]string{"Right-clicked list Contracts", "Clicked list Contracts with Ctrl+Shift"}, []string{"右键点击列表“Contracts”", "按住 Ctrl+Shift 点击列表“Contracts”"}},
		"a press that moves and then ends is a drag to where it ended": {
			signer().press(1, 20, 20).on(logIn).move(60, 60).release(1, 200, 200).caused(5, contracts),
			[]string{"Dragged button Log in to list Contracts"}, []string{"将按钮“Log in”拖到列表“Contracts”"}},
		"a drag without a move between is one, too": {
			signer().press(1, 20, 20).release(1, 200, 200).on(contracts), []string{"Dragged in list Contracts"}, nil},
		"a double click that moves is a click and a drag": {
			signer().click(20, 20).on(user).press(1, 20, 20).on(contracts).move(90, 20).release(1, 90, 20),
			[]string{"Clicked field User", "Dragged in list Contracts"}, nil},
		"notches without a pause are one scroll": {
			signer().scroll(150, 150, 1).on(contracts).wait(300).scroll(151, 150, 1).scroll(150, 150, 2), []string{"Scrolled down in list Contracts"}, []string{"在列表“Contracts”中向下滚动"}},
		"a pause ends a scroll": {
			signer().scroll(150, 150, -1).wait(400).scroll(150, 150, -1), []string{"Scrolled up in Contracts - Signer", "Scrolled up in Contracts - Signer"}, nil},
		"another element ends a scroll": {
			signer().scroll(150, 150, 1).on(contracts).scroll(600, 150, 1), []string{"Scrolled down in list Contracts", "Scrolled down in Contracts - Signer"}, nil},
		"scrolling back is another scroll": {
			signer().scroll(150, 150, 1).scroll(150, 150, -1), []string{"Scrolled down in Contracts - Signer", "Scrolled up in Contracts - Signer"}, nil},
		"typed text stands in the words of the operator": {
			signer().focus(search).types("K-0417"), []string{"Typed K-0417 into Search"}, []string{"在“Search”中输入 K-0417"}},
		"typing is an action before its text is known": {
			signer().focus(user).strokes(9), []string{"Typed 9 characters into User"}, []string{"在“User”中输入 9 个字符"}},
		"typing a password is an action without its text": {
			signer().focus(password).hidden(8, "password"), []string{"Typed into Password"}, []string{"在“Password”中输入（内容已隐藏）"}},
		"typing a password is not counted while it lasts either": {
			signer().focus(password).strokes(8), []string{"Typed into Password"}, nil},
		"typing that nobody knows the place of": {
			record().hidden(3, "unknown_field"), []string{"Typed something hidden"}, []string{"输入（内容已隐藏）"}},
		"typing without a field is typing into the window": {
			signer().types("ls"), []string{"Typed ls into Contracts - Signer"}, nil},
		"Shift does not end typing, and Backspace belongs to it": {
			signer().focus(user).strokes(2).key("Shift").strokes(1).key("Backspace").strokes(1).text("mei", 3, 13), []string{"Typed mei into User"}, nil},
		"Tab leaves the field it was typed in": {
			signer().focus(user).types("mei").focus(password).hidden(4, "password"), []string{"Typed mei into User", "Typed into Password"}, nil},
		"Tab after typing belongs to it, two more are keys": {
			signer().focus(user).strokes(3).key("Tab").text("mei", 3, 7).key("Tab").key("Tab"), []string{"Typed mei into User", "Pressed Tab 2 times"}, nil},
		"also when its text came first": {
			signer().focus(user).types("mei").key("Tab").hidden(3, "password").key("Tab").click(20, 20).key("Tab"), []string{"Typed mei into User", "Typed into User", "Clicked in Contracts - Signer", "Pressed Tab"}, nil},
		"a text that comes late parts the keys before from those after": {
			signer().focus(user).strokes(3).focus(search).strokes(2).text("mei", 3, 7).text("K-", 10, 12), []string{"Typed mei into User", "Typed K- into Search"}, nil},
		"what the recorder saw as one run is one action": {
			signer().focus(user).strokes(2).key("Tab").strokes(1).text("mei", 3, 9), []string{"Typed mei into User"}, nil},
		"a text whose keys were lost is typing": {
			signer().focus(user).text("mei", 0, 0), []string{"Typed mei into User"}, nil},
		"Enter after typing is a key of its own": {
			signer().focus(search).types("x1").key("Enter"), []string{"Typed x1 into Search", "Pressed Enter"}, []string{"在“Search”中输入 x1", "按下 回车"}},
		"keys pressed again are counted": {
			signer().key("Tab").key("Tab").key("Tab").wait(2000).key("Tab"), []string{"Pressed Tab 3 times", "Pressed Tab"}, []string{"按下 Tab 3 次", "按下 Tab"}},
		"a shortcut names its modifiers": {
			signer().down("Control").key("s", "ctrl").key("S", "ctrl", "shift").key("ArrowLeft", "alt"),
			[]string{"Pressed Ctrl+S", "Pressed Ctrl+Shift+S", "Pressed Alt+Left"}, []string{"按下 Ctrl+S", "按下 Ctrl+Shift+S", "按下 Alt+←"}},
		"a modifier alone is nothing, but Meta is": {
			signer().key("Shift").key("Control").key("Meta"), []string{"Pressed Meta"}, nil},
		"Meta with another key is that shortcut": {
			signer().down("Meta").key("l", "meta").add(human.RecordedEvent{Type: human.KeyUp, Key: "Meta"}), []string{"Pressed Meta+L"}, nil},
		"copying and pasting say how much": {
			signer().key("c", "ctrl").clip("text", "Hello, world").focus(user).key("v", "ctrl"),
			[]string{"Copied 12 characters in Contracts - Signer", "Pasted 12 characters into User"}, []string{"在“Contracts - Signer”中复制了 12 个字符", "在“User”中粘贴了 12 个字符"}},
		"copying something whose text is not recorded": {
			signer().key("x", "ctrl").clip("image", "").key("v", "ctrl"), []string{"Cut in Contracts - Signer", "Pasted in Contracts - Signer"}, nil},
		"copying by a menu is copying": {
			signer().click(20, 20).on(menuFile).clip("text", "abc"), []string{"Opened menu File", "Copied 3 characters in Contracts - Signer"}, nil},
		"what a program puts on the clipboard by itself is nobody's doing": {
			signer().wait(5000).clip("text", "abc"), []string{}, nil},
		"Ctrl+C in a terminal stops a program": {
			record().window("w1", "xterm", "XTerm", 7).key("c", "ctrl").key("c", "ctrl", "shift"), []string{"Pressed Ctrl+C", "Copied in xterm"}, nil},
		"a menu's path comes from its ancestors": {
			signer().click(20, 20).on(menuFile).wait(900).click(20, 90).on(exportAs),
			[]string{"Opened menu File", "Menu File > Export as…"}, []string{"打开菜单“File”", "选择菜单“File > Export as…”"}},
		"or from the clicks before": {
			signer().click(20, 20).on(menuFile).wait(900).click(20, 60).on(human.Element{Role: "menuitem", Name: "Export"}).wait(900).click(90, 60).on(human.Element{Role: "menuitem", Name: "As PDF"}),
			[]string{"Opened menu File", "Menu File > Export", "Menu File > Export > As PDF"}, nil},
		"the window that is active when the recording begins is no switch": {
			signer(), []string{}, nil},
		"a window that was there becomes active": {
			signer().window("w2", "Inbox", "Mail", 8), []string{"Switched to Inbox"}, []string{"切换到“Inbox”"}},
		"a program whose first window opens and becomes active was opened": {
			signer().opened("w2", "Inbox", "Mail", 8).window("w2", "Inbox", "Mail", 8), []string{"Opened Mail"}, []string{"打开了 Mail"}},
		"also when the system names it the other way round": {
			signer().window("w2", "Inbox", "Mail", 8).opened("w2", "Inbox", "Mail", 8), []string{"Opened Mail"}, nil},
		"also as the first thing on a bare desktop": {
			record().opened("w2", "Inbox", "Mail", 8).window("w2", "Inbox", "Mail", 8), []string{"Opened Mail"}, nil},
		"a press on a window behind the active one was in that": {
			signer().click(20, 20).window("d2", "Inbox", "Mail", 8).click(120, 120).window("w1", "Contracts - Signer", "Signer", 7),
			[]string{"Clicked in Contracts - Signer", "Switched to Inbox", "Clicked in Contracts - Signer", "Switched to Contracts - Signer"}, nil},
		"a window that opens and never becomes active is nothing": {
			signer().opened("w2", "Inbox", "Mail", 8), []string{}, nil},
		"a second window of a program over its first is a dialog": {
			signer().click(20, 20).on(logIn).opened("d2", "Export", "Signer", 7).window("d2", "Export", "Signer", 7),
			[]string{"Clicked button Log in", "Dialog Export"}, []string{"点击按钮“Log in”", "对话框“Export”打开"}},
		"going back and forth is switching": {
			signer().window("w2", "Inbox", "Mail", 8).window("w1", "Contracts - Signer", "Signer", 7), []string{"Switched to Inbox", "Switched to Contracts - Signer"}, nil},
		"a dialog closed by its button needs no words, nor does what is active then": {
			signer().opened("d2", "Export", "Signer", 7).window("d2", "Export", "Signer", 7).click(20, 20).on(logIn).closed("d2", "Export", "Signer", 7).window("w1", "Contracts - Signer", "Signer", 7),
			[]string{"Dialog Export", "Clicked button Log in"}, nil},
		"also when the next window is named first": {
			signer().opened("d2", "Export", "Signer", 7).window("d2", "Export", "Signer", 7).click(20, 20).on(logIn).window("w1", "Contracts - Signer", "Signer", 7).closed("d2", "Export", "Signer", 7),
			[]string{"Dialog Export", "Clicked button Log in"}, nil},
		"a program is closed": {
			signer().key("q", "ctrl").closed("w1", "Contracts - Signer", "Signer", 7).window("w2", "Inbox", "Mail", 8),
			[]string{"Pressed Ctrl+Q", "Closed Contracts - Signer"}, []string{"按下 Ctrl+Q", "关闭“Contracts - Signer”"}},
		"a window in the background closes by itself": {
			signer().window("w2", "Inbox", "Mail", 8).wait(5000).closed("w1", "Contracts - Signer", "Signer", 7), []string{"Switched to Inbox"}, nil},
		"a file is made, and what is written at once belongs to it": {
			signer().file("created", "/home/mei/contracts/report.pdf", "").file("changed", "/home/mei/contracts/report.pdf", ""),
			[]string{"Created report.pdf in ~/contracts"}, []string{"在 ~/contracts 中新建了 report.pdf"}},
		"a file that was there is saved": {
			signer().file("changed", "/home/mei/contracts/report.pdf", "").file("changed", "/home/mei/contracts/report.pdf", ""), []string{"Saved report.pdf in ~/contracts"}, []string{"在 ~/contracts 中保存了 report.pdf"}},
		"saving by way of another file is saving": {
			signer().file("created", "/data/.goutputstream-X1", "").file("changed", "/data/.goutputstream-X1", "").file("renamed", "/data/a.txt", "/data/a.txt~").file("renamed", "/data/.goutputstream-X1", "/data/a.txt"),
			[]string{"Saved a.txt in /data"}, nil},
		"a new file that a person renames or moves was made under its first name": {
			signer().file("created", "/in/export.csv", "").wait(4000).file("renamed", "/in/export.csv", "/in/latest.csv").wait(4000).file("renamed", "/in/latest.csv", "/out/latest.csv"),
			[]string{"Created export.csv in /in", "Renamed export.csv to latest.csv in /in", "Moved latest.csv to /out"}, nil},
		"a lock file that comes and goes is nothing": {
			signer().file("created", "/data/.~lock.a.odt#", "").file("deleted", "/data/.~lock.a.odt#", ""), []string{}, nil},
		"files are renamed, moved, deleted": {
			signer().file("renamed", "/data/a.txt", "/data/b.txt").wait(20000).file("renamed", "/data/b.txt", "/old/b.txt").wait(20000).file("deleted", "/old/b.txt", ""),
			[]string{"Renamed a.txt to b.txt in /data", "Moved b.txt to /old", "Deleted b.txt in /old"}, []string{"在 /data 中将 a.txt 重命名为 b.txt", "将 b.txt 移到 /old", "在 /old 中删除了 b.txt"}},
		"a path of Windows is short, too": {
			signer().file("created", `C:\Users\Mei\Documents\a.txt`, ""), []string{"Created a.txt in ~/Documents"}, nil},
		"the operator's notes": {signer().note("off by default\nin 8.2"), []string{"Note: off by default in 8.2"}, []string{"备注：off by default in 8.2"}},
		"a pause": {
			signer().add(human.RecordedEvent{Type: human.RecordingHeld}).wait(9000).add(human.RecordedEvent{Type: human.RecordingGoesOn}).window("w2", "Inbox", "Mail", 8),
			[]string{"Recording paused"}, []string{"录制已暂停"}},
		"a pause and its gap, noted a moment earlier, are one": {
			func() *tape {
				t := signer().wait(100).add(human.RecordedEvent{Type: human.RecordingHeld})
				from := t.at - 200_000
				t.wait(9000)
				return t.add(human.RecordedEvent{Type: human.GapOpened, Gap: &human.Gap{From: from, To: t.at, Reason: "paused"}}).add(human.RecordedEvent{Type: human.RecordingGoesOn})
			}(), []string{"Recording paused"}, nil},
		"what was lost": {
			signer().add(human.RecordedEvent{Type: human.GapOpened, Gap: &human.Gap{Reason: "lost", Count: 3}}), []string{"Not recorded: 3 events lost"}, []string{"未录制：丢失 3 个事件"}},
		"a gap reported again as it grows is one": {
			signer().add(human.RecordedEvent{Type: human.GapOpened, Gap: &human.Gap{From: 5, To: 6, Reason: "excluded"}}).add(human.RecordedEvent{Type: human.GapOpened, Gap: &human.Gap{From: 5, To: 9, Reason: "excluded"}}),
			[]string{"Not recorded: an excluded program or window"}, []string{"未录制：已排除的程序或窗口"}},
		"a gap ends what was going on": {
			signer().click(20, 20).add(human.RecordedEvent{Type: human.GapOpened, Gap: &human.Gap{Reason: "lost"}}).click(20, 20),
			[]string{"Clicked in Contracts - Signer", "Not recorded: events were lost", "Clicked in Contracts - Signer"}, nil},
		"a name that would turn the line round, and one of many lines": {
			signer().click(20, 20).on(human.Element{Role: "button", Name: "a\u202eb\x1b[31m\nc"}), []string{"Clicked button a⟨U+202E⟩b⟨U+001B⟩[31m c"}, nil},
		"a long name is shortened in its middle": {
			signer().click(20, 20).on(human.Element{Role: "button", Name: strings.Repeat("very ", 30) + "long.pdf"}),
			[]string{"Clicked button very very very very very very very…ery long.pdf"}, nil},
		"a name that is hidden is not shown": {
			signer().click(20, 20).on(human.Element{Role: "button", Name: "•••", Hidden: "operator"}), []string{"Clicked a button"}, []string{"点击按钮"}},
		"a text in which a secret was masked": {
			signer().focus(user).add(human.RecordedEvent{Type: human.TextTyped, Text: "key •••", Count: 40, Hidden: "secret"}), []string{"Typed key ••• into User"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words(tt.tape.actions("en")); !slices.Equal(got, tt.en) {
				t.Errorf("English\n got %q\nwant %q", got, tt.en)
			}
			if tt.zh == nil {
				return
			}
			if got := words(tt.tape.actions("zh-CN")); !slices.Equal(got, tt.zh) {
				t.Errorf("Chinese\n got %q\nwant %q", got, tt.zh)
			}
		})
	}
}

func TestAnActionNamesItsEventsItsPlaceAndItsPictures(t *testing.T) {
	tape := signer().press(1, 20, 20).picture("p0", "before", 2).on(logIn).release(1, 20, 20).picture("p1", "after", 5)
	tape.wait(900).press(1, 20, 20).move(50, 50).move(200, 200).release(1, 220, 200).picture("p2", "window", 0)
	list := tape.actions("en")
	if len(list) != 2 {
		t.Fatalf("%d actions: %q", len(list), words(list))
	}
	click, drag := list[0], list[1]
	if click.ID != "a2" || !slices.Equal(click.Seqs, []uint64{2, 4, 5}) || click.Before != "p0" || click.After != "p1" || click.Element.Name != "Log in" ||
		click.Window.Title != "Contracts - Signer" || click.App.Name != "Signer" || click.X != 20 || click.At != 20e6 || click.End != 50e6 {
		t.Errorf("the click is %+v", click)
	}
	if drag.ID != "a7" || !slices.Equal(drag.Seqs, []uint64{7, 8, 9, 10}) || drag.ToX != 220 || drag.ToY != 200 || drag.X != 20 {
		t.Errorf("the drag is %+v", drag)
	}
	if drag.After != "p2" {
		t.Errorf("the nearest picture after the drag is p2, not %q", drag.After)
	}
}

func TestKeysBelongToTheTextTheyMade(t *testing.T) {
	list := signer().focus(user).strokes(3).focus(search).strokes(2).text("mei", 3, 7).text("K-", 10, 12).actions("en")
	if len(list) != 2 || !slices.Equal(list[0].Seqs, []uint64{3, 4, 5, 6, 7, 8, 14}) || !slices.Equal(list[1].Seqs, []uint64{10, 11, 12, 13, 15}) ||
		list[0].ID != "a3" || list[1].ID != "a10" || list[1].At != 100e6 || list[0].End != 70e6 {
		t.Errorf("%+v", list)
	}
}

// Keys of two keyboards may be stamped a little out of order; the text that ends between them must not end before it begins.
func TestATextEndsNoEarlierThanItBegins(t *testing.T) {
	list := signer().focus(user).strokes(1).wait(-25).strokes(2).text("ab", 3, 5).actions("en")
	if len(list) != 2 || list[0].At != 30e6 || list[0].End != 30e6 {
		t.Errorf("%+v", list)
	}
}

func TestAPictureFromBeforeItsEndIsNotTheOneAfterAnAction(t *testing.T) {
	tape := signer().focus(user).strokes(2)
	tape.events = append(tape.events, human.RecordedEvent{Seq: tape.last() + 1, At: 1, Type: human.PictureTaken, Picture: "old", When: "window"})
	if after := tape.actions("en")[0].After; after != "" {
		t.Errorf("the picture after is %q", after)
	}
	tape.picture("new", "typing", 0)
	if after := tape.actions("en")[0].After; after != "new" {
		t.Errorf("the picture after is %q, want new", after)
	}
}

func TestTheFieldsValueIsKeptBesideWhatWasTyped(t *testing.T) {
	a := signer().focus(user).types("mei").value("mei.lin").actions("en")[0]
	if a.Text != "mei" || a.Value != "mei.lin" || a.Count != 3 {
		t.Errorf("%+v", a)
	}
	if a := signer().focus(password).hidden(3, "password").value("abc").actions("en")[0]; a.Value != "" || a.Text != "" || a.Hidden != "password" {
		t.Errorf("of a password: %+v", a)
	}
}

func TestATickOfTheChecklistTakesWhatWasDoneSinceTheLast(t *testing.T) {
	tape := signer().click(20, 20).key("Enter").tick(1, true).key("Escape").tick(0, true).key("F5")
	var steps []int
	for _, a := range tape.actions("en") {
		if a.Step == nil {
			steps = append(steps, -1)
		} else {
			steps = append(steps, *a.Step)
		}
	}
	if want := []int{1, 1, 0, -1}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	for _, a := range tape.tick(1, false).actions("en")[:2] {
		if a.Step != nil {
			t.Errorf("%s still belongs to step %d after its tick was taken back", a.Words, *a.Step)
		}
	}
}

func TestReadingMayOverlapAndFail(t *testing.T) {
	tape := signer().click(20, 20)
	d := actions.NewDeriver("en")
	for range 2 {
		for _, ev := range tape.events {
			d.Add(ev)
		}
	}
	if got := words(d.Actions()); !slices.Equal(got, []string{"Clicked in Contracts - Signer"}) {
		t.Errorf("events given twice make %q", got)
	}
	gone := errors.New("disk gone")
	_, err := actions.From(func(yield func(human.RecordedEvent, error) bool) { yield(human.RecordedEvent{}, gone) }, "en")
	if !errors.Is(err, gone) {
		t.Errorf("the error of the events is lost: %v", err)
	}
}
