// What a person puts into fields: the text that stands there when they pause and when they leave, and what they chose.
// It runs in the recorder's own world.
(function fields(secrets, elements, tell, sight) {
  'use strict';

  const { tagOf, isEditable } = elements;
  const typeOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'type').get;
  const valueOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get;
  const areaValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').get;
  const matches = Element.prototype.matches;
  const checkedOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'checked').get;
  const pause = 400; // ms without typing after which the text is told, though the field was not left
  const calm = 5000; // ms likewise, after which a text is no more taken for the beginning of a secret
  const long = 500; // characters, from which on the text before is none
  const most = 20_000;

  /** Fields that were typed in and not left. */
  const open = new Map();
  let timer = 0;
  let resting = 0;

  /** Of fields that were typed in: their number and how often that was. A picture is stored once its text is judged. */
  const numbers = new WeakMap();
  let touched = [];
  let count = 0;

  function touch(e) {
    let n = numbers.get(e);
    if (!n) {
      numbers.set(e, (n = { field: ++count, version: 0 }));
      touched = [...touched.filter((t) => t.deref()), new WeakRef(e)].slice(-200);
    }
    n.version++;
  }

  function typed() {
    return touched.flatMap((t) => {
      const e = t.deref();
      return e ? [{ e, ...numbers.get(e) }] : [];
    });
  }

  const context = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'editContext');
  /** What takes the text of an element that draws it itself. */
  const contextOf = (e) => (context && e instanceof HTMLElement ? context.get.call(e) : null);

  /** What kind of field it is: text, toggle, select, pick (date, colour, range), file; '' for none. */
  function kind(e) {
    if (e instanceof HTMLInputElement) {
      const type = typeOf.call(e);
      if (type === 'checkbox' || type === 'radio') return 'toggle';
      if (type === 'file') return 'file';
      if (/^(?:range|color|date|time|month|week|datetime-local)$/.test(type)) return 'pick';
      return /^(?:button|submit|reset|image|hidden)$/.test(type) ? '' : 'text';
    }
    if (e instanceof HTMLTextAreaElement || isEditable(e) || contextOf(e)) return 'text';
    return e instanceof HTMLSelectElement ? 'select' : '';
  }

  function text(e) {
    if (contextOf(e)) return '';
    if (e instanceof HTMLInputElement) return valueOf.call(e);
    if (e instanceof HTMLTextAreaElement) return areaValue.call(e);
    return lines(e);
  }

  const block = new Set('address article blockquote div dl dt dd figure h1 h2 h3 h4 h5 h6 li ol p pre section table tr ul'.split(' '));

  /** The text of an editable element with its lines, without the layout that innerText reads. */
  function lines(e) {
    let out = '';
    let fresh = true; // a block began this line, and nothing stands in it
    const walk = (node, depth) => {
      for (const n of node.childNodes) {
        if (out.length > most || depth > 50) return;
        if (n instanceof Text) {
          if (/^\s*\n\s*$/.test(n.data) && (fresh || fresh === null)) continue; // between the tags of the page's source
          put(n.data);
        } else if (n instanceof HTMLBRElement) {
          if (n.nextSibling) out += '\n';
          fresh = false;
        } else if (n instanceof Element && elements.attr(n, 'aria-hidden') !== 'true') {
          const tag = tagOf.call(n);
          if ((tag === 'td' || tag === 'th') && n.previousElementSibling) put('\t');
          if (!block.has(tag)) {
            walk(n, depth + 1);
            continue;
          }
          if (!fresh) out += '\n';
          fresh = true;
          walk(n, depth + 1);
          fresh = null; // what follows is in another line
        }
      }
    };
    const put = (data) => {
      const text = data.replace(/[\u200b\ufeff]/g, '');
      if (text && fresh === null) out += '\n';
      if (text) fresh = false;
      out += text;
    };
    walk(e, 0);
    return out.replace(/\u00a0/g, ' ').replace(/\n$/, '');
  }

  /** The field's record, which describes it as it was when it was first typed in. */
  function record(e) {
    let r = open.get(e);
    if (!r) {
      r = { e, element: elements.describe(e), dirty: false, composing: false, at: 0, sent: null, begun: false, judged: true, filled: true, keys: '' };
      open.set(e, r);
      sight.look(e);
      if (open.size > 100) end(open.keys().next().value);
    }
    return r;
  }

  const boxes = 'input[type=checkbox],input[type=radio],[role=switch],[role=checkbox],[role=radio],[role=menuitemcheckbox],[role=menuitemradio]';
  const isOn = (box) => (kind(box) === 'toggle' ? checkedOf.call(box) : elements.attr(box, 'aria-checked') === 'true');
  const settled = 250; // ms in which a page has drawn what a click switched
  let boxChanged = null; // the box that the browser itself changed last

  /** The box that a click may switch where the browser does not say so: what was clicked, or the one that lies beside it. */
  function box(e) {
    for (let at = e, i = 0; at && i < 3; at = elements.parent(at), i++) {
      if (matches.call(at, boxes)) return at;
      const near = elements.children(at, 12).flatMap((c) => [c, ...elements.children(c, 4)]).filter((c) => matches.call(c, boxes));
      if (near.length) return near.length === 1 ? near[0] : null;
    }
    return null;
  }

  /** Tells what a click on an element, described as it was, has switched, once it is drawn. */
  function switched(e, at, element) {
    const b = box(e);
    if (!b || (b === e && kind(e) === 'toggle')) return;
    const was = isOn(b);
    boxChanged = null;
    setTimeout(() => {
      if (boxChanged === b || isOn(b) === was) return;
      const role = elements.roleOf(b);
      const name = b === e ? element.name : element.name || secrets.mask(elements.nameOf(b, true));
      tell(at, { type: 'page_choice', element: { ...element, role, name }, values: [was ? 'unchecked' : 'checked'] });
    }, settled);
  }

  function input(event, e) {
    const k = kind(e);
    if (k === 'toggle') boxChanged = e;
    if (k === 'toggle') return tell(event.timeStamp, { type: 'page_choice', element: described(e), values: [checkedOf.call(e) ? 'checked' : 'unchecked'] });
    if (k === 'select') {
      const labels = [...e.selectedOptions].slice(0, 100).map((o) => secrets.mask(o.label.trim().slice(0, 500)));
      return tell(event.timeStamp, { type: 'page_choice', element: described(e), values: labels });
    }
    if (k === 'file') return upload(event.timeStamp, e, e.files);
    const r = record(e);
    r.dirty = true;
    r.at = event.timeStamp;
    r.unknown = k === '';
    r.judged = false;
    r.count = (r.count || 0) + 1;
    if (event instanceof InputEvent && event.inputType !== 'insertReplacementText') r.filled = false;
    if (event.isComposing) r.composing = true;
    else keyed(r, event.inputType, event.data);
    if (k === 'text') {
      touch(e);
      if (secrets.why(e)) secrets.remember(e);
    }
    later();
  }

  /** How many elements an editor's text has: a new line is one more. */
  const parts = (e) => (isEditable(e) ? elements.find(e, '*').length : 0);

  /** Hears of text that an editor writes itself, once it has. */
  function before(event, e) {
    if (contextOf(e)) {
      if (/^insert(?:LineBreak|Paragraph)$/.test(event.inputType)) keyed(record(e), event.inputType);
    } else if (isEditable(e)) {
      written();
      waiting = { event, e };
      setTimeout(written, 0);
    }
  }

  let waiting = null;
  function written() {
    const w = waiting;
    waiting = null;
    if (w && w.event.defaultPrevented) input(w.event, w.e);
  }

  /** Notes what keys wrote: some editors take it out of the field at once, and draw it elsewhere. */
  function keyed(r, how, data) {
    if (how === 'insertText') r.keys += data || '';
    else if (how === 'insertLineBreak' || how === 'insertParagraph') r.keys += '\n';
    else if (how === 'deleteContentBackward') r.keys = r.keys.slice(0, -1);
  }

  /** The text of a field; where little of what was typed stands in it, that. */
  function stands(r) {
    const value = text(r.e);
    return r.keys.length > 1 && value.length * 2 < r.keys.length ? r.keys : value;
  }

  /** Hears what is written into an element that draws its text itself. */
  function attend(e) {
    const c = contextOf(e);
    if (!c || attended.has(c)) return;
    attended.add(c);
    c.addEventListener('textupdate', (event) => {
      if (!event.isTrusted) return;
      const r = record(e);
      Object.assign(r, { dirty: true, at: event.timeStamp, judged: false, filled: false });
      const gone = event.updateRangeEnd - event.updateRangeStart;
      r.keys = (gone > 0 ? r.keys.slice(0, -gone) : r.keys) + event.text;
      touch(e);
      later();
    });
  }
  const attended = new WeakSet();

  /** A letter that something takes which does not say what it is: a picture of another screen, a plug-in. */
  function unseen(event, e) {
    const r = record(e);
    Object.assign(r, { dirty: true, at: event.timeStamp, unknown: true, filled: false, count: (r.count || 0) + 1 });
    later();
  }

  const described = (e) => sight.seen(e, elements.describe(e));

  function upload(at, e, files) {
    if (!files || !files.length) return;
    const transfers = [...files].slice(0, 100).map((f) => ({ name: secrets.mask(f.name).slice(0, 300), size: f.size, type: f.type }));
    tell(at, { type: 'page_upload', element: described(e), transfers });
  }

  function later() {
    clearTimeout(resting);
    resting = setTimeout(settle, calm);
    clearTimeout(timer);
    timer = setTimeout(() => {
      let waits = false;
      for (const r of open.values()) {
        secrets.styled(r.e);
        if (dated(r.e) && performance.now() - r.at < 3 * pause) waits = waits || r.dirty; // each digit makes a date
        else if (!r.composing) flush(r, false);
      }
      if (waits) later();
    }, pause);
  }

  /** Says whether it is a field of dates or times, which are typed part by part. */
  const dated = (e) => kind(e) === 'pick' && !/^(?:range|color)$/.test(typeOf.call(e));

  /**
   * Tells what stands in a field, or stood, if it was not told. done: it will not be typed on. While a secret may have begun
   * in it, it is not told before.
   */
  function flush(r, done, stood) {
    if (!r.dirty && !(done && !r.judged)) return;
    const out = { type: 'page_input', element: sight.seen(r.e, r.element) };
    if (r.filled) out.values = ['filled'];
    if (r.unknown) {
      Object.assign(r, { dirty: false, judged: true });
      return tell(r.at, { ...out, count: r.count, hidden: 'unknown_field' }); // as in a closed shadow root
    }
    const value = stood === undefined ? stands(r) : stood;
    if (done) r.keys = '';
    const why = secretBy(r.e, value);
    const pick = kind(r.e) === 'pick';
    r.dirty = false;
    r.begun = !done && !pick && !why && secrets.mayBegin(value.slice(0, most));
    if (r.begun) return;
    let shown = '';
    if (!why) {
      shown = secrets.mask(value.slice(0, most));
      if (shown !== value.slice(0, most)) out.hidden = 'secret';
      if (value.length > most) shown += '…';
    } else {
      out.hidden = why;
      out.element = { ...out.element, secret: true };
    }
    r.verdict = { hidden: Boolean(out.hidden), same: secrets.alike(value) };
    if (done || out.hidden || value.length > long) judge(r);
    if (r.verdict.same === r.sent) return r.judged && !pick ? tell(r.at, null, r.verdict) : undefined;
    r.sent = r.verdict.same;
    if (pick) return tell(r.at, { type: 'page_choice', element: out.element, values: [shown] });
    tell(r.at, { ...out, text: shown, count: value.length > 5000 ? value.length : [...value].length }, r.verdict);
  }

  /** Makes what was found of a field's text the verdict on it, by which pictures of it are stored. */
  function judge(r) {
    r.judged = true;
    Object.assign(r.verdict, numbers.get(r.e));
  }

  /** Judges texts that were not left, but rest. */
  function settle() {
    for (const r of open.values()) {
      if (r.dirty || r.begun || r.judged) continue;
      judge(r);
      tell(r.at, null, r.verdict);
    }
  }

  /** Why what stands in a field is secret; '' when it is not. */
  function secretBy(e, value) {
    let why = secrets.why(e);
    if (!why && secrets.holds(value)) {
      secrets.were.add(e); // it took the place of a password field
      why = 'password';
    }
    if (why) secrets.remember(e, value);
    return why;
  }

  /** Tells the rest of one field, or of all, and forgets them. */
  function end(e) {
    written();
    for (const r of e ? [open.get(e)] : [...open.values()]) {
      if (!r) continue;
      flush(r, true);
      open.delete(r.e);
    }
  }

  /** Tells what stands in all fields now, before something else happens; of e as of one that may be typed on. */
  function pausing(e) {
    written();
    for (const r of open.values()) flush(r, r.e !== e);
  }

  function composing(e, is) {
    if (kind(e) !== 'text') return;
    record(e).composing = is;
    if (!is) later();
  }

  /** A field whose change is done, though the person may type on. */
  function changed(e) {
    written();
    const r = open.get(e);
    if (r && !dated(e)) flush(r, true);
  }

  /** Keeps what stands in a field, to be told in case that the page takes it out. */
  function hold(e) {
    written();
    const r = open.get(e);
    if (!r || !r.dirty) return () => {};
    const stood = stands(r);
    return () => {
      r.dirty = true;
      flush(r, true, stood);
    };
  }

  const elementOf = (e) => (open.has(e) ? open.get(e).element : null);

  return { kind, switched, input, end, pausing, composing, changed, hold, upload, unseen, attend, before, parts, elementOf, typed };
})
