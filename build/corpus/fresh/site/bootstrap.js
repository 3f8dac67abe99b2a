// Bootstrap, with Tom Select and flatpickr where the look asks for them.
window.KIT = kit => {
  const { el, L, labelled } = kit;
  kit.text = (f, on) => {
    const i = f.type === 'area' ? el('textarea', { class: 'form-control', rows: 2 }) : el('input', { class: 'form-control', type: f.type || 'text', autocomplete: 'off' });
    i.value = f.value ?? '';
    i.addEventListener('input', () => on(i.value));
    return { root: labelled(f, i), control: () => i };
  };
  kit.date = (f, on) => {
    const i = el('input', { class: 'form-control', type: L.dates === 'native' ? 'date' : 'text' });
    i.addEventListener('change', () => on(i.value));
    const root = labelled(f, i);
    let p;
    if (L.dates !== 'native') p = flatpickr(i, { defaultDate: f.start, dateFormat: 'Y-m-d', onChange: (_, s) => on(s) });
    return { root, control: () => i, how: p ? 'popup' : 'date', option: d => [...p.calendarContainer.querySelectorAll('.flatpickr-day:not(.prevMonthDay):not(.nextMonthDay)')].filter(kit.shown).find(e => e.textContent === d) };
  };
  kit.select = (f, on) => {
    const s = el('select', { class: 'form-select' }, el('option', { value: '' }, ''), ...f.options.map((o, n) => el('option', { value: 'v' + n }, o)));
    s.addEventListener('change', () => on(s.selectedOptions[0]?.textContent ?? ''));
    const root = labelled(f, s);
    if (L.selects === 'native') return { root, control: () => s, how: 'native', option: () => s };
    const t = new TomSelect(s, { create: false });
    return { root, control: () => t.control, how: 'popup', option: o => [...t.dropdown_content.querySelectorAll('.option')].filter(kit.shown).find(e => e.textContent === o) };
  };
  const box = (f, on, cls) => {
    const i = el('input', { type: 'checkbox', class: 'form-check-input', role: cls ? 'switch' : undefined });
    i.checked = !!f.value;
    i.addEventListener('change', () => on(i.checked));
    const id = kit.newID(f.key) || 'c' + f.key; i.id = id;
    return { root: el('div', { class: 'form-check ' + (cls || '') }, i, el('label', { for: id, class: 'form-check-label' }, f.label)), control: () => i, how: 'check' };
  };
  kit.check = (f, on) => box(f, on);
  kit.toggle = (f, on) => box(f, on, 'form-switch');
  kit.radio = (f, on) => {
    const all = f.options.map((o, n) => { const i = el('input', { type: 'radio', name: f.key, class: 'form-check-input', onchange: () => on(o) }); return [o, i, el('label', { class: 'me-3' }, i, ' ' + o)]; });
    return { root: el('fieldset', { class: 'mb-3' }, el('legend', { class: 'h6' }, f.label), ...all.map(a => a[2])), control: () => all[0][1], how: 'radio', option: o => all.find(a => a[0] === o)[1] };
  };
  kit.button = (b, on) => {
    const cls = 'btn ' + (b.plain ? 'btn-outline-secondary' : 'btn-primary') + (b.small ? ' btn-sm' : '');
    let e;
    if (b.icon && L.buttons !== 'text') e = el('button', { type: 'button', class: cls, title: L.buttons === 'icon-title' ? b.label : undefined, 'aria-label': L.buttons === 'icon-aria' ? b.label : undefined }, b.icon);
    else if (L.buttons === 'div') e = el('div', { class: cls, tabindex: 0 }, b.label);
    else e = el('button', { type: 'button', class: cls, id: kit.newID(b.key) }, b.label);
    e.addEventListener('click', on);
    return { root: e, control: () => e };
  };
  kit.dialog = title => {
    const body = el('div', { class: 'modal-body' });
    const root = el('div', { class: 'modal', tabindex: -1 }, el('div', { class: 'modal-dialog' }, el('div', { class: 'modal-content' }, el('div', { class: 'modal-header' }, el('h5', { class: 'modal-title' }, title)), body)));
    const m = new bootstrap.Modal(root, { backdrop: 'static' });
    return { root, body, show: () => m.show(), hide: () => m.hide() };
  };
  kit.tabs = (tabs, at) => {
    const nav = el('ul', { class: 'nav nav-tabs mb-3' }), box = el('div');
    tabs.forEach((t, i) => {
      const b = el('button', { class: 'nav-link' + (i ? '' : ' active'), type: 'button' }, t.label), pane = el('div', { style: i ? 'display:none' : undefined }, t.body);
      b.addEventListener('click', () => { [...box.children].forEach(p => p.style.display = p === pane ? '' : 'none'); nav.querySelectorAll('.active').forEach(x => x.classList.remove('active')); b.classList.add('active'); });
      at(t.label, () => b); nav.append(el('li', { class: 'nav-item' }, b)); box.append(pane);
    });
    return el('div', {}, nav, box);
  };
  kit.toast = (text, ok) => {
    const t = el('div', { class: 'toast show position-fixed bottom-0 end-0 m-3 text-bg-' + (ok ? 'success' : 'danger'), role: 'status' }, el('div', { class: 'toast-body' }, text));
    document.body.append(t); setTimeout(() => t.remove(), 6000);
  };
};
