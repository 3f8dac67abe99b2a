// How an element of a procedure is found again and made ready, and what is done to it that the mouse and the keyboard cannot do. It
// runs in the recorder's own world, in the frames of a browser in which a procedure is run, and reads the layout when it is called.
(function finds(script) {
  'use strict';

  const { secrets, names, elements, fields, form, take, rows, intend } = script;
  const { attr, tagOf, typeOf, has, above, shadowOf, textOf, rootOf, isEditable, labelsOf, roleOf, selectorOf, getter } = names;
  const { find, contains, identify, beside, cells, partOf, sameWords, clean, testIds, controls } = elements;
  const visible = Element.prototype.checkVisibility;
  const rectOf = Element.prototype.getBoundingClientRect;
  const matches = Element.prototype.matches;
  const closest = Element.prototype.closest;
  const valueOf = getter(HTMLInputElement, 'value');
  const areaValue = getter(HTMLTextAreaElement, 'value');
  const innerTextOf = getter(HTMLElement, 'innerText');
  const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const most = 200; // elements that a selector finds and that are looked at

  const shown = (e) => {
    if (!visible.call(e, { visibilityProperty: true })) return false;
    const r = rectOf.call(e);
    return r.width > 0 && r.height > 0;
  };

  /** The document and all open shadow roots in it. */
  function roots() {
    const all = [document];
    for (let i = 0; i < all.length; i++) for (const e of find(all[i], '*')) if (shadowOf.call(e)) all.push(shadowOf.call(e));
    return all;
  }

  const everywhere = (selector) => roots().flatMap((root) => [...find(root, selector)]);

  /** What elements are known by, while one is looked for: it costs much on a large page. */
  let seen = new WeakMap();
  function known(e) {
    if (!seen.has(e)) seen.set(e, identify(e));
    return seen.get(e);
  }

  // Selectors as @puppeteer/replay writes them.

  function byAria(rest, target) {
    const said = /^([^]*)\[role="(\w+)"\]$/.exec(rest);
    if (!said) return candidates(target).filter((e) => known(e).full === rest);
    const all = selectorOf(said[2]);
    return all ? everywhere(all).filter((e) => roleOf(e) === said[2] && known(e).full === said[1]) : [];
  }

  /** The innermost elements that have a text. */
  function byText(root, text) {
    const out = [];
    const into = (at) => {
      let inner = false;
      for (const c of at.children) {
        if (/^(?:script|style|template|noscript|head)$/.test(tagOf.call(c)) || !textOf.call(c).includes(text)) continue;
        inner = true;
        into(c);
      }
      if (!inner && at instanceof Element) out.push(at);
    };
    into(root);
    return out;
  }

  function select(root, selector, target) {
    const [, way, rest] = /^(?:(aria|text|xpath|pierce|css)\/)?([^]*)$/.exec(selector);
    if (way === 'aria') return byAria(rest, target);
    if (way === 'text') return roots().filter((r) => textOf.call(r === document ? elements.top() : r).includes(rest)).flatMap((r) => byText(r, rest));
    if (way === 'pierce') return everywhere(rest);
    if (way !== 'xpath') return [...find(root, rest)];
    const found = Document.prototype.evaluate.call(document, rest, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({ length: Math.min(found.snapshotLength, most) }, (_, i) => found.snapshotItem(i));
  }

  /** What a list of selectors finds, each in the shadow roots of what the one before it found. */
  function resolve(list, target) {
    try {
      let at = [document];
      for (const [i, selector] of list.entries()) at = at.flatMap((root) => select(i ? shadowOf.call(root) || root : root, selector, target));
      return [...new Set(at)].filter((e) => e instanceof Element).slice(0, most);
    } catch {
      return []; // one that is written wrongly finds nothing
    }
  }

  /** What kind of selector a list ends with. */
  function kindOf(list) {
    const last = list.at(-1);
    if (last.startsWith('aria/')) return 'aria';
    if (last.startsWith('text/') || (last.startsWith('xpath/') && last.includes('normalize-space'))) return 'text';
    if (/^(?:pierce\/|css\/)?#[^\s>:]+$/.test(last)) return 'id';
    const called = /^(?:pierce\/|css\/)?[\w-]*\[([\w-]+)=(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\w-]+)\]$/.exec(last);
    return called ? (testIds.includes(called[1]) ? 'test id' : 'attribute') : 'path';
  }

  // Agreement. An element agrees with a target if the recorder would describe it so. A style may show its words in capital letters.

  /**
   * What stands beside it has to be the same where the target has it, or be a cell of its row: it says which of several rows is meant, also
   * when only one of them is left and describe would not say it any more. Of what something is dropped on, it is the heading of its part of the page.
   */
  function agrees(e, target) {
    const is = known(e);
    if ((target.role && is.role !== target.role) || (target.name && !sameWords(is.name, clean(target.name)))) return false;
    if (target.inside && partOf(e) !== target.inside) return false;
    const wanted = target.beside && clean(target.beside);
    const row = wanted || target.cells ? cells(e) : [];
    const [first, ...others] = (target.columns || []).map(clean);
    const has = (text, head) => row.some((c) => c.text === text && (!head || sameWords(c.head(), head) || !row.some((o) => sameWords(o.head(), head))));
    if (target.cells && !target.cells.every((text, i) => has(clean(text), others[i]))) return false;
    return !wanted || has(wanted, first) || (!first && (secrets.mask(is.near()) === wanted || secrets.mask(beside(e, true)) === wanted));
  }

  /** All elements that may have the target's role. */
  function candidates(target) {
    const selector = target.role && elements.selectorOfShown(target.role);
    return everywhere(selector || (target.tag && CSS.escape(target.tag.split('/')[0])) || '*');
  }

  /** Of elements that lie in each other the innermost: they are one thing for people. */
  const innermost = (all) => all.filter((e) => !all.some((o) => o !== e && contains(e, o)));

  /** Whether elements are links to the same page: it is the same which of them is followed. */
  function leadAlike(all) {
    const [{ href, target, download } = {}] = all;
    return /^https?:/.test(href || '') && href.split('#')[0] !== location.href.split('#')[0] && all.every((e) => e instanceof HTMLAnchorElement && e.href === href && e.target === target && e.download === download);
  }

  /** An element in words; with what stands beside it where it has no name, or full is set. */
  function words(e, full) {
    const is = identify(e);
    const near = is.name && !full ? '' : secrets.mask(is.near());
    return is.role + (is.name ? ` "${is.name.slice(0, 80)}"` : '') + (near ? ` beside "${near}"` : '');
  }

  /**
   * Finds the one element that agrees: {e, by, drifted}, else {many} or {near}, what was there instead. A path or a text finds another
   * element once the page has changed, so an element that it finds has to be alone in agreeing; one with an id or an attribute of its own
   * only among those that have it, too. Where two of those find another field of its role, they and its name contradict each other: then none is.
   */
  function locate(target, reached) {
    seen = new WeakMap();
    let near = null;
    let all = null;
    const finds = (list) => resolve(list, target).filter(reached);
    const owns = (list) => ['id', 'test id', 'attribute'].includes(kindOf(list));
    const contrary = () => {
      const others = (target.selectors || []).filter(owns).map(finds).flatMap((found) => (found.length === 1 && fields.kind(found[0]) && !agrees(found[0], target) && known(found[0]).role === target.role ? found : []));
      return others.find((e, i) => others.indexOf(e) < i);
    };
    const alike = () => (all ??= innermost(candidates(target).filter((e) => agrees(e, target) && reached(e))));
    for (const [i, list] of (target.selectors || []).entries()) {
      const by = kindOf(list);
      const found = finds(list);
      const good = found.filter((e) => agrees(e, target));
      if (!good.length && found.length) near ??= found[0];
      if (good.length !== 1) continue;
      const e = good[0];
      if (near && contrary()) break;
      if (owns(list) || (alike().length === 1 && (alike()[0] === e || contains(e, alike()[0])))) return { e, by, drifted: i > 0 };
    }
    if (near && contrary()) return { near: words(contrary(), true) };
    if (alike().length === 1 || leadAlike(alike())) return { e: alike()[0], by: 'role and name', drifted: (target.selectors || []).length > 0 };
    if (alike().length > 1) return { many: alike().length };
    if (!near && target.name && target.beside) near = candidates(target).find((e) => agrees(e, { ...target, beside: '', cells: [] }) && reached(e));
    return { near: near ? words(near, true) : '' };
  }

  // Making ready.

  let found = null; // the element that is acted on

  const frame = () =>
    new Promise((done) => {
      requestAnimationFrame(done);
      setTimeout(done, 100); // a window that is not drawn has no frames
    });

  /** The topmost element at a point, through open shadow roots. */
  function topmost(x, y) {
    let hit = Document.prototype.elementFromPoint.call(document, x, y);
    for (let root = hit && shadowOf.call(hit); root; root = shadowOf.call(hit)) {
      const inner = root.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  }

  /** Whether what is at a point belongs to an element: it lies in it, or in its label. */
  function belongs(hit, e) {
    for (let at = hit; at; at = above(at)) if (at === e || (tagOf.call(at) === 'label' && at.control === e)) return true;
    return false;
  }

  const disabled = (e) => matches.call(e, ':disabled') || closest.call(e, '[aria-disabled=true]') !== null;
  const isOn = (e) => (e instanceof HTMLInputElement ? e.checked : attr(e, 'aria-checked') === 'true');
  const flatten = (text) => text.replace(/\s+/g, ' ').trim();

  /** Scrolls an element into sight, and says where it then stands. Further tries put it elsewhere, from under what covers it. */
  function reveal(e, tries) {
    if (tries % 4 === 0) e.scrollIntoViewIfNeeded();
    else e.scrollIntoView({ block: ['', 'center', 'end', 'start'][tries % 4], inline: 'nearest', behavior: 'instant' });
  }

  const box = (e) => [...e.getClientRects()].find((r) => r.width > 0 && r.height > 0) || rectOf.call(e);
  const differs = (a, b) => a.x !== b.x || a.y !== b.y || a.width !== b.width || a.height !== b.height;

  /** The first origin, of this document and those around it, where a text may not be typed that belongs to the first of sites, and to the others around it. */
  function stray(sites) {
    const [own, ...around] = sites.split(' ');
    if (location.origin !== own || origin !== own) return location.origin !== own ? location.origin : origin;
    return [...location.ancestorOrigins].find((o) => o !== own && !around.includes(o)) || '';
  }

  /** Whether the scripts have run that a page is loaded with: before, what is done in it may be lost. */
  function wired() {
    const [load] = performance.getEntriesByType('navigation');
    return document.readyState === 'complete' || (document.readyState === 'interactive' && (!load || load.domContentLoadedEventEnd > 0));
  }

  /**
   * Finds an element and makes it ready: {words, by, drifted, x, y}; or wait says what is missing. how says what it is made ready for:
   * hurry: also on a page that is still loading; point: the pointer; on: to be checked; write: text; options: these; file; site: text that belongs to these origins alone.
   */
  async function ready(target, how) {
    found = aimed = null;
    if (!how.hurry && !wired()) return { wait: 'loading' };
    const label = (e) => labelsOf(e).find(shown);
    const reached = (e) => how.file || shown(e) || (how.on !== undefined && has.call(e, 'type') && label(e) !== undefined);
    const { e, by, drifted, many, near } = locate(target, reached);
    if (!e) return many ? { wait: 'many', many } : { wait: 'missing', near };
    const is = { words: words(e), by, drifted };
    const wait = (why, more) => ({ ...is, wait: why, ...more });
    if (how.site && stray(how.site)) return wait('site', { near: stray(how.site) });
    if ((how.point || how.write || how.options || how.file) && !how.hover && disabled(e)) return wait('disabled');
    if (how.file && !(e instanceof HTMLInputElement && typeOf.call(e) === 'file')) return wait('file');
    if (how.write && !(fields.kind(e) === 'text' || fields.kind(e) === 'pick')) return wait('text');
    if (how.write && (e.readOnly || attr(e, 'aria-readonly') === 'true')) return wait('readonly');
    const other = how.form && form.unlike(e, how.form);
    if (other) return wait(other.more ? 'more' : 'less', { near: other.more || other.less });
    const line = how.says && form.strange(e, how.says);
    if (line) return wait('says', { near: line });
    if (how.options) {
      if (!(e instanceof HTMLSelectElement)) return wait('options');
      const labels = [...e.options].filter((o) => !o.disabled).map((o) => flatten(o.label));
      const lacks = how.options.find((o) => !labels.includes(flatten(o)));
      if (lacks !== undefined) return wait('option', { near: secrets.mask(labels.slice(0, 20).join(', ')) });
    }
    found = e;
    if (how.on !== undefined && isOn(e) === how.on) return { ...is, done: true };
    if (!how.point) return is;
    if (document.hidden) return wait('hidden');
    const at = shown(e) ? e : label(e);
    if (!how.still) reveal(at, how.tries);
    const before = box(at);
    await frame();
    const r = box(at);
    if (differs(before, r)) return wait('moves');
    const share = (part, from, size, within) => (part != null ? from + Math.min(Math.max(part, 0), 0.999) * size : (Math.max(from, 0) + Math.min(from + size, within)) / 2);
    const whole = how.x != null ? rectOf.call(at) : r;
    const x = share(how.x, whole.x, whole.width, innerWidth);
    const y = share(how.y, whole.y, whole.height, innerHeight);
    const hit = topmost(x, y);
    if (!hit) return wait('outside');
    if (!belongs(hit, e) && !belongs(hit, at)) return wait('covered', { near: words(hit) });
    expected = { x, y };
    if (!how.hover) aimed = { e, at };
    return { ...is, x, y };
  }

  // What is done by script.

  const text = (e) => (e instanceof HTMLInputElement ? valueOf.call(e) : e instanceof HTMLTextAreaElement ? areaValue.call(e) : e instanceof HTMLSelectElement ? [...e.selectedOptions].map((o) => flatten(o.label)).join(', ') : textOf.call(e));

  /** Has the recorder hear what a script sets: its events are no person's. */
  const heard = (e) => fields.input({ timeStamp: performance.now() }, e);

  function changed(e) {
    for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));
    heard(e);
  }

  function focus(e) {
    e.focus({ preventScroll: true });
    const root = rootOf.call(e);
    const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
    return active === e || (active && contains(active, e)) || false;
  }

  /**
   * Puts a text in the place of what stands in the field that was found, and says what went wrong: site, focus, empty. The origin is
   * looked at in the same task in which the text is written, so that no other page can take the place of this one between.
   */
  function write(value, site) {
    const e = found;
    if (!e || !e.isConnected) return 'focus';
    const holds = () => !site || !stray(site);
    if (!holds()) return 'site';
    if (fields.kind(e) === 'pick') {
      setValue.call(e, value);
      changed(e);
      return valueOf.call(e) || !value ? '' : 'empty';
    }
    if (site) {
      secrets.were.add(e);
      secrets.remember(e, value);
    }
    if (!focus(e)) return 'focus';
    if (isEditable(e)) getSelection().selectAllChildren(e);
    else e.select();
    if (!holds() || found !== e) return 'site';
    keyed(e, 'keydown', value);
    if (value) document.execCommand('insertText', false, value);
    else if (text(e)) document.execCommand('delete');
    if (e.isConnected) keyed(e, 'keyup', value);
    return value.trim() ? written() : '';
  }

  /** Some pages look at what stands in a field when a key is released. None has to know which, least of all of a secret. */
  const keyed = (e, type, value) => e.dispatchEvent(new KeyboardEvent(type, { key: value && !secrets.why(e) ? [...value].at(-1) : 'Unidentified', bubbles: true, composed: true, cancelable: true }));

  /** Says empty where a text was written and nothing stands in the field. What it stands in may look another way. */
  const written = () => (found.isConnected && !text(found).trim() ? 'empty' : '');

  function choose(labels) {
    const wanted = labels.map(flatten);
    found.focus({ preventScroll: true });
    for (const o of found.options) o.selected = wanted.includes(flatten(o.label));
    changed(found);
  }

  function scroll(x, y, page) {
    intend({ timeStamp: performance.now() }, null);
    (page ? window : found).scrollTo({ left: x, top: y, behavior: 'instant' });
  }

  const players = {
    play: (m) => void m.play(), pause: (m) => m.pause(), mute: (m) => (m.muted = true), unmute: (m) => (m.muted = false),
    seek: (m, n) => (m.currentTime = n), volume: (m, n) => (m.volume = Math.min(Math.max(n, 0), 100) / 100), speed: (m, n) => (m.playbackRate = n),
    fullscreen: (m) => void m.requestFullscreen(), window: () => void document.exitFullscreen(),
  };
  const play = (what, n) => found instanceof HTMLMediaElement && Object.hasOwn(players, what) && (players[what](found, Number(n) || 0), true);

  // What a checkpoint asks.

  function stands(target, value) {
    const is = locate(target, shown);
    if (!is.e) return is;
    if (value === undefined) return { there: words(is.e) };
    const e = is.e;
    const now = fields.kind(e) === 'toggle' || has.call(e, 'aria-checked') ? (isOn(e) ? 'checked' : 'unchecked') : text(e);
    return { there: words(e), same: flatten(now) === flatten(value), value: secrets.why(e) ? '' : secrets.mask(flatten(now)).slice(0, 200) };
  }

  /** Finds a text, in whatever case; a number in it is no part of a longer one, as human.HasAll says. */
  const numbered = (text) => new RegExp(`${/^\d/.test(text) ? "(?<!\\d|\\d[.,'])" : ''}${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}${/\d$/.test(text) ? "(?!\\d|[.,']\\d{3}(?!\\d))" : ''}`, 'i');

  /** What can be seen in an element, without what can be pressed or filled in: messages are recorded so. */
  function bare(e) {
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node instanceof Text ? NodeFilter.FILTER_ACCEPT : matches.call(node, controls) || !visible.call(node, { visibilityProperty: true }) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP);
    let out = '';
    while (texts.nextNode()) out += ` ${texts.currentNode.data}`;
    return out;
  }

  /** Whether a text can be seen in the frame, or is the whole of a line there, in whatever case its style shows it. */
  function says(value, whole) {
    const line = flatten(value).toLowerCase();
    const isLine = (e) => form.textOf(e).split('\n').some((l) => flatten(l).toLowerCase() === line);
    const wanted = numbered(flatten(value));
    const parts = roots().map((r) => (r === document ? [elements.body()] : [...r.children]).filter((e) => e instanceof HTMLElement && tagOf.call(e) !== 'style'));
    if (whole) return parts.flat().some(isLine);
    return [(e) => innerTextOf.call(e), bare].some((read) => parts.some((all) => wanted.test(flatten(all.map(read).join(' ')))));
  }

  // What a person does meanwhile. What Deskbell does comes here, too: who asks knows where that was.

  let last = null;
  let expected = null;
  const size = () => `${outerWidth} ${outerHeight}`;
  let was = size();
  const asExpected = (event) => expected && Math.abs(event.clientX - expected.x) < 2 && Math.abs(event.clientY - expected.y) < 2;
  const tell = (event, how) => {
    globalThis.deskbellShown(`hand ${JSON.stringify({ how, x: event.screenX || 0, y: event.screenY || 0, key: event.key || '', ours: Boolean(asExpected(event)), at: Date.now() - performance.now() + event.timeStamp })}`);
  };
  const hear = {
    pointermove(event) {
      if (last && Math.abs(last.x - event.screenX) <= 2 && Math.abs(last.y - event.screenY) <= 2) return; // the page moved under it
      last = { x: event.screenX, y: event.screenY };
      tell(event, 'move');
    },
    pointerdown: (event) => tell(event, 'press'),
    wheel: (event) => tell(event, 'wheel'),
    keydown: (event) => tell(event, 'key'),
    resize(event) {
      if (window !== top || was === size()) return;
      was = size();
      tell(event, 'size');
    },
  };
  let drag = null;
  const listeners = { dragstart: (event) => (drag = event) };
  for (const type of Object.keys(hear)) {
    listeners[type] = (event) => {
      if (type === 'pointerdown') drag = null;
      if (event.isTrusted) hear[type](event);
    };
  }

  // What Deskbell presses is held back where something else has come under the pointer since that was looked at.
  let aimed = null; // {e, at}; {} where a frame of this page is to get it
  let missed = false;
  function guard(event) {
    if (!aimed || !event.isTrusted) return;
    const hit = event.composedPath()[0];
    if (event.type === 'pointerdown') missed = asExpected(event) && !belongs(hit, aimed.e) && !belongs(hit, aimed.at);
    if (!missed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Notes where this page is pointed at only to reach a frame in it. */
  function passes(x, y, pressed) {
    expected = { x, y };
    aimed = pressed ? {} : null;
  }

  /** Whether what was pressed last was held back. */
  function missedIt() {
    const was = missed;
    missed = false;
    aimed = null;
    return was;
  }

  function arm() {
    for (const type of Object.keys(listeners)) addEventListener(type, listeners[type], { capture: true, passive: true });
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'contextmenu', 'dblclick']) addEventListener(type, guard, { capture: true });
  }

  return { arm, ready, passes, missed: missedIt, write, written, lifted: () => drag !== null && !drag.defaultPrevented, choose, scroll, play, stands, says, focus: () => focus(found), element: () => found, take: (kind) => take(kind, found), rows: () => rows(everywhere) };
})
