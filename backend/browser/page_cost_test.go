package browser

import "testing"

// rows is a page with a table of 5,000 rows, each with a link, a check box and a button, and a form above it. Each
// click writes to the page, so that nothing stays as it was; and each press makes the layout stale before it.
const rows = `<form><label>Name <input id=name></label><button type=button id=save>Save</button></form><p id=log role=status></p><table id=t></table><script>
	let h = '';
	for (let i = 0; i < 5000; i++) h += '<tr data-testid="row-' + i + '"><td><input type=checkbox aria-label="Select ' + i + '"><td>Name ' + i + '<td>City ' + (i % 17) + '<td><a href="#x">Open ' + i + '</a><td><button>Delete</button>';
	t.innerHTML = h; let n = 0;
	addEventListener('click', () => { log.textContent = 'Clicked ' + ++n });
	addEventListener('input', () => { log.textContent = 'Typed ' + ++n });
</script>`

// metrics are counts and seconds of the page's main thread since it began.
func (p *testPage) metrics() map[string]float64 {
	p.t.Helper()
	var got struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.browser.call(p.t, p.session, "Performance.getMetrics", nil, &got)
	m := map[string]float64{}
	for _, v := range got.Metrics {
		m[v.Name] = v.Value
	}
	return m
}

// TestPageCost measures what the script adds to events on a large page, and that it makes no layout of its own.
func TestPageCost(t *testing.T) {
	c := startChromium(t)
	const clicks, letters = 60, 60
	work := func(p *testPage) (script, layouts float64, events int) {
		p.call("Performance.enable", args{"timeDomain": "threadTicks"}) // what other programs do does not count
		var at [][2]float64
		p.evaluate(`[...document.querySelectorAll('#save, td:nth-child(2), td a, td button')].slice(0, 30).map((e) => { let r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })`, true, &at)
		for _, a := range at[:4] { // the first of a kind builds what is kept
			p.clickAt(a[0], a[1], "left", 1)
		}
		before := p.metrics()
		for i := range clicks {
			p.clickAt(at[i%len(at)][0], at[i%len(at)][1], "left", 1)
		}
		p.run("document.querySelector('#name').focus()")
		for range letters {
			p.key("x", 0)
		}
		after := p.metrics()
		return after["ScriptDuration"] - before["ScriptDuration"], after["LayoutCount"] - before["LayoutCount"], clicks*4 + letters*3
	}
	p := c.open(t, rows)
	script, layouts, events := work(p)
	if n := len(p.lines()); n < 2*clicks {
		t.Fatalf("%d events were reported", n)
	}
	plain, bareLayouts, _ := work(c.open(t, rows, func(s *testSite) { s.bare = true }))
	each := (script - plain) * 1000 / float64(events)
	t.Logf("%d events of the browser (%d clicks, %d letters) on 5,000 rows: %.0f ms of script with the recorder, %.0f ms without: %.3f ms an event; layouts %.0f and %.0f",
		events, clicks, letters, script*1000, plain*1000, each, layouts, bareLayouts)
	if each > 5 { // an order of magnitude over what it is: no one knows what machine this is
		t.Errorf("an event costs %.2f ms", each)
	}

	t.Run("no layout is forced while an event is handled", func(t *testing.T) {
		// The page makes its layout stale right before the script hears of an event, and once more after it; were it
		// read in between, it would be laid out twice.
		p := c.open(t, `<button id=a><b>Save</b> <i>all</i></button><label><span>Name</span> <input id=b></label><button><b>Save</b> all</button><input type=checkbox><p id=log></p>`)
		p.run(`for (let type of ['pointerover', 'pointerdown', 'pointerup', 'click', 'keydown', 'input', 'focusin', 'focusout'])
			for (let capture of [true, false]) addEventListener(type, () => { log.style.width = Math.random() * 100 + 'px' }, capture)`)
		p.evaluate("deskbell.stop(), deskbell.arm()", true, nil) // so that it hears after the first of them
		p.call("Performance.enable", nil)
		run := func() float64 {
			before := p.metrics()["LayoutCount"]
			for range 20 {
				p.clickAt(20, 20, "left", 1)
				p.key("Tab", 0)
				p.key("x", 0)
			}
			return p.metrics()["LayoutCount"] - before
		}
		run()
		with := run()
		n := len(p.all())
		p.evaluate("deskbell.stop()", true, nil)
		run()
		without := run()
		if with > without+10 { // one forced by a kind of event would be 20; frames more or less are as it happens
			t.Errorf("%.0f layouts with the script, %.0f without", with, without)
		}
		if n < 100 {
			t.Errorf("%d events", n)
		}
	})

	t.Run("a press is reported with all its selectors in time", func(t *testing.T) {
		p := c.open(t, rows)
		var took struct{ First, Each float64 }
		p.evaluate(`(() => { const all = [...document.querySelectorAll('td button, td a, td:nth-child(2), #save')]; const time = (f) => { const t = performance.now(); f(); return performance.now() - t };
			const first = time(() => describe(all[0])); let i = 0; return {first, each: time(() => { for (; i < 200; i++) describe(all[(i * 71) % all.length]) }) / 200} })()`, true, &took)
		t.Logf("describing an element on 5,000 rows takes %.2f ms, the first time %.1f ms", took.Each, took.First)
		if took.Each > 20 {
			t.Errorf("it takes %.1f ms", took.Each)
		}
	})
}
