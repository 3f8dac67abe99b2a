// What an element of a page is: its role, its name, what people know it by, and selectors that find it again. It runs in
// the recorder's own world, reads no layout, and works in proportion to the element and not to the page wherever it can:
// getAccessibleName builds the whole page's accessibility tree anew for each call (0.3 s with 5,000 rows).
(function elements(secrets, names) {
  'use strict';

  const { roleOf, nameOf, tokensOf, selectorOf, useLabels, content, above, inside, isEditable, attr, has, tagOf, flat, getter, rootOf, parentOf, textOf, firstOf, nextOf, shadowOf, typeOf, byId } = names;
  const closest = Element.prototype.closest;
  const matches = Element.prototype.matches;
  const before = getter(Element, 'previousElementSibling');
  const previous = getter(Node, 'previousSibling');
  const connected = getter(Node, 'isConnected');
  const visible = Element.prototype.checkVisibility;
  const query = { 1: Element.prototype, 9: Document.prototype, 11: DocumentFragment.prototype };
  const kindOf = getter(Node, 'nodeType');
  const find = (root, selector) => query[kindOf.call(root)].querySelectorAll.call(root, selector);
  const contains = Node.prototype.contains;
  const activeOf = getter(Document, 'activeElement');
  const bodyOf = getter(Document, 'body');
  const headOf = getter(Document, 'head');
  const byTag = Document.prototype.getElementsByTagName;
  const topOf = getter(Document, 'documentElement');
  const whole = () => topOf.call(document);
  const parent = (e) => {
    const p = parentOf.call(e);
    return p instanceof Element ? p : null;
  };

  const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy', 'data-automation-id'];
  const buttons = 'button,a[href],[role=button],[role=link],[role=tab],[role=switch],[role=checkbox]';
  /** What is no part of a message that a page shows. */
  const controls = `${buttons},[role=menu],[role=listbox],[role=tooltip],input,select,textarea,script,style,template,svg,[hidden],[aria-hidden=true]`;
  const followed = new Set([...testIds, 'href', 'aria-label', 'alt', 'title', 'placeholder', 'name']); // attributes

  /**
   * Which elements of a document or shadow root have a name, by role, and which have a value, by attribute. It is built for a
   * role or an attribute when that is asked for, and kept up with what changes on the page since; where that is much, it is
   * dropped and the page left alone.
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
      this.marks = new Map();
      this.labels = null;
      this.hosts = new Set();
      this.pending = [];
      this.words = null;
    }

    /** The text of the document, and the parts of it that are not shown, such as scripts. It is kept until the page changes. */
    texts() {
      this.words = this.words || { all: textOf.call(whole()), apart: null };
      return this.words;
    }

    changed(records) {
      if (records.some((r) => r.type !== 'attributes')) this.words = null;
      if (this.pending.length + records.length > 200) this.drop();
      else this.pending.push(...records);
    }

    add(role, e) {
      const words = this.roles.get(role);
      for (const word of tokensOf(e)) {
        if (!words.has(word)) words.set(word, new Set());
        words.get(word).add(e);
      }
    }

    mark(name, e) {
      const some = this.marks.get(name);
      const value = attr(e, name);
      if (!some.has(value)) some.set(value, new Set());
      some.get(value).add(e);
    }

    /** Whether another element of the document has this value of an attribute that is followed: of that tag, if one is given. */
    shared(e, name, value, tag) {
      if (!this.marks.has(name)) {
        this.marks.set(name, new Map());
        for (const other of find(this.root, `[${name}]`)) this.mark(name, other);
      }
      const some = this.marks.get(name).get(value) || [];
      for (const other of some) {
        if (!connected.call(other) || attr(other, name) !== value) some.delete(other);
        else if (other !== e && (!tag || tagOf.call(other) === tag)) return true;
      }
      return false;
    }

    renew() {
      this.changed(this.observer.takeRecords());
      const tops = new Set();
      for (const r of this.pending.splice(0)) {
        for (const n of r.addedNodes) if (n instanceof Element) tops.add(n);
        const at = r.target instanceof Element ? r.target : parent(r.target);
        const owner = at && closest.call(at, 'a,button,label,h1,h2,h3,h4,h5,h6,th,summary,option,legend,caption,[role]');
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
        for (const name of this.marks.keys()) {
          if (has.call(top, name)) this.mark(name, top);
          for (const e of find(top, `[${name}]`)) this.mark(name, e);
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

    /** All open shadow roots in it, as they are while one event is handled. */
    shadows() {
      if (this.open) return this.open;
      const out = (this.open = []);
      queueMicrotask(() => (this.open = null));
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
          attributeFilter: ['role', 'type', 'for', 'aria-labelledby', 'value', 'list', ...followed],
        });
      }
    }

    /** Says whether e alone has this role and name, here and in open shadow roots. */
    unique(e, role, name) {
      const selector = selectorOf(role);
      if (!selector) return false;
      if (!this.roles.has(role)) {
        this.roles.set(role, new Map());
        for (const other of find(this.root, selector)) this.add(role, other);
      }
      const same = (other) => other !== e && connected.call(other) && roleOf(other) === role && nameOf(other, true) === name && visible.call(other, { visibilityProperty: true });
      // Another of its name has all its words: those that have the rarest of them are looked at closely.
      const small = name.toLowerCase();
      const said = [...tokensOf(e)].filter((word) => word && small.includes(word));
      let rarest = null;
      for (const word of said) {
        const some = this.roles.get(role).get(word);
        if (some && (!rarest || some.size < rarest.size)) rarest = some;
      }
      let tried = 0;
      for (const other of rarest || []) if (other !== e && (++tried > 8 || same(other))) return false;
      const longest = said.reduce((a, b) => (b.length > a.length ? b : a), '');
      for (const root of this.shadows()) {
        for (const other of find(root, selector)) if (other !== e && tokensOf(other).has(longest) && (++tried > 200 || same(other))) return false;
      }
      return longest !== '';
    }
  }
  let last = new Index(document);
  /** The index of the document: a popup's first, empty one is replaced without a new world. */
  const index = () => (last.root === document ? last : (last = new Index(document)));
  useLabels((field) => {
    index().build();
    return index().labels.get(field) || [];
  });

  function quoted(text) {
    return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
  }

  /**
   * Whether an id, a class or the like looks as if a program made it up, and will make up another: it counts, or it is
   * no row of words.
   */
  function generated(id) {
    if (id.length > 60 || /[^\p{L}\p{N}_.\- ]|^_|--.*--|\d/u.test(id)) return true;
    const parts = id.split(/[-_. ]+|(?<=\p{Ll})(?=\p{Lu})/u);
    return parts.length > 8 || parts.some((part) => part.length > 3 && (/^[^aeiouy\P{ASCII}]+$/i.test(part) || /\p{Ll}\p{Lu}\p{Ll}?\p{Lu}/u.test(part)));
  }

  /** Whether a selector finds e alone in a root, and nothing in the shadow roots there, where some runners look, too. */
  function alone(root, selector, e) {
    if (query[kindOf.call(root)].querySelector.call(root, selector) !== e) return false; // mostly an earlier one: no need to find all
    return find(root, selector).length === 1 && apart(root, selector);
  }

  const apart = (root, selector) => shadowsIn(root).every((s) => !query[11].querySelector.call(s, selector));

  /** A selector by an attribute of e that finds it alone; '' for none. tag is its own where it belongs to the selector. */
  function marked(root, e, name, tag = '') {
    const value = attr(e, name);
    const selector = `${CSS.escape(tag)}[${name}=${quoted(value)}]`;
    if (root !== document || !followed.has(name)) return alone(root, selector, e) ? selector : '';
    index().build();
    return !index().shared(e, name, value, tag) && apart(root, selector) ? selector : '';
  }

  function shadowsIn(root) {
    index().build();
    const all = index().shadows();
    return root === document ? all : all.filter((s) => lies(s, root));
  }

  function lies(s, root) {
    for (let at = rootOf.call(s.host); at instanceof ShadowRoot; at = rootOf.call(at.host)) if (at === root) return true;
    return false;
  }

  /** A selector by a test id or an id of its own that is unique. */
  function anchor(e, root) {
    for (const name of testIds) {
      const id = attr(e, name);
      const selector = id && id.length < 100 && marked(root, e, name);
      if (selector) return selector;
    }
    const id = attr(e, 'id');
    return id && !generated(id) && alone(root, `#${CSS.escape(id)}`, e) ? `#${CSS.escape(id)}` : '';
  }

  const count = (e, what) => Document.prototype.evaluate.call(document, `count(preceding-sibling::${what})`, e, null, XPathResult.NUMBER_TYPE, null).numberValue;

  /** The place of an element among its siblings, and among those of its tag. */
  function position(e) {
    const tag = tagOf.call(e);
    const at = { of: 1, like: 1 };
    for (let b = before.call(e); b; b = before.call(b)) {
      // Counting on in the engine is quicker in a long list.
      if (++at.of > 100) return { of: 1 + count(e, '*'), like: 1 + count(e, `*[local-name()="${tag}"]`) };
      if (tagOf.call(b) === tag) at.like++;
    }
    return at;
  }

  /**
   * The path from the nearest ancestor that can be told by itself, as CSS that counts children and as XPath that counts
   * those of a tag. Each step names one child, so it is unique.
   */
  function path(e, root) {
    let css = '';
    let xpath = '';
    for (let at = e; at; at = parent(at)) {
      const name = tagOf.call(at);
      const tag = CSS.escape(name);
      if (tag === 'body' || tag === 'html') return { css: `${tag}${css}`, xpath: `//${tag}${xpath}` };
      const own = at === e ? '' : anchor(at, root);
      if (own) {
        const called = own[0] === '[' ? own.slice(1, own.indexOf('=')) : 'id';
        const said = literal(attr(at, called));
        return { css: own + css, xpath: said && `//*[@${called}=${said}]${xpath}` };
      }
      const top = !parent(at);
      const n = position(at);
      css = `${top ? '' : ' > '}${tag}:nth-child(${n.of})${css}`;
      xpath = `/*[local-name()="${name}"][${n.like}]${xpath}`;
    }
    return { css: alone(root, css, e) ? css : '', xpath: '' };
  }

  /** A literal of XPath; '' where it cannot say the text. */
  const literal = (text) => (!text.includes('"') ? `"${text}"` : !text.includes("'") ? `'${text}'` : '');

  function times(all, text) {
    let n = 0;
    for (let at = all.indexOf(text); at >= 0 && n < 1000; at = all.indexOf(text, at + 1)) n++;
    return n;
  }

  /**
   * Whether a text stands once in a document or shadow root; runners look for it in shadow roots, too, but not in scripts,
   * where pages keep their texts once more.
   */
  function once(root, text) {
    const said = root === document ? index().texts() : { all: textOf.call(root), apart: null };
    let n = times(said.all, text);
    if (n > 1) {
      said.apart = said.apart || unshown(root);
      for (const words of said.apart) n -= times(words, text);
    }
    return n === 1 && shadowsIn(root).every((s) => !textOf.call(s).includes(text));
  }

  /** The texts of a root's scripts and style sheets, and of its head. */
  function unshown(root) {
    if (root !== document) return [...find(root, 'script,style')].map((e) => textOf.call(e));
    const head = headOf.call(document);
    const all = ['script', 'style'].flatMap((tag) => [...byTag.call(document, tag)]).filter((e) => !head || !contains.call(head, e));
    return [head, ...all].map((e) => (e ? textOf.call(e) : ''));
  }

  const listing = new Set('select datalist table thead tbody tr ul ol dl form nav main section article body html'.split(' '));
  const item = 'tr,li,article,fieldset,figure,[role=row],[role=listitem],[role=treeitem],[role=article],[role=group]';

  /**
   * An XPath by the text of the row or item that it lies in, and by its own, or by its place among its like there. It
   * finds a row again that has moved.
   */
  function inRow(e) {
    const up = parent(e);
    const row = up && closest.call(up, item);
    const lead = row && literal(leading(row, e));
    if (!lead) return '';
    const tag = tagOf.call(e);
    const own = literal(brief(e));
    const rows = `//${tagOf.call(row)}[.//text()[normalize-space()=${lead}]]`;
    const like = own && own !== '""' ? `//*[local-name()="${tag}"][normalize-space()=${own}]` : `//*[local-name()="${tag}"]`;
    const found = search(rows + like);
    const at = found.indexOf(e);
    return at < 0 || found.length > 20 || search(rows).length !== 1 ? '' : found.length === 1 ? rows + like : `(${rows}${like})[${at + 1}]`;
  }

  function search(expression) {
    const found = Document.prototype.evaluate.call(document, expression, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({ length: Math.min(found.snapshotLength, 50) }, (_, i) => found.snapshotItem(i));
  }

  // A field as a person sees one, in which a component's hidden ones do not count.
  const field = 'input:not([type=hidden],[type=button],[type=submit],[type=reset],[type=image],[aria-hidden=true]),select:not([aria-hidden=true]),textarea:not([aria-hidden=true]),[contenteditable]:not([contenteditable=false]),[role=textbox],[role=combobox]';
  const isField = (e) => matches.call(e, field);

  /** The one field in an element; null where it has none, or more. */
  function sole(e) {
    const all = find(e, field);
    return all.length === 1 ? all[0] : null;
  }

  /** An XPath by the text that a field is known by: of its like, it is the first in, after or before it. */
  function byText(e, texts) {
    const tag = tagOf.call(e);
    const type = isEditable(e) ? '[@contenteditable]' : attr(e, 'role') && literal(attr(e, 'role')) ? `[@role=${literal(attr(e, 'role'))}]` : '';
    for (const text of texts) {
      const said = text && literal(text);
      if (!said) continue;
      const marks = `//*[text()[normalize-space()=${said}]]`;
      const found = search(marks);
      if (!found.length || found.length > 3 || found.some((at) => contains.call(e, at))) continue; // components write a label twice
      for (const way of ['descendant', 'following', 'preceding']) {
        const xpath = `${marks}/${way}::*[local-name()="${tag}"]${type}${way === 'descendant' ? '' : '[1]'}`;
        const hits = search(xpath);
        if (hits.length === 1 && hits[0] === e) return xpath;
      }
    }
    return '';
  }

  /** Attributes that authors give an element to know it by: of its own data, where they look like words. */
  function given(e) {
    return Element.prototype.getAttributeNames.call(e).filter((name) => name.startsWith('data-') && !testIds.includes(name) && !generated(name) && !generated(attr(e, name)));
  }

  /**
   * Selectors of an element, the most durable first; above are those of the shadow hosts it lies in. A name and role need
   * none: they are looked up in the accessibility tree, which knows no shadow roots. All but a path are of another sort.
   * near says what stands beside it; where it is not worded, its text is that of what has opened in it, too.
   */
  function selectors(e, root, [above, steps], role, name, near, worded = true) {
    const lists = [];
    const push = (s, ...more) => s && s.length <= 500 && !lists.some((l) => l.at(-1) === s) && lists.push([...above, s, ...more]);
    const own = anchor(e, root);
    if (own[0] === '[') push(own);
    index().build();
    let worth = true; // to look for the text, which is to read that of the whole page
    // Runners write spaces that do not break, beside others, in their own way.
    if (name && name.length <= 150 && role !== 'generic' && !/\[\s*\w+\s*=|\u00a0(?:\s|$)|(?:^|\s)\u00a0/.test(name)) {
      if (index().unique(e, role, name)) lists.push([`aria/${name}[role="${role}"]`]);
      worth = !index().large || (selectorOf(role) === '' && lists.length === 0);
    }
    const tag = CSS.escape(tagOf.call(e));
    const only = (selector) => alone(root, selector, e) && push(selector);
    const by = (called, made) => {
      const value = attr(e, called);
      if (value.trim() && value.length <= 150 && !(made && generated(value))) push(marked(root, e, called, tagOf.call(e)));
    };
    for (const called of ['placeholder', 'aria-label', 'alt']) by(called);
    const text = worth && worded && e instanceof HTMLElement && !isEditable(e) && !listing.has(tagOf.call(e)) ? textOf.call(e) : '';
    if (text && text.length <= 80) {
      const trimmed = text.trim();
      if (trimmed && !/[\n\t]| {2}/.test(trimmed) && once(root, trimmed)) push(`text/${trimmed}`);
    }
    by('title');
    by('name', true);
    const type = e instanceof HTMLInputElement ? typeOf.call(e) : '';
    if (/^(?:radio|checkbox|button|submit)$/.test(type) && attr(e, 'value')) only(`input[${attr(e, 'name') && !generated(attr(e, 'name')) ? `name=${quoted(attr(e, 'name'))}][` : ''}value=${quoted(attr(e, 'value'))}]`);
    if (own[0] === '#') push(own);
    else if (attr(e, 'id') && !generated(attr(e, 'id'))) only(`#${CSS.escape(attr(e, 'id'))}`);
    if (root !== document) by('part');
    if (tag === 'a' && attr(e, 'href').length > 1) by('href');
    if (tag === 'img' && !attr(e, 'src').startsWith('data:')) by('src');
    for (const called of given(e).slice(0, 2)) by(called);
    const scarce = () => lists.length < 2;
    if (scarce() && root === document && !index().large) {
      if (!name || isField(e) || /^(?:checkbox|radio|switch)$/.test(role)) push(prefixed(byText(e, [clean(name), near()])));
      if (scarce()) push(prefixed(inRow(e)));
    }
    if (scarce()) for (const c of attr(e, 'class').split(/\s+/).filter((c) => c && !generated(c) && !passing.test(c)).slice(0, 4)) if (scarce()) only(`${tag}.${CSS.escape(c)}`);
    const way = path(e, root);
    if (way.css) lists.push([...steps, way.css]);
    if (scarce() && root === document) push(prefixed(way.xpath));
    return lists;
  }

  // Classes that say how an element is at the moment.
  const passing = /(?:^|[-_])(?:active|focus|focused|hover|open|opened|selected|checked|disabled|blank|dirty|hidden|show|shown|visible|current|loading|pressed|expanded|collapsed|valid|invalid|empty)$/;

  const prefixed = (xpath) => xpath && `xpath/${xpath}`;

  /** The selectors of the shadow hosts that an element lies in, from the outside: the best ones, and those by paths. */
  function hosts(root, near) {
    const best = [];
    const steps = [];
    for (let r = root; r instanceof ShadowRoot; r = rootOf.call(r.host)) {
      const at = rootOf.call(r.host);
      const own = anchor(r.host, at);
      const way = own ? { css: own, xpath: '' } : path(r.host, at);
      steps.unshift(way.css);
      best.unshift((!own && at === document && (outer(r.host, near) || prefixed(way.xpath))) || way.css);
    }
    return [best, steps];
  }

  /** A selector of a shadow host of the document by the texts about it, or by an attribute; '' for none. */
  function outer(host, near) {
    index().build();
    const tag = tagOf.call(host);
    for (const called of ['label', 'placeholder', 'aria-label', 'name', 'title']) {
      const value = attr(host, called);
      const selector = value.trim() && value.length <= 150 && !(called === 'name' && generated(value)) && marked(document, host, called, tag);
      if (selector) return selector;
    }
    return index().large ? '' : prefixed(inRow(host) || byText(host, [near()]));
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

  const acts = 'a[href],button,input,select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=tab],[role=menuitem],[contenteditable]';
  const heads = 'h1,h2,h3,h4,h5,h6,header,legend,[role=heading]';

  /** The first elements in one. */
  function children(e, most) {
    const out = [];
    for (let n = firstOf.call(e); n && out.length < most; n = nextOf.call(n)) if (n instanceof Element) out.push(n);
    return out;
  }

  const short = 60; // characters of what stands beside an element

  /** The text of a node where it is short, as it is shown: '' where it has more, or fields in it. without is left out. */
  function brief(n, most = 80, without = null) {
    let out = '';
    let left = 60;
    const walk = (node) => {
      if (node === without || out.length > most + 20 || --left < 0) return;
      if (node instanceof Text) out += node.data;
      else if (node instanceof Element && !/^(?:script|style|template|noscript|select|textarea|input)$/.test(tagOf.call(node)) && attr(node, 'aria-hidden') !== 'true') {
        out += ' ';
        if (!visible.call(node, { visibilityProperty: true }) && getComputedStyle(node).display !== 'contents') return;
        for (const child of inside(node)) walk(child);
        out += ' ';
      }
    };
    walk(n);
    const text = clean(out);
    return left < 0 || text.length > most ? '' : text;
  }

  /** Without what only a font of icons can show. */
  const clean = (text) => flat(text.replace(/[\p{Co}\p{Cf}]/gu, ''));

  /** What a row or an item is known by: its header, or the first short text in it that is not in e. */
  function leading(row, e) {
    for (const head of find(row, 'th,[role=rowheader],legend,figcaption,h1,h2,h3,h4,h5,h6,[role=heading]')) {
      const text = !contains.call(e, head) && !contains.call(head, e) && brief(head, short);
      if (text) return text;
    }
    const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    for (let n = texts.nextNode(), tries = 0; n && tries < 40; n = texts.nextNode(), tries++) {
      const text = clean(n.data);
      const at = parent(n);
      if (text.length > 1 && text.length <= short && !contains.call(e, n) && at && !/^(?:script|style|option)$/.test(tagOf.call(at)) && visible.call(at, { visibilityProperty: true }) && !isEditable(at)) return text;
    }
    return '';
  }

  /** The header of the column that a cell is in. */
  function column(cell) {
    const table = closest.call(cell, 'table,[role=table],[role=grid]');
    const row = table && query[1].querySelector.call(table, 'tr,[role=row]');
    const head = row && !contains.call(row, cell) && find(row, 'th,[role=columnheader]')[position(cell).of - 1];
    return head ? brief(head, short) : '';
  }

  const pressable = (c) => matches.call(c, acts) || find(c, acts).length > 0;

  /** The text over an element in a grid of texts and, after as many of them, their fields. */
  function over(at) {
    const row = parent(at);
    const mine = row ? children(row, 30) : [];
    const i = mine.indexOf(at);
    if (i < 0 || mine.length < 4) return '';
    let from = i;
    while (from > 0 && pressable(mine[from - 1])) from--;
    let to = i;
    while (to < mine.length && pressable(mine[to])) to++;
    let first = from;
    while (first > 0 && tagOf.call(mine[first - 1]) === tagOf.call(mine[from - 1]) && !matches.call(mine[first - 1], heads) && !pressable(mine[first - 1])) first--;
    return to - from > 1 && from - first === to - from ? brief(mine[first + i - from], short) : '';
  }

  /** The text at the same place in the row before, where that has texts alone. */
  function topping(at) {
    const row = parent(at);
    const up = row && before.call(row);
    const mine = up ? children(row, 30) : [];
    const texts = mine.includes(at) && !pressable(up) ? children(up, 30) : [];
    return texts.length > 1 && texts.length === mine.length ? brief(texts[mine.indexOf(at)], short) : '';
  }

  /** The text right before a node, or right after a box to check, among what lies with it. */
  function neighbour(at, after) {
    for (let n = after ? nextOf.call(at) : previous.call(at), i = 0; n && i < 6; n = after ? nextOf.call(n) : previous.call(n), i++) {
      if (n instanceof Element && (matches.call(n, acts) || query[1].querySelector.call(n, acts))) return '';
      const text = n instanceof Text || n instanceof Element ? brief(n, short) : '';
      if (text) return text;
    }
    return '';
  }

  /** The text that is a field's own: before or over what holds it and no other, or else right after it. */
  function labelling(e) {
    const alone = [];
    for (let at = e; at && alone.length < 12 && at !== bodyOf.call(document); at = above(at)) {
      if (at !== e && [...find(at, field)].some((f) => !contains.call(e, f) && !contains.call(f, e))) break;
      alone.push(at);
    }
    for (const at of alone) {
      const text = over(at) || neighbour(at, false) || topping(at);
      if (text) return text;
    }
    for (const at of alone.slice(0, 4)) {
      const text = neighbour(at, true);
      if (text) return text;
    }
    return '';
  }

  /**
   * What stands beside an element, for people to know it by: the text before it, what its row or item is called, or the
   * heading or name of the part of the page that it lies in; only that where part is set.
   */
  function beside(e, part) {
    const toggle = /^(?:checkbox|radio|switch)$/.test(roleOf(e));
    const own = !toggle && !part && isField(e) && labelling(e);
    if (own) return own;
    const row = !toggle && !part && !isField(e) && parent(e) && closest.call(parent(e), 'tr,li,[role=row],[role=listitem]');
    const first = row && leading(row, e); // not what happens to stand beside it, such as a state
    if (first) return first;
    for (let at = e, i = 0; at && i < 30; at = above(at), i++) {
      if (at === bodyOf.call(document)) break;
      if (at !== e && !part && matches.call(at, item)) {
        const text = leading(at, e);
        if (text) return text;
      }
      const cell = !part && matches.call(at, 'td,[role=cell],[role=gridcell]');
      const text = (cell && toggle && parent(at) && leading(parent(at), e)) || (i < 4 && !part && ((toggle && neighbour(at, true)) || neighbour(at, false)));
      if (text) return text;
      if (cell && column(at)) return column(at);
      if (at !== e && matches.call(at, 'section,form,dialog,nav,aside,main,header,footer,div,[role]')) {
        const label = attr(at, 'aria-label');
        if (label) return clean(label).slice(0, short);
        const head = children(at, 4).find((c) => !contains.call(c, e) && matches.call(c, heads));
        const heading = head && brief(head, short);
        if (heading) return heading;
      }
    }
    return '';
  }

  /** The word in a name of an icon: of its file, of an attribute, or of a class that repeats another: bi bi-trash. */
  function pictured(e) {
    for (const i of [e, ...find(e, 'img,svg,use,i,span,[name],[icon],[data-icon]')].slice(0, 8)) {
      const file = (attr(i, 'src') || (tagOf.call(i) === 'use' ? attr(i, 'href') || attr(i, 'xlink:href') : '')).replace(/[?#].*\.|^data:.*/, '');
      const name = file.split(/[/#]/).pop().replace(/\.\w+$/, '');
      const classes = attr(i, 'class').split(/\s+/);
      const repeated = i !== e && classes.find((c) => classes.some((b) => b && b !== c && c.startsWith(`${b}-`)));
      const word = name || attr(i, 'data-icon') || attr(i, 'icon') || (i !== e && attr(i, 'name')) || (repeated || '').replace(/^[^-]*-/, '');
      if (word && !generated(word)) return word.replace(/[-_]+/g, ' ');
    }
    return '';
  }

  /** What people may know an element without a name by, of itself. */
  function hint(e) {
    return (
      brief(e) || clean(attr(e, 'placeholder') || attr(e, 'title') || attr(e, 'alt') || attr(e, 'aria-label')) || pictured(e) ||
      (find(e, 'h1,h2,h3,h4,h5,h6,strong').length && brief(find(e, 'h1,h2,h3,h4,h5,h6,strong')[0])) || ''
    ).slice(0, 100);
  }

  /** What a program calls an element that nothing else is known of. */
  function called(e) {
    const words = (...of) => of.map((name) => attr(e, name)).find((value) => value.length > 2 && !generated(value)) || '';
    return (words('name', 'id') || given(e).map((n) => attr(e, n))[0] || '').slice(0, 100);
  }

  /**
   * The text of the label that is meant where a page has given an id twice, as components do that are drawn apart: the
   * accessible name is that of another field then. '' where there is no doubt.
   */
  function mistaken(e) {
    const root = rootOf.call(e);
    const ids = attr(e, 'aria-labelledby').trim();
    if (!ids || ids.includes(' ') || root instanceof Element) return '';
    const all = [...find(root, `#${CSS.escape(ids)}`)];
    if (all.length < 2) return '';
    for (let at = parent(e); at; at = parent(at)) {
      const nearest = all.find((l) => contains.call(at, l));
      if (nearest) return nearest === byId(root, ids) ? '' : brief(nearest) || clean(textOf.call(nearest)).slice(0, 80); // a label may be drawn once more, and hidden here
    }
    return '';
  }

  /** The texts of the other cells of the row that an element is in, with the headings of their columns, or the innermost texts of the item of a list: what it is chosen by may be any of them. */
  function cells(e) {
    const rowOf = (at) => parent(at) && closest.call(parent(at), 'tr,[role=row],li,[role=listitem]');
    let own = e;
    while (!rowOf(own) && rootOf.call(own) instanceof ShadowRoot) own = rootOf.call(own).host;
    const row = rowOf(own);
    if (!row) return [];
    const tabled = matches.call(row, 'tr,[role=row]');
    const parts = tabled ? children(row, 20) : [...find(row, '*')].slice(0, 60).filter((c) => !children(c, 1).length);
    return parts.filter((c) => !contains.call(c, own)).map((c) => ({ text: secrets.mask(brief(c, short)), head: () => (tabled ? secrets.mask(column(c)) : '') })).filter((c) => c.text);
  }

  const parted = { dialog: 'dialog', alertdialog: 'dialog', complementary: 'complementary' };

  /** The kind of part of the page that an element lies in, of those that stand apart from the rest of it; '' for none. */
  function partOf(e) {
    for (let at = parent(e), i = 0; at && i < 60; at = above(at), i++) {
      if (/^(?:dialog|aside)$/.test(tagOf.call(at)) || has.call(at, 'role')) {
        const part = parted[roleOf(at)];
        if (part) return part;
      }
    }
    return '';
  }

  /** Whether names are the same, but for capital letters, spaces, and the colon or star that a page puts behind the name of a field. */
  const sameWords = (a, b) => a === b || bareName(a) === bareName(b);
  const bareName = (name) => name.toLowerCase().replace(/\s+/gu, '').replace(/(?<=[^:：*∗])[:：*∗]+$/u, '');

  const roleNames = { image: 'img', DisclosureTriangle: 'button', LabelText: 'label', Date: 'textbox', DateTime: 'textbox', InputTime: 'textbox', ColorWell: 'button', Canvas: 'canvas', none: 'generic' };

  /** What people know an element by: its role, its name and, where they are asked for, the texts beside it, with secrets hidden. */
  function identify(e) {
    const role = roleOf(e);
    const name = nameOf(e, true);
    const own = clean(name);
    const anywhere = e === whole() || e === bodyOf.call(document);
    let stands = null;
    const near = () => (stands === null && (stands = anywhere ? '' : beside(e)), stands);
    const quiet = anywhere || isEditable(e) || secrets.why(e);
    const inner = !own && !quiet && role === 'generic' ? sole(e) : null; // what shows the value of a field is known by the field's name
    const other = own && mistaken(e);
    const guess = other || (own || quiet ? '' : inner ? clean(nameOf(inner, true)) || (near() ? '' : hint(e)) : hint(e) || (isField(e) && near() ? '' : called(e)));
    const known = secrets.mask(guess) === guess ? guess : '';
    const said = known || own;
    return { role: shownRole(e, role), raw: role, full: name, known, said, name: secrets.mask(said).slice(0, 300), near };
  }

  const shownRole = (e, role) => (role === 'generic' && isEditable(e) && !isEditable(parent(e)) ? 'textbox' : roleNames[role] || role);

  /** A selector of all elements that can have a role as describe gives it; '' where names of that role are not looked for. */
  function selectorOfShown(role) {
    const all = [role, ...Object.keys(roleNames).filter((raw) => roleNames[raw] === role)].map(selectorOf);
    if (role === 'textbox') all.push('[contenteditable]');
    return all.every(Boolean) ? all.join(',') : '';
  }

  /** Describes an element as human.Element in its JSON form, with its secrets hidden. */
  function describe(e, worded = true) {
    const { role, raw, full, known, said, name: shown, near } = identify(e);
    const root = rootOf.call(e);
    const tag = tagOf.call(e);
    const all = selectors(e, root, hosts(root, near), raw, worded ? full : '', near, worded);
    const out = {
      role,
      name: shown,
      tag: tag === 'input' ? `input/${typeOf.call(e)}` : tag.slice(0, 100),
      selectors: all.filter((list) => list.every((s) => secrets.mask(s) === s)),
    };
    if (known) out.named = 'otherwise';
    const next = said && all.some((list) => /^(?:aria|text)\//.test(list.at(-1))) ? '' : secrets.mask(near());
    if (next && next !== said) out.beside = next;
    const row = worded ? cells(e) : [];
    if (row.length) out.ancestry = [{ role: 'row', name: row.map((c) => c.text).join(' | ') }];
    const columns = row.map((c) => c.head());
    if (columns.some(Boolean)) out.ancestry.push({ role: 'columns', name: columns.join(' | ') });
    const part = partOf(e);
    if (part) out.inside = part;
    const state = states(e);
    if (state.length) out.states = state;
    if (secrets.why(e)) out.secret = true;
    if (shown !== said.slice(0, 300)) out.hidden = 'secret';
    return out;
  }

  /**
   * Describes what something is dropped on, with the heading of the part of the page that it lies in, such as a list of a board.
   * What is dragged may lie in it already: it is no part of it.
   */
  function describePlace(e, dragged) {
    const out = dragged && dragged !== e ? describeWithout(e, dragged) : describe(e);
    const part = secrets.mask(beside(e, true));
    if (part && part !== out.name) out.beside = part;
    return out;
  }

  /** Describes an element in which something has just opened, as it was: it is called by less, and not found by the words of that. */
  function describeClosed(e, open) {
    const out = open && open !== e ? describeWithout(e, open) : describe(e);
    return out.name ? out : describe(e);
  }

  /** Describes an element without the words of something in it, by which it is not found either, unless it has a name of its own. */
  function describeWithout(e, inner) {
    const whole = describe(e);
    if (!contains.call(e, inner) || !textOf.call(inner).trim() || attr(e, 'aria-label') || attr(e, 'aria-labelledby')) return whole;
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_ALL, (node) => (node === inner ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    let words = '';
    for (let i = 0; i < 200 && texts.nextNode(); i++) if (texts.currentNode instanceof Text) words += ` ${texts.currentNode.data}`;
    const name = secrets.mask(clean(words)).slice(0, 300);
    return name === whole.name ? whole : { ...describe(e, false), name, named: name ? 'otherwise' : undefined };
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

  /** Whether an element itself, and not what it lies in, says that a press does something: by attributes, or by its pointer. */
  function answers(e) {
    if (/^(?:html|body)$/.test(tagOf.call(e))) return false;
    if (has.call(e, 'onclick') || has.call(e, 'jsaction') || has.call(e, 'data-action') || (has.call(e, 'tabindex') && attr(e, 'tabindex') !== '-1')) return true;
    const up = above(e);
    return getComputedStyle(e).cursor === 'pointer' && !(up && getComputedStyle(up).cursor === 'pointer');
  }

  /**
   * What an event was meant for: of its path, the innermost element that people act on, else the innermost that answers,
   * where it is no large part of the page, else the innermost of all.
   */
  function meant(way) {
    let first = null;
    let answering = null;
    for (let i = 0; i < way.length && i < 40; i++) {
      const e = way[i];
      if (!(e instanceof Element)) continue;
      first = first || e;
      // A label around a component whose own part was pressed is not what was meant.
      if (answering && tagOf.call(e) === 'label' && sole(answering)) return answering;
      if (isActing(e)) return e;
      if (!answering && i < 12 && answers(e)) answering = e;
    }
    return answering || first;
  }

  return { identify, cells, partOf, sameWords, selectorOfShown, beside, clean, testIds, buttons, controls, describe, describePlace, describeClosed, top: whole, body: () => bodyOf.call(document), active: () => activeOf.call(document), contains: (outer, inner) => contains.call(outer, inner), has: (e, name) => has.call(e, name), parent, known: (host) => index().hosts.add(host), meant, children, isActing, isEditable, attr, tagOf, content, find, roleOf, rootOf, flat, nameOf };
})
