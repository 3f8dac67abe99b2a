package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// finds says how many nodes one step of a selector finds under a node, and whether the last of them is that of an
// expression. A name and role are looked up in Chrome's own accessibility tree, as runners do.
func (p *testPage) finds(step, under, wanted string) (n int, is bool) {
	p.t.Helper()
	name, aria := strings.CutPrefix(step, "aria/")
	if !aria {
		var got [2]int
		find := `[...root.querySelectorAll(step)]`
		if xpath, ok := strings.CutPrefix(step, "xpath/"); ok {
			step = xpath
			find = `(() => { let all = document.evaluate(step, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE), out = []; for (let i = 0; i < all.snapshotLength; i++) out.push(all.snapshotItem(i)); return out })()`
		} else if text, ok := strings.CutPrefix(step, "text/"); ok {
			step = text
			find = `(function deepest(n) { let kids = [...n.children].filter((c) => !/^(SCRIPT|STYLE|HEAD)$/.test(c.tagName)).flatMap(deepest); return kids.length ? kids : n.textContent.includes(step) && n instanceof Element ? [n] : [] })(root.documentElement || root)`
		}
		p.evaluate(fmt.Sprintf(`((root, step, wanted) => { root = root.shadowRoot || root; let found = %s; return [found.length, Number(found.length > 0 && (found[0] === wanted || wanted.contains(found[0])))] })(%s, %s, %s)`,
			find, under, quoted(step), wanted), true, &got)
		return got[0], got[1] == 1
	}
	name, role, _ := strings.Cut(strings.TrimSuffix(name, `"]`), `[role="`)
	node := func(expression string) string {
		var r struct{ Result struct{ ObjectID string } }
		p.browser.mu.Lock()
		world := p.world
		p.browser.mu.Unlock()
		p.browser.call(p.t, p.session, "Runtime.evaluate", args{"expression": expression, "contextId": world}, &r)
		return r.Result.ObjectID
	}
	var found struct {
		Nodes []struct{ BackendDOMNodeID int }
	}
	p.browser.call(p.t, p.session, "Accessibility.queryAXTree", args{"objectId": node("((r) => r.shadowRoot || r)(" + under + ")"), "accessibleName": name, "role": role}, &found)
	var want struct{ Node struct{ BackendNodeID int } }
	p.browser.call(p.t, p.session, "DOM.describeNode", args{"objectId": node(wanted)}, &want)
	return len(found.Nodes), len(found.Nodes) == 1 && found.Nodes[0].BackendDOMNodeID == want.Node.BackendNodeID
}

// Each element is marked by n; the test has the script describe it, and finds it again by each of its selectors.
func TestPageSelectors(t *testing.T) {
	c := startChromium(t)
	for name, tt := range map[string]struct {
		html string
		want map[string][]string // by n: the beginnings of its selectors, the best first
		role map[string]string
	}{
		"a form": {
			`<form><label for=e>E-mail</label><input id=e type=email name=mail placeholder="you@x.test" n=mail>
				<label>Name <input n=name></label> <label>Age<input type=number n=age></label><textarea aria-labelledby="l1 l2" n=note></textarea><b id=l1>Your</b> <i id=l2>note</i>
				<select title=Country n=country><option>DE<option>CN</select><input type=submit n=submit><input type=button value='Say "hi"' n=say>
				<input type=checkbox id=r1x9f2k77 n=box><label for=r1x9f2k77>Stay   signed in</label><input type=password aria-label=Password n=pw>
				<input type=search aria-label=Find n=find><input list=l aria-label=City n=city><datalist id=l></datalist></form>`,
			map[string][]string{
				"mail":    {`aria/E-mail[role="textbox"]`, `input[placeholder="you@x.test"]`, `input[name="mail"]`, `#e`, `body > `},
				"name":    {`aria/Name[role="textbox"]`, `xpath///*[text()[normalize-space()="Name"]]/descendant::`, `body > `},
				"age":     {`aria/Age[role="spinbutton"]`, `xpath///*[text()[normalize-space()="Age"]]/descendant::`, `body > `},
				"note":    {`aria/Your note[role="textbox"]`, `xpath///*[text()[normalize-space()="Your"]]/preceding::`, `body > `},
				"country": {`aria/Country[role="combobox"]`, `select[title="Country"]`, `body > `},
				"submit":  {`aria/Submit[role="button"]`, `body > `},
				"say":     {`aria/Say "hi"[role="button"]`, `input[value="Say \"hi\""]`, `body > `},
				"box":     {`aria/Stay signed in[role="checkbox"]`, `xpath///*[text()[normalize-space()="Stay signed in"]]/preceding::`, `body > `},
				"pw":      {`aria/Password[role="textbox"]`, `input[aria-label="Password"]`, `body > `},
				"find":    {`aria/Find[role="searchbox"]`, `input[aria-label="Find"]`, `body > `},
				"city":    {`aria/City[role="combobox"]`, `input[aria-label="City"]`, `body > `},
			},
			nil,
		},
		"buttons and links": {
			`<nav><a href="#1" n=link>Docs</a> <a n=nolink>Plain</a></nav><button data-testid="save" n=save><svg></svg><span>Save</span> <span>all</span></button>
				<button n=hidden>Send<span style="display:none"> now</span></button><button n=twin1>Twin</button><button n=twin2>Twin</button><button n=part>Twin set</button>
				<button style="display:none">Lone</button><button n=lone>Lone</button><button aria-label="Close" n=close>x</button><button title="Help" n=help></button>
				<a href="#2" n=pic><img alt="Home"></a><div role=button tabindex=0 n=div>Go on</div><summary>x</summary><details><summary n=more>More</summary></details>
				<div role=tablist><div role=tab n=tab>First</div></div><h2 n=head>Title of it</h2><img alt="A boat" src="data:," n=img>`,
			map[string][]string{
				"link":   {`aria/Docs[role="link"]`, `text/Docs`, `a[href="#1"]`},
				"save":   {`[data-testid="save"]`, `aria/Save all[role="button"]`, `text/Save all`},
				"hidden": {`aria/Send[role="button"]`, `text/Send now`, `body > `},
				"twin1":  {`body > `}, "twin2": {`body > `},
				"part":  {`aria/Twin set[role="button"]`, `text/Twin set`, `body > `},
				"lone":  {`aria/Lone[role="button"]`, `body > `},
				"close": {`aria/Close[role="button"]`, `button[aria-label="Close"]`, `body > `},
				"help":  {`aria/Help[role="button"]`, `button[title="Help"]`, `body > `},
				"pic":   {`aria/Home[role="link"]`, `a[href="#2"]`},
				"div":   {`aria/Go on[role="button"]`, `text/Go on`, `body > `},
				"more":  {`aria/More[role="DisclosureTriangle"]`, `text/More`, `body > `},
				"tab":   {`aria/First[role="tab"]`, `text/First`, `body > `},
				"head":  {`aria/Title of it[role="heading"]`, `text/Title of it`, `body > `},
				"img":   {`aria/A boat[role="image"]`, `img[alt="A boat"]`, `body > `},
			},
			map[string]string{"more": "button", "img": "img", "nolink": "generic", "div": "button"},
		},
		"ids that are made up are not used": {
			`<div id=":r1:" n=a>x</div><div id="ember123" n=b>x</div><div id="radix-4" n=c>x</div><div id="a8f5f167f44f4964" n=d>x</div><div id="user-menu" n=e>x</div>
				<div id="user-menu" n=f>x</div><section id="list"><p n=g>y</p><p>y</p></section>`,
			map[string][]string{"a": {`body > `}, "b": {`body > `}, "c": {`body > `}, "d": {`body > `}, "e": {`body > `}, "f": {`body > `}, "g": {`#list > p:nth-child(1)`}},
			nil,
		},
		"nor are names of groups that are made up": {
			`<label><input type=radio name="el-id-2686-3" value=low n=low>Low</label><label><input type=radio name=speed value=fast n=fast>Fast</label>`,
			map[string][]string{"low": {`aria/Low[role="radio"]`, `input[value="low"]`}, "fast": {`aria/Fast[role="radio"]`, `input[name="speed"]`, `input[name="speed"][value="fast"]`}},
			nil,
		},
		"names with signs of their own": {
			`<button n=a data-test='a"b\c]'>It's [1] "so" \ far</button><button id="1x:y" n=b>é 中文</button>`,
			map[string][]string{"a": {`[data-test="a\"b\\c]"]`, `aria/It's [1] "so" \ far`, `text/It's [1] "so" \ far`}, "b": {`aria/é 中文`, `text/é 中文`, `body > `}},
			nil,
		},
		"a table": {
			`<table n=t><caption>Boats</caption><tr><th n=th>Name<th>Size<tr><td n=td>Ada<td><button n=del>Delete</button><tr><td>Bob<td><button>Delete</button></table>`,
			map[string][]string{"t": {`aria/Boats[role="table"]`, `body > table:nth-child(`}, "th": {`aria/Name[role="columnheader"]`, `text/Name`, `body > `}, "td": {`text/Ada`, `body > `}, "del": {`xpath///tr[`, `body > table`}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.open(t, tt.html)
			p.call("Accessibility.enable", nil)
			for n, want := range tt.want {
				node := fmt.Sprintf(`document.querySelector('[n=%s]')`, n)
				var e human.Element
				p.evaluate("describe("+node+")", true, &e)
				var got []string
				for _, s := range e.Selectors {
					got = append(got, strings.Join(s, " >> "))
					if n, is := p.finds(s[0], "document", node); len(s) != 1 || n != 1 || !is {
						t.Errorf("%s: %q finds %d elements, this among them: %t", e.Name, s, n, is)
					}
				}
				if len(got) < 2 {
					t.Errorf("%s: one selector alone: %q", n, got)
				}
				for len(got) > len(want) && (strings.HasPrefix(got[len(got)-1], "body > ") || strings.HasPrefix(got[len(got)-1], "xpath/")) {
					got = got[:len(got)-1] // paths at the end go without saying
				}
				if !slices.EqualFunc(got, want, strings.HasPrefix) {
					t.Errorf("%s: selectors\n  %s\nwant\n  %s", n, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			}
			for n, want := range tt.role {
				var e human.Element
				p.evaluate(fmt.Sprintf(`describe(document.querySelector('[n=%s]'))`, n), true, &e)
				if e.Role != want {
					t.Errorf("%s has the role %s, want %s", n, e.Role, want)
				}
			}
		})
	}

	t.Run("in shadow roots selectors descend through the hosts", func(t *testing.T) {
		p := c.open(t, `<my-app id=app></my-app><my-app></my-app><script>for (let h of document.querySelectorAll('my-app')) { let r = h.attachShadow({mode: 'open'});
			r.innerHTML = '<div><my-row></my-row></div>'; let i = r.querySelector('my-row').attachShadow({mode: 'open'}); i.innerHTML = '<div></div><button>Go</button>' }</script>`)
		p.call("Accessibility.enable", nil)
		deep := `document.querySelector('#app').shadowRoot.querySelector('my-row').shadowRoot.querySelector('button')`
		var e human.Element
		p.evaluate("describe("+deep+")", true, &e)
		row := "div:nth-child(1) > my-row:nth-child(1)"
		want := [][]string{{"#app", row, `text/Go`}, {"#app", row, `button:nth-child(2)`}} // another has its name
		if !slices.EqualFunc(e.Selectors, want, slices.Equal) {
			t.Errorf("selectors %q", e.Selectors)
		}
		p.run(`document.querySelectorAll('my-app')[1].remove()`)
		var one human.Element
		p.evaluate("describe("+deep+")", true, &one)
		if len(one.Selectors) != 3 || !slices.Equal(one.Selectors[0], []string{`aria/Go[role="button"]`}) {
			t.Fatalf("selectors %q", one.Selectors)
		}
		if n, is := p.finds(one.Selectors[0][0], "document", deep); n != 1 || !is {
			t.Errorf("%q finds %d, %t", one.Selectors[0], n, is)
		}
		for _, list := range e.Selectors {
			under := "document"
			for i, s := range list {
				wanted := []string{`document.querySelector('#app')`, `document.querySelector('#app').shadowRoot.querySelector('my-row')`, deep}[i]
				if n, is := p.finds(s, under, wanted); n != 1 || !is {
					t.Errorf("%q finds %d, %t", s, n, is)
				}
				under = wanted
			}
		}
	})

	t.Run("what changes on the page is known at the next look", func(t *testing.T) {
		p := c.open(t, `<button id=a>One</button><div id=b></div>`)
		unique := func() bool {
			var e human.Element
			p.evaluate("describe(document.querySelector('#a'))", true, &e)
			return strings.HasPrefix(e.Selectors[0][0], "aria/")
		}
		for i, step := range []struct {
			change string
			want   bool
		}{
			{"0", true},
			{"b.innerHTML = '<p><button>One</button></p>'", false},
			{"b.innerHTML = ''", true},
			{"b.innerHTML = '<button>Two</button>'", true},
			{"b.firstChild.firstChild.data = 'One'", false},
			{"b.firstChild.setAttribute('aria-label', 'Else')", true},
			{"b.innerHTML = '<input type=button id=c>'; c.value = 'One'; c.setAttribute('value', 'One')", false},
			{"b.innerHTML = '<div>One</div>'", true},
			{"b.firstChild.setAttribute('role', 'button')", false},
			{"for (let i = 0; i < 500; i++) b.append(document.createElement('p'))", false},
			{"b.innerHTML = ''", true},
			{"b.attachShadow({mode: 'open'}).innerHTML = '<button>One</button>'", true}, // is not seen until it moves
			{"document.body.prepend(b)", false},
			{"b.replaceWith(Object.assign(document.createElement('div'), {id: 'b'}))", true},
			{"for (let i = 0; i < 500; i++) { let n = document.createElement('button'); n.textContent = i < 499 ? i : 'One'; b.append(n) }", false},
		} {
			p.run(step.change)
			if got := unique(); got != step.want {
				t.Errorf("%d: after %s the name is unique: %t", i, step.change, got)
			}
		}
	})
}
