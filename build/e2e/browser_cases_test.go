//go:build window

package e2e

import (
	"strings"
)

// A browserCase is something that a person does in a browser, and what a recording says of it, line by line as
// sketch writes it.
type browserCase struct {
	name           string
	page           string
	act            func(*surfer)
	sees           string // is on the page in the end, or the person did not do as the script says
	want           string
	says           []string          // what the pages said, and to what; not looked at where it is nil
	secrets, files []string          // what the exports read from the environment
	cannot         map[string]string // runners whose format cannot say it, and why
}

// lines takes the empty ones and the indentation out of a text.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// browserCases are done one after the other, each in a new browser.
var browserCases = []browserCase{
	{name: "a form is filled in and sent", page: "/forms.html", act: func(p *surfer) {
		p.enters("[name=name]", "Anna Lovelace")
		p.enters("[name=email]", "anna@example.org")
		p.enters("textarea", "Ring twice.\nThen wait.")
		p.selects("[name=country]", 2)
		p.clicks("[value=courier]")
		p.clicks("[name=terms]")
		p.clicks("button|Send order")
		p.at("delivery=courier&terms=on&urgency=5&colour=%23336699&q=")
	}, sees: "name: Anna Lovelace", want: `
		open_page address /forms.html
		click textbox "Name"
		type textbox "Name" = "Anna Lovelace"
		click textbox "Email"
		type textbox "Email" = "anna@example.org"
		click textbox "Notes"
		type textbox "Notes" = "Ring twice.\nThen wait."
		choose combobox "Country" = China
		check radio "Courier" = checked
		check checkbox "I agree to the terms" = checked
		click button "Send order"
		navigate form /thanks.html?name=Anna+Lovelace&email=anna%40example.org&quantity=1&notes=Ring+twice.%0D%0AThen+wait.&country=cn&delivery=courier&terms=on&urgency=5&colour=%23336699&q= <- click button "Send order"`, says: []string{`heading = loaded "Thank you" <- click button "Send order"`}},
	{name: "a label ticks its box, which is unticked again", page: "/forms.html", act: func(p *surfer) {
		p.clicks("label|Send me news")
		p.clicks("#news")
		p.clicks("label|I agree to the terms")
	}, sees: "Order", want: `
		open_page address /forms.html
		check checkbox "Send me news" = checked
		check checkbox "Send me news" = unchecked
		check checkbox "I agree to the terms" = checked`, says: []string{}},
	{name: "Enter sends a form", page: "/forms.html", act: func(p *surfer) {
		p.clicks("[type=search]")
		p.types("lamp\n")
		p.at("q=lamp")
	}, sees: "q: lamp", want: `
		open_page address /forms.html
		click searchbox "Search"
		type Enter searchbox "Search" = "lamp"
		navigate form /thanks.html?name=&email=&quantity=1&notes=&country=&urgency=5&colour=%23336699&q=lamp <- type Enter searchbox "Search" = "lamp"`},
	{name: "typing is corrected", page: "/forms.html", act: func(p *surfer) {
		p.enters("[name=name]", "Anma")
		for range 2 {
			p.presses("Backspace", 0)
		}
		p.types("na")
		p.presses("Tab", 0)
		p.types("anna@example.org")
		p.clicks("button|Check")
	}, sees: "Checked Anna", want: `
		open_page address /forms.html
		click textbox "Name"
		type Tab textbox "Name" = "Anna"
		type textbox "Email" = "anna@example.org"
		click button "Check"`},
	{name: "numbers, sliders and colours", page: "/forms.html", act: func(p *surfer) {
		p.clicks("[name=quantity]")
		p.presses("a", ctrl, "selectAll")
		p.types("12")
		p.focuses("[name=urgency]")
		for range 3 {
			p.presses("ArrowRight", 0)
		}
		p.clicks("button|Check")
	}, sees: "Checked", want: `
		open_page address /forms.html
		click spinbutton "Quantity"
		shortcut ctrl+a spinbutton "Quantity"
		type spinbutton "Quantity" = "12"
		choose slider "Urgency" = 8
		click button "Check"`},
	{name: "several options of a list", page: "/forms.html", act: func(p *surfer) {
		p.clicks("[name=sizes] option|Small")
		p.clicksWith("[name=sizes] option|Large", "left", 1, ctrl)
	}, sees: "Order", want: `
		open_page address /forms.html
		choose listbox "Sizes" = Small
		choose listbox "Sizes" = Small, Large`},
	{name: "a form is cleared", page: "/forms.html", act: func(p *surfer) {
		p.enters("[name=name]", "Nobody")
		p.clicks("button|Clear")
	}, sees: "Order", want: `
		open_page address /forms.html
		click textbox "Name"
		type textbox "Name" = "Nobody"
		click button "Clear"`},
	{name: "a single-page app", page: "/spa.html", act: func(p *surfer) {
		p.clicks("a|Chair")
		p.sees("Add to cart")
		p.clicks("button|Add to cart")
		p.sees("In the cart: Chair")
		p.clicks("a|All")
		p.sees("Lamp")
	}, sees: "Lamp", want: `
		open_page address /spa.html
		click link "Chair"
		navigate history /spa.html?item=Chair <- click link "Chair"
		click button "Add to cart"
		navigate history /spa.html?view=cart <- click button "Add to cart"
		click link "All"
		navigate history /spa.html <- click link "All"`, says: []string{`heading "Chair" <- click link "Chair"`, `paragraph "In the cart: Chair" <- click button "Add to cart"`}},
	{name: "back and forward in a single-page app", page: "/spa.html", act: func(p *surfer) {
		p.clicks("a|Lamp")
		p.clicks("a|Cart")
		p.goes(-1)
		p.sees("Add to cart")
		p.goes(1)
		p.sees("nothing")
	}, sees: "In the cart: nothing", want: `
		open_page address /spa.html
		click link "Lamp"
		navigate history /spa.html?item=Lamp <- click link "Lamp"
		click link "Cart"
		navigate history /spa.html?view=cart <- click link "Cart"
		navigate back_forward /spa.html?item=Lamp
		navigate back_forward /spa.html?view=cart`},
	{name: "links, back and forward", page: "/links.html", act: func(p *surfer) {
		p.clicks("a|Start page")
		p.at("/start.html")
		p.clicks("a|Forms")
		p.at("/forms.html")
		p.goes(-1)
		p.at("/start.html")
		p.goes(-1)
		p.at("/links.html")
		p.goes(1)
		p.at("/start.html")
	}, sees: "Start", want: `
		open_page address /links.html
		click link "Start page"
		navigate link /start.html <- click link "Start page"
		click link "Forms"
		navigate link /forms.html <- click link "Forms"
		navigate back_forward /start.html
		navigate back_forward /links.html
		navigate back_forward /start.html`},
	{name: "a redirect", page: "/links.html", act: func(p *surfer) {
		p.clicks("a|Redirected")
		p.at("via=redirect")
	}, sees: "via: redirect", want: `
		open_page address /links.html
		click link "Redirected"
		navigate link /thanks.html?via=redirect <- click link "Redirected"`},
	{name: "a place in the page", page: "/links.html", act: func(p *surfer) {
		p.clicks("a|Part")
		p.at("#part")
	}, sees: "Part", want: `
		open_page address /links.html
		click link "Part"
		navigate fragment /links.html#part <- click link "Part"`},
	{name: "a script goes elsewhere", page: "/links.html", act: func(p *surfer) {
		p.clicks("button|By script")
		p.at("via=script")
		p.clicks("a|Order again")
		p.at("/forms.html")
	}, sees: "Order", want: `
		open_page address /links.html
		click button "By script"
		navigate script /thanks.html?via=script <- click button "By script"
		click link "Order again"
		navigate link /forms.html <- click link "Order again"`},
	{name: "a page that sends on", page: "/links.html", act: func(p *surfer) {
		p.clicks("button|Twice")
		p.at("via=refresh")
	}, sees: "via: refresh", want: `
		open_page address /links.html
		click button "Twice"
		navigate script /refresh.html <- click button "Twice"
		navigate script /thanks.html?via=refresh <- click button "Twice"`},
	{name: "a page that is not there", page: "/links.html", act: func(p *surfer) {
		p.clicks("a|Broken")
		p.at("/missing.html")
	}, sees: "404", want: `
		open_page address /links.html
		click link "Broken"
		navigate link 404 /missing.html <- click link "Broken"`},
	{name: "an address is typed", page: "/links.html", act: func(p *surfer) {
		p.opens("/storage.html")
		p.clicks("button|Dark")
	}, sees: "dark", want: `
		open_page address /links.html
		navigate address /storage.html
		click button "Dark"`},
	{name: "reloading", page: "/storage.html", act: func(p *surfer) {
		p.clicks("button|Once")
		p.reloads()
		p.clicks("button|Dark")
	}, sees: "dark / seen", want: `
		open_page address /storage.html
		click button "Once"
		navigate reload /storage.html
		click button "Dark"`},
	{name: "storage and cookies", page: "/storage.html", act: func(p *surfer) {
		p.clicks("button|Dark")
		p.clicks("button|Once")
		p.clicks("button|Remember me")
	}, sees: "dark / seen / remember=yes", want: `
		open_page address /storage.html
		click button "Dark"
		click button "Once"
		click button "Remember me"`},
	{name: "a frame of the same site", page: "/frames.html?kind=same", act: func(p *surfer) {
		p.clicks("iframe >> button")
		p.enters("iframe >> input", "inside")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=same
		click button "Hit same" in frame 0
		click textbox "Field" in frame 0
		type textbox "Field" = "inside" in frame 0`},
	{name: "a frame of another site", page: "/frames.html?kind=cross", act: func(p *surfer) {
		p.clicks("iframe >> button")
		p.enters("iframe >> input", "far")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=cross
		click button "Hit cross" in frame 0
		click textbox "Field" in frame 0
		type textbox "Field" = "far" in frame 0`, says: []string{`status "1" in frame 0 <- click button "Hit cross"`}},
	{name: "the second of two frames", page: "/frames.html?kind=two", act: func(p *surfer) {
		p.clicks("iframe:nth-child(2) >> button")
		p.clicks("iframe:nth-child(1) >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=two
		click button "Hit second" in frame 1
		click button "Hit first" in frame 0`},
	{name: "a frame in a frame", page: "/frames.html?kind=nested", act: func(p *surfer) {
		p.clicks("iframe >> iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=nested
		click button "Hit nested" in frame 0.0`},
	{name: "a frame of a third site in a frame of another", page: "/frames.html?kind=crossnested", act: func(p *surfer) {
		p.clicks("iframe >> button")
		p.clicks("iframe >> iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=crossnested
		click button "Hit outer" in frame 0
		click button "Hit deep" in frame 0.0`},
	{name: "a frame of srcdoc", page: "/frames.html?kind=srcdoc", act: func(p *surfer) {
		p.clicks("iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=srcdoc
		click button "Hit srcdoc" in frame 0`},
	{name: "a sandboxed frame without scripts", page: "/frames.html?kind=sandboxed", act: func(p *surfer) {
		p.clicks("iframe >> button")
		p.enters("iframe >> input", "boxed")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=sandboxed
		click button "Hit" in frame 0
		click textbox "Field" in frame 0
		type textbox "Field" = "boxed" in frame 0`, cannot: map[string]string{"puppeteer": "the runner looks for elements by scripts, which this frame forbids"}},
	{name: "a frame of about:blank", page: "/frames.html?kind=blank", act: func(p *surfer) {
		p.clicks("iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=blank
		click button "Hit blank" in frame 0`},
	{name: "a frame that was written", page: "/frames.html?kind=written", act: func(p *surfer) {
		p.clicks("iframe >> button")
		p.clicks("iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=written
		click button "Hit written" in frame 0
		click button "Hit written" in frame 0`},
	{name: "a frame that comes later", page: "/frames.html?kind=late", act: func(p *surfer) {
		p.clicks("button")
		p.clicks("iframe >> button")
	}, sees: "Frames", want: `
		open_page address /frames.html?kind=late
		click button "Add a frame"
		click button "Hit late" in frame 0`},
	{name: "an open shadow root", page: "/shadow.html", act: func(p *surfer) {
		p.enters("x-open >> input", "12")
		p.clicks("x-open >> button")
	}, sees: "paid 12", want: `
		open_page address /shadow.html
		click textbox "Amount"
		type textbox "Amount" = "12"
		click button "Pay"`},
	{name: "a shadow root in another", page: "/shadow.html", act: func(p *surfer) {
		p.clicks("x-outer >> x-inner >> button")
	}, sees: "deep", want: `
		open_page address /shadow.html
		click button "Deep"`},
	{name: "a closed shadow root", page: "/shadow.html", act: func(p *surfer) {
		p.clicks("x-closed >> button")
	}, sees: "door", want: `
		open_page address /shadow.html
		click generic "Closed panel"`},
	{name: "a popup", page: "/popups.html", act: func(p *surfer) {
		p.clicks("#same")
		p.look(1)
		p.clicks("button")
		p.enters("input", "in the popup")
	}, sees: "Hit popup", want: `
		open_page address /popups.html
		click button "Open a window"
		open_page script /inner.html?name=popup in t2 <- click button "Open a window"
		click button "Hit popup" in t2
		click textbox "Field" in t2
		type textbox "Field" = "in the popup" in t2`, says: []string{`status "1" in t2 <- click button "Hit popup"`}},
	{name: "a popup of another site, closed again", page: "/popups.html", act: func(p *surfer) {
		p.clicks("#cross")
		p.look(1)
		p.clicks("button")
		p.closes()
		p.look(0)
		p.clicks("h1")
	}, sees: "Popups", want: `
		open_page address /popups.html
		click button "Open another site"
		open_page script http://b.localhost/inner.html?name=far in t2 <- click button "Open another site"
		click button "Hit far" in t2
		close_page in t2
		click heading "Popups"`},
	{name: "a popup that is written", page: "/popups.html", act: func(p *surfer) {
		p.clicks("#written")
		p.look(1)
		p.clicks("button")
		p.shows(0)
	}, sees: "told", want: `
		open_page address /popups.html
		click button "Open a written window"
		open_page about:blank in t2 <- click button "Open a written window"
		click button "Tell" in t2`},
	{name: "a tab with its opener", page: "/popups.html", act: func(p *surfer) {
		p.clicks("a|With opener")
		p.look(1)
		p.clicks("button")
	}, sees: "Hit tab", want: `
		open_page address /popups.html
		click link "With opener"
		open_page link /inner.html?name=tab in t2 <- click link "With opener"
		click button "Hit tab" in t2`},
	{name: "a tab without its opener", page: "/popups.html", act: func(p *surfer) {
		p.clicks("a|Without opener")
		p.look(1)
		p.clicks("button")
		p.shows(0)
		p.clicks("h1")
	}, sees: "Popups", want: `
		open_page address /popups.html
		click link "Without opener"
		open_page link /inner.html?name=tab in t2 <- click link "Without opener"
		click button "Hit tab" in t2
		click heading "Popups"`, cannot: map[string]string{"puppeteer": "open: the runner waits in vain for the tab"}},
	{name: "an alert", page: "/dialogs.html", act: func(p *surfer) {
		p.clicksAndAnswers("#alert", true, "")
	}, sees: "alerted", want: `
		open_page address /dialogs.html
		click button "Alert"
		dialog alert "Careful" accepted true <- click button "Alert"`, says: []string{`status "alerted" <- dialog alert "Careful" accepted true`}, cannot: map[string]string{"puppeteer": "there is no step that answers a dialog"}},
	{name: "a question that is dismissed, then confirmed", page: "/dialogs.html", act: func(p *surfer) {
		p.clicksAndAnswers("#confirm", false, "")
		p.sees("kept")
		p.clicksAndAnswers("#confirm", true, "")
	}, sees: "deleted", want: `
		open_page address /dialogs.html
		click button "Delete"
		dialog confirm "Really delete it?" accepted false <- click button "Delete"
		click button "Delete"
		dialog confirm "Really delete it?" accepted true <- click button "Delete"`, says: []string{`status "kept" <- dialog confirm "Really delete it?" accepted false`, `status "deleted" <- dialog confirm "Really delete it?" accepted true`}, cannot: map[string]string{"puppeteer": "there is no step that answers a dialog"}},
	{name: "a prompt", page: "/dialogs.html", act: func(p *surfer) {
		p.clicksAndAnswers("#prompt", true, "final")
	}, sees: "named final", want: `
		open_page address /dialogs.html
		click button "Rename"
		dialog prompt "New name" accepted true "final" <- click button "Rename"`, cannot: map[string]string{"puppeteer": "there is no step that answers a dialog"}},
	{name: "a dialog of the page", page: "/dialogs.html", act: func(p *surfer) {
		p.clicks("#modal")
		p.clicks("button|Done")
	}, sees: "closed with done", want: `
		open_page address /dialogs.html
		click button "Details"
		click button "Done"`, says: []string{`dialog "All of it" <- click button "Details"`, `status "closed with done" <- click button "Done"`}},
	{name: "a page asks before it is left", page: "/leave.html", act: func(p *surfer) {
		p.enters("#draft", "half")
		p.clicksAndAnswers("a", true, "")
		p.at("/start.html")
	}, sees: "Start", want: `
		open_page address /leave.html
		click textbox "Draft"
		type textbox "Draft" = "half"
		click link "Leave"
		dialog beforeunload "" accepted true <- click link "Leave"
		navigate link /start.html <- click link "Leave"`, cannot: map[string]string{"puppeteer": "there is no step that answers a dialog"}},
	{name: "files are uploaded", page: "/files.html", act: func(p *surfer) {
		p.uploads("#file", p.file("letter.txt", "Dear Anna"), p.file("list.csv", "a,b"))
	}, sees: "letter.txt 9, list.csv 3", want: `
		open_page address /files.html
		upload button "Documents" letter.txt 9 list.csv 3`, cannot: map[string]string{"puppeteer": "there is no step that gives files"}},
	{name: "a file is downloaded", page: "/files.html", act: func(p *surfer) {
		p.clicks("a|Download the report")
		p.downloaded("report.csv", report)
	}, sees: "Files", want: `
		open_page address /files.html
		click link "Download the report"
		download report.csv 20 completed <- click link "Download the report"`},
	{name: "a file is made by the page and downloaded", page: "/files.html", act: func(p *surfer) {
		p.clicks("#make")
		p.downloaded("made.txt", "made here")
	}, sees: "Files", want: `
		open_page address /files.html
		click button "Make a file"
		download made.txt 9 completed <- click button "Make a file"`},
	{name: "a strict policy with Trusted Types", page: "/csp.html", act: func(p *surfer) {
		p.enters("#word", "hello")
		p.clicks("#go")
	}, sees: "hello, markup refused", want: `
		open_page address /csp.html
		click textbox "Word"
		type textbox "Word" = "hello"
		click button "Go"`},
	{name: "a canvas", page: "/canvas.html", act: func(p *surfer) {
		x, y := p.where("canvas")
		p.clicksAt(x-50, y-20, "left", 1, 0)
		p.clicksAt(x+60, y+40, "left", 1, 0)
	}, sees: "100,80 210,140", want: `
		open_page address /canvas.html
		click img "Board"
		click img "Board"`},
	{name: "a rich text", page: "/editor.html", act: func(p *surfer) {
		p.enters("#text", "Dear ")
		p.clicks("#bold")
		p.reaches()
		p.types("Anna")
	}, sees: "Dear Anna", want: `
		open_page address /editor.html
		click textbox "Letter"
		type textbox "Letter" = "Dear "
		click button "Bold"
		type textbox "Letter" = "Dear Anna"`, cannot: map[string]string{"puppeteer": "of a rich text the recording has the words, not their form", "playwright": "of a rich text the recording has the words, not their form", "procedure": "of a rich text the recording has the words, not their form"}},
	{name: "a date by the browser's field", page: "/dates.html", act: func(p *surfer) {
		p.focuses("#native")
		p.types("12242026")
		p.focuses("#time")
		p.types("0945AM")
		p.clicks("h1")
	}, sees: "Dates", want: `
		open_page address /dates.html
		choose textbox "Arrival" = 2026-12-24
		choose textbox "Time" = 09:45
		click heading "Dates"`},
	{name: "a date by the page's calendar", page: "/dates.html", act: func(p *surfer) {
		p.clicks("#scripted")
		p.clicks("#picker button|Next month")
		p.clicks("#picker button|2026-04-17")
	}, sees: "Dates", want: `
		open_page address /dates.html
		click textbox "Departure"
		click button "Next month"
		click button "2026-04-17"`},
	{name: "one of 5,000 rows", page: "/table.html", act: func(p *surfer) {
		p.clicks("button|Choose 7")
		p.wheels("td|Person 7", 3000)
		p.clicks("button|Choose 120")
	}, sees: "Person 120", want: `
		open_page address /table.html
		click button "Choose 7"
		scroll to 0,3000
		click button "Choose 120"`},
	{name: "Chinese by an input method", page: "/chinese.html", act: func(p *surfer) {
		p.clicks("[name=name]")
		p.composes("李雷", "l", "li", "li l", "li lei")
		p.clicks("textarea")
		p.composes("你好", "n", "ni", "ni hao")
		p.composes("世界", "s", "shi", "shi jie")
		p.selects("select", 1)
		p.clicks("label|同意条款")
		p.clicks("button")
		p.sees("notes: 你好世界")
	}, sees: "name: 李雷", want: `
		open_page address /chinese.html
		click textbox "姓名"
		type textbox "姓名" = "李雷"
		click textbox "备注"
		type textbox "备注" = "你好世界"
		choose combobox "城市" = 成都
		check checkbox "同意条款" = checked
		click button "提交订单"
		navigate form /thanks.html?name=%E6%9D%8E%E9%9B%B7&notes=%E4%BD%A0%E5%A5%BD%E4%B8%96%E7%95%8C&city=%E6%88%90%E9%83%BD&agree=on <- click button "提交订单"`},
	{name: "a card is dragged", page: "/drag.html", act: func(p *surfer) {
		p.dragsAndDrops("#card", "#to")
	}, sees: "dropped", want: `
		open_page address /drag.html
		drag listitem "Card" to list "Done"`, says: []string{`status "dropped" <- drag listitem "Card" to list "Done"`}},
	{name: "a slider of the page is dragged", page: "/drag.html", act: func(p *surfer) {
		x, y := p.where("#knob")
		p.drags(x, y, x+148, y)
	}, sees: "volume 4", want: `
		open_page address /drag.html
		drag slider "Volume" to generic "track"`},
	{name: "a menu that opens under the pointer, by style", page: "/hover.html", act: func(p *surfer) {
		p.rests("nav a|Products")
		p.clicks("a|Lamps")
		p.at("#lamps")
	}, sees: "Hover", want: `
		open_page address /hover.html
		hover link "Products"
		click link "Lamps"
		navigate fragment /hover.html#lamps <- click link "Lamps"`},
	{name: "a menu that opens under the pointer, by script", page: "/hover.html", act: func(p *surfer) {
		p.rests("#account")
		p.clicks("#out")
	}, sees: "signed out", want: `
		open_page address /hover.html
		hover button "Account"
		click button "Sign out"`, says: []string{`status "signed out" <- click button "Sign out"`}},
	{name: "shortcuts of the page", page: "/keys.html", act: func(p *surfer) {
		p.presses("k", ctrl)
		p.pause()
		p.types("publish\n")
		p.sees("Mode: publish")
		p.presses("F2", 0)
		p.pause()
	}, sees: "Mode: editing", want: `
		open_page address /keys.html
		shortcut ctrl+k generic
		type Enter textbox "Command" = "publish"
		shortcut F2 generic`},
	{name: "a list is chosen from by keys", page: "/keys.html", act: func(p *surfer) {
		p.enters("#city", "l")
		p.presses("ArrowDown", 0)
		p.presses("ArrowDown", 0)
		p.presses("Enter", 0)
		p.pause()
	}, sees: "Keys", want: `
		open_page address /keys.html
		click combobox "City"
		type combobox "City" = "l"
		shortcut ArrowDown combobox "City" 2 times
		shortcut Enter combobox "City"`},
	{name: "a list is chosen from by a click", page: "/keys.html", act: func(p *surfer) {
		p.enters("#city", "lo")
		p.clicks("[role=option]|London")
	}, sees: "Keys", want: `
		open_page address /keys.html
		click combobox "City"
		type combobox "City" = "lo"
		click option "London"`},
	{name: "messages are sent by Enter", page: "/keys.html", act: func(p *surfer) {
		p.enters("#message", "first\n")
		p.types("second\n")
	}, sees: "second", want: `
		open_page address /keys.html
		click textbox "Message"
		type Enter textbox "Message" = "first"
		type Enter textbox "Message" = "second"`},
	{name: "a password", page: "/login.html", act: func(p *surfer) {
		p.enters("[name=user]", "anna")
		p.enters("#password", passwords[0])
		p.clicks("button|Sign in")
		p.at("/account.html")
	}, sees: "Signed in", want: `
		open_page address /login.html
		click textbox "User"
		type textbox "User" = "anna"
		click textbox "Password"
		type textbox "Password" = hidden (password), 16
		click button "Sign in"
		navigate form /account.html <- click button "Sign in"`, secrets: passwords[:1]},
	{name: "a password that is shown", page: "/login.html", act: func(p *surfer) {
		p.enters("#password", passwords[1][:6])
		p.clicks("#show")
		p.enters("#password", passwords[1][6:])
	}, sees: "Sign in", want: `
		open_page address /login.html
		click textbox "Password"
		type textbox "Password" = hidden (password), 6
		click button "Show the password"
		click textbox "Password"
		type textbox "Password" = hidden (password), 17`, secrets: passwords[1:2], cannot: map[string]string{"puppeteer": "a secret text is left out, and there is no variable for one", "procedure": "two different secret texts have two names, and the case has a value for one"}},
	{name: "a password in a frame of another site", page: "/login.html?frame", act: func(p *surfer) {
		p.enters("iframe >> #pin", passwords[2])
		p.clicks("iframe >> #ok")
	}, sees: "Sign in", want: `
		open_page address /login.html?frame
		click textbox "Pin" in frame 0
		type textbox "Pin" = hidden (password), 17 in frame 0
		click button "Unlock" in frame 0`, secrets: passwords[2:3]},
	{name: "a card's number and a one-time code", page: "/pay.html", act: func(p *surfer) {
		p.enters("[name=card]", "4111 1111 1111 1111")
		p.enters("[name=csc]", "737")
		p.enters("[name=otp]", "940 817")
		p.enters("[name=reference]", "5500 0000 0000 0004")
		p.clicks("button")
		p.at("/account.html")
	}, sees: "Signed in", want: `
		open_page address /pay.html
		click textbox "Card number"
		type textbox "Card number" = hidden (secret), 19
		click textbox "Security code"
		type textbox "Security code" = hidden (secret), 3
		click textbox "One-time code"
		type textbox "One-time code" = hidden (secret), 7
		click textbox "Reference"
		type textbox "Reference" = hidden (secret), 19
		click button "Pay now"
		navigate form /account.html <- click button "Pay now"`, secrets: []string{"4111 1111 1111 1111", "737", "940 817", "5500 0000 0000 0004"}},
	{name: "a pane scrolls, and the page", page: "/scroll.html", act: func(p *surfer) {
		p.wheels("#pane", 300)
		p.wheels("button|Item 6", 500)
		p.clicks("button|Item 12")
	}, sees: "Item 12", want: `
		open_page address /scroll.html
		scroll region "Log" to 0,300
		scroll to 0,500
		click button "Item 12"`},
	{name: "a page that rewrites itself", page: "/erased.html", act: func(p *surfer) {
		p.clicks("#go")
		p.sees("Rewritten")
		p.clicks("button")
	}, sees: "Pressed", want: `
		open_page address /erased.html
		click button "Rewrite the page"
		click button "After"`},
	{name: "a page that would break a recorder", page: "/hostile.html", act: func(p *surfer) {
		p.clicks("#stop")
		p.clicks("#self")
		p.clicks("#gone")
		p.enters("#field", "!")
	}, sees: "stopped self gone", want: `
		open_page address /hostile.html
		click button "Stopped"
		click button "Clicks itself"
		click button "Removes itself"
		click textbox "Field"
		type textbox "Field" = "by script!"`},
	{name: "names of all kinds", page: "/names.html", act: func(p *surfer) {
		p.clicks("button|Save")
		p.clicks("button:nth-of-type(2)")
		p.clicks("button|Close")
		p.clicks("img")
		p.clicks("button|Settings of the account")
		p.clicks("[role=tab]|Map")
		p.clicks("#plain")
		p.clicks("#rename")
		p.clicks("summary")
		p.clicks("#switch")
	}, sees: "Just a box; Old name; Airplane mode;", want: `
		open_page address /names.html
		click button "Save"
		click button "Save"
		click button "Close"
		click link "Company logo"
		navigate fragment /names.html#logo <- click link "Company logo"
		click button "⚙"
		click tab "Map"
		click generic "Just a box"
		click button "Old name"
		click button "More"
		check switch "Airplane mode" = checked`, cannot: map[string]string{"procedure": "two buttons are alike but for their place, so that it stops"}},
	{name: "double, triple, right and middle clicks", page: "/clip.html", act: func(p *surfer) {
		p.clicksWith("#clicks", "left", 2, 0)
		p.clicksWith("#clicks", "left", 3, 0)
		p.clicksWith("#clicks", "right", 1, 0)
		p.clicksWith("#clicks", "middle", 1, 0)
		p.clicksWith("#clicks", "left", 1, shift)
	}, sees: "click1S", want: `
		open_page address /clip.html
		double_click button "Click me often"
		triple_click button "Click me often"
		click button 3 button "Click me often"
		click button 2 button "Click me often"
		click shift button "Click me often"`},
	{name: "copying and pasting", page: "/clip.html", act: func(p *surfer) {
		p.clicks("#from")
		p.presses("a", ctrl, "selectAll")
		p.presses("c", ctrl, "copy")
		p.pause()
		p.clicks("#to")
		p.presses("v", ctrl, "paste")
		p.pause()
	}, sees: "Clipboard", want: `
		open_page address /clip.html
		click textbox "From"
		shortcut ctrl+a textbox "From"
		copy ctrl+c textbox "From" = copy
		click textbox "To"
		paste ctrl+v textbox "To" = "order 4711"`},
}
