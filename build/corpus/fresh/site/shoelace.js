// Shoelace: web components with shadow roots.
window.KIT = kit => {
  const { el, L } = kit;
  const inner = css => e => () => e.shadowRoot?.querySelector(css);
  const label = (f, e) => {
    if (L.labels === 'for' || L.labels === 'wrap' || L.labels === 'labelledby') { e.setAttribute('label', f.label); return el('div', { class: 'mb-3' }, e); }
    if (L.labels === 'placeholder' && 'placeholder' in e) { e.setAttribute('placeholder', f.label); return el('div', { class: 'mb-3' }, e); }
    if (L.labels === 'aria') { e.setAttribute('label', f.label); return el('div', { class: 'mb-3' }, e); }
    return el('div', { class: 'mb-3 d-flex' }, el('div', { style: 'width:10em' }, f.label), e);
  };
  const id = (f, e) => { const i = kit.newID(f.key); if (i) e.id = i; return e; };
  kit.text = (f, on) => {
    const e = id(f, f.type === 'area' ? el('sl-textarea', {}) : el('sl-input', { type: f.type || 'text' }));
    e.value = f.value ?? '';
    e.addEventListener('sl-input', () => on(e.value));
    return { root: label(f, e), control: inner('input,textarea')(e) };
  };
  kit.date = (f, on) => { const e = id(f, el('sl-input', { type: 'date' })); e.addEventListener('sl-input', () => on(e.value)); return { root: label(f, e), control: inner('input')(e), how: 'date' }; };
  kit.select = (f, on) => {
    const e = id(f, el('sl-select', {}, ...f.options.map((o, n) => el('sl-option', { value: 'v' + n }, o))));
    e.addEventListener('sl-change', () => on(f.options[+e.value.slice(1)]));
    return { root: label(f, e), control: inner('.select__combobox')(e), how: 'popup', option: o => [...e.querySelectorAll('sl-option')].filter(kit.shown).find(x => x.textContent === o && x.getBoundingClientRect().height > 0) };
  };
  const box = tag => (f, on) => { const e = id(f, el(tag, {}, f.label)); e.checked = !!f.value; e.addEventListener('sl-change', () => on(e.checked)); return { root: el('div', { class: 'mb-2' }, e), control: () => e, how: 'check' }; };
  kit.check = box('sl-checkbox');
  kit.toggle = box('sl-switch');
  kit.radio = (f, on) => {
    const e = el('sl-radio-group', { label: f.label, class: 'mb-3' }, ...f.options.map((o, n) => el('sl-radio', { value: 'v' + n }, o)));
    e.addEventListener('sl-change', () => on(f.options[+e.value.slice(1)]));
    return { root: e, control: () => e, how: 'radio', option: o => [...e.querySelectorAll('sl-radio')].find(x => x.textContent === o) };
  };
  kit.button = (b, on) => {
    let e;
    if (b.icon && L.buttons !== 'text') e = el('sl-button', { size: 'small', title: L.buttons === 'icon-title' ? b.label : undefined, 'aria-label': L.buttons === 'icon-aria' ? b.label : undefined }, b.icon);
    else e = id(b, el('sl-button', { variant: b.plain ? 'default' : 'primary' }, b.label));
    e.addEventListener('click', on);
    return { root: e, control: () => e };
  };
  kit.dialog = title => {
    const body = el('div'), root = el('sl-dialog', { label: title }, body);
    return { root, body, show: () => { kit.fade(400); root.show(); }, hide: () => { kit.fade(400); root.hide(); } };
  };
  kit.tabs = (tabs, at) => {
    const g = el('sl-tab-group');
    tabs.forEach((t, i) => { const tab = el('sl-tab', { slot: 'nav', panel: 'p' + i }, t.label); at(t.label, () => tab); g.append(tab, el('sl-tab-panel', { name: 'p' + i }, t.body)); });
    return g;
  };
  kit.toast = (text, ok) => { const a = el('sl-alert', { variant: ok ? 'success' : 'danger', closable: true, duration: 6000 }, text); document.body.append(a); customElements.whenDefined('sl-alert').then(() => a.toast()); };
};
