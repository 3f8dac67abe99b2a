// What a person puts into fields: the text that stands there when they pause and when they leave, and what they chose.
// It runs in the recorder's own world.
(function fields(secrets, elements, tell, sight) {
  'use strict';

  const { tagOf, isEditable } = elements;
  const typeOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'type').get;
  const valueOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get;
  const areaValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').get;
  const checkedOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'checked').get;
  const pause = 400; // ms without typing after which the text is told, though the field was not left
  const most = 20_000;

  /** Fields that were typed in and not left. */
  const open = new Map();
  let timer = 0;

  /** What kind of field it is: text, toggle, select, pick (date, colour, range), file; '' for none. */
  function kind(e) {
    if (e instanceof HTMLInputElement) {
      const type = typeOf.call(e);
      if (type === 'checkbox' || type === 'radio') return 'toggle';
      if (type === 'file') return 'file';
      if (/^(?:range|color|date|time|month|week|datetime-local)$/.test(type)) return 'pick';
      return /^(?:button|submit|reset|image|hidden)$/.test(type) ? '' : 'text';
    }
    if (e instanceof HTMLTextAreaElement || isEditable(e)) return 'text';
    return e instanceof HTMLSelectElement ? 'select' : '';
  }

  function text(e) {
    if (e instanceof HTMLInputElement) return valueOf.call(e);
    if (e instanceof HTMLTextAreaElement) return areaValue.call(e);
    return lines(e);
  }

  const block = new Set('address article blockquote div dl dt dd figure h1 h2 h3 h4 h5 h6 li ol p pre section table tr ul'.split(' '));

  /** The text of an editable element with its lines, without the layout that innerText reads. */
  function lines(e) {
    let out = '';
    const walk = (node, depth) => {
      for (const n of node.childNodes) {
        if (out.length > most || depth > 50) return;
        if (n instanceof Text) out += n.data;
        else if (n instanceof HTMLBRElement) out += n.nextSibling ? '\n' : '';
        else if (n instanceof Element) {
          const own = block.has(tagOf.call(n));
          if (own && out && !out.endsWith('\n')) out += '\n';
          walk(n, depth + 1);
          if (own && n.nextSibling && !out.endsWith('\n')) out += '\n';
        }
      }
    };
    walk(e, 0);
    return out.replace(/\u00a0/g, ' ').replace(/\n$/, '');
  }

  /** The field's record, which describes it as it was when it was first typed in. */
  function record(e) {
    let r = open.get(e);
    if (!r) {
      r = { e, element: elements.describe(e), dirty: false, composing: false, at: 0, sent: null, begun: false, filled: true };
      open.set(e, r);
      sight.look(e);
      if (open.size > 100) end(open.keys().next().value);
    }
    return r;
  }

  function input(event, e) {
    const k = kind(e);
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
    r.count = (r.count || 0) + 1;
    if (event instanceof InputEvent && event.inputType !== 'insertReplacementText') r.filled = false;
    if (event.isComposing) r.composing = true;
    if (k === 'text' && secrets.why(e)) secrets.remember(e);
    later();
  }

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
    clearTimeout(timer);
    timer = setTimeout(() => {
      let waits = false;
      for (const r of open.values()) {
        if (dated(r.e) && performance.now() - r.at < 3 * pause) waits = waits || r.dirty; // each digit makes a date
        else if (!r.composing) flush(r, false);
      }
      if (waits) later();
    }, pause);
  }

  /** Says whether it is a field of dates or times, which are typed part by part. */
  const dated = (e) => kind(e) === 'pick' && !/^(?:range|color)$/.test(typeOf.call(e));

  /** Tells what stands in a field, or stood, if it was not told. done: it will not be typed on. */
  function flush(r, done, stood) {
    if (!r.dirty && !(done && r.begun)) return;
    r.dirty = false;
    r.begun = false;
    const out = { type: 'page_input', element: sight.seen(r.e, r.element) };
    if (r.filled) out.values = ['filled'];
    if (r.unknown) return tell(r.at, { ...out, count: r.count, hidden: 'unknown_field' }); // as in a closed shadow root
    const value = stood === undefined ? text(r.e) : stood;
    const pick = kind(r.e) === 'pick';
    let why = secrets.why(r.e);
    if (!why && secrets.holds(value)) {
      secrets.were.add(r.e); // it took the place of a password field
      why = 'password';
    }
    let shown = '';
    if (!why) {
      shown = secrets.mask(value.slice(0, most), !done && !pick);
      r.begun = !done && shown !== secrets.mask(value.slice(0, most));
      if (shown !== value.slice(0, most)) out.hidden = 'secret';
      if (value.length > most) shown += '…';
    } else {
      out.hidden = why;
      out.element = { ...out.element, secret: true };
    }
    const sent = out.hidden ? `${value.length} ${shown}` : shown;
    if (sent === r.sent && !why) return;
    r.sent = sent;
    if (pick) return tell(r.at, { type: 'page_choice', element: out.element, values: [shown] });
    tell(r.at, { ...out, text: shown, count: value.length > 5000 ? value.length : [...value].length });
  }

  /** Tells the rest of one field, or of all, and forgets them. */
  function end(e) {
    for (const r of e ? [open.get(e)] : [...open.values()]) {
      if (!r) continue;
      flush(r, true);
      open.delete(r.e);
    }
  }

  /** Tells what stands in all fields but e now, before something else happens. */
  function pausing(e) {
    for (const r of open.values()) if (r.e !== e) flush(r, true);
  }

  function composing(e, is) {
    if (kind(e) !== 'text') return;
    record(e).composing = is;
    if (!is) later();
  }

  /** A field whose change is done, though the person may type on. */
  function changed(e) {
    const r = open.get(e);
    if (r && !dated(e)) flush(r, true);
  }

  /** Keeps what stands in a field, to be told in case that the page takes it out. */
  function hold(e) {
    const r = open.get(e);
    if (!r || !r.dirty) return () => {};
    const stood = text(e);
    return () => {
      r.dirty = true;
      flush(r, true, stood);
    };
  }

  const elementOf = (e) => (open.has(e) ? open.get(e).element : null);

  return { kind, input, end, pausing, composing, changed, hold, upload, unseen, elementOf };
})
