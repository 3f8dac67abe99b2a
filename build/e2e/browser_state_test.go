//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// held is what a tab's documents hold: the values of fields, and storage.
const held = `(() => {
  const lines = [];
  const walk = (root, where) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.matches('input, select, textarea')) {
        const value = e.type === 'file' ? [...e.files].map(f => f.name).join() : e.type === 'checkbox' || e.type === 'radio' ? e.checked : e.multiple ? [...e.selectedOptions].map(o => o.value).join() : e.value;
        lines.push('field ' + where + (e.name || e.id || e.tagName) + ' = ' + value);
      }
      if (e.isContentEditable && !e.parentElement.isContentEditable) lines.push('text ' + where + (e.id || e.tagName) + ' = ' + e.innerHTML);
      if (e.shadowRoot) walk(e.shadowRoot, where + e.tagName + ' ');
      try { if (e.contentDocument) walk(e.contentDocument, where + 'frame '); } catch {}
    }
  };
  walk(document, '');
  const store = (name, s) => { for (const k of Object.keys(s).sort()) lines.push(name + ' ' + k + ' = ' + s[k]); };
  try { store('localStorage', localStorage); store('sessionStorage', sessionStorage); } catch {}
  try { if (document.cookie) lines.push('cookies ' + document.cookie); } catch {}
  return lines.join('\n');
})()`

// state is what all open tabs of a browser show and hold: address, title, the tree of accessibility of every
// frame, fields, storage. Tabs are in the order of their addresses. With contexts, only tabs in
// one of their own (a clean profile within the browser) count.
func (d *debugger) state(contexts bool) (string, error) {
	own := map[string]bool{}
	if contexts {
		var all struct {
			BrowserContextIDs []string `json:"browserContextIds"`
		}
		if err := d.call("", "Target.getBrowserContexts", nil, &all); err != nil {
			return "", err
		}
		for _, id := range all.BrowserContextIDs {
			own[id] = true
		}
	}
	var tabs []string
	for _, page := range d.pages() {
		if contexts && !own[page.Context] {
			continue
		}
		text, err := d.tabState(page.session)
		if err != nil {
			return "", err
		}
		tabs = append(tabs, text)
	}
	slices.Sort(tabs)
	return strings.Join(tabs, "\n"), nil
}

func (d *debugger) tabState(session string) (string, error) {
	var is struct{ URL, Title, Held string }
	if err := d.evaluate(session, "({URL: location.href, Title: document.title, Held: "+held+"})", &is); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q\n%s\n", is.URL, is.Title, is.Held)
	return b.String(), d.frameStates(&b, session)
}

// frameStates writes the trees of a session's frames, then those of frames with processes of their own.
func (d *debugger) frameStates(b *strings.Builder, session string) error {
	type frames struct {
		Frame       struct{ ID, URL string }
		ChildFrames []json.RawMessage
	}
	var top struct{ FrameTree json.RawMessage }
	if err := d.call(session, "Page.getFrameTree", nil, &top); err != nil {
		return err
	}
	var one func(raw json.RawMessage) error
	one = func(raw json.RawMessage) error {
		var f frames
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		fmt.Fprintf(b, "frame %s\n", f.Frame.URL)
		if err := d.tree(b, session, f.Frame.ID); err != nil {
			return err
		}
		for _, c := range f.ChildFrames {
			if err := one(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := one(top.FrameTree); err != nil {
		return err
	}
	var apart []string
	for _, t := range d.framesOf(session) {
		var inner strings.Builder
		if err := d.frameStates(&inner, t); err != nil {
			return err
		}
		apart = append(apart, inner.String())
	}
	slices.Sort(apart)
	b.WriteString(strings.Join(apart, ""))
	return nil
}

// tree writes a frame's tree of accessibility: roles, names, values and states, but not what has the focus.
func (d *debugger) tree(b *strings.Builder, session, frame string) error {
	type value struct{ Value any }
	var tree struct {
		Nodes []struct {
			Ignored           bool
			Role, Name, Value value
			Properties        []struct {
				Name  string
				Value value
			}
		}
	}
	if err := d.call(session, "Accessibility.getFullAXTree", map[string]any{"frameId": frame}, &tree); err != nil {
		return err
	}
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role.Value == "InlineTextBox" {
			continue
		}
		fmt.Fprintf(b, "  %v %q", n.Role.Value, n.Name.Value)
		if n.Value.Value != nil {
			fmt.Fprintf(b, " = %q", n.Value.Value)
		}
		for _, p := range n.Properties {
			switch p.Name {
			case "checked", "selected", "expanded", "disabled", "pressed", "valuetext":
				fmt.Fprintf(b, " %s:%v", p.Name, p.Value.Value)
			}
		}
		b.WriteByte('\n')
	}
	return nil
}

// framesOf are the sessions of iframes that were attached within a session.
func (d *debugger) framesOf(session string) (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s, t := range d.sessions {
		if t.Type == "iframe" && t.parent == session {
			all = append(all, s)
		}
	}
	return all
}
