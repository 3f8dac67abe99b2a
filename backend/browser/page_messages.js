// What a page says once something was done in it: an alert, a toast, a line under a form, the heading of what it shows instead.
// The document and its open shadow roots are watched only for a while after each act, and read when they have come to rest. It
// runs in the recorder's own world, from which closed shadow roots cannot be seen: of those only what is slotted is read.
(function messages(secrets, elements, tell) {
  'use strict';

  const { attr, tagOf, find, flat, roleOf, nameOf, rootOf, parent, contains, isEditable, buttons, controls } = elements;
  const getter = (of, name) => Object.getOwnPropertyDescriptor(of.prototype, name).get;
  const closest = Element.prototype.closest;
  const matches = Element.prototype.matches;
  const connected = getter(Node, 'isConnected');
  const textOf = getter(Node, 'textContent');
  const firstOf = getter(Node, 'firstChild');
  const nextOf = getter(Node, 'nextSibling');
  const shadowOf = getter(Element, 'shadowRoot');
  const slotOf = { 1: getter(Element, 'assignedSlot'), 3: getter(Text, 'assignedSlot') };
  const givenTo = HTMLSlotElement.prototype.assignedNodes;
  const visible = Element.prototype.checkVisibility;
  const during = 15_000; // ms after an act in which a page answers
  const rest = 200; // ms without a change before the page is read
  const late = 1500; // ms after which it is read though it still changes
  const longest = 300; // characters of a message
  const many = 6; // messages of one act
  const most = 400; // changes that are looked into one by one
  const manyRoots = 1000; // shadow roots that are watched
  const parts = 300; // shadow roots and slotted elements that are looked for in one element
  const nodes = 2000; // that are read for one message
  const searching = 60; // ms, for shadow roots, within one watch
  const stale = 2000; // ms after which an act has them searched for again: nothing tells that an element got one

  const live = '[role=alert],[role=status],[role=alertdialog],[aria-live=polite],[aria-live=assertive],output';
  /** What is shown and hidden by a class alone is a message only where something says so. */
  const called = ['alert', 'error', 'message', 'toast', 'notif', 'feedback', 'invalid', 'success', 'warning', 'snackbar', 'status', 'flash', 'notice'];
  const named = called.map((word) => `[class*=${word} i],[id*=${word} i]`).join();
  const dialogs = 'dialog,[role=dialog],[role=alertdialog]';
  /** In these, texts are what is offered or told all the time. */
  const apart = 'nav,[role=navigation],[role=menu],[role=menubar],[role=listbox],[role=tree],[role=tooltip],[role=log],[role=timer],[role=marquee],select,datalist,option,head,script,style,template,svg,canvas,[aria-hidden=true]';
  const fields = 'input:not([type=hidden]),textarea,select,[contenteditable]';
  const rows = 'tr,li,[role=row],[role=listitem],[role=article]';

  // Elements that cannot have a shadow root, of those that pages have most of (DOM, attachShadow).
  const rootless = 'td,th,tr,tbody,thead,table,li,ul,ol,dl,dt,dd,a,b,i,em,strong,small,label,button,img,svg,svg *,option,select,input,textarea,br,hr,script,style,link,meta';
  const watched = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true, attributeFilter: ['hidden', 'style', 'class', 'open', 'aria-hidden'] };

  let until = -1; // when the page is no longer watched
  let left = 0; // how many messages this act may still have
  let first = 0; // when the first change came that is not read
  let timer = 0;
  let over = 0;
  let changed = new Map(); // what changed, and how: added, text, shown
  let stamps = new Map(); // after which act each of them changed, and when what changed after that began to
  let stamp = null;
  let flood = false;
  let act = 0;
  const roots = new Set(); // the open shadow roots, while they are watched or read
  let searched = -1e9; // when they were searched for in the whole document
  let spent = 0; // ms, on the search in parts of it since
  let scoped = new Map(); // what lies in an element, for one reading
  let recent = []; // what was told after this act
  const said = new WeakMap(); // what an element said last, and after which act
  const often = new WeakMap(); // how often an element said something after one act: more than thrice, and it is a clock

  const observer = new MutationObserver((records) => {
    const now = performance.now();
    if (now > until) return rests();
    const gone = new Set(); // what comes again in the same turn was only moved
    for (const r of records) {
      if (changed.size > most) {
        flood = true;
        break;
      }
      if (r.type === 'attributes') {
        if (!changed.has(r.target)) changed.set(r.target, appears(r) ? 'added' : 'shown');
        continue;
      }
      const e = r.target instanceof Element ? r.target : r.target instanceof ShadowRoot ? r.target.host : holds(r.target);
      if (r.type === 'characterData') {
        if (e && !changed.has(e)) changed.set(e, 'text');
        continue;
      }
      for (const n of r.removedNodes) gone.add(n);
      for (const n of r.addedNodes) {
        if (n instanceof Element) search(n);
        if (gone.has(n)) continue;
        if (n instanceof Element) changed.set(n, 'added');
        else if (n instanceof Text && e && !changed.has(e)) changed.set(e, 'text');
      }
    }
    if (!changed.size) return;
    if (!stamp || stamp.act !== act) stamp = { act, at: now };
    for (const e of changed.keys()) if (!stamps.has(e)) stamps.set(e, stamp);
    if (!timer) first = now;
    else if (now - first > late) return;
    clearTimeout(timer);
    timer = setTimeout(() => requestIdleCallback(read, { timeout: 200 }), rest);
  });

  /** Watches the open shadow roots in a part of the document: of an element's own, and of all in it. */
  function search(top) {
    if (spent > searching || roots.size >= manyRoots) return;
    const from = performance.now();
    enter(top);
    spent += performance.now() - from;
  }

  function enter(top) {
    const own = top instanceof Element && shadowOf.call(top);
    if (own) watch(own);
    for (const e of find(top, `:not(${rootless})`)) {
      const root = shadowOf.call(e);
      if (root) watch(root);
    }
  }

  function watch(root) {
    if (roots.has(root) || roots.size >= manyRoots) return;
    roots.add(root);
    if (until > 0) observer.observe(root, watched);
    enter(root);
  }

  /** Searches the whole document, which takes some ms where that is large. */
  function searchAll(now) {
    searched = now;
    spent = 0;
    enter(document);
  }

  /** The element that a node lies in: its shadow host, where that is a root. */
  function holds(n) {
    const root = !parent(n) && rootOf.call(n);
    return root instanceof ShadowRoot ? root.host : parent(n);
  }

  /** What an element lies in where it is shown: its slot, its parent, or its shadow host. */
  const above = (e) => slotOf[1].call(e) || holds(e);

  /** The nearest element around one that a selector matches, through slots and out of shadow roots. */
  function around(e, selector) {
    for (let at = e; at; ) {
      const hit = closest.call(at, selector);
      if (hit || !roots.size) return hit;
      let slot = null;
      let top = at;
      for (let n = at; n && !slot; n = parent(n)) {
        slot = slotOf[1].call(n);
        top = n;
      }
      at = slot || holds(top);
    }
    return null;
  }

  /** All in an element that a selector matches, also in shadow roots in it, and what is slotted into it. */
  function within(e, selector) {
    if (!roots.size) return find(e, selector);
    const out = new Set();
    for (const part of scopes(e)) {
      if (part !== e && part instanceof Element && matches.call(part, selector)) out.add(part);
      for (const found of find(part, selector)) out.add(found);
    }
    return [...out];
  }

  /** The element itself, the shadow roots in it, and what is slotted into those. */
  function scopes(e) {
    const known = scoped.get(e);
    if (known) return known;
    const out = new Set([e]);
    for (const part of out) {
      if (out.size > parts) break;
      for (const root of roots) if (contains(part, root.host)) out.add(root);
      if (!(part instanceof ShadowRoot || rootOf.call(part) instanceof ShadowRoot)) continue;
      const slots = part instanceof HTMLSlotElement ? [part] : find(part, 'slot');
      for (const slot of slots) for (const n of givenTo.call(slot)) if (n instanceof Element) out.add(n);
    }
    scoped.set(e, out);
    return out;
  }

  /** Where text that lies right in an element is shown: in the slot that it is given to, if in one. */
  function slotIn(e) {
    for (let n = firstOf.call(e), i = 0; n && i < 20; n = nextOf.call(n), i++) if (n instanceof Text && slotOf[3].call(n)) return slotOf[3].call(n);
    return e;
  }

  /** Whether an element is shown. One without a box of its own (display: contents, as slots have) is where it lies is. */
  function shown(e) {
    for (let at = e, i = 0; at && i < 50; at = above(at), i++) {
      if (visible.call(at, { opacityProperty: true, visibilityProperty: true })) return true;
      if (getComputedStyle(at).display !== 'contents') return false;
    }
    return false;
  }

  /** Whether a text is shown, of an element that is. It may be slotted into a closed shadow root, or into none of its slots. */
  function drawn(text, holder) {
    if (getComputedStyle(holder).display !== 'contents') return true;
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getClientRects().length > 0;
  }

  /** Whether a changed attribute had hidden the element before. */
  function appears(r) {
    const was = r.oldValue;
    switch (r.attributeName) {
      case 'open':
        return was === null && matches.call(r.target, dialogs);
      case 'hidden':
        return was !== null && !elements.has(r.target, 'hidden');
      case 'aria-hidden':
        return was === 'true' && attr(r.target, 'aria-hidden') !== 'true';
      default:
        return r.attributeName === 'style' && /(?:display:\s*none|visibility:\s*hidden|opacity:\s*0(?:[;\s]|$))/.test(was || '');
    }
  }

  /** Something was done: what the page says now is an answer to it. */
  function acted() {
    const now = performance.now();
    if (now > until) observer.observe(document, watched);
    act++;
    recent = [];
    until = now + during;
    if (now - searched > stale) searchAll(now);
    left = many;
    clearTimeout(over);
    over = setTimeout(rests, during);
  }

  function rests() {
    if (timer) read();
    until = -1;
    clearTimeout(over);
    observer.disconnect();
    changed = new Map();
    stamps = new Map();
    stamp = null;
    flood = false;
    roots.clear();
    recent = [];
    searched = -1e9;
  }

  /** What is written in an element as it is shown, up to a length, without its buttons, links and fields, and what is hidden. */
  function textIn(e, length = longest) {
    const whole = textOf.call(e);
    if (whole.length > 20_000 || (!whole && !roots.size)) return '';
    const out = [];
    let left = nodes;
    let room = length;
    const walk = (n, holder) => {
      if (room < 0 || --left < 0) return;
      if (n instanceof Text) {
        const text = flat(n.data);
        if (!text || !shown(holder) || !drawn(n, holder)) return;
        out.push(text);
        room -= text.length + 1;
      } else if (n instanceof Element && (n === e || !matches.call(n, controls))) {
        const root = shadowOf.call(n);
        const given = n instanceof HTMLSlotElement ? givenTo.call(n) : [];
        if (given.length) for (const inner of given) walk(inner, n);
        else for (let inner = firstOf.call(root || n); inner && left > 0; inner = nextOf.call(inner)) walk(inner, n);
      }
    };
    walk(e, e);
    return flat(out.join(' '));
  }

  function read() {
    timer = 0;
    if (until < 0) return;
    const [all, much, when] = [changed, flood, stamps];
    changed = new Map();
    stamps = new Map();
    stamp = null;
    flood = false;
    const blocks = new Map();
    scoped = new Map();
    for (const [e, how] of all) if (how === 'added' && connected.call(e)) search(e);
    if (much) {
      if (performance.now() - searched > stale) searchAll(performance.now());
      for (const part of [document, ...roots]) for (const e of find(part, `${live},h1`)) blocks.set(e, matches.call(e, live) ? 'live' : 'heading');
    }
    const came = new Map();
    if (!much) {
      for (const [e, how] of all) {
        gather(e, how, blocks);
        if (blocks.size > came.size) for (const block of blocks.keys()) if (!came.has(block)) came.set(block, when.get(e));
      }
    }
    const told = [];
    for (const [e, how] of blocks) {
      const text = message(e, how, all.get(e) !== 'shown');
      if (text) told.push({ e, text, how, ...(came.get(e) || { act, at: first }) });
    }
    // Much at once is what the page shows, and no message.
    const heading = told.filter((t) => t.how === 'heading').slice(0, 1);
    const sure = told.filter((t) => t.how !== 'plain' && t.how !== 'heading');
    const plain = told.filter((t) => t.how === 'plain' && !gathers(t, sure));
    const kept = [...sure, ...heading, ...(plain.length <= 3 ? plain : [])].filter((t, i, those) => !those.some((o, j) => o !== t && o.text.includes(t.text) && (o.text !== t.text || j < i)));
    kept.sort((a, b) => a.act - b.act || (after(a.e, b.e) ? 1 : -1));
    for (const t of kept) {
      // A component may show in its shadow root what was told when it came to be slotted.
      if (recent.some((o) => o.e !== t.e && o.text === t.text && (lies(t.e, o.e) || lies(o.e, t.e)))) continue;
      if (roots.size) recent.push(t);
      post(t.e, t.text, t.at);
    }
    scoped = new Map();
  }

  /** Whether an element says nothing but what several messages in it say: it is what toasts are stacked in. */
  function gathers(t, sure) {
    const those = sure.filter((o) => o.e !== t.e && t.text.includes(o.text) && lies(o.e, t.e));
    return those.length > 1 && !/[\p{L}\p{N}]/u.test(those.reduce((text, o) => text.replace(o.text, ''), t.text));
  }

  /** Whether an element lies in another, as both are shown. */
  function lies(e, outer) {
    for (let at = e, i = 0; at && i < 100; at = above(at), i++) if (at === outer) return true;
    return false;
  }

  /** Whether an element stands after another on the page. */
  function after(e, other) {
    let [a, b] = [e, other];
    if (rootOf.call(a) !== rootOf.call(b)) {
      for (let root = rootOf.call(a); root instanceof ShadowRoot; root = rootOf.call(a)) a = root.host;
      for (let root = rootOf.call(b); root instanceof ShadowRoot; root = rootOf.call(b)) b = root.host;
    }
    return (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
  }

  /** Finds what may be a message in what changed. */
  function gather(e, how, blocks) {
    if (!connected.call(e) || blocks.has(e)) return;
    const from = how === 'text' && shadowOf.call(e) ? slotIn(e) : e;
    if (around(from, apart)) return;
    let region = around(from, live);
    if (region && rootOf.call(region) instanceof ShadowRoot) { // of a component it is all of it that speaks
      for (let up = parent(region); up && (up = closest.call(up, live)); up = parent(up)) region = up;
    }
    if (region) return blocks.set(region, 'live');
    if (around(from, buttons)) return;
    if (how !== 'text') for (const part of [...within(e, live)].slice(0, 3)) blocks.set(part, 'live');
    if (matches.call(e, fields)) {
      for (const near of beside(e)) if (!blocks.has(near)) blocks.set(near, 'named');
      return;
    }
    if (how === 'shown' && !matches.call(e, named) && !matches.call(e, dialogs)) return;
    const dialog = around(from, dialogs);
    if (dialog && how === 'added' && (dialog === e || said.get(dialog) === undefined)) return blocks.set(dialog, 'dialog');
    if (how === 'added') {
      const length = roots.size ? textIn(e, 2 * longest).length : textOf.call(e).length;
      if (length > 2 * longest || within(e, fields).length || within(e, rows).length > 1) {
        for (const part of [...within(e, `${dialogs},${named}`)].slice(0, 3)) if (!blocks.has(part)) blocks.set(part, matches.call(part, dialogs) ? 'dialog' : 'named');
        const heading = [...within(e, 'h1,h2,[role=heading]')].slice(0, 1)[0];
        if (heading) blocks.set(heading, 'heading');
        return;
      }
    }
    blocks.set(e, matches.call(e, named) ? 'named' : matches.call(e, 'h1,h2,[role=heading]') ? 'heading' : 'plain');
  }

  /** What is written beside a field that is found wanting: what it says describes it, or lies beside it. */
  function beside(field) {
    const ids = `${attr(field, 'aria-errormessage')} ${attr(field, 'aria-describedby')}`.split(/\s+/).filter(Boolean);
    const out = ids.map((id) => document.getElementById(id)).filter(Boolean);
    const up = parent(field);
    return up ? [...out, ...[...find(up, named)].slice(0, 3)] : out;
  }

  /** What a dialog says: all of it, or what it is called where it is a form. */
  function speech(dialog) {
    if (within(dialog, fields).length < 2) return textIn(dialog);
    const heading = within(dialog, 'h1,h2,h3,h4,h5,h6,[role=heading]')[0];
    return (heading && textIn(heading)) || nameOf(dialog, true);
  }

  /** The new text of a message; '' where an element says nothing, the same as before, or too much. */
  function message(e, how, written) {
    if (isEditable(e) || (how !== 'dialog' && how !== 'live' && within(e, fields).length)) return '';
    const text = shown(e) ? (how === 'dialog' ? speech(e) : textIn(e)) : '';
    const before = said.get(e);
    said.set(e, { text, act });
    if (!text || (before && text === before.text && (!written || act === before.act)) || text.length > longest || !(how === 'live' ? /[\p{L}\p{N}]/u : /\p{L}{2}/u).test(text)) return '';
    const times = often.get(e);
    const n = times && times.act === act ? times.n + 1 : 1;
    often.set(e, { n, act });
    return n > 3 ? '' : text;
  }

  function post(e, text, at, more) {
    if (left-- <= 0) return;
    const role = roleOf(e) || attr(e, 'role');
    tell(at, { type: 'page_message', text: secrets.mask(text), element: { role: role === 'generic' ? '' : role, tag: tagOf.call(e) }, ...more });
  }

  /** A form was not sent, because of what stands in a field; the browser says so beside it. */
  function invalid(event) {
    const e = event.composedPath()[0];
    if (!e || !e.validationMessage) return;
    tell(event.timeStamp, { type: 'page_message', text: secrets.mask(e.validationMessage.slice(0, longest)), element: elements.describe(e), values: ['invalid'] });
  }

  /** What a new page says by itself: it may be the answer to a form. */
  function loaded() {
    if (act) return; // who knows what came by itself
    left = many;
    const at = performance.now();
    searchAll(at);
    const all = [...new Set([document, ...roots].flatMap((part) => [...find(part, `${live},${named}`)].slice(0, 20)))].slice(0, 40);
    const heading = [...within(document, 'h1')].filter((e) => visible.call(e)).slice(0, 1);
    const told = [];
    for (const e of [...heading, ...all]) {
      if (around(e, apart) || said.get(e)) continue;
      const text = message(e, matches.call(e, live) ? 'live' : 'named');
      if (!text || told.some((o) => o.text.includes(text) && rootOf.call(o.e) instanceof ShadowRoot && lies(e, o.e))) continue;
      told.push({ e, text });
      post(e, text, at, { values: ['loaded'] });
    }
    rests();
  }

  return { acted, invalid, loaded, rests };
})
