// The recorder's part in a page. It runs in a world of its own in every frame: it shares the document with the page and
// nothing else, adds nothing to it, and listens before the page does. It tells of what a person did (trusted events
// only), with secrets hidden before anything is sent, and reads no layout while an event is handled.
(function (send, config, secretsOf, namesOf, elementsOf, takeOf, fieldsOf, formOf, looksOf, hoverOf, messagesOf, mediaOf) {
  'use strict';

  if (Object.hasOwn(globalThis, 'deskbell')) {
    globalThis.deskbell.arm(); // document.open removes all listeners
    return;
  }

  const secrets = secretsOf(config);
  const names = namesOf(secrets);
  const elements = elementsOf(secrets, names);
  const { meant, describe, describePlace } = elements;
  let count = 0;
  let failures = 0;
  let address = { is: '', shown: '' };

  function post(at, more) {
    const is = location.href;
    if (is !== address.is) address = { is, shown: secrets.url(is) };
    send(JSON.stringify({ v: 1, n: ++count, ts: at, origin: performance.timeOrigin, zero: Date.now() - performance.now(), href: address.shown, ...more }));
  }

  const tell = (at, event, more) => post(at, { events: event ? [event] : [], ...more });

  /** A listener that lets nothing through that a script made, and no error out. */
  const only = (listener) => (event) => {
    if (!event.isTrusted) return;
    try {
      listener(event);
    } catch (error) {
      if (++failures < 10) post(event.timeStamp, { failed: secrets.mask(`${event.type}: ${error && error.stack}`).slice(0, 900), events: [] });
    }
  };

  /** Where elements stand, as the engine told after a frame. */
  const sight = (() => {
    const seen = new WeakMap();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const r = entry.boundingClientRect;
        seen.set(entry.target, { x: Math.round(r.x), y: Math.round(r.y), w: Math.round(r.width), h: Math.round(r.height) });
        observer.unobserve(entry.target);
        if (fields.kind(entry.target) === 'text') secrets.styled(entry.target); // the frame has computed its style
      }
    });
    return {
      look(e) {
        seen.delete(e);
        observer.unobserve(e);
        observer.observe(e);
      },
      seen(e, element) {
        const bounds = seen.get(e);
        return bounds && bounds.w ? { ...element, bounds } : element;
      },
    };
  })();

  const fields = fieldsOf(secrets, elements, tell, sight);
  const form = formOf(secrets, names, elements, fields);
  const hover = hoverOf(elements, tell, sight);
  const messages = messagesOf(secrets, elements, tell);
  const media = mediaOf(elements, tell, sight);
  const looks = looksOf(secrets, elements, fields);
  const { take, rows } = takeOf(secrets, elements, form);
  const { secretRects } = looks;

  const modifiers = (event) => ['ctrl', 'alt', 'shift', 'meta'].filter((m) => event[`${m}Key`]);
  const buttons = [1, 2, 3, 8, 9];

  let size = null; // of the viewport; asking a frame for it lays out its parent, so it is kept
  function place(event) {
    size = size || { w: innerWidth, h: innerHeight };
    return { screen_x: event.screenX - event.clientX, screen_y: event.screenY - event.clientY, scale: devicePixelRatio, ...size };
  }

  const spot = (event) => ({ x: Math.floor(event.clientX), y: Math.floor(event.clientY), modifiers: modifiers(event), page: place(event) });

  /** Some events do not leave the shadow root they happen in: listen there, once an event came out of it. */
  const roots = new WeakSet();
  function enter(way) {
    for (const node of way) {
      if (!(node instanceof ShadowRoot) || roots.has(node)) continue;
      roots.add(node);
      secrets.watch(node);
      elements.known(node.host);
      for (const type of ['change', 'scroll']) node.addEventListener(type, listeners[type], { capture: true, passive: true });
    }
  }

  let press = null; // the pointer is down, or was last
  let acted = -1e9; // when the last key or click was: the browser makes further clicks of them
  let drag = null;

  function down(event) {
    if (!event.isPrimary) return;
    const way = event.composedPath();
    enter(way);
    const e = meant(way) || elements.top();
    fields.pausing(e);
    hover.pressed();
    media.touched(event);
    const { text, ...around } = elements.isActing(e) && !fields.kind(e) ? form.describe(e) : {};
    press = { e, way0: way[0], element: { ...describe(e), ...around }, event, x: event.clientX, y: event.clientY, held: true };
    tell(event.timeStamp, { type: 'page_press', button: buttons[event.button], ...spot(event), element: press.element, text });
    sight.look(e);
    aim = null;
  }

  /**
   * The element of what follows a press, as it was at the press. Where that went away under the pointer, as a menu
   * does, a click comes on what it lay in.
   */
  function asPressed(e, event) {
    const same = press && (press.e === e || (Math.hypot(event.clientX - press.x, event.clientY - press.y) < 10 && elements.contains(e, press.e)));
    return same ? sight.seen(press.e, press.element) : sight.seen(e, describe(e));
  }

  function click(event) {
    const kind = event.type;
    const button = kind === 'contextmenu' ? 3 : buttons[event.button];
    const e = meant(event.composedPath()) || elements.top();
    const simulated = kind === 'click' ? event.detail === 0 : event.button < 0 || (kind === 'contextmenu' && !(press && press.event.button === 2));
    if (simulated && event.timeStamp - acted < 150) return; // made of a key
    if (kind === 'click' && press && press.clicked) return; // made of the click on a label
    acted = event.timeStamp;
    messages.acted();
    if (press && (press.dragged || (kind === 'auxclick' && button === 3 && press.menu))) return;
    if (press && kind === 'contextmenu') press.menu = true;
    if (press && kind === 'click') press.clicked = true;
    const out = { type: 'page_click', button, ...spot(event), count: Math.max(event.detail, 1), element: asPressed(e, event) };
    if (kind === 'contextmenu') out.count = 1;
    if (fields.kind(e) === 'toggle') out.values = [e.checked ? 'checked' : 'unchecked'];
    tell(event.timeStamp, out);
    if (kind === 'click') fields.switched(e, event.timeStamp, out.element);
  }

  const rectOf = Element.prototype.getBoundingClientRect;
  const textOf = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent').get;
  let aim = null; // what a drag was over last

  /** The elements around one, from it outwards. */
  function around(e) {
    const out = [];
    for (let at = e; at && out.length < 8; at = elements.parent(at)) out.push(at);
    return out;
  }

  /** Asks for what lies under a pointer that drags, once the frame is laid out. */
  function moves(event) {
    if (!press || !press.held || !event.isPrimary) return;
    const p = press;
    p.now = { x: event.clientX, y: event.clientY };
    p.hit = event.composedPath()[0];
    if (!p.ways) {
      p.ways = around(p.e);
      requestAnimationFrame(() => setTimeout(() => (p.rects = p.ways.map((e) => rectOf.call(e))), 0));
    }
    if (p.looking || Math.hypot(event.clientX - p.x, event.clientY - p.y) < 10) return;
    p.looking = true;
    requestAnimationFrame(() => setTimeout(() => {
      p.looking = false;
      if (p.held) look(p);
    }, 0));
  }

  function look(p) {
    // What moved by itself is dragged, be it more than what was pressed.
    const ways = p.ways || [p.e];
    const by = (p.rects || []).map((was, i) => {
      const r = rectOf.call(ways[i]);
      return `${Math.round(r.x - was.x)} ${Math.round(r.y - was.y)}`;
    });
    const outer = Math.max(by.findLastIndex((d, i) => i + 1 < by.length && d !== by[i + 1]), 0);
    p.texts = p.texts || texts(ways.slice(0, 4));
    aims([p.hit], ways[outer], p);
    aims(Document.prototype.elementsFromPoint.call(document, p.now.x, p.now.y), ways[outer], p);
  }

  const textIn = (e) => textOf.call(e).trim();
  const texts = (of) => new Set(of.map(textIn).filter((text) => text && text.length < 500));

  /**
   * Notes the target of a drag, from what is under the pointer, the topmost first. What is dragged, and a copy of it, is
   * none. Where that has made room for itself in a list, the target is what it took the room from.
   */
  function aims(under, dragged, of) {
    const copy = (e) => !elements.contains(e, dragged) && of.texts.has(textIn(e));
    const its = (e) => elements.contains(dragged, e) || around(e).slice(0, 4).some(copy);
    if (aim && its(aim.e)) aim = null;
    const e = under.find((e) => e instanceof Element && !its(e));
    if (!e || (e !== of.hit && elements.contains(e, of.hit) && !its(of.hit))) return;
    const room = aim && e !== under[0] && elements.contains(e, aim.e) && !floats(under[0], e);
    if (room || (aim && aim.e === e)) Object.assign(aim, of.now);
    else aim = { e, element: describePlace(e, dragged), ...of.now };
  }

  /** Whether an element is shown over what it lies in. */
  function floats(e, within) {
    for (let at = e; at && at !== within; at = elements.parent(at)) {
      const style = getComputedStyle(at);
      if (/fixed|absolute/.test(style.position) || style.transform !== 'none') return true;
    }
    return false;
  }

  function up(event) {
    if (!press || !press.held || !event.isPrimary) return;
    press.held = false;
    if (press.event.button !== 0 || Math.hypot(event.clientX - press.x, event.clientY - press.y) < 10) return;
    if (press.scrolled || ['text', 'pick', 'select'].includes(fields.kind(press.e))) return;
    const taken = press.captured || press.event.defaultPrevented || (press.mouse && press.mouse.defaultPrevented);
    const selects = press.selecting && !press.selecting.defaultPrevented && !getSelection().isCollapsed;
    const same = elements.isActing(press.e) && meant(event.composedPath()) === press.e;
    if (!taken && (selects || same)) return;
    press.dragged = true;
    messages.acted();
    Object.assign(press, { now: { x: event.clientX, y: event.clientY }, hit: event.composedPath()[0] });
    if (!aim || Math.hypot(aim.x - event.clientX, aim.y - event.clientY) > 10) look(press); // may lay the page out, once for a drag
    const from = { x: Math.floor(press.x), y: Math.floor(press.y) };
    tell(event.timeStamp, {
      type: 'page_drag', button: 1, modifiers: modifiers(event), page: place(event), ...from, to_x: Math.floor(event.clientX), to_y: Math.floor(event.clientY),
      element: sight.seen(press.e, press.element), target: aim ? aim.element : undefined,
    });
  }

  function drop(event) {
    const way = event.composedPath();
    const e = meant(way) || elements.top();
    const files = event.dataTransfer ? event.dataTransfer.files : null;
    if (!drag && files && files.length) {
      if (fields.kind(e) !== 'file') fields.upload(event.timeStamp, e, files); // else its change tells
      return;
    }
    const to = { to_x: Math.floor(event.clientX), to_y: Math.floor(event.clientY), target: aim ? aim.element : describePlace(way[0] instanceof Element ? way[0] : e, drag && drag.e) };
    if (drag) drag.dropped = true;
    messages.acted();
    tell(event.timeStamp, { type: 'page_drag', button: 1, modifiers: modifiers(event), page: place(event), ...(drag ? drag.from : {}), ...to });
  }

  /** A page may take what is dragged along without a drop. */
  function laid(event) {
    const d = drag;
    drag = null;
    if (!d || d.dropped || !aim || !d.e.isConnected || (d.parent === elements.parent(d.e) && d.next === d.e.nextElementSibling)) return;
    tell(event.timeStamp, { type: 'page_drag', button: 1, modifiers: modifiers(event), page: place(event), ...d.from, to_x: aim.x, to_y: aim.y, target: aim.element });
  }

  function lift(event) {
    const way = event.composedPath();
    const e = way[0] instanceof Element ? way[0] : meant(way);
    if (!e) return;
    const pressed = press && press.held ? press : { x: event.clientX, y: event.clientY };
    aim = null;
    drag = { e, texts: texts([e]), parent: elements.parent(e), next: e.nextElementSibling, from: { x: Math.floor(pressed.x), y: Math.floor(pressed.y), element: describe(e) } };
    if (press) press.held = false;
  }

  const silent = new Set('Shift Control Alt Meta AltGraph CapsLock NumLock ScrollLock Fn FnLock Hyper Super Symbol SymbolLock Dead Process Unidentified Compose OS'.split(' '));
  const editing = new Set('Backspace Delete ArrowLeft ArrowRight Home End'.split(' '));
  const vertical = new Set('ArrowUp ArrowDown PageUp PageDown'.split(' '));
  const scrolling = new Set([' ', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End']);
  const mac = /^Mac/.test(navigator.platform);

  /** What may show another screen: the letters it takes may be a password's. */
  const pictures = new Set(['canvas', 'video', 'embed', 'object', 'iframe']);

  /** Whether a letter typed here is a command of the page. Where a closed shadow root may hold a field, it is not. */
  function commands(e) {
    if (e === elements.body() || e === elements.top()) return true;
    if (elements.tagOf.call(e).includes('-')) return false;
    return /^(?:a|button|summary|input|label|audio)$/.test(elements.tagOf.call(e)) || (elements.attr(e, 'role') !== '' && elements.has(e, 'tabindex'));
  }

  let lastKeyed = { e: null, at: 0, element: null };
  function keyed(e, at) {
    const typed = fields.elementOf(e);
    if (typed) return typed;
    if (lastKeyed.e !== e || at - lastKeyed.at > 1000) lastKeyed = { e, at, element: describe(e) };
    return lastKeyed.element;
  }

  function key(event) {
    acted = event.timeStamp;
    const name = event.key;
    if (event.isComposing || event.keyCode === 229 || !name || silent.has(name)) return;
    const way = event.composedPath();
    media.touched(event);
    const at = way[0] instanceof Element ? way[0] : elements.top();
    const e = meant(way) || elements.top();
    const kind = fields.kind(e);
    if (scrolling.has(name) && kind !== 'text') intend(event, null); // in a text they move the caret
    const graph = event.getModifierState('AltGraph') || (mac && event.altKey && !event.ctrlKey);
    const command = (event.ctrlKey || event.metaKey || event.altKey) && !graph;
    const letter = [...name].length === 1;
    const several = kind === 'text' && !(e instanceof HTMLInputElement);
    if (!command) {
      if (kind === 'text' && (letter || editing.has(name) || (several && vertical.has(name)))) return;
      if (['toggle', 'pick', 'select', 'file'].includes(kind) && !['Enter', 'Tab', 'Escape'].includes(name)) return;
      if (letter && name !== ' ' && !commands(at)) return pictures.has(elements.tagOf.call(at)) ? fields.unseen(event, at) : undefined;
    }
    hover.pressed();
    messages.acted();
    const told = () => tell(event.timeStamp, { type: 'page_key', key: name, modifiers: modifiers(event), repeat: event.repeat || undefined, element: { ...element, ...around }, text });
    const element = keyed(e, event.timeStamp);
    const { text, ...around } = !command && (name === 'Enter' || (name === ' ' && elements.isActing(e))) ? form.describe(e) : {};
    if (name === 'Enter' && several && !command) {
      const held = fields.hold(e);
      const parts = fields.parts(e);
      setTimeout(() => {
        if (!event.defaultPrevented || fields.parts(e) > parts) return; // it is a new line of the text
        held();
        told();
      }, 0);
      return;
    }
    if (name === 'Tab') fields.end(e);
    else if (name === 'Enter') fields.changed(e);
    else fields.pausing(e);
    told();
  }

  let intent = -1e9; // when a person last did what scrolls,
  let within = null; // and what the wheel was over
  function intend(event, over) {
    intent = event.timeStamp;
    within = over;
  }

  const scrollers = new Map();
  const resting = new Map(); // when each of them last moved
  function scrolled(event) {
    const e = event.composedPath()[0];
    const known = scrollers.get(e);
    const bar = press && press.held && (press.way0 === e || (e === document && press.way0 === elements.top()));
    const meantIt = bar || (event.timeStamp - intent <= 700 && (!within || within.includes(e)));
    if (e instanceof HTMLInputElement || (!known && !meantIt)) return; // the caret did it, or a script
    if (bar) press.scrolled = true;
    if (known) clearTimeout(known);
    if (scrollers.size > 50) return;
    scrollers.set(e, setTimeout(rest, 150, e));
    resting.set(e, event.timeStamp);
  }

  /** Offsets are read after a frame, when the layout is done. */
  function rest(e) {
    scrollers.delete(e);
    if (hidden()) rested(e);
    else requestAnimationFrame(() => setTimeout(rested, 0, e));
  }

  function rested(e) {
    if (scrollers.has(e) || !resting.has(e)) return; // it goes on
    const part = e instanceof Element;
    const top = part ? e.scrollTop : scrollY;
    const left = part ? e.scrollLeft : scrollX;
    const out = { type: 'page_scroll', to_x: Math.round(left), to_y: Math.round(top) };
    if (part) out.element = describe(e);
    tell(resting.get(e), out);
    resting.delete(e);
  }

  function copied(event) {
    const e = meant(event.composedPath()) || elements.top();
    const out = { type: 'page_copy', element: describe(e), values: [event.type] };
    let text = String(getSelection());
    if (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement) {
      try {
        text = e.value.slice(e.selectionStart, e.selectionEnd);
      } catch {
        text = ''; // fields of some types have no selection
      }
    }
    out.count = text.length > 5000 ? text.length : [...text].length;
    const why = secrets.why(e);
    const shown = why ? '' : secrets.mask(text.slice(0, 20_000));
    if (why || shown !== text.slice(0, 20_000)) out.hidden = why || 'secret';
    if (config.clipboard && shown) out.text = shown;
    tell(event.timeStamp, out);
  }

  function pasted(event) {
    const e = meant(event.composedPath()) || elements.top();
    if (press && press.event.button === 1 && fields.kind(e) !== 'text') return; // X11 pastes at any middle click
    const text = event.clipboardData ? event.clipboardData.getData('text/plain') : '';
    tell(event.timeStamp, { type: 'page_paste', element: describe(e), count: text.length > 5000 ? text.length : [...text].length });
  }

  const visibility = Object.getOwnPropertyDescriptor(Document.prototype, 'visibilityState').get;
  const hidden = () => visibility.call(document) === 'hidden';
  const focused = () => Document.prototype.hasFocus.call(document);
  let away = false;
  function fronted(event) {
    if (window !== top) return;
    const here = !hidden() && focused();
    if (event.type === 'visibilitychange' && hidden()) away = true;
    else if (event.type === 'blur') setTimeout(() => (away = away || !focused()), 0);
    else if (away && (here || event.type === 'visibilitychange')) {
      away = false;
      tell(event.timeStamp, { type: 'page_shown' });
    }
  }

  const inner = (event) => event.composedPath()[0];
  const hear = {
    pointerdown: down,
    mousedown: (event) => press && (press.mouse = event),
    pointerup: up,
    pointercancel: () => press && (press.held = false),
    selectstart: (event) => press && (press.selecting = event),
    gotpointercapture: () => press && (press.captured = true),
    click,
    auxclick: click,
    contextmenu: click,
    keydown: key,
    keyup: (event) => (acted = event.timeStamp),
    input(event) {
      const way = event.composedPath();
      if (way[0] instanceof HTMLMediaElement) return; // a slider of its controls
      enter(way);
      fields.input(event, way[0]);
    },
    beforeinput: (event) => fields.before(event, inner(event)),
    change(event) {
      messages.acted();
      fields.changed(inner(event));
    },
    compositionstart: (event) => fields.composing(inner(event), true),
    compositionend: (event) => fields.composing(inner(event), false),
    focusin(event) {
      enter(event.composedPath());
      const e = inner(event);
      secrets.why(e); // a password field is known for one from now on
      if (fields.kind(e) !== 'text') return;
      sight.look(e);
      fields.attend(e);
    },
    focusout: (event) => fields.end(inner(event)),
    submit() {
      messages.acted();
      fields.end(null);
    },
    invalid: messages.invalid,
    play: media.changed,
    pause: media.changed,
    seeked: media.changed,
    volumechange: media.changed,
    ratechange: media.changed,
    fullscreenchange: media.changed,
    wheel: (event) => intend(event, event.composedPath()),
    touchmove: (event) => intend(event, null),
    scroll: scrolled,
    dragstart: lift,
    drop,
    pointermove: moves,
    dragover(event) {
      if (!drag) return;
      const way = event.composedPath();
      aims(way, drag.e, Object.assign(drag, { hit: way[0], now: { x: Math.floor(event.clientX), y: Math.floor(event.clientY) } }));
    },
    dragend: laid,
    copy: copied,
    cut: copied,
    paste: pasted,
    pointerover: (event) => hover.entered(event, event.composedPath()),
    transitionrun: hover.moved,
    toggle: hover.toggled,
    visibilitychange(event) {
      if (hidden()) fields.end(null);
      fronted(event);
    },
    blur: (event) => event.target === window && fronted(event),
    focus: (event) => event.target === window && fronted(event),
    pagehide: () => fields.end(null),
    resize: () => (size = null),
    load() {
      requestIdleCallback(hover.search);
      requestIdleCallback(messages.loaded, { timeout: 500 });
    },
  };
  const leaving = only((event) => !event.destination.sameDocument && fields.end(null));
  const listeners = {};
  for (const type of Object.keys(hear)) listeners[type] = only(hear[type]);

  /** Further parts, such as that which runs procedures. They are given what the script has. */
  const parts = [];
  function extend(make) {
    const part = make({ secrets, names, elements, fields, form, take, rows, intend });
    parts.push(part);
    part.arm();
    return part;
  }

  function arm() {
    for (const type of Object.keys(listeners)) window.addEventListener(type, listeners[type], { capture: true, passive: true });
    secrets.watch(document);
    looks.arm();
    // When pagehide comes, what is sent is not heard any more.
    navigation.addEventListener('navigate', leaving);
    for (const part of parts) part.arm();
  }

  /** Tells what was held back until it comes to rest. */
  function flush() {
    fields.end(null);
    messages.rests();
    media.ends();
    for (const timer of scrollers.values()) clearTimeout(timer);
    scrollers.clear();
    for (const e of [...resting.keys()]) rested(e);
  }

  /** Tells the rest and hears no more, until arm: the recording is over, and the page goes on. */
  function stop() {
    flush();
    for (const type of Object.keys(listeners)) window.removeEventListener(type, listeners[type], { capture: true });
    navigation.removeEventListener('navigate', leaving);
    hover.pressed();
  }
  arm();

  const given = { deskbell: Object.freeze({ arm, flush, stop }), extend, secretRects, take, meant, describe: (node) => describe(node instanceof Element ? node : elements.parent(node)) };
  for (const name of Object.keys(given)) Object.defineProperty(globalThis, name, { value: given[name] });
})
