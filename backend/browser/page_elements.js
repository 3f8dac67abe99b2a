// What an element of a page is: its role, its name, and selectors that find it again. It runs in the recorder's own
// world, reads no layout, and works in proportion to the element and not to the page wherever it can:
// getAccessibleName builds the whole page's accessibility tree anew for each call (0.3 s with 5,000 rows).
(function elements(secrets) {
  'use strict';

  // A form's fields hide its own properties by their names, in every world: read through the prototypes.
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const attribute = Element.prototype.getAttribute;
  const has = Element.prototype.hasAttribute;
  const closest = Element.prototype.closest;
  const matches = Element.prototype.matches;
  const parentOf = getter(Node, 'parentNode');
  const rootOf = Node.prototype.getRootNode;
  const textOf = getter(Node, 'textContent');
  const firstOf = getter(Node, 'firstChild');
  const nextOf = getter(Node, 'nextSibling');
  const before = getter(Element, 'previousElementSibling');
  const tagOf = getter(Element, 'localName');
  const connected = getter(Node, 'isConnected');
  const visible = Element.prototype.checkVisibility;
  const typeOf = getter(HTMLInputElement, 'type');
  const attr = (e, name) => attribute.call(e, name) || '';
  const query = { 1: Element.prototype, 9: Document.prototype, 11: DocumentFragment.prototype };
  const kindOf = getter(Node, 'nodeType');
  const shadowOf = getter(Element, 'shadowRoot');
  const find = (root, selector) => query[kindOf.call(root)].querySelectorAll.call(root, selector);
  const byId = (root, id) => (root instanceof Document ? Document.prototype : DocumentFragment.prototype).getElementById.call(root, id);
  const contains = Node.prototype.contains;
  const activeOf = getter(Document, 'activeElement');
  const bodyOf = getter(Document, 'body');
  const topOf = getter(Document, 'documentElement');
  const whole = () => topOf.call(document);
  const flat = (text) => text.replace(/\s+/g, ' ').trim();
  const parent = (e) => {
    const p = parentOf.call(e);
    return p instanceof Element ? p : null;
  };

  const inputRoles = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', date: 'Date', time: 'InputTime', color: 'ColorWell',
    month: 'DateTime', week: 'DateTime', 'datetime-local': 'DateTime',
  };
  const tagRoles = {
    button: 'button', summary: 'DisclosureTriangle', textarea: 'textbox', option: 'option', img: 'image', h1: 'heading', h2: 'heading',
    h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', li: 'listitem', ul: 'list', ol: 'list', td: 'cell', tr: 'row', table: 'table',
    nav: 'navigation', main: 'main', dialog: 'dialog', p: 'paragraph', progress: 'progressbar', canvas: 'Canvas', label: 'LabelText',
    iframe: 'Iframe', video: 'Video', audio: 'Audio', article: 'article', form: 'form', fieldset: 'group', output: 'status',
  };

  /** The role, as Chrome's accessibility tree calls it. */
  function roleOf(e) {
    const given = attr(e, 'role').trim().split(/\s+/)[0];
    if (given && given !== 'none' && given !== 'presentation') return given === 'img' ? 'image' : given;
    const tag = tagOf.call(e);
    switch (tag) {
      case 'a':
      case 'area':
        return has.call(e, 'href') ? 'link' : 'generic';
      case 'input': {
        const type = typeOf.call(e);
        if (has.call(e, 'list') && /^(?:text|search|tel|url|email)$/.test(type)) return 'combobox';
        return inputRoles[type] || 'textbox';
      }
      case 'select':
        return has.call(e, 'multiple') || Number(attr(e, 'size')) > 1 ? 'listbox' : 'combobox';
      case 'th':
        return attr(e, 'scope') === 'row' ? 'rowheader' : 'columnheader';
      case 'td':
        return closest.call(e, '[role=grid],[role=treegrid]') ? 'gridcell' : 'cell';
      default:
        if (isEditable(e) && !isEditable(parent(e))) return 'textbox';
        return Object.hasOwn(tagRoles, tag) ? tagRoles[tag] : 'generic';
    }
  }

  const editableOf = getter(HTMLElement, 'isContentEditable');
  const isEditable = (e) => e instanceof HTMLElement && editableOf.call(e);

  const fromContent = new Set(
    ('button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem heading cell gridcell columnheader ' +
      'rowheader tooltip DisclosureTriangle LabelText row').split(' '),
  );
  const apart = new Set('address article blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td th tr ul'.split(' '));
  const silent = new Set('script style template noscript select textarea input'.split(' '));

  /** The text an element's content gives to its name. exact leaves out what is not displayed, which reads styles. */
  function content(e, exact, depth = 0) {
    let out = '';
    for (let n = firstOf.call(e); n && out.length < 1000; n = nextOf.call(n)) {
      if (n instanceof Text) out += n.data;
      else if (n instanceof Element && depth < 30) {
        const tag = tagOf.call(n);
        if (silent.has(tag) || has.call(n, 'hidden') || attr(n, 'aria-hidden') === 'true') continue;
        if (exact && tag !== 'slot' && !visible.call(n, { visibilityProperty: true })) continue;
        const label = attr(n, 'aria-label') || (tag === 'img' ? attr(n, 'alt') : '');
        const text = label || (tag === 'slot' ? slotted(n, exact, depth) : content(n, exact, depth + 1));
        out += apart.has(tag) ? ` ${text} ` : text;
      }
    }
    return out;
  }

  function slotted(slot, exact, depth) {
    const nodes = slot instanceof HTMLSlotElement ? slot.assignedNodes() : [];
    if (!nodes.length) return content(slot, exact, depth + 1);
    return nodes.map((n) => (n instanceof Text ? n.data : n instanceof Element ? content(n, exact, depth + 1) : '')).join('');
  }

  /** Labels of a field. known is the index of all labels, where it is built. */
  function labels(e, exact, known) {
    const found = known ? known.labels.get(e) || [] : [];
    if (!known) {
      const around = closest.call(e, 'label');
      if (around && (!has.call(around, 'for') || attr(around, 'for') === attr(e, 'id'))) found.push(around);
      const id = attr(e, 'id');
      if (id) for (const label of find(rootOf.call(e), `label[for=${quoted(id)}]`)) if (!found.includes(label)) found.push(label);
    }
    return flat(found.map((label) => content(label, exact)).join(' '));
  }

  /** The accessible name (W3C accname 1.2, without what CSS adds), at most 1,000 characters. */
  function nameOf(e, exact, known) {
    const by = attr(e, 'aria-labelledby').trim();
    if (by) {
      const root = rootOf.call(e);
      const parts = by.split(/\s+/).map((id) => byId(root, id)).filter(Boolean);
      const name = flat(parts.map((p) => attr(p, 'aria-label') || content(p, false)).join(' '));
      if (name) return name;
    }
    const label = flat(attr(e, 'aria-label'));
    if (label) return label;
    const tag = tagOf.call(e);
    let name = '';
    if (tag === 'input') {
      const type = typeOf.call(e);
      if (type === 'image') name = attr(e, 'alt') || attr(e, 'value');
      else if (/^(?:button|submit|reset)$/.test(type)) name = attr(e, 'value') || { submit: 'Submit', reset: 'Reset' }[type] || '';
      name = labels(e, exact, known) || name;
    } else if (tag === 'select' || tag === 'textarea') name = labels(e, exact, known);
    else if (tag === 'img' || tag === 'area') name = attr(e, 'alt');
    else if (tag === 'fieldset' || tag === 'table') {
      const first = find(e, tag === 'table' ? 'caption' : 'legend')[0];
      name = first ? content(first, exact) : '';
    } else if (fromContent.has(roleOf(e))) name = content(e, exact);
    name = flat(name);
    return (name || flat(attr(e, 'title')) || flat(attr(e, 'placeholder'))).slice(0, 1000);
  }

  const roleSelectors = {
    button: 'button,input[type=button],input[type=submit],input[type=reset],input[type=image],input[type=file],[role=button]',
    link: 'a[href],area[href],[role=link]',
    checkbox: 'input[type=checkbox],[role=checkbox]',
    radio: 'input[type=radio],[role=radio]',
    textbox: 'input,textarea,[role=textbox],[contenteditable]',
    combobox: 'select,input[list],[role=combobox]',
    listbox: 'select,[role=listbox]',
    searchbox: 'input[type=search],[role=searchbox]',
    slider: 'input[type=range],[role=slider]',
    spinbutton: 'input[type=number],[role=spinbutton]',
    heading: 'h1,h2,h3,h4,h5,h6,[role=heading]',
    image: 'img,[role=img],[role=image]',
    DisclosureTriangle: 'summary',
    Date: 'input[type=date]', InputTime: 'input[type=time]', ColorWell: 'input[type=color]',
    DateTime: 'input[type=month],input[type=week],input[type=datetime-local]',
  };
  const widgets = new Set(
    'tab menuitem menuitemcheckbox menuitemradio option treeitem switch gridcell columnheader rowheader row dialog'.split(' '),
  );
  const selectorOf = (role) =>
    Object.hasOwn(roleSelectors, role) ? roleSelectors[role] : widgets.has(role) ? `[role=${role}]${{ option: ',option', columnheader: ',th', rowheader: ',th', row: ',tr', dialog: ',dialog' }[role] || ''}` : '';

  /**
   * Which elements of a document or shadow root have a name, by role. It is built for a role when that is asked for,
   * and kept up with what changes on the page since; where that is much, it is dropped and the page left alone.
   */
  class Index {
    constructor(root) {
      this.root = root;
      this.observer = new MutationObserver((records) => this.changed(records));
      this.drop();
    }

    drop() {
      this.observer.disconnect();
      this.roles = new Map();
      this.labels = null;
      this.hosts = new Set();
      this.pending = [];
    }

    changed(records) {
      if (this.pending.length + records.length > 200) this.drop();
      else this.pending.push(...records);
    }

    add(role, e) {
      const named = this.roles.get(role);
      const name = nameOf(e, false, this);
      if (!named.has(name)) named.set(name, new Set());
      named.get(name).add(e);
    }

    renew() {
      this.changed(this.observer.takeRecords());
      const tops = new Set();
      for (const r of this.pending.splice(0)) {
        for (const n of r.addedNodes) if (n instanceof Element) tops.add(n);
        const at = r.target instanceof Element ? r.target : parent(r.target);
        const owner = at && closest.call(at, 'a,button,label,h1,h2,h3,h4,h5,h6,th,summary,option,[role]');
        if (owner) tops.add(owner);
        if (at && r.type === 'attributes') tops.add(at);
      }
      if (!tops.size) return;
      if (tops.size > 300) return this.drop();
      for (const top of tops) {
        if (tagOf.call(top) === 'label' || find(top, 'label').length) return this.drop();
        this.host(top);
        for (const role of this.roles.keys()) {
          const selector = selectorOf(role);
          if (matches.call(top, selector)) this.add(role, top);
          for (const e of find(top, selector)) this.add(role, e);
        }
      }
    }

    /** Notes the open shadow hosts in and under an element. */
    host(top) {
      if (top instanceof Element && shadowOf.call(top)) this.hosts.add(top);
      const all = find(top, '*');
      if (top === this.root) this.large = all.length > 3000;
      for (const e of all) if (shadowOf.call(e)) this.hosts.add(e);
    }

    /** All open shadow roots in it. */
    shadows() {
      const out = [];
      const into = (some) => {
        for (const host of some) {
          const root = connected.call(host) && shadowOf.call(host);
          if (!root || out.length > 2000) continue;
          out.push(root);
          into([...find(root, '*')].filter((e) => shadowOf.call(e)));
        }
      };
      into(this.hosts);
      return out;
    }

    build() {
      if (this.labels) this.renew();
      if (!this.labels) {
        this.labels = new Map();
        for (const label of find(this.root, 'label')) {
          if (label.control) this.labels.set(label.control, [...(this.labels.get(label.control) || []), label]);
        }
        this.host(this.root);
        this.observer.observe(this.root, {
          subtree: true, childList: true, characterData: true, attributes: true,
          attributeFilter: ['role', 'type', 'href', 'for', 'aria-label', 'aria-labelledby', 'alt', 'title', 'placeholder', 'value', 'list'],
        });
      }
    }

    /** Says whether e alone has this role and name, here and in open shadow roots. rough is its name with what is not displayed. */
    unique(e, role, name, rough) {
      const selector = selectorOf(role);
      if (!selector) return false;
      this.build();
      if (!this.roles.has(role)) {
        this.roles.set(role, new Map());
        for (const other of find(this.root, selector)) this.add(role, other);
      }
      const named = this.roles.get(role);
      const same = (other) => other !== e && connected.call(other) && roleOf(other) === role && nameOf(other, true) === name && visible.call(other, { visibilityProperty: true });
      let tried = 0;
      for (const key of new Set([name, rough])) {
        for (const other of named.get(key) || []) if (other !== e && (++tried > 8 || same(other))) return false;
      }
      for (const root of this.shadows()) {
        for (const other of find(root, selector)) if (++tried > 2000 || same(other)) return false;
      }
      return true;
    }
  }
  const index = new Index(document);

  function quoted(text) {
    return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
  }

  /** An id or the like that a program made up, and will make up anew. */
  function generated(id) {
    return (
      /[:«»]|^_|--/.test(id) ||
      /(?:^|[-_])(?:ember|radix|headlessui|mui|mat|cdk|ext|yui|gwt|react|rc|downshift|jss|css|sc|ng|reach|base|uid|auto|gen)[-_a-z]*\d/i.test(id) ||
      /\d{5,}|[0-9a-f]{8}/i.test(id) ||
      id.split(/[-_.]/).some((part) => part.length > 4 && (part.match(/\d+/g) || []).length > 1)
    );
  }

  const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy', 'data-automation-id'];

  const alone = (root, selector, e) => {
    const found = find(root, selector);
    return found.length === 1 && found[0] === e;
  };

  /** A selector by a test id or an id of its own that is unique. */
  function anchor(e, root) {
    for (const name of testIds) {
      const id = attr(e, name);
      if (id && id.length < 100 && alone(root, `[${name}=${quoted(id)}]`, e)) return `[${name}=${quoted(id)}]`;
    }
    const id = attr(e, 'id');
    return id && !generated(id) && alone(root, `#${CSS.escape(id)}`, e) ? `#${CSS.escape(id)}` : '';
  }

  function position(e) {
    let n = 1;
    for (let b = before.call(e); b; b = before.call(b)) {
      // Counting on in the engine is quicker in a long list.
      if (++n > 100) return n + Document.prototype.evaluate.call(document, 'count(preceding-sibling::*)', b, null, XPathResult.NUMBER_TYPE, null).numberValue;
    }
    return n;
  }

  /** The path from the nearest ancestor that can be told by itself. Each step names one child, so it is unique. */
  function path(e, root) {
    let steps = '';
    for (let at = e; at; at = parent(at)) {
      const tag = CSS.escape(tagOf.call(at));
      if (tag === 'body' || tag === 'html') return `${tag}${steps}`;
      const id = at === e ? '' : anchor(at, root);
      if (id) return id + steps;
      const top = !parent(at);
      steps = `${top ? '' : ' > '}${tag}:nth-child(${position(at)})${steps}`;
    }
    return alone(root, steps, e) ? steps : '';
  }

  /** Whether a text stands once in a document or shadow root; runners look for it in shadow roots, too. */
  function once(root, text) {
    const all = textOf.call(root === document ? whole() : root);
    const at = all.indexOf(text);
    if (at < 0 || all.indexOf(text, at + 1) >= 0) return false;
    if (root !== document) return true;
    index.build();
    return index.shadows().every((s) => !textOf.call(s).includes(text));
  }

  const listing = new Set('select datalist table thead tbody tr ul ol dl form nav main section article body html'.split(' '));

  /**
   * Selectors of an element, the best first; above are those of the shadow hosts it lies in. A name and role need
   * none: they are looked up in the accessibility tree, which knows no shadow roots.
   */
  function selectors(e, root, above, role, name, rough) {
    const lists = [];
    const out = { push: (s) => s && s.length <= 500 && !lists.some((l) => l.at(-1) === s) && lists.push([...above, s]) };
    const own = anchor(e, root);
    if (own[0] === '[') out.push(own);
    let worth = true; // to look for the text, which is to read that of the whole page
    if (name && name.length <= 150 && role !== 'generic' && !/\[\s*\w+\s*=/.test(name)) {
      if (index.unique(e, role, name, rough)) lists.push([`aria/${name}[role="${role}"]`]);
      worth = !index.large || (selectorOf(role) === '' && lists.length === 0);
    }
    const tag = CSS.escape(tagOf.call(e));
    const by = (called) => {
      const value = attr(e, called);
      const selector = `${tag}[${called}=${quoted(value)}]`;
      if (value && value.length <= 150 && alone(root, selector, e)) out.push(selector);
    };
    by('placeholder');
    by('aria-label');
    by('alt');
    const text = worth && e instanceof HTMLElement && !isEditable(e) && !listing.has(tagOf.call(e)) ? textOf.call(e) : '';
    if (text && text.length <= 80) {
      const trimmed = text.trim();
      if (trimmed && !/[\n\t]| {2}/.test(trimmed) && once(root, trimmed)) out.push(`text/${trimmed}`);
    }
    by('title');
    by('name');
    if (own[0] === '#') out.push(own);
    else {
      const id = attr(e, 'id');
      if (id && !generated(id) && alone(root, `#${CSS.escape(id)}`, e)) out.push(`#${CSS.escape(id)}`);
    }
    out.push(path(e, root));
    return lists;
  }

  /** The selector of a shadow host, and those of the hosts it lies in, from the outside. */
  function hosts(root) {
    const out = [];
    for (let r = root; r instanceof ShadowRoot; r = rootOf.call(r.host)) {
      const at = rootOf.call(r.host);
      out.unshift(anchor(r.host, at) || path(r.host, at));
    }
    return out;
  }

  function states(e) {
    const out = [];
    const says = (name) => attr(e, name) === 'true';
    const root = rootOf.call(e);
    if (e === activeOf.call(document) || (root instanceof ShadowRoot && root.activeElement === e)) out.push('focused');
    if (says('aria-checked') || (e instanceof HTMLInputElement && e.checked)) out.push('checked');
    if (says('aria-selected')) out.push('selected');
    if (says('aria-expanded') || (e instanceof HTMLDetailsElement && e.open)) out.push('expanded');
    if (says('aria-disabled') || (has.call(e, 'disabled') && tagOf.call(e) !== 'form')) out.push('disabled');
    if (isEditable(e)) out.push('editable');
    if (e instanceof HTMLTextAreaElement || says('aria-multiline') || isEditable(e)) out.push('multiline');
    return out;
  }

  /** Describes an element as human.Element in its JSON form, with its secrets hidden. */
  function describe(e) {
    const role = roleOf(e);
    const root = rootOf.call(e);
    const name = nameOf(e, true);
    const rough = nameOf(e, false);
    const tag = tagOf.call(e);
    const above = hosts(root);
    const shown = secrets.mask(name).slice(0, 300);
    const out = {
      role: role === 'image' ? 'img' : { DisclosureTriangle: 'button', LabelText: 'label', Date: 'textbox', DateTime: 'textbox', InputTime: 'textbox', ColorWell: 'button', Canvas: 'canvas' }[role] || role,
      name: shown,
      tag: tag === 'input' ? `input/${typeOf.call(e)}` : tag.slice(0, 100),
      selectors: selectors(e, root, above, role, name, rough).filter((list) => list.every((s) => secrets.mask(s) === s)),
    };
    const state = states(e);
    if (state.length) out.states = state;
    if (secrets.why(e)) out.secret = true;
    if (shown !== name.slice(0, 300)) out.hidden = 'secret';
    return out;
  }

  const acting = new Set(
    'button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem textbox searchbox combobox listbox slider spinbutton gridcell'.split(' '),
  );
  const actingTags = new Set('button input select textarea summary option label'.split(' '));

  /** Says whether people act on an element itself, and not on what it lies in. */
  function isActing(e) {
    const tag = tagOf.call(e);
    if (actingTags.has(tag) || ((tag === 'a' || tag === 'area') && has.call(e, 'href'))) return true;
    const role = attr(e, 'role');
    if (role && acting.has(role.trim().split(/\s+/)[0])) return true;
    return isEditable(e) && !isEditable(parent(e));
  }

  /** What an event was meant for: of its path, the innermost element that people act on, else the innermost of all. */
  function meant(way) {
    let first = null;
    for (let i = 0; i < way.length && i < 40; i++) {
      const e = way[i];
      if (!(e instanceof Element)) continue;
      first = first || e;
      if (isActing(e)) return e;
    }
    return first;
  }

  return { describe, top: whole, body: () => bodyOf.call(document), active: () => activeOf.call(document), contains: (outer, inner) => contains.call(outer, inner), has: (e, name) => has.call(e, name), parent, known: (host) => index.hosts.add(host), meant, isActing, isEditable, attr, tagOf, content, find, roleOf, rootOf, flat, nameOf };
})
