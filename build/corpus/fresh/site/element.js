// Element Plus, on Vue.
window.KIT = kit => {
  const { el, L, labelled } = kit, { h, createApp, reactive } = Vue, E = ElementPlus;
  const mount = render => { const at = el('div', { style: 'min-width:220px;flex:1' }); createApp({ render }).use(E).mount(at); return at; };
  const wrap = (f, at, css) => ({ root: L.labels === 'for' || L.labels === 'wrap' ? labelled2(f, at, css) : labelled(f, at, at.querySelector(css)) });
  const labelled2 = (f, at, css) => { const i = at.querySelector(css); if (i && !i.id) i.id = kit.newID(f.key) || 'e' + f.key; return el('div', { class: 'el-form-item' }, el('label', { class: 'el-form-item__label', for: i?.id }, f.label), at); };
  kit.text = (f, on) => {
    const s = reactive({ v: f.value ?? '' });
    const at = mount(() => h(E.ElInput, { modelValue: s.v, type: f.type === 'area' ? 'textarea' : f.type || 'text', showPassword: f.type === 'password' && L.eye, 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { ...wrap(f, at, 'input,textarea'), control: () => at.querySelector('input,textarea') };
  };
  kit.date = (f, on) => {
    const s = reactive({ v: '' });
    const at = mount(() => h(E.ElDatePicker, { modelValue: s.v, type: 'date', valueFormat: 'YYYY-MM-DD', defaultValue: new Date(f.start), 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { ...wrap(f, at, 'input'), control: () => at.querySelector('input'), how: 'popup', option: d => [...document.querySelectorAll('.el-date-table td.available .el-date-table-cell__text')].filter(kit.shown).find(e => e.textContent.trim() === d) };
  };
  kit.select = (f, on) => {
    const s = reactive({ v: '' });
    const at = mount(() => h(E.ElSelect, { modelValue: s.v, 'onUpdate:modelValue': v => { s.v = v; on(v); } }, () => f.options.map(o => h(E.ElOption, { key: o, label: o, value: o }))));
    return { ...wrap(f, at, 'input'), control: () => at.querySelector('.el-select__wrapper'), how: 'popup', option: o => [...document.querySelectorAll('.el-select-dropdown__item')].filter(kit.shown).find(e => e.textContent === o) };
  };
  kit.check = (f, on) => { const s = reactive({ v: !!f.value }); const at = mount(() => h(E.ElCheckbox, { modelValue: s.v, label: f.label, 'onUpdate:modelValue': v => { s.v = v; on(v); } })); return { root: at, control: () => at.querySelector('.el-checkbox__inner'), how: 'check' }; };
  kit.toggle = (f, on) => {
    const s = reactive({ v: !!f.value });
    const at = mount(() => h(E.ElSwitch, { modelValue: s.v, inactiveText: L.labels === 'beside' ? undefined : f.label, ariaLabel: L.labels === 'aria' ? f.label : undefined, 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { root: el('div', { class: 'd-flex' }, L.labels === 'beside' ? el('div', { style: 'width:16em' }, f.label) : undefined, at), control: () => at.querySelector('.el-switch__core'), how: 'check' };
  };
  kit.radio = (f, on) => { const s = reactive({ v: '' }); const at = mount(() => h(E.ElRadioGroup, { modelValue: s.v, 'onUpdate:modelValue': v => { s.v = v; on(v); } }, () => f.options.map(o => h(E.ElRadio, { value: o }, () => o)))); return { root: el('div', { class: 'mb-3' }, el('div', {}, f.label), at), control: () => at, how: 'radio', option: o => [...at.querySelectorAll('.el-radio')].find(e => e.textContent.trim() === o) }; };
  kit.button = (b, on) => {
    const bare = b.icon && L.buttons !== 'text';
    const at = el('span'); createApp({ render: () => h(E.ElButton, { type: b.plain ? '' : 'primary', size: b.small ? 'small' : 'default', title: bare && L.buttons === 'icon-title' ? b.label : undefined, 'aria-label': bare && L.buttons === 'icon-aria' ? b.label : undefined, onClick: on }, () => bare ? b.icon : b.label) }).use(E).mount(at);
    return { root: at, control: () => at.querySelector('button') };
  };
  kit.dialog = title => {
    const s = reactive({ open: false }), body = el('div'), root = el('div');
    createApp({ render: () => h(E.ElDialog, { modelValue: s.open, title, width: 480, appendToBody: true, 'onUpdate:modelValue': v => s.open = v }, () => h('div', { ref: e => { if (e && !e.contains(body)) e.append(body); } })) }).use(E).mount(root);
    return { root, body, show: () => { kit.fade(450); s.open = true; }, hide: () => { kit.fade(450); s.open = false; } };
  };
  kit.tabs = (tabs, at) => {
    const s = reactive({ v: 't0' }), box = el('div');
    createApp({ render: () => h(E.ElTabs, { modelValue: s.v, 'onUpdate:modelValue': v => s.v = v }, () => tabs.map((t, i) => h(E.ElTabPane, { key: i, label: t.label, name: 't' + i }, () => h('div', { ref: e => { if (e && !e.contains(t.body)) e.append(t.body); } })))) }).use(E).mount(box);
    tabs.forEach(t => at(t.label, () => [...box.querySelectorAll('.el-tabs__item')].find(e => e.textContent.trim() === t.label)));
    return box;
  };
  kit.toast = (text, ok) => E.ElMessage({ message: text, type: ok ? 'success' : 'error', duration: 6000 });
};
