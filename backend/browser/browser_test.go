package browser

import (
	"testing"

	"deskbell/backend/human"
)

func TestPageOpensAtTheAddress(t *testing.T) {
	site := serve(t, map[string]string{"/": `<title>Shop</title><button id=b>Buy</button>`}, nil)
	r := run(t, headless(t), human.BrowserOptions{URL: site.URL + "/", Profile: "throwaway"})
	tab := r.at("/")
	r.click(tab, r.top(tab), "#b")
	click := r.wait(human.PageClick, nil)
	t.Log(told(r.all()))
	if click.Element == nil || click.Element.Name != "Buy" {
		t.Errorf("the click has the element %+v", click.Element)
	}
	seen, err := r.end()
	if err != nil || seen != uint64(len(r.all())) {
		t.Errorf("Run = %d, %v; it told:\n%s", seen, err, told(r.all()))
	}
	t.Log(told(r.all()))
}
