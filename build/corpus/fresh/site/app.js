// Renders the page that SPEC describes with the components of one library (a kit), and keeps in `reg` where each part
// is, so that the scripted person can find it as eyes do. Nothing here is seen by a script in another world.
(() => {
  const reg = {}, rtl = SPEC.dir === 'rtl';
  let pending = 0, counter = 0, fades = 0;
  window.__find = key => { const f = reg[key]; try { return f ? f() : null; } catch { return null; } };
  window.__idle = () => pending === 0 && !fades;
  const el = (tag, props, ...kids) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
      else if (v !== undefined && v !== false && v !== '') e.setAttribute(k, v === true ? '' : v);
    }
    e.append(...kids.filter(k => k !== undefined && k !== null));
    return e;
  };
  const L = SPEC.look;
  const newID = hint => L.ids === 'none' ? undefined : L.ids === 'named' ? hint : 'x' + (SPEC.salt * 7919 + ++counter * 104729).toString(36);
  const deep = (root, css) => { // the first match, through shadow roots
    const hit = root.querySelector(css);
    if (hit) return hit;
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) { const h = deep(e.shadowRoot, css); if (h) return h; }
    return null;
  };
  const shown = e => e && e.getClientRects().length > 0 ? e : null;
  const byText = (css, text, root = document) => [...root.querySelectorAll(css)].filter(e => e.textContent.trim() === text).find(shown);
  const kit = { el, newID, deep, byText, shown, L, rtl, fade: ms => { fades++; setTimeout(() => fades--, ms); } };

  // --- a label for a control, as pages have it or fail to
  kit.labelled = (f, control, inner) => {
    const at = inner || control, id = newID(f.key);
    if (L.ids === 'named' && at.tagName && !at.name) at.setAttribute('name', f.key);
    switch (L.labels) {
      case 'for': { const i = id || 'f' + ++counter; at.id = i; return el('div', { class: 'mb-3 row-of' }, el('label', { for: i, class: 'form-label' }, f.label), control); }
      case 'wrap': return el('label', { class: 'mb-3 d-block' }, f.label + ' ', control);
      case 'aria': at.setAttribute('aria-label', f.label); return el('div', { class: 'mb-3' }, el('span', { 'aria-hidden': 'true' }, f.label), control);
      case 'labelledby': { const i = 'l' + SPEC.salt + '-' + ++counter; at.setAttribute('aria-labelledby', i); return el('div', { class: 'mb-3' }, el('span', { id: i }, f.label), control); }
      case 'placeholder': at.setAttribute('placeholder', f.label); return el('div', { class: 'mb-3' }, control);
      default: return el('div', { class: 'mb-3 d-flex' }, el('div', { class: 'me-2', style: 'width:10em' }, f.label), control);
    }
  };

  // --- requests
  const call = async (verb, object, values, file) => {
    pending++;
    try {
      const body = file ? Object.assign(new FormData(), {}) : JSON.stringify(values);
      if (file) { body.append('file', file); }
      const r = await fetch('/api/' + verb + '/' + encodeURIComponent(object), { method: 'POST', body });
      const m = await r.json();
      return { ok: r.ok, status: r.status, ...m };
    } catch (e) {
      return { ok: false, message: SPEC.words.offline };
    } finally { pending--; }
  };
  const tell = (m, where) => {
    if (!m.message) return;
    if (SPEC.says === 'toast') return kit.toast(m.message, m.ok);
    let line = where.querySelector(':scope > .says');
    if (!line) where.append(line = el('p', { class: 'says', role: SPEC.says === 'alert' ? 'alert' : undefined }));
    line.textContent = m.message;
  };
  const act = async (a, values, where, after) => { // a: {verb, object, next}
    const m = await call(a.verb, a.object, values);
    tell(m, where);
    if (m.ok) { after && after(m); if (a.next) { pending++; setTimeout(() => location.href = a.next, 120); } }
    return m;
  };

  // --- blocks
  const form = (b, close) => {
    const values = {}, box = el(b.native ? 'form' : 'div', b.native ? { method: 'post', action: '/do/' + b.act.verb + '/' + encodeURIComponent(b.act.object), enctype: b.file ? 'multipart/form-data' : undefined } : {});
    let file;
    for (const f of b.fields || []) {
      values[f.key] = f.value ?? (f.as === 'check' || f.as === 'switch' ? false : '');
      const made = kit[f.as === 'select' ? 'select' : f.as === 'check' ? 'check' : f.as === 'switch' ? 'toggle' : f.as === 'radio' ? 'radio' : f.as === 'date' ? 'date' : 'text'](f, v => { values[f.key] = v; });
      if (b.native) { const c = made.control(); if (c) c.name = f.key; }
      reg['field:' + f.key] = made.control;
      reg['how:' + f.key] = () => made.how || 'text';
      for (const o of f.options || []) reg['option:' + f.key + ':' + o] = () => made.option(o);
      box.append(made.root);
    }
    if (b.file) {
      const pick = el('input', { type: 'file', name: 'file', class: 'form-control', onchange: e => { file = e.target.files[0]; } });
      reg['field:' + b.file.key] = () => pick;
      box.append(kit.labelled(b.file, pick));
    }
    const bad = () => (b.fields || []).find(f => f.required && !values[f.key]);
    const send = async () => {
      const f = bad();
      if (f) return tell({ ok: false, message: f.label + SPEC.words.needed }, box);
      if (file) { const m = await call(b.act.verb, b.act.object, {}, file); return tell(m, box); }
      if (b.file && !file) return tell({ ok: false, message: b.file.label + SPEC.words.needed }, box);
      await act(b.act, values, box, () => close && close());
    };
    const row = el('div', { class: 'd-flex gap-2 mt-2' });
    const go = b.native ? el('button', { type: 'submit', class: 'btn btn-primary', id: newID('submit') }, b.submit) : kit.button({ key: 'submit', label: b.submit }, send);
    reg['button:' + b.key] = () => go.control ? go.control() : go;
    row.append(go.root || go);
    if (b.cancel) { const c = kit.button({ key: 'cancel', label: b.cancel, plain: true }, () => close ? close() : location.href = b.back || '/'); reg['cancel:' + b.key] = c.control; row.append(c.root); }
    if (!b.native) box.addEventListener('keydown', e => { if (e.key === 'Enter' && e.target.tagName === 'INPUT' && b.enter) send(); });
    box.append(row);
    return box;
  };
  const make = {
    form: b => {
      if (!b.dialog) return form(b);
      const d = kit.dialog(b.dialog, () => d.hide());
      d.body.append(form(b, () => d.hide()));
      const open = kit.button({ key: 'open' + b.key, label: b.open }, () => d.show());
      reg['open:' + b.key] = open.control;
      return el('div', {}, open.root, d.root || '');
    },
    table: b => {
      const body = el('tbody');
      for (const r of b.rows) {
        const tr = el('tr', {}, ...r.cells.map(c => el('td', {}, c)));
        for (const a of b.actions || []) {
          const run = () => act({ verb: a.verb, object: r.name }, {}, box, () => { if (a.verb === 'delete') tr.remove(); else { tr.cells[tr.cells.length - 1 - b.actions.length].textContent = a.becomes; } });
          const btn = kit.button({ key: a.verb + r.id, label: a.label, icon: a.icon, small: true }, () => {
            if (a.ask === 'native') { if (confirm(a.question.replace('%', r.name))) run(); } else if (a.ask === 'dialog') {
              const d = kit.dialog(a.question.replace('%', r.name), () => d.hide());
              const yes = kit.button({ key: 'yes', label: a.yes }, () => { d.hide(); run(); }), no = kit.button({ key: 'no', label: a.no, plain: true }, () => d.hide());
              reg['yes'] = yes.control; reg['no'] = no.control;
              d.body.append(el('div', { class: 'd-flex gap-2' }, yes.root, no.root));
              if (d.root) box.append(d.root);
              d.show();
            } else run();
          });
          reg[a.verb + ':' + r.id] = btn.control;
          tr.append(el('td', {}, btn.root));
        }
        r.cells.forEach((_, i) => reg['cell:' + r.id + ':' + i] = () => tr.cells[i]);
        body.append(tr);
      }
      const box = el('div', {}, el('table', { class: 'table' }, el('thead', {}, el('tr', {}, ...b.columns.map(c => el('th', {}, c)), ...(b.actions || []).map(() => el('th')))), body));
      return box;
    },
    board: b => {
      const box = el('div', { class: 'd-flex gap-4' });
      for (const c of b.columns) {
        const list = el('div', { class: 'border p-2', style: 'min-height:160px;width:190px' });
        const column = el('div', {}, el('h3', { class: 'h6' }, c.name), list);
        reg['column:' + c.name] = () => list;
        for (const k of c.cards) {
          const card = el('div', { class: 'card p-2 mb-2', draggable: b.how === 'native' ? 'true' : undefined }, k.name);
          reg['card:' + k.name] = () => card;
          card.__name = k.name;
          card.addEventListener('dragstart', e => { if (b.how === 'native') { e.dataTransfer.setData('text/plain', k.name); box.__held = card; } });
          list.append(card);
        }
        const moved = card => act({ verb: 'move', object: card.__name }, { to: c.name }, box);
        if (b.how === 'native') {
          list.addEventListener('dragover', e => e.preventDefault());
          list.addEventListener('drop', e => { e.preventDefault(); const card = box.__held; if (card && card.parentNode !== list) { list.append(card); moved(card); } });
        } else {
          Sortable.create(list, { group: 'b' + SPEC.salt, animation: 80, forceFallback: true, onAdd: e => moved(e.item) });
        }
        box.append(column);
      }
      return el('div', {}, box);
    },
    settings: b => {
      const box = el('div');
      for (const f of b.fields) {
        const made = kit.toggle(f, v => act({ verb: 'set', object: f.label }, { value: v }, box));
        reg['field:' + f.key] = made.control;
        box.append(made.root);
      }
      return box;
    },
    editor: b => {
      const at = el('div', { style: 'height:120px' }), box = el('div', {}, at);
      const q = new Quill(at, { theme: 'snow', placeholder: b.placeholder });
      reg['field:' + b.key] = () => q.root;
      const go = kit.button({ key: 'publish', label: b.submit }, () => act(b.act, { text: q.getText().trim() }, box));
      reg['button:' + b.key] = go.control;
      box.append(go.root);
      return box;
    },
    search: b => {
      const out = el('ul'), box = el('div');
      const find = async () => { pending++; const r = await (await fetch('/api/search?q=' + encodeURIComponent(q))).json().finally(() => pending--); out.replaceChildren(...r.hits.map(h => el('li', {}, el('a', { href: h.href }, h.name)))); if (!r.hits.length) out.append(el('li', {}, SPEC.words.none)); };
      let q = '';
      const f = kit.text({ key: 'q', label: b.label, type: 'search' }, v => { q = v; });
      const go = kit.button({ key: 'find', label: b.submit }, find);
      reg['field:q'] = f.control; reg['button:q'] = go.control;
      box.append(f.root, go.root, out);
      reg['hit'] = () => out.querySelector('a');
      return box;
    },
    facts: b => el('dl', {}, ...b.items.flatMap(i => { const dd = el('dd', { id: newID(i.key) }, i.value); reg['fact:' + i.key] = () => dd; return [el('dt', {}, i.label), dd]; })),
    text: b => el('p', {}, b.text),
    menu: b => {
      const list = el('div', { class: 'border bg-white p-2', style: 'display:none;position:absolute;z-index:9' }), top = el('div', { style: 'position:relative;display:inline-block', 'aria-haspopup': b.marked ? 'true' : undefined, role: b.marked ? 'button' : undefined }, b.label, list);
      top.addEventListener('mouseenter', () => list.style.display = 'block');
      top.addEventListener('mouseleave', () => list.style.display = 'none');
      reg['menu'] = () => top.firstChild.nodeType === 3 ? top : top;
      for (const i of b.items) { const a = el('a', { href: i.href, class: 'd-block' }, i.label); reg['item:' + i.label] = () => shown(a); list.append(a); }
      return top;
    },
    links: b => el('nav', { class: 'mb-3' }, ...b.items.map(i => { const a = el('a', { href: i.href, target: i.tab ? '_blank' : undefined, class: 'me-3' }, i.label); reg['link:' + i.label] = () => a; return a; })),
    media: b => { const v = el('video', { controls: true, src: '/clip.wav', style: 'width:320px;height:60px' }); reg['media'] = () => v; return v; },
    frame: b => { const f = el('iframe', { src: b.src, style: 'width:100%;height:420px', title: b.title }); reg['frame'] = () => f; return f; },
    tabs: b => kit.tabs(b.tabs.map(t => ({ label: t.label, body: all(t.blocks) })), (label, get) => reg['tab:' + label] = get),
    card: b => el('div', { class: 'card p-3 mb-3' }, b.title ? el('h2', { class: 'h5' }, b.title) : undefined, all(b.blocks)),
    shadow: b => { const host = el('x-panel'), root = host.attachShadow({ mode: 'open' }); for (const l of document.querySelectorAll('link[rel=stylesheet]')) root.append(l.cloneNode()); root.append(all(b.blocks)); return host; },
  };
  const all = blocks => { const box = el('div'); for (const b of blocks) box.append(make[b.kind](b)); return box; };
  window.__kits = { kit, el };
  window.__start = () => {
    KIT(kit);
    const main = el(L.main || 'main', { class: 'container py-3' }, el('h1', { class: 'h3' }, SPEC.heading), all(SPEC.blocks));
    document.body.append(main);
    const flash = new URLSearchParams(location.search).get('said');
    if (flash) tell({ ok: true, message: flash }, main);
    window.__ready = true;
  };
})();
