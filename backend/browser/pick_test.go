package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// pick picks what is at a point, as a person does.
func (v *visit) pick(take string, x, y float64) human.RecordedEvent {
	v.Helper()
	field := fmt.Sprint("field ", len(v.of(human.PagePicked)))
	if err := v.b.Pick(v.Context(), human.PickRequest{Field: field, Take: take}); err != nil {
		v.Fatal(err)
	}
	v.click(x, y)
	return v.wait("the pick of "+field, func(e human.RecordedEvent) bool { return e.Type == human.PagePicked && e.Pick.Field == field })
}

const pickPage = `<style>body { margin: 0; font: 16px/20px sans-serif } #price { position: absolute; left: 100px; top: 50px; width: 200px; height: 30px; background: red }</style>
	<div id=price>19.90 EUR</div><input id=i style="position: absolute; left: 400px; top: 50px; width: 100px; height: 30px" value="in a field">
	<input type=password style="position: absolute; left: 550px; top: 50px; width: 100px; height: 30px" value="hunter2-3f9a">
	<table style="position: absolute; left: 0; top: 100px"><tr><th>Name<th>Price<tr><td>Apple<td>1<tr><td>Key AKIAQWERTYUIOPASDFGH<td>2</table>
	<ul style="position: absolute; left: 300px; top: 100px"><li>one<li>two<li>three</ul>
	<iframe src="/inner" style="position: absolute; left: 0; top: 250px; width: 300px; height: 100px; border: 5px solid"></iframe>
	<iframe id=f style="position: absolute; left: 400px; top: 250px; width: 300px; height: 100px; border: 0"></iframe>
	<script>f.src = location.href.replace('127.0.0.1', 'other.example') + 'inner'; heard = 0; addEventListener('click', () => heard++, true)</script>`

// clicksAsUsual clicks until the page hears it: it takes the browser a moment to take down what it drew for picking.
func (v *visit) clicksAsUsual() {
	v.Helper()
	v.until("a click as usual", func() bool {
		v.click(290, 65)
		v.rest(100 * time.Millisecond)
		return len(v.of(human.PageClick)) > 0 && v.ask("heard") != "0"
	})
}

func picks(t *testing.T) *visit {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{
		"/": pickPage, "/inner": `<body style="margin: 0"><p id=inner style="margin: 20px; width: 200px; height: 30px; background: red">inside</p>`,
	}))
	v.until("the frames are there", func() bool {
		all := v.b.front().places()
		return len(all) == 3 && !slices.ContainsFunc(all, func(p place) bool { return p.contextID == 0 || !strings.Contains(p.url, ":") })
	})
	v.look(func(f record.Frame) bool {
		return like(at(f, 290, 70), red) && like(at(f, 600, 285), red) && like(at(f, 200, 290), red)
	})
	return v
}

func TestElementsArePicked(t *testing.T) {
	v := picks(t)
	e := v.pick(human.TakeElement, 290, 65)
	if e.Pick.Text != "19.90 EUR" || e.Element == nil || len(e.Element.Selectors) == 0 || e.Element.Bounds != (human.Bounds{X: 100, Y: 50, W: 200, H: 30}) ||
		e.Page == nil || e.Page.URL != v.site.URL+"/" || e.Page.Frame != nil {
		t.Errorf("picked %+v of %+v in %+v", e.Pick, e.Element, e.Page)
	}
	crop := v.picture(e.Picture)
	if want := (human.Bounds{X: 24, Y: 24, W: 200, H: 30}); e.Pick.Bounds != want || crop.W != 248 || crop.H != 78 {
		t.Errorf("the crop is %dx%d, what was picked at %+v; want 248x78 and %+v", crop.W, crop.H, e.Pick.Bounds, want)
	}
	if !like(at(crop, 215, 40), red) || !like(at(crop, 10, 10), white) {
		t.Errorf("the crop shows %v, and around it %v; want red, in white, without the outline of picking", at(crop, 215, 40), at(crop, 10, 10))
	}
	if e := v.pick(human.TakeElement, 450, 65); e.Pick.Text != "in a field" {
		t.Errorf("of a field: %+v", e.Pick)
	}
	e = v.pick(human.TakeElement, 600, 65)
	if said, _ := json.Marshal(e); strings.Contains(string(said), "3f9a") || at(v.picture(e.Picture), 60, 40) != black {
		t.Errorf("a password was picked: %s", said)
	}
	for i, x := range []float64{200, 600} { // of the same site, and of another
		e := v.pick(human.TakeElement, x, 290)
		if e.Pick.Text != "inside" || !slices.Equal(e.Page.Frame, []int{i}) || !strings.HasSuffix(e.Page.FrameURL, "/inner") {
			t.Errorf("in frame %d: %+v, %+v", i, e.Pick, e.Page)
		}
		if f := v.picture(e.Picture); !like(at(f, e.Pick.Bounds.X+190, e.Pick.Bounds.Y+15), red) || e.Pick.Bounds.W != 200 {
			t.Errorf("in frame %d: the crop shows %v at %+v", i, at(f, e.Pick.Bounds.X+190, e.Pick.Bounds.Y+15), e.Pick.Bounds)
		}
	}
	if n := len(v.of(human.PageClick)) + len(v.of(human.PagePress)); n != 0 || v.ask("heard") != "0" {
		t.Errorf("%d clicks were recorded while picking, the page heard %s", n, v.ask("heard"))
	}
	v.clicksAsUsual()
}

func TestTablesAndListsAreTakenWhole(t *testing.T) {
	v := picks(t)
	e := v.pick(human.TakeTable, 20, 135)
	want := [][]string{{"Name", "Price"}, {"Apple", "1"}, {"Key •••", "2"}}
	if !slices.EqualFunc(e.Pick.Rows, want, slices.Equal) || !e.Pick.Header || e.Pick.Text != `[["Name","Price"],["Apple","1"],["Key •••","2"]]` {
		t.Errorf("the table: %+v", e.Pick)
	}
	if err := v.b.Pick(t.Context(), human.PickRequest{Field: "again", Take: human.TakeTable}); err != nil {
		t.Fatal(err)
	}
	v.until("a click where there is none", func() bool {
		v.click(900, 600)
		v.rest(100 * time.Millisecond)
		v.mu.Lock()
		defer v.mu.Unlock()
		return strings.Contains(v.log.String(), "what was picked could not be taken")
	})
	// The page takes a moment to wait for a click again.
	v.until("the table, after that", func() bool {
		v.click(20, 135)
		v.rest(100 * time.Millisecond)
		all := v.of(human.PagePicked)
		return all[len(all)-1].Pick.Field == "again"
	})
	e = v.pick(human.TakeList, 350, 150)
	if !slices.EqualFunc(e.Pick.Rows, [][]string{{"one"}, {"two"}, {"three"}}, slices.Equal) || e.Pick.Header {
		t.Errorf("the list: %+v", e.Pick)
	}
}

func TestALargeTableIsTakenWhole(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<body style="margin: 0"><table id=t></table><script>
		t.innerHTML = Array.from({length: 5000}, (_, i) => '<tr><td>row ' + i + '<td>' + i * i).join('')</script>`}))
	e := v.pick(human.TakeTable, 10, 10)
	if n := len(e.Pick.Rows); strings.Contains(e.Pick.Text, "more rows") || n != 5000 || e.Pick.Rows[4999][1] != "24990001" || e.Picture == "" {
		t.Errorf("%d rows, the last %v, picture %q", n, e.Pick.Rows[n-1], e.Picture)
	}
}

func TestWhatIsTooMuchToTakeIsSaid(t *testing.T) {
	v := visits(t, human.BrowserOptions{}, pages(map[string]string{"/": `<body style="margin: 0"><table id=t></table><p id=p></p><script>
		t.innerHTML = Array.from({length: 10003}, () => '<tr><td>x').join(''); p.textContent = 'y'.repeat(20005)</script>`}))
	if e := v.pick(human.TakeTable, 4, 10); len(e.Pick.Rows) != 10000 || !strings.HasSuffix(e.Pick.Text, "and 3 more rows, which were too many to take") {
		t.Errorf("%d rows, ending in %q", len(e.Pick.Rows), e.Pick.Text[len(e.Pick.Text)-60:])
	}
	v.run(`t.remove()`)
	if e := v.pick(human.TakeElement, 4, 30); !strings.HasSuffix(e.Pick.Text, "y … and 5 more characters, which were too many to take") {
		t.Errorf("a text ending in %q", e.Pick.Text[max(0, len(e.Pick.Text)-60):])
	}
}

func TestASelectionIsTakenAtOnce(t *testing.T) {
	v := picks(t)
	take := func() error {
		return v.b.Pick(t.Context(), human.PickRequest{Field: "f", Take: human.TakeSelection})
	}
	var problem *human.Error
	if err := take(); !errors.As(err, &problem) || problem.Kind != human.Conflict {
		t.Errorf("nothing is selected: %v", err)
	}
	v.run(`getSelection().setBaseAndExtent(price.firstChild, 0, price.firstChild, 5)`)
	if err := take(); err != nil {
		t.Fatal(err)
	}
	picked := v.of(human.PagePicked)
	if len(picked) != 1 || picked[0].Pick.Text != "19.90" || picked[0].Pick.Bounds.W < 20 || picked[0].Picture == "" {
		t.Fatalf("the selection: %+v", picked)
	}
	v.run(`getSelection().removeAllRanges()`)
	v.click(200, 290)
	v.run(`(async () => { const d = frames[0].document; frames[0].focus(); frames[0].getSelection().selectAllChildren(d.getElementById('inner')) })()`)
	if err := take(); err != nil {
		t.Fatal(err)
	}
	if e := v.of(human.PagePicked)[1]; e.Pick.Text != "inside" || !slices.Equal(e.Page.Frame, []int{0}) {
		t.Errorf("the selection of a frame: %+v, %+v", e.Pick, e.Page)
	}
}

func TestEscapeEndsPicking(t *testing.T) {
	v := picks(t)
	if err := v.b.Pick(t.Context(), human.PickRequest{Field: "f"}); err != nil {
		t.Fatal(err)
	}
	tab := v.b.front()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		if err := tab.conn.call(t.Context(), tab.session, "Input.dispatchKeyEvent", object{"type": kind, "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27}, nil); err != nil {
			t.Fatal(err)
		}
	}
	v.until("picking has ended", func() bool { return v.b.picking.Load() == nil })
	v.clicksAsUsual()
	if picked := v.of(human.PagePicked); len(picked) > 0 {
		t.Errorf("picked %+v", picked)
	}
}

func TestAPickThatIsTakenBack(t *testing.T) {
	v := picks(t)
	for _, field := range []string{"a", "b", ""} {
		if err := v.b.Pick(t.Context(), human.PickRequest{Field: field}); err != nil {
			t.Fatal(err)
		}
	}
	v.clicksAsUsual()
	if err := v.b.Pick(t.Context(), human.PickRequest{Field: "a"}); err != nil {
		t.Fatal(err)
	}
	if e := v.pick(human.TakeElement, 290, 65); e.Pick.Field != "field 0" || len(v.of(human.PagePicked)) != 1 {
		t.Errorf("the last one counts: %+v", e.Pick)
	}
}

func TestRowsAreBounded(t *testing.T) {
	b := New(Options{}, human.BrowserOptions{}, nil)
	rows := make([][]string, maxRows+5)
	for i := range rows {
		rows[i] = []string{"x"}
	}
	rows[0] = slices.Repeat([]string{strings.Repeat("é", maxCell)}, maxCells+1)
	kept, left := b.maskRows(rows)
	if len(kept) != maxRows || left != 5 || len(kept[0]) != maxCells || len(kept[0][0]) > maxCell {
		t.Errorf("%d rows and %d left, %d cells of %d bytes", len(kept), left, len(kept[0]), len(kept[0][0]))
	}
}

func TestNothingIsPickedWithoutAPage(t *testing.T) {
	b := New(Options{}, human.BrowserOptions{}, nil)
	var problem *human.Error
	if err := b.Pick(t.Context(), human.PickRequest{Field: "f"}); !errors.As(err, &problem) || problem.Kind != human.Conflict {
		t.Errorf("with no browser: %v", err)
	}
	if err := b.Pick(t.Context(), human.PickRequest{}); err != nil {
		t.Errorf("ending what there is not: %v", err)
	}
}
