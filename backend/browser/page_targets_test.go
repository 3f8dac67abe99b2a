package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// everything that people may press on a page becomes targets: what has a role or a listener's attribute, and what has a
// pointer of its own, where it is shown.
const everything = `(globalThis.targets = [], (function into(root) { for (let e of root.querySelectorAll('*')) {
	let up = e.assignedSlot || e.parentElement || (e.getRootNode().host || null);
	let acts = e.matches('a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=tab],[role^=menuitem],[role=option],[role=combobox],[role=slider],[onclick]')
		|| getComputedStyle(e).cursor === 'pointer' && !(up && getComputedStyle(up).cursor === 'pointer');
	if (acts && e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 2) targets.push(e); if (e.shadowRoot) into(e.shadowRoot) } })(document), targets.length)`

// pressed describes what a press on each target is recorded as: a place in it may be meant for what it lies in.
const pressed = `(globalThis.meants = targets.map((e) => { let way = []; for (let n = e; n; n = n.assignedSlot || n.parentNode || n.host) way.push(n); return meant(way) }), meants.map(describe))`

// counts says of each selector of each target how many elements it finds, open shadow roots included: -1 where it does
// not find the target. Names and roles are left to Chrome.
const counted = `(function (elements) {
	let all = (root, find) => { let out = [...find(root)]; for (let e of root.querySelectorAll('*')) if (e.shadowRoot) out.push(...all(e.shadowRoot, find)); return out };
	let deepest = (step) => function into(n) { let kids = [...n.children].filter((c) => !/^(SCRIPT|STYLE|HEAD|TEMPLATE)$/.test(c.tagName)).flatMap(into); return kids.length ? kids : n instanceof Element && n.textContent.includes(step) ? [n] : [] };
	let step = (s) => s.startsWith('text/') ? deepest(s.slice(5))
		: s.startsWith('xpath/') ? (root) => { if (root !== document) return []; let f = document.evaluate(s.slice(6), root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE); return Array.from({length: f.snapshotLength}, (_, i) => f.snapshotItem(i)) }
		: (root) => root.querySelectorAll(s);
	return elements.map((e, i) => e.selectors.map((list) => { if (list[0].startsWith('aria/')) return 0; let root = document;
		for (let s of list.slice(0, -1)) { let found = [...step(s)(root)]; if (found.length !== 1 || !found[0].shadowRoot) return -1; root = found[0].shadowRoot }
		let found = all(root, step(list.at(-1))); return found.length && (found[0] === meants[i] || meants[i].contains(found[0])) ? found.length : -1 }))
})(%s)`

// sort is what kind of way to find an element a selector is.
func sort(list []string) string {
	last := list[len(list)-1]
	for _, host := range list[:len(list)-1] {
		if strings.Contains(host, ":nth-child") {
			return "path" // it is found by that way alone
		}
	}
	switch {
	case strings.HasPrefix(last, "aria/"), strings.HasPrefix(last, "text/"):
		return last[:4]
	case strings.HasPrefix(last, "xpath/") && strings.Contains(last, "normalize-space"):
		return "row"
	case strings.HasPrefix(last, "xpath/"):
		return "xpath"
	case strings.Contains(last, ":nth-"), strings.Contains(last, " > "):
		return "path"
	case strings.Contains(last, "["):
		return "attribute"
	}
	return "css"
}

// measured says of the targets of a page how many are useful: a person knows them by a name or by what stands beside
// them, and at least two selectors of different sorts find each, and nothing else.
func (p *testPage) measured(find string) (useful, all int) {
	p.t.Helper()
	var count int
	p.evaluate(find, true, &count)
	var got []human.Element
	p.evaluate(pressed, true, &got)
	p.call("Accessibility.enable", nil)
	text, _ := json.Marshal(got)
	var found [][]int
	p.evaluate(fmt.Sprintf(counted, text), true, &found)
	for i, e := range got {
		sorts, why := map[string]bool{}, ""
		for j, list := range e.Selectors {
			n := found[i][j]
			if n == 0 {
				var is bool
				if n, is = p.finds(list[0], "document", fmt.Sprintf("meants[%d]", i)); !is {
					n = -1
				}
			}
			if n == 1 {
				sorts[sort(list)] = true
			} else {
				why += fmt.Sprintf(" %q finds %d;", list, n)
			}
		}
		if len(sorts) >= 2 && e.Name+e.Beside != "" {
			useful++
		} else {
			why = " not useful;" + why
		}
		if why != "" && os.Getenv("TARGET_SHOW") != "" {
			fmt.Printf("%s <%s> %q beside %q:%s %q\n", e.Role, e.Tag, e.Name, e.Beside, why, e.Selectors)
		}
	}
	return useful, len(got)
}

// TestTargets measures how many targets of generated pages are useful, and of those in TARGET_PAGES, a folder of pages.
func TestTargets(t *testing.T) {
	c := startChromium(t)
	seed := seedOf(t, 1)
	report := func(name string, useful, all int) {
		t.Logf("%s: of %d targets %d are useful (%.1f %%)", name, all, useful, 100*float64(useful)/float64(max(all, 1)))
		if useful*10 < all*9 {
			t.Errorf("%s: under 90 %%", name)
		}
	}
	if folder := os.Getenv("TARGET_PAGES"); folder != "" {
		files, _ := filepath.Glob(filepath.Join(folder, "*.html"))
		for _, f := range files {
			p := c.open(t, "", serving(folder, filepath.Base(f)))
			p.until("the page is ready", func() bool { return p.text("window.ready === undefined || window.ready") == "true" })
			useful, all := p.measured(everything)
			report(filepath.Base(f), useful, all)
		}
		return
	}
	count := 150
	if testing.Short() {
		count = 50
	}
	for name, html := range map[string]string{
		fmt.Sprintf("careless components, seed %d", seed): newGenerator(seed).poorPage(count),
		fmt.Sprintf("all components, seed %d", seed):      newGenerator(seed).page(count),
	} {
		useful, all := c.open(t, html).measured(gather)
		report(name, useful, all)
	}
}

// serving has a page of a folder served, with what it loads.
func serving(folder, page string) func(*testSite) {
	return func(s *testSite) {
		s.folder, s.at = folder, "/"+page
	}
}
