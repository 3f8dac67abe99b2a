// Vuetify, on Vue.
window.KIT = kit => {
  const { el, L, labelled } = kit, { h, createApp, reactive, resolveComponent } = Vue;
  const c = name => resolveComponent('V' + name);
  const mount = (render, at = el('div', { style: 'min-width:220px;flex:1' })) => { createApp({ render: () => h(c('App'), { style: 'min-height:0', class: 'kit-app' }, () => render()) }).use(Vuetify.createVuetify()).mount(at); return at; };
  const own = L.labels === 'for' || L.labels === 'wrap'; // the component's own label
  const wrap = (f, at, css) => ({ root: own ? at : labelled(f, at, at.querySelector(css)) });
  const items = () => [...document.querySelectorAll('.v-overlay--active .v-list-item')].filter(kit.shown);
  kit.text = (f, on) => {
    const s = reactive({ v: f.value ?? '', see: false });
    const at = mount(() => h(c(f.type === 'area' ? 'Textarea' : 'TextField'), { modelValue: s.v, label: own ? f.label : undefined, density: 'compact', type: f.type === 'area' ? undefined : s.see ? 'text' : f.type || 'text', 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { ...wrap(f, at, 'input,textarea'), control: () => at.querySelector('input,textarea:not([readonly])') };
  };
  kit.date = (f, on) => {
    const s = reactive({ v: '' });
    const at = mount(() => h(c('TextField'), { modelValue: s.v, label: own ? f.label : undefined, type: 'date', 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { ...wrap(f, at, 'input'), control: () => at.querySelector('input') };
  };
  kit.select = (f, on) => {
    const s = reactive({ v: null });
    const at = mount(() => h(c('Select'), { modelValue: s.v, label: own ? f.label : undefined, items: f.options, 'onUpdate:modelValue': v => { s.v = v; on(v); } }));
    return { ...wrap(f, at, 'input'), control: () => at.querySelector('.v-field'), how: 'popup', option: o => items().find(e => e.textContent.trim() === o) };
  };
  kit.check = (f, on) => { const s = reactive({ v: !!f.value }); const at = mount(() => h(c('Checkbox'), { modelValue: s.v, label: f.label, 'onUpdate:modelValue': v => { s.v = v; on(v); } })); return { root: at, control: () => at.querySelector('.v-selection-control__input'), how: 'check' }; };
  kit.toggle = (f, on) => { const s = reactive({ v: !!f.value }); const at = mount(() => h(c('Switch'), { modelValue: s.v, label: f.label, 'onUpdate:modelValue': v => { s.v = v; on(v); } })); return { root: at, control: () => at.querySelector('.v-switch__track'), how: 'check' }; };
  kit.radio = (f, on) => { const s = reactive({ v: null }); const at = mount(() => h(c('RadioGroup'), { modelValue: s.v, label: f.label, 'onUpdate:modelValue': v => { s.v = v; on(v); } }, () => f.options.map(o => h(c('Radio'), { label: o, value: o })))); return { root: at, control: () => at, how: 'radio', option: o => [...at.querySelectorAll('.v-radio')].find(e => e.textContent.trim() === o) }; };
  kit.button = (b, on) => {
    const bare = b.icon && L.buttons !== 'text';
    const at = mount(() => h(c('Btn'), { variant: b.plain ? 'outlined' : 'elevated', size: b.small ? 'small' : 'default', title: bare && L.buttons === 'icon-title' ? b.label : undefined, 'aria-label': bare && L.buttons === 'icon-aria' ? b.label : undefined, onClick: on }, () => bare ? b.icon : b.label), el('span'));
    return { root: at, control: () => at.querySelector('button') };
  };
  kit.dialog = title => {
    const s = reactive({ open: false }), body = el('div'), root = el('div');
    mount(() => h(c('Dialog'), { modelValue: s.open, maxWidth: 480, 'onUpdate:modelValue': v => s.open = v }, () => h(c('Card'), { title }, () => h('div', { style: 'padding:16px', ref: e => { if (e && !e.contains(body)) e.append(body); } }))), root);
    return { root, body, show: () => { kit.fade(450); s.open = true; }, hide: () => { kit.fade(450); s.open = false; } };
  };
  kit.tabs = (tabs, at) => {
    const s = reactive({ v: 0 }), box = el('div');
    mount(() => [h(c('Tabs'), { modelValue: s.v, 'onUpdate:modelValue': v => { kit.fade(350); s.v = v; } }, () => tabs.map((t, i) => h(c('Tab'), { key: i, value: i }, () => t.label))),
      ...tabs.map((t, i) => h('div', { key: 'p' + i, style: s.v === i ? '' : 'display:none', ref: e => { if (e && !e.contains(t.body)) e.append(t.body); } }))], box);
    tabs.forEach(t => at(t.label, () => [...box.querySelectorAll('.v-tab')].find(e => e.textContent.trim() === t.label)));
    return box;
  };
  kit.toast = text => { const s = reactive({ open: true }), root = el('div'); document.body.append(root); mount(() => h(c('Snackbar'), { modelValue: s.open, timeout: 6000, 'onUpdate:modelValue': v => s.open = v }, () => text), root); };
};
