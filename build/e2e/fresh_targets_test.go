//go:build window

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// A bench is a browser in which documents of the past are set up again, to try selectors on.
type bench struct {
	*debugger
	page string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	profile := t.TempDir()
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--window-size=1280,900", "--lang=en-US", "--user-data-dir="+profile, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	b := &bench{debugger: dial(t, profile)}
	eventually(t, "a page", func() bool {
		if all := b.pages(); len(all) > 0 {
			b.page = all[0].session
		}
		return b.page != ""
	})
	return b
}

// sets shows a document, of the server at origin.
func (b *bench) sets(origin, html string) error {
	var at string
	if err := b.evaluate(b.page, "location.origin", &at); err != nil {
		return err
	}
	if at != origin {
		if err := b.call(b.page, "Page.navigate", map[string]any{"url": origin + "/blank"}, nil); err != nil {
			return err
		}
	}
	return b.evaluate(b.page, fmt.Sprintf(`(async () => {
  while (location.pathname !== '/blank' || document.readyState !== 'complete') await new Promise(r => setTimeout(r, 20));
  const html = %s;
  document.documentElement.setHTMLUnsafe(html.slice(html.indexOf('>') + 1, html.lastIndexOf('</html>')));
  for (const a of new DOMParser().parseFromString(html.slice(0, html.indexOf('>') + 1), 'text/html').documentElement.attributes) document.documentElement.setAttribute(a.name, a.value);
  const links = [...document.querySelectorAll('link[rel=stylesheet]')];
  await Promise.race([Promise.all(links.map(l => l.sheet || new Promise(r => l.onload = l.onerror = r))), new Promise(r => setTimeout(r, 1500))]);
  const deep = root => { const hit = root.querySelector('[data-fresh-mark]'); if (hit) return hit; for (const e of root.querySelectorAll('*')) if (e.shadowRoot) { const h = deep(e.shadowRoot); if (h) return h; } };
  // What the page adopted as style sheets was written into the shadow roots, where it would be counted in paths.
  const adopt = root => { for (const e of root.querySelectorAll('*')) if (e.shadowRoot) {
    const sheets = [];
    for (let s; (s = e.shadowRoot.firstChild) instanceof HTMLStyleElement; s.remove()) { const sheet = new CSSStyleSheet(); sheet.replaceSync(s.textContent); sheets.push(sheet); }
    e.shadowRoot.adoptedStyleSheets = sheets;
    adopt(e.shadowRoot);
  } };
  adopt(document);
  window.__mark = deep(document);
  let hit = null;
  if (window.__mark) {
    __mark.removeAttribute('data-fresh-mark');
    __mark.scrollIntoView({ block: 'center' });
    const r = __mark.getBoundingClientRect();
    for (let at = document, e; (e = at.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) && e !== hit; at = e.shadowRoot) { hit = e; if (!e.shadowRoot) break; }
  }
  // A press in the middle of the target hits what is drawn over it, too: the box of a switch lies over its track. In a
  // label it is one on the label's field.
  const around = window.__mark && __mark.closest('label');
  const labelled = around && around.control;
  window.__same = e => { if (!e) return false; if (e === __mark || e === hit || e === labelled) return true;
    const up = (a, b) => { for (let n = a; n; n = n.parentNode || n.host) if (n === b) return true; return false; };
    return up(e, __mark) || up(__mark, e) && e.getElementsByTagName('*').length < 12; };
})()`, quoted(html)), nil)
}

// queries finds what a selector without aria/ matches: how many, and whether the one is the marked element.
const queries = `(chain => {
  const text = (root, want) => { const out = []; const go = n => { let hit = false; for (const c of n.children || []) hit = go(c) || hit; if (n.shadowRoot) hit = go(n.shadowRoot) || hit;
    if (!hit && n.nodeType === 1 && !['SCRIPT','STYLE','HEAD','TITLE'].includes(n.tagName)) { const t = n.matches('input[type=submit],input[type=button]') ? n.value : n.textContent; if (t && t.includes(want)) { out.push(n); hit = true; } } return hit; }; go(root); return out; };
  const pierce = (root, css) => { const out = []; const go = r => { out.push(...r.querySelectorAll(css)); for (const e of r.querySelectorAll('*')) if (e.shadowRoot) go(e.shadowRoot); }; go(root); return out; };
  let roots = [document], found = [];
  chain.forEach((s, i) => {
    found = roots.flatMap(r => { try {
      if (s.startsWith('text/')) return text(r, s.slice(5));
      if (s.startsWith('pierce/')) return pierce(r, s.slice(7));
      if (s.startsWith('xpath/')) { const x = document.evaluate(s.slice(6), r, null, 7, null); return Array.from({ length: x.snapshotLength }, (_, n) => x.snapshotItem(n)); }
      return [...r.querySelectorAll(s)];
    } catch { return []; } });
    if (i < chain.length - 1) roots = found.map(e => e.shadowRoot).filter(Boolean);
  });
  return [found.length, found.length === 1 && __same(found[0]) ? 1 : 0];
})`

// tries says whether a selector finds one element, the marked one.
func (b *bench) tries(chain []string) (unique bool) {
	last := chain[len(chain)-1]
	if !strings.HasPrefix(last, "aria/") {
		var r [2]int
		if b.evaluate(b.page, queries+"("+jsonOf(chain)+")", &r) != nil {
			return false
		}
		return r[0] == 1 && r[1] == 1
	}
	name, role := strings.TrimPrefix(last, "aria/"), ""
	if before, after, found := strings.Cut(name, `[role="`); found {
		name, role = before, strings.TrimSuffix(after, `"]`)
	}
	var doc object
	if b.call(b.page, "Runtime.evaluate", map[string]any{"expression": "document"}, &doc) != nil {
		return false
	}
	query := map[string]any{"objectId": doc.Result.ObjectID}
	if name != "" {
		query["accessibleName"] = name
	}
	if role != "" {
		query["role"] = role
	}
	var found struct {
		Nodes []struct {
			Ignored bool
			Role    struct{ Value string }
			Backend int `json:"backendDOMNodeId"`
		}
	}
	if b.call(b.page, "Accessibility.queryAXTree", query, &found) != nil {
		return false
	}
	var hits []int
	for _, n := range found.Nodes {
		if !n.Ignored && n.Role.Value != "StaticText" && n.Role.Value != "InlineTextBox" {
			hits = append(hits, n.Backend)
		}
	}
	if len(hits) != 1 {
		return false
	}
	var node struct{ Object struct{ ObjectID string } }
	var same struct{ Result struct{ Value bool } }
	if b.call(b.page, "DOM.resolveNode", map[string]any{"backendNodeId": hits[0]}, &node) != nil {
		return false
	}
	err := b.call(b.page, "Runtime.callFunctionOn", map[string]any{"objectId": node.Object.ObjectID, "functionDeclaration": "function () { return __same(this); }", "returnByValue": true}, &same)
	return err == nil && same.Result.Value
}

func jsonOf(v []string) string {
	var all []string
	for _, one := range v {
		all = append(all, quoted(one))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// sort is the kind of a selector. One that counts its way to a shadow host finds no more than that way does.
func sort(chain []string) string {
	s := chain[len(chain)-1]
	for _, host := range chain[:len(chain)-1] {
		if strings.Contains(host, ":nth-child") {
			return "path"
		}
	}
	if strings.Contains(s, ":nth-child") {
		return "path"
	}
	for _, one := range []string{"aria/", "text/", "xpath/", "pierce/"} {
		if strings.HasPrefix(s, one) {
			return strings.TrimSuffix(one, "/")
		}
	}
	for _, one := range []string{"placeholder", "aria-label", "title", "alt", "name", "data-", "href", "value", "src", "part"} {
		if strings.Contains(s, "["+one) {
			return one
		}
	}
	switch {
	case strings.ContainsAny(s, " >"):
		return "path"
	case strings.HasPrefix(s, "#"):
		return "id"
	case strings.Contains(s, "."):
		return "class"
	}
	return "path"
}

// A targeted is what a recorded action says of its target, held against the page.
type targeted struct {
	named  bool
	unique []string // sorts of selectors that find the target and nothing else
	broken []string // selectors that do not
}

func (b *bench) target(origin string, d stepped, a human.Action) (t targeted) {
	if a.Element == nil {
		return t
	}
	// People know it by what stands beside it where it has no name; where the word of the person stands nowhere on the
	// page, as of an icon, by any.
	for _, known := range []string{a.Element.Name, a.Element.Beside} {
		known = strings.TrimSpace(known)
		shown := d.Name != "" && (d.before == "" || strings.Contains(unstyled(d.before), strings.ToLower(d.Name)))
		t.named = t.named || known != "" && (!shown || alike(known, d.Name))
	}
	if d.before == "" {
		return t
	}
	if err := b.sets(origin, d.before); err != nil {
		t.broken = append(t.broken, "the page could not be set up: "+err.Error())
		return t
	}
	seen := map[string]bool{}
	for _, chain := range a.Element.Selectors {
		if len(chain) == 0 {
			continue
		}
		kind := sort(chain)
		switch {
		case !b.tries(chain):
			t.broken = append(t.broken, strings.Join(chain, " >>> "))
		case !seen[kind]:
			seen[kind] = true
			t.unique = append(t.unique, kind)
		}
	}
	return t
}

// unstyled is a document in lower case without its style sheets, which have words of their own.
func unstyled(html string) string {
	var b strings.Builder
	rest := strings.ToLower(html)
	for {
		text, after, found := strings.Cut(rest, "<style")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		_, rest, _ = strings.Cut(after, "</style>")
	}
}

func (t targeted) useful() bool { return t.named && len(t.unique) >= 2 }

// alike says whether a name is what a person would call a thing.
func alike(name, want string) bool {
	name, want = strings.ToLower(name), strings.ToLower(want)
	return strings.Contains(name, want) || strings.Contains(want, name)
}

// secretsIn looks for texts in the raw bytes of a folder, and returns those that are there and where.
func secretsIn(folder string, texts []string) map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it went while it was looked at
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, text := range texts {
			if holds(data, text) {
				found[text] = path
			}
		}
		return nil
	})
	return found
}

func holds(data []byte, text string) bool {
	wide := make([]byte, 0, 2*len(text))
	for _, b := range []byte(text) {
		wide = append(wide, b, 0)
	}
	return strings.Contains(string(data), text) || strings.Contains(string(data), string(wide))
}
