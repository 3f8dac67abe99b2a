package browser

import (
	"slices"
	"testing"

	"deskbell/backend/human"
)

func TestPageOpensAtTheAddress(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>Shop</title><button id=b>Buy</button>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "#b")
	click := r.wait(human.PageClick, nil)
	if click.Element == nil || click.Element.Name != "Buy" {
		t.Errorf("the click has the element %+v", click.Element)
	}
	seen, err := r.end()
	if err != nil || seen != uint64(len(r.all())) {
		t.Errorf("Run = %d, %v; it reported:\n%s", seen, err, describe(r.all()))
	}
	var types []human.RecordedType
	for _, e := range r.all() {
		types = append(types, e.Type)
	}
	if want := []human.RecordedType{human.BrowserChanged, human.PageOpened, human.PageShown, human.PageNavigated, human.PagePress, human.PageClick, human.BrowserChanged}; !slices.Equal(types, want) {
		t.Errorf("it reported %v, want %v", types, want)
	}
}

func TestShowBringsThePageToTheFront(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>First</title>`, "/two": `<title>Second</title>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	first := r.at("/")
	r.b.conn.send("", "Target.createTarget", object{"url": site.URL + "/two"})
	second := r.at("/two")
	r.wait(human.PageShown, func(e human.RecordedEvent) bool { return e.Page.Target == second.name })
	hidden := func(t *tab) bool {
		var state string
		r.js(t, r.top(t), "document.visibilityState", &state)
		return state == "hidden"
	}
	r.until("the first is behind the second", func() bool { return hidden(first) })
	r.do(second, "Page.close", nil)
	r.wait(human.PageShown, func(e human.RecordedEvent) bool { return e.Page.Target == first.name && e.Ref > 3 })
	r.b.conn.send("", "Target.createTarget", object{"url": "about:blank", "background": true})
	if err := r.b.Show(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.until("the first is in front", func() bool { return !hidden(first) })
	if _, err := r.end(); err != nil {
		t.Fatal(err)
	}
	if err := r.b.Show(t.Context()); human.KindOf(err) != human.Conflict {
		t.Errorf("Show of a closed browser: %v, want a conflict", err)
	}
}
