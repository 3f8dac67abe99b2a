// Ant Design, on React.
window.KIT = kit => {
  const { el, L, labelled } = kit, h = React.createElement, A = antd;
  const cfg = { button: { autoInsertSpace: false }, direction: kit.rtl ? 'rtl' : 'ltr' };
  const mount = (C, at = el('div', { style: 'min-width:220px;flex:1' })) => { ReactDOM.flushSync(() => ReactDOM.createRoot(at).render(h(A.ConfigProvider, cfg, h(C)))); return at; };
  const wrap = (f, at, css) => labelled(f, at, at.querySelector(css));
  const state = (init, draw) => () => { const [v, set] = React.useState(init); return draw(v, set); };
  kit.text = (f, on) => {
    const C = f.type === 'area' ? A.Input.TextArea : f.type === 'password' ? A.Input.Password : A.Input;
    const at = mount(state(f.value ?? '', (v, set) => h(C, { value: v, type: f.type === 'area' || f.type === 'password' ? undefined : f.type, onChange: e => { set(e.target.value); on(e.target.value); } })));
    return { root: wrap(f, at, 'input,textarea'), control: () => at.querySelector('input,textarea') };
  };
  kit.date = (f, on) => {
    const at = mount(state(null, (v, set) => h(A.DatePicker, { value: v, defaultPickerValue: dayjs(f.start), onChange: (d, s) => { set(d); on(s); } })));
    return { root: wrap(f, at, 'input'), control: () => at.querySelector('input'), how: 'popup', option: d => [...document.querySelectorAll('.ant-picker-cell-in-view .ant-picker-cell-inner')].filter(kit.shown).find(e => e.textContent === d) };
  };
  kit.select = (f, on) => {
    const at = mount(state(undefined, (v, set) => h(A.Select, { value: v, style: { width: '100%' }, options: f.options.map(o => ({ value: o, label: o })), onChange: o => { set(o); on(o); } })));
    return { root: wrap(f, at, 'input'), control: () => at.querySelector('.ant-select-selector'), how: 'popup', option: o => [...document.querySelectorAll('.ant-select-item-option-content')].filter(kit.shown).find(e => e.textContent === o) };
  };
  kit.check = (f, on) => { const at = mount(state(!!f.value, (v, set) => h(A.Checkbox, { checked: v, onChange: e => { set(e.target.checked); on(e.target.checked); } }, f.label))); return { root: at, control: () => at.querySelector('.ant-checkbox'), how: 'check' }; };
  kit.toggle = (f, on) => {
    const at = mount(state(!!f.value, (v, set) => h(A.Switch, { checked: v, 'aria-label': L.labels === 'aria' || L.labels === 'labelledby' ? f.label : undefined, onChange: o => { set(o); on(o); } })));
    return { root: el('div', { class: 'd-flex mb-2' }, el('div', { style: 'width:16em' }, f.label), at), control: () => at.querySelector('button'), how: 'check' };
  };
  kit.radio = (f, on) => { const at = mount(state('', (v, set) => h(A.Radio.Group, { value: v, options: f.options, onChange: e => { set(e.target.value); on(e.target.value); } }))); return { root: el('div', { class: 'mb-3' }, el('div', {}, f.label), at), control: () => at, how: 'radio', option: o => [...at.querySelectorAll('label')].find(e => e.textContent === o) }; };
  kit.button = (b, on) => {
    const bare = b.icon && L.buttons !== 'text';
    const at = mount(() => h(A.Button, { type: b.plain ? 'default' : 'primary', size: b.small ? 'small' : 'middle', title: bare && L.buttons === 'icon-title' ? b.label : undefined, 'aria-label': bare && L.buttons === 'icon-aria' ? b.label : undefined, onClick: on }, bare ? b.icon : b.label), el('span'));
    return { root: at, control: () => at.querySelector('button') };
  };
  kit.dialog = title => {
    let set; const body = el('div'), root = el('div');
    mount(() => { const [open, s] = React.useState(false); set = s; return h(A.Modal, { open, title, footer: null, onCancel: () => s(false) }, h('div', { ref: e => { if (e && !e.contains(body)) e.append(body); } })); }, root);
    return { root, body, show: () => { kit.fade(450); set(true); }, hide: () => { kit.fade(450); set(false); } };
  };
  kit.tabs = (tabs, at) => {
    const box = mount(() => h(A.Tabs, { items: tabs.map((t, i) => ({ key: 't' + i, label: t.label, forceRender: true, children: h('div', { ref: e => { if (e && !e.contains(t.body)) e.append(t.body); } }) })) }), el('div'));
    tabs.forEach(t => at(t.label, () => [...box.querySelectorAll('.ant-tabs-tab-btn')].find(e => e.textContent === t.label)));
    return box;
  };
  kit.toast = (text, ok) => A.message[ok ? 'success' : 'error'](text, 6);
};
