package portal

import (
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// says is what pages of a portal that is used every day say at their places: around forms, above and below what one works with. {n} is a
// number that is another on each day.
var says = map[string]string{
	"head":      "Good morning. It is Monday, 30 November 2026.",
	"side":      "{n} open invoices, 31 overdue",
	"foot":      "Faktura 8.14 · Terms · Privacy",
	"customers": "{n} addresses were changed this year.",
	"drafts":    "Drafts are kept for 90 days. {n} were sent this year.",
	"figures":   "As of 30 November 2026, 08:15.",
	"report":    "As of 30 November 2026, 08:15.",
	"orders":    "This month: {n} orders, 48,210.40 €.",
	// Beside the buttons.
	"order":    "Orders before 14:00 leave our store on the same day. {n} were placed this month.",
	"save":     "Last changed 4 days ago.",
	"download": "Downloaded twice, the last time on 28 November 2026.",
	"remind":   "2 reminders were sent this year, the last one on 12 October 2026.",
	"send":     "The customer gets it by mail at once. Reminders are free of charge.",
	"upload":   "Up to 10 MB. {n} of 500 MB are used. Files are kept for ten years.",
	"pay":      "{n} payments were booked this month.",
	"book":     "The day is closed at 18:00. {n} payments were booked this month.",
}

// plus is what is said with a sentence more at some places.
func plus(sentence string, places ...string) map[string]string {
	more := map[string]string{}
	for _, place := range places {
		more[place] = strings.TrimSpace(says[place] + " " + sentence)
	}
	return more
}

// edited is what is said with other words, numbers or dates in the place of some.
func edited(oldnew ...string) map[string]string {
	other := map[string]string{}
	by := strings.NewReplacer(oldnew...)
	for place, text := range says {
		if now := by.Replace(text); now != text {
			other[place] = now
		}
	}
	return other
}

// Say is what a page says at a place, where the portal is one that is used every day or has a change that says something there.
func (v view) Say(place string) template.HTML {
	text := ""
	if v.o.Lived {
		text = says[place]
	}
	for _, name := range slices.Sorted(maps.Keys(v.on)) {
		if other, has := v.on[name].says[place]; has {
			text = other
		}
	}
	if text == "" {
		return ""
	}
	if !strings.HasPrefix(text, "<") {
		text = `<p class="say">` + text + "</p>"
	}
	return template.HTML(strings.ReplaceAll(text, "{n}", strconv.Itoa(v.today(place))))
}

// today is a number from 110 to 349 for a place. It follows from the values of the run, as each run is on another day.
func (v view) today(place string) int {
	n, _ := strconv.ParseUint(digest([]byte(Record{Kind: place, Fields: v.o.Values}.String()))[:4], 16, 32)
	return 110 + int(n%240)
}
