// What a page says once something was done in it: an alert, a toast, a line under a form, the heading of what it shows instead.
// The document is watched only for a while after each act, and read when it has come to rest. It runs in the recorder's own world.
(function messages(secrets, elements, tell) {
  'use strict';

  const { attr, tagOf, find, flat, roleOf, parent, isEditable } = elements;
  const closest = Element.prototype.closest;
  const matches = Element.prototype.matches;
  const connected = Object.getOwnPropertyDescriptor(Node.prototype, 'isConnected').get;
  const textOf = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent').get;
  const visible = Element.prototype.checkVisibility;
  const during = 15_000; // ms after an act in which a page answers
  const rest = 200; // ms without a change before the page is read
  const late = 1500; // ms after which it is read though it still changes
  const longest = 300; // characters of a message
  const many = 6; // messages of one act
  const most = 400; // changes that are looked into one by one

  const live = '[role=alert],[role=status],[role=alertdialog],[aria-live=polite],[aria-live=assertive],output';
  /** What is shown and hidden by a class alone is a message only where something says so. */
  const called = ['alert', 'error', 'message', 'toast', 'notif', 'feedback', 'invalid', 'success', 'warning', 'snackbar', 'status', 'flash', 'notice'];
  const named = called.map((word) => `[class*=${word} i],[id*=${word} i]`).join();
  const dialogs = 'dialog,[role=dialog],[role=alertdialog]';
  /** In these, texts are what is offered or told all the time. */
  const apart = 'nav,[role=navigation],[role=menu],[role=menubar],[role=listbox],[role=tree],[role=tooltip],[role=log],[role=timer],[role=marquee],select,datalist,option,head,script,style,template,svg,canvas,[aria-hidden=true]';
  const fields = 'input:not([type=hidden]),textarea,select,[contenteditable]';
  const rows = 'tr,li,[role=row],[role=listitem],[role=article]';
  const buttons = 'button,a[href],[role=button],[role=link],[role=tab],[role=switch],[role=checkbox]';
  const controls = `${buttons},input,select,textarea,script,style,template,svg,[hidden],[aria-hidden=true]`;

  let until = -1; // when the page is no longer watched
  let left = 0; // how many messages this act may still have
  let first = 0; // when the first change came that is not read
  let timer = 0;
  let over = 0;
  let changed = new Map(); // what changed, and how: added, text, shown
  let flood = false;
  let act = 0;
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
      const e = r.target instanceof Element ? r.target : parent(r.target);
      if (r.type === 'characterData') {
        if (e && !changed.has(e)) changed.set(e, 'text');
        continue;
      }
      for (const n of r.removedNodes) gone.add(n);
      for (const n of r.addedNodes) {
        if (gone.has(n)) continue;
        if (n instanceof Element) changed.set(n, 'added');
        else if (n instanceof Text && e && !changed.has(e)) changed.set(e, 'text');
      }
    }
    if (!changed.size) return;
    if (!timer) first = now;
    else if (now - first > late) return;
    clearTimeout(timer);
    timer = setTimeout(() => requestIdleCallback(read, { timeout: 200 }), rest);
  });

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
    if (now > until) {
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true, attributeFilter: ['hidden', 'style', 'class', 'open', 'aria-hidden'] });
    }
    act++;
    until = now + during;
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
    flood = false;
  }

  /** What is written in an element, without its buttons, links and fields, and without what is hidden. */
  function textIn(e) {
    const whole = textOf.call(e);
    if (!whole || whole.length > 20_000) return '';
    const parts = [];
    const walk = document.createTreeWalker(e, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (n) => {
      if (n instanceof Text) return NodeFilter.FILTER_ACCEPT;
      return matches.call(n, controls) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    let length = 0;
    let steps = 0;
    for (let n = walk.nextNode(); n && length <= longest && steps < 500; n = walk.nextNode(), steps++) {
      const text = flat(n.data);
      const holder = parent(n);
      if (!text || !holder || !visible.call(holder, { opacityProperty: true, visibilityProperty: true })) continue;
      parts.push(text);
      length += text.length + 1;
    }
    return flat(parts.join(' '));
  }

  function read() {
    timer = 0;
    if (until < 0) return;
    const [all, much] = [changed, flood];
    changed = new Map();
    flood = false;
    const blocks = new Map();
    if (much) for (const e of find(document, `${live},h1`)) blocks.set(e, matches.call(e, live) ? 'live' : 'heading');
    else for (const [e, how] of all) gather(e, how, blocks);
    const told = [];
    for (const [e, how] of blocks) {
      const text = message(e, how, all.get(e) !== 'shown');
      if (text) told.push({ e, text, how });
    }
    // Much at once is what the page shows, and no message.
    const plain = told.filter((t) => t.how === 'plain');
    const heading = told.filter((t) => t.how === 'heading').slice(0, 1);
    const sure = told.filter((t) => t.how !== 'plain' && t.how !== 'heading');
    const kept = [...sure, ...heading, ...(plain.length <= 3 ? plain : [])].filter((t, i, those) => !those.some((o, j) => o !== t && o.text.includes(t.text) && (o.text !== t.text || j < i)));
    kept.sort((a, b) => (a.e.compareDocumentPosition(b.e) & Node.DOCUMENT_POSITION_PRECEDING ? 1 : -1));
    for (const t of kept) post(t.e, t.text, first);
  }

  /** Finds what may be a message in what changed. */
  function gather(e, how, blocks) {
    if (!connected.call(e) || blocks.has(e) || closest.call(e, apart)) return;
    const around = closest.call(e, live);
    if (around) return blocks.set(around, 'live');
    if (closest.call(e, buttons)) return;
    if (how !== 'text') for (const part of [...find(e, live)].slice(0, 3)) blocks.set(part, 'live');
    if (matches.call(e, fields)) {
      for (const near of beside(e)) if (!blocks.has(near)) blocks.set(near, 'named');
      return;
    }
    if (how === 'shown' && !matches.call(e, named) && !matches.call(e, dialogs)) return;
    const dialog = closest.call(e, dialogs);
    if (dialog && how === 'added' && (dialog === e || said.get(dialog) === undefined)) return blocks.set(dialog, 'dialog');
    if (how === 'added') {
      const length = (textOf.call(e) || '').length;
      if (length > 2 * longest || find(e, fields).length || find(e, rows).length > 1) {
        for (const part of [...find(e, `${dialogs},${named}`)].slice(0, 3)) if (!blocks.has(part)) blocks.set(part, matches.call(part, dialogs) ? 'dialog' : 'named');
        const heading = [...find(e, 'h1,h2,[role=heading]')].slice(0, 1)[0];
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

  /** The new text of a message; '' where an element says nothing, the same as before, or too much. */
  function message(e, how, written) {
    if (isEditable(e) || (how !== 'dialog' && how !== 'live' && find(e, fields).length)) return '';
    const text = visible.call(e, { opacityProperty: true, visibilityProperty: true }) ? textIn(e) : '';
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
    const heading = [...find(document, 'h1')].filter((e) => visible.call(e)).slice(0, 1);
    for (const e of [...heading, ...[...find(document, `${live},${named}`)].slice(0, 20)]) {
      if (closest.call(e, apart) || said.get(e)) continue;
      const text = message(e, matches.call(e, live) ? 'live' : 'named');
      if (text) post(e, text, at, { values: ['loaded'] });
    }
  }

  return { acted, invalid, loaded, rests };
})
