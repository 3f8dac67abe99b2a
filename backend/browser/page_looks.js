// Where a frame's secret fields are, asked for before and after each picture. What can be one is kept in a live set: a
// look takes time by the number of fields, not of elements. It may read styles and the layout.
(function looks(secrets, elements, fields) {
  'use strict';

  const { find } = elements;
  const rectOf = Element.prototype.getBoundingClientRect;
  const matches = Element.prototype.matches;
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get;
  const connected = Object.getOwnPropertyDescriptor(Node.prototype, 'isConnected').get;
  const valueOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get;
  const areaValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').get;
  const textual = `textarea,input:not(${'checkbox radio button submit reset image file range color'.split(' ').map((type) => `[type=${type}]`).join()})`;
  // Elements that cannot have a shadow root, of those that pages have most of (DOM, attachShadow).
  const rootless = 'td,th,tr,tbody,thead,table,li,ul,ol,dl,dt,dd,a,b,i,em,strong,small,label,button,img,svg,svg *,option,select,input,textarea,br,hr,script,style,link,meta';
  const most = 500; // added elements that are looked through one by one
  const again = 50; // fields whose style is read once more at a look

  const texts = new Map(); // fields that hold text: what stood there when it was judged, and how
  const hosts = new Set(); // elements that may get a shadow root, of which nothing tells
  let added = [];
  let whole = true; // all of the document is to be looked through
  let turn = 0;

  function note(records) {
    for (const r of records) {
      if (r.type === 'attributes') added.push(r.target);
      else for (const n of r.addedNodes) if (n instanceof Element) added.push(n);
    }
    if (added.length > most) {
      added = [];
      whole = true;
    }
  }

  const changes = new MutationObserver(note);
  const watch = (root) => changes.observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['type'] });

  function scan(root) {
    if (root instanceof Element) {
      if (matches.call(root, textual)) field(root);
      else if (!matches.call(root, rootless)) host(root);
    }
    for (const e of find(root, textual)) field(e);
    for (const e of find(root, `:not(${rootless})`)) host(e);
  }

  function field(e) {
    if (texts.has(e)) return;
    secrets.styled(e);
    texts.set(e, { value: '', secret: false });
  }

  function host(e) {
    const root = shadowOf.call(e);
    if (!root) return hosts.add(e);
    hosts.delete(e);
    watch(root);
    scan(root);
  }

  function update() {
    note(changes.takeRecords());
    const found = added;
    added = [];
    if (whole) {
      whole = false;
      hosts.clear();
      scan(document);
    } else for (const e of found) if (connected.call(e)) scan(e);
    for (const e of hosts) {
      if (!connected.call(e)) hosts.delete(e);
      else if (shadowOf.call(e)) host(e);
    }
    for (const e of texts.keys()) if (!connected.call(e)) texts.delete(e);
    const all = [...texts.keys()];
    for (let i = Math.min(again, all.length); i > 0; i--) secrets.styled(all[turn++ % all.length]);
  }

  /** Whether what stands in a field is a secret, by the field or by itself. */
  function secret(e, judged) {
    if (secrets.why(e)) return true;
    const value = e instanceof HTMLInputElement ? valueOf.call(e) : areaValue.call(e);
    if (value !== judged.value) Object.assign(judged, { value, secret: value.length > 3 && (secrets.holds(value) || secrets.mask(value) !== value) });
    return judged.secret;
  }

  /** Bounds in CSS pixels of the frame's viewport, rounded to the outside. */
  function bounds(e) {
    const r = rectOf.call(e);
    const x = Math.floor(r.left);
    const y = Math.floor(r.top);
    return { x, y, w: Math.ceil(r.right) - x, h: Math.ceil(r.bottom) - y };
  }

  /** Bounds of what shows a field's text: editors take their keys in a field that is not seen, inside of them. */
  function shown(e) {
    let b = bounds(e);
    for (let at = e; (b.w < 20 || b.h < 10 || (at === e && getComputedStyle(e).opacity === '0')) && (at = elements.parent(at)); ) b = bounds(at);
    return b;
  }

  /**
   * Bounds of all fields that take up room and whose text is secret, or may turn out to be: those were typed in, and
   * have their number and how often that was.
   */
  function secretRects() {
    update();
    const out = [];
    const typed = fields.typed();
    for (const t of typed) {
      if (!connected.call(t.e)) continue;
      secrets.styled(t.e);
      out.push(secrets.why(t.e) ? shown(t.e) : { ...shown(t.e), field: t.field, version: t.version });
    }
    for (const [e, judged] of texts) if (secret(e, judged)) out.push(bounds(e));
    return out.filter((b) => b.w > 0 && b.h > 0 && b.x < innerWidth && b.y < innerHeight && b.x + b.w > 0 && b.y + b.h > 0);
  }

  /** Watches the document, whatever it is now. */
  function arm() {
    whole = true;
    watch(document);
  }

  return { arm, secretRects };
})
