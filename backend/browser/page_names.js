// The role and the name of an element, as Chrome's accessibility tree has them (W3C accname 1.2, HTML-AAM, and what Chrome
// does beside them). It runs in the recorder's own world and reads styles, but no layout. What it cannot see are closed
// shadow roots and what ElementInternals hold.
(function names(secrets) {
  'use strict';

  // A form's fields hide its own properties by their names, in every world: read through the prototypes.
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const attribute = Element.prototype.getAttribute;
  const has = Element.prototype.hasAttribute;
  const parentOf = getter(Node, 'parentNode');
  const rootOf = Node.prototype.getRootNode;
  const textOf = getter(Node, 'textContent');
  const firstOf = getter(Node, 'firstChild');
  const nextOf = getter(Node, 'nextSibling');
  const tagOf = getter(Element, 'localName');
  const shadowOf = getter(Element, 'shadowRoot');
  const slotOf = getter(Element, 'assignedSlot');
  const typeOf = getter(HTMLInputElement, 'type');
  const valueOf = getter(HTMLInputElement, 'value');
  const editableOf = getter(HTMLElement, 'isContentEditable');
  const attr = (e, name) => attribute.call(e, name) || '';
  const isEditable = (e) => e instanceof HTMLElement && editableOf.call(e);
  const byId = (root, id) => (root instanceof Document ? Document.prototype : DocumentFragment.prototype).getElementById.call(root, id);
  const flat = (text) => text.replace(/\s+/g, ' ').trim();
  /** As HTML sees spaces: one that does not break is a letter, in Chrome's names as well. */
  const tidy = (text) => text.replace(/[ \t\n\r\f]+/g, ' ').replace(/^ | $/g, '');
  const words = (text) => text.split(' ');
  const english = /^en\b/.test(navigator.language);

  /** What an element lies in where it is shown: its slot, its parent, or its shadow host. */
  function above(e) {
    const p = slotOf.call(e) || parentOf.call(e);
    return p instanceof Element ? p : p instanceof ShadowRoot ? p.host : null;
  }

  const inputRoles = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', date: 'Date', time: 'InputTime', color: 'ColorWell',
    month: 'DateTime', week: 'DateTime', 'datetime-local': 'DateTime',
  };
  const tagRoles = {
    button: 'button', summary: 'DisclosureTriangle', textarea: 'textbox', option: 'option', img: 'image', h1: 'heading', h2: 'heading',
    h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', li: 'listitem', ul: 'list', ol: 'list', menu: 'list', tr: 'row', table: 'table',
    nav: 'navigation', main: 'main', dialog: 'dialog', p: 'paragraph', progress: 'progressbar', meter: 'meter', canvas: 'Canvas', label: 'LabelText',
    iframe: 'Iframe', video: 'Video', audio: 'Audio', article: 'article', form: 'form', fieldset: 'group', output: 'status', figure: 'figure',
    aside: 'complementary', search: 'search', details: 'Details', hr: 'separator', address: 'group', hgroup: 'group', optgroup: 'group',
    blockquote: 'blockquote', code: 'code', em: 'emphasis', strong: 'strong', del: 'deletion', ins: 'insertion', time: 'time', dfn: 'term',
    sub: 'subscript', sup: 'superscript', mark: 'mark', abbr: 'Abbr', figcaption: 'Figcaption', legend: 'Legend', caption: 'caption',
    thead: 'rowgroup', tbody: 'rowgroup', tfoot: 'rowgroup', svg: 'image', pre: 'Pre', math: 'math', dl: 'DescriptionList', dt: 'term', dd: 'definition',
  };
  const ariaRoles = new Set(
    words(
      'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox complementary contentinfo definition ' +
        'deletion dialog directory document emphasis feed figure form generic grid gridcell group heading image img insertion link list listbox listitem log main mark ' +
        'marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup ' +
        'region row rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript superscript switch ' +
        'tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem',
    ),
  );
  /** Roles that count only in one of another. */
  const owners = { option: ['listbox', 'combobox'], treeitem: ['tree'], listitem: ['list', 'directory'] };
  const neutral = new Set(['generic', 'none', 'group', 'rowgroup', 'LabelText', 'paragraph']);
  const sections = new Set(words('article aside main nav section'));

  function within(e, roles) {
    let at = above(e);
    for (let i = 0; at && i < 30; i++, at = above(at)) {
      const role = roleOf(at);
      if (roles.includes(role)) return true;
      if (!neutral.has(role) && !(role === 'treeitem' && roles[0] === 'tree')) return false;
    }
    return false;
  }

  function inSection(e) {
    for (let at = above(e); at; at = above(at)) if (sections.has(tagOf.call(at)) || /^(?:article|complementary|main|navigation|region)$/.test(attr(at, 'role'))) return true;
    return false;
  }

  const focusable = (e) => has.call(e, 'tabindex') || /^(?:button|input|select|textarea|summary|iframe)$/.test(tagOf.call(e)) || (tagOf.call(e) === 'a' && has.call(e, 'href'));

  /** The role, as Chrome's accessibility tree calls it; none where it is to be looked through. */
  function roleOf(e) {
    const given = attr(e, 'role');
    if (given) {
      for (const role of given.trim().toLowerCase().split(/\s+/)) {
        if (!ariaRoles.has(role)) continue;
        if (role === 'none' || role === 'presentation') {
          if (focusable(e)) break;
          return 'none';
        }
        if (owners[role] && !within(e, owners[role])) return 'generic';
        return role === 'img' ? 'image' : role === 'directory' ? 'list' : role;
      }
    }
    return nativeRole(e, tagOf.call(e));
  }

  const named = (e) => attr(e, 'aria-label').trim() || attr(e, 'aria-labelledby') || attr(e, 'title');

  function nativeRole(e, tag) {
    switch (tag) {
      case 'a':
      case 'area':
        return has.call(e, 'href') || has.call(e, 'xlink:href') ? 'link' : 'generic';
      case 'input': {
        const type = typeOf.call(e);
        if (has.call(e, 'list') && /^(?:text|search|tel|url|email)$/.test(type)) return 'combobox';
        return inputRoles[type] || 'textbox';
      }
      case 'select':
        return has.call(e, 'multiple') || Number(attr(e, 'size')) > 1 ? 'listbox' : 'combobox';
      case 'header':
        return inSection(e) ? 'sectionheader' : 'banner';
      case 'footer':
        return inSection(e) ? 'sectionfooter' : 'contentinfo';
      case 'aside':
        return inSection(e) && !named(e) ? 'generic' : 'complementary';
      case 'section':
        return named(e) ? 'region' : 'generic';
      case 'th': {
        const scope = attr(e, 'scope');
        if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
        if (scope === 'col' || scope === 'colgroup') return 'columnheader';
        const row = above(e);
        const first = row && firstElement(row) === e;
        return first && row.querySelector(':scope > td') ? 'rowheader' : 'columnheader';
      }
      case 'td': {
        const table = e.closest('table,[role=grid],[role=treegrid]');
        const role = table ? attr(table, 'role') : '';
        return role === 'grid' || role === 'treegrid' ? 'gridcell' : role === 'none' || role === 'presentation' ? 'generic' : 'cell';
      }
      default:
        return Object.hasOwn(tagRoles, tag) ? tagRoles[tag] : 'generic';
    }
  }

  function firstElement(e) {
    let n = firstOf.call(e);
    while (n && !(n instanceof Element)) n = nextOf.call(n);
    return n;
  }

  const fromContent = new Set(
    words('button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem heading cell gridcell columnheader rowheader tooltip DisclosureTriangle math'),
  );
  /** Roles whose content says nothing in the name of what they lie in. */
  const mute = new Set(
    words(
      'alert alertdialog application article banner blockquote complementary contentinfo dialog document feed figure form grid group image listbox log main ' +
        'marquee menu menubar meter navigation note progressbar radiogroup rowgroup scrollbar search searchbox separator slider spinbutton status table tablist tabpanel ' +
        'term textbox timer toolbar tree treegrid combobox Date DateTime InputTime ColorWell Iframe Video Audio sectionheader sectionfooter row',
    ),
  );
  const unnamed = new Set(words('script style template noscript head meta link'));
  const replaced = new Set(words('img svg input select textarea video audio canvas iframe object embed progress meter button br wbr hr'));
  const apart = new Set(
    words('address article blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td th thead tr ul details summary legend caption button img svg input select textarea'),
  );
  const most = 1000;

  const styleOf = (e, pseudo) => getComputedStyle(e, pseudo);

  /** The text that CSS adds before or after what is in an element. */
  function added(e, pseudo) {
    const style = styleOf(e, pseudo);
    const content = style.content;
    if (!content || content === 'none' || content === 'normal' || style.display === 'none' || style.visibility !== 'visible') return '';
    const said = content.slice(content.lastIndexOf('" / ') < 0 ? 0 : content.lastIndexOf('" / ') + 4);
    const text = (said.match(/"(?:[^"\\]|\\.)*"/g) || []).map((s) => s.slice(1, -1).replace(/\\(["\\])/g, '$1')).join('');
    return style.display === 'inline' ? cased(text, style.textTransform) : ` ${cased(text, style.textTransform)} `;
  }

  function cased(text, how) {
    if (how === 'uppercase') return text.toUpperCase();
    if (how === 'lowercase') return text.toLowerCase();
    return how === 'capitalize' ? text.replace(/(?<!(?!\p{Script=Han})[\p{L}\p{N}\p{M}'’])\p{L}/gu, (c) => c.toUpperCase()) : text;
  }

  /** Whether an element without a box in its own right is shown: display: contents has none, and is. */
  const gone = (style) => style.display === 'none' || style.contentVisibility === 'hidden';

  /** Nodes in an element, as they are shown: of its shadow root, or given to a slot. */
  function inside(e) {
    if (e instanceof HTMLSlotElement) {
      const given = HTMLSlotElement.prototype.assignedNodes.call(e);
      if (given.length) return given;
    }
    const out = [];
    for (let n = firstOf.call(shadowOf.call(e) || e); n && out.length < 300; n = nextOf.call(n)) out.push(n);
    return out;
  }

  /**
   * The text that what is in an element gives to its name. run says how: exact reads styles; seen are elements that were
   * looked at; through is what a label or aria-labelledby refers to; dark says that this is not shown itself.
   */
  function content(e, run, visible = true) {
    let out = run.exact && e instanceof HTMLElement ? added(e, '::before') : '';
    const closed = e instanceof HTMLDetailsElement && !e.open;
    for (const n of inside(e)) {
      if (out.length > most || run.seen.size > 100) break;
      if (n instanceof Text) {
        if (visible) out += run.loose ? ` ${n.data} ` : run.exact ? cased(n.data, styleOf(e).textTransform) : n.data;
      } else if (n instanceof Element && !(closed && tagOf.call(n) !== 'summary')) out += part(n, run);
    }
    return run.exact && e instanceof HTMLElement ? out + added(e, '::after') : out;
  }

  /** What one element gives to the name of what it lies in. */
  function part(n, run) {
    const tag = tagOf.call(n);
    if (unnamed.has(tag) || (n instanceof SVGElement && (tag === 'title' || tag === 'desc' || tag === 'defs'))) return '';
    if (tag === 'br') return '\n';
    if (attr(n, 'aria-hidden').toLowerCase() === 'true' || (has.call(n, 'inert') && !run.dark)) return run.exact && styleOf(n).display === 'inline' ? '' : ' ';
    let block = apart.has(tag);
    let shown = true;
    if (run.exact) {
      const style = styleOf(n);
      if (gone(style) && !run.dark) return '';
      shown = run.dark || style.visibility === 'visible';
      block = replaced.has(tag) || style.display !== 'inline'; // one without a box stands for itself, too
    } else if (has.call(n, 'hidden') && !run.loose) return '';
    if (!shown && run.through) return '';
    const [text, from] = shown ? alternative(n, run, true) : [content(n, run, false), 'contents'];
    return block || (text && from !== 'contents') ? ` ${text} ` : text;
  }

  /** The value that a control in a label gives to the name; null for none. */
  function worth(e, role) {
    if (role === 'textbox' || role === 'searchbox' || role === 'combobox' || isEditable(e)) {
      if (e instanceof HTMLInputElement) return secrets.why(e) ? '' : valueOf.call(e);
      if (e instanceof HTMLTextAreaElement) return e.value;
      if (e instanceof HTMLSelectElement) return [...e.selectedOptions].map((o) => o.label).join(' ');
      if (role === 'combobox') return null;
      return textOf.call(e);
    }
    if (/^(?:slider|spinbutton|progressbar|meter|scrollbar)$/.test(role)) {
      if (has.call(e, 'aria-valuetext')) return attr(e, 'aria-valuetext');
      if (e instanceof HTMLInputElement) return valueOf.call(e);
      return has.call(e, 'aria-valuenow') ? attr(e, 'aria-valuenow') : null;
    }
    if (e instanceof HTMLSelectElement) return [...e.selectedOptions].map((o) => o.label).join(' ');
    return null;
  }

  /** Labels of a field, in their order. document's are looked up in known, where it is given. */
  let known = null; // (field) => labels, of fields of the document
  function labelsOf(e) {
    const root = rootOf.call(e);
    if (root === document && known) return known(e);
    const found = [];
    const around = e.closest('label');
    if (around && around.control === e) found.push(around);
    const id = attr(e, 'id');
    if (id && (root instanceof Document || root instanceof ShadowRoot)) for (const label of root.querySelectorAll(`label[for="${CSS.escape(id)}"]`)) if (!found.includes(label)) found.push(label);
    return found;
  }

  const labelable = new Set(words('input select textarea button meter output progress'));
  const textTypes = /^(?:text|search|tel|url|email|password|number)$/;

  /** What HTML and SVG themselves give as a name: text, and whether that ends the search. */
  function native(e, run, tag) {
    if (labelable.has(tag) || tag.includes('-')) {
      const labels = labelsOf(e);
      if (labels.length) {
        const texts = labels.map((label) => (run.exact && (unseen(label) || label.closest('[aria-hidden=true]')) ? '' : alternative(label, { ...run, through: label }, true)[0]));
        return [tidy(texts.join(' ')), 'labels'];
      }
    }
    if (tag === 'input') return nativeInput(e);
    if (tag === 'textarea') return [attr(e, 'title') || attr(e, 'placeholder') || attr(e, 'aria-placeholder'), 'attribute'];
    if (tag === 'img' || tag === 'area') return has.call(e, 'alt') && (attr(e, 'alt') || !has.call(e, 'title')) ? [attr(e, 'alt'), 'attribute'] : ['', ''];
    if (tag === 'table' || tag === 'fieldset') {
      const first = [...e.children].find((c) => tagOf.call(c) === (tag === 'table' ? 'caption' : 'legend'));
      const name = first && !run.seen.has(first) ? alternative(first, run, true)[0] : '';
      return [name || (tag === 'table' ? attr(e, 'summary') : ''), 'related'];
    }
    if (tag === 'optgroup' || tag === 'option') return [attr(e, 'label'), 'attribute'];
    if (e instanceof SVGElement) {
      for (let n = firstOf.call(e); n; n = nextOf.call(n)) if (n instanceof SVGTitleElement) return [textOf.call(n), 'related'];
    }
    return ['', ''];
  }

  function nativeInput(e) {
    const type = typeOf.call(e);
    if (type === 'image') return [attr(e, 'alt') || attr(e, 'value') || attr(e, 'title') || (english ? 'Submit' : ''), 'attribute'];
    if (/^(?:button|submit|reset)$/.test(type)) {
      const usual = english && !has.call(e, 'value') ? { submit: 'Submit', reset: 'Reset' }[type] || '' : '';
      return [valueOf.call(e) || usual, 'value'];
    }
    if (textTypes.test(type)) return [attr(e, 'title') || attr(e, 'placeholder') || attr(e, 'aria-placeholder'), 'attribute'];
    return ['', ''];
  }

  /** The text that stands for an element, and where it is from. deep: in the name of another. */
  function alternative(e, run, deep) {
    if (run.seen.has(e)) return ['', ''];
    run.seen.add(e);
    const role = roleOf(e);
    if (deep && e !== run.self) {
      const value = worth(e, role);
      if (value !== null) return [value, 'value'];
    }
    const by = run.through ? '' : attr(e, 'aria-labelledby').trim();
    if (by) {
      const root = rootOf.call(e);
      const parts = by.split(/\s+/).map((id) => byId(root, id)).filter(Boolean);
      const text = tidy(parts.map((p) => referred(p, run)).join(' '));
      if (text) return [text, 'related'];
    }
    const label = tidy(attr(e, 'aria-label'));
    if (label) return [label, 'attribute'];
    const tag = tagOf.call(e);
    const [text, from] = role === 'none' ? ['', ''] : native(e, run, tag);
    if (tidy(text) || from === 'labels') return [text, from];
    const reads = deep ? run.through || !mute.has(role) || laysOut(e, tag) : fromContent.has(role) || (role === 'row' && within(e, ['grid', 'treegrid']));
    if (reads && tag !== 'select') {
      const inner = content(e, run);
      if (/[^ \t\n\r\f]/.test(inner)) return [inner, 'contents']; // a space that does not break is a name, too
    }
    const title = role === 'generic' && (deep || !(focusable(e) || isEditable(e))) ? '' : attr(e, 'title');
    return title ? [title, 'title'] : ['', ''];
  }

  /** Whether a table, or a part of one, is only for the layout: it has no headers. */
  function laysOut(e, tag) {
    if (!/^(?:table|tbody|thead|tr)$/.test(tag) || has.call(e, 'role')) return false;
    const table = e.closest('table');
    return !table || !table.querySelector('th,caption');
  }

  /** What aria-labelledby takes from one of the elements it names. */
  function referred(p, run) {
    const dark = run.exact && unseen(p);
    return alternative(p, { ...run, seen: new Set(), through: p, dark }, true)[0];
  }

  function unseen(e) {
    for (let at = e; at; at = above(at)) if (gone(styleOf(at))) return true;
    return styleOf(e).visibility !== 'visible';
  }

  /** The accessible name, at most 1,000 characters. exact reads styles; without, it has what is not displayed, too. */
  function nameOf(e, exact) {
    const run = { exact, self: e, seen: new Set(), through: null, dark: false };
    return tidy(alternative(e, run, false)[0]).slice(0, most);
  }

  const useLabels = (find) => (known = find);

  /** All words that its name may have, in lower case, as styles change that: with those that are not displayed. */
  function tokensOf(e) {
    const plain = e.attributes.length === 0 && firstOf.call(e) instanceof Text && !nextOf.call(firstOf.call(e)) && !shadowOf.call(e);
    if (plain && tagOf.call(e) !== 'textarea') return new Set(words(flat(textOf.call(e)).toLowerCase()).slice(0, 100)); // as most are, in a large table
    const run = { exact: false, loose: true, seen: new Set(), through: null, dark: true };
    const more = ['title', 'placeholder', 'value', 'alt'].map((name) => attr(e, name)).join(' ');
    return new Set(words(flat(`${alternative(e, run, false)[0]} ${more}`).toLowerCase()).slice(0, 100));
  }

  const natives = {
    link: 'a[href],area[href]', textbox: 'input,textarea', combobox: 'select,input[list]', listbox: 'select', banner: 'header', sectionheader: 'header',
    contentinfo: 'footer', sectionfooter: 'footer', region: 'section', rowheader: 'th', columnheader: 'th', gridcell: 'td',
  };
  const nameless = new Set(words('generic none paragraph cell LabelText'));
  const selectors = new Map();

  /** A selector of all elements that can have a role; '' where names of that role are not looked for. */
  function selectorOf(role) {
    if (nameless.has(role)) return '';
    if (!selectors.has(role)) {
      const all = [`[role~=${role === 'image' ? 'img' : role} i]`, natives[role] || ''];
      for (const [type, is] of Object.entries(inputRoles)) if (is === role) all.push(`input[type=${type}]`);
      for (const [tag, is] of Object.entries(tagRoles)) if (is === role) all.push(tag);
      selectors.set(role, all.filter(Boolean).join(','));
    }
    return selectors.get(role);
  }

  return { roleOf, nameOf, tokensOf, selectorOf, content, above, inside, isEditable, attr, has, tagOf, flat, getter, rootOf, parentOf, textOf, firstOf, nextOf, shadowOf, typeOf, byId, useLabels, labelsOf };
})
