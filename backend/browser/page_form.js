// What stands in the form around an element when it is pressed, and what its part of the page says. It runs in the recorder's own world,
// and reads styles, but no layout.
(function forms(secrets, names, elements, fields) {
  'use strict';

  const { above, getter, labelsOf, typeOf } = names;
  const { attr, tagOf, find, flat, parent, contains, identify, body, sameWords } = elements;
  const visible = Element.prototype.checkVisibility;
  const closest = Element.prototype.closest;
  const valueOf = getter(HTMLInputElement, 'value');
  const areaValue = getter(HTMLTextAreaElement, 'value');
  const checkedOf = getter(HTMLInputElement, 'checked');
  const parts = 'form,dialog,[role=dialog],[role=alertdialog],[role=form]';
  const toggles = '[role=checkbox],[role=switch],[role=radio]';
  const controls = `input:not([type=hidden]),select,textarea,[contenteditable=""],[contenteditable=true],${toggles}`;
  const most = 300; // controls of a form, and
  const large = 3000; // elements of a part of a page, beyond which it is not looked at
  const long = 20_000; // characters of it

  /** The form that an element belongs to, or the nearest part around it in which something can be filled in; null where there is none. */
  function formOf(e) {
    const own = e.form instanceof HTMLFormElement ? e.form : closest.call(e, parts);
    if (own) return own;
    for (let at = parent(e); at && at !== body(); at = above(at)) if (find(at, controls).length) return at;
    return null;
  }

  /** What a control holds: {holds} of a list to choose from, {} of another one that is filled in or ticked; null where it is not. */
  function held(c) {
    const kind = fields.kind(c);
    if (kind === 'toggle') return checkedOf.call(c) ? {} : null;
    if (kind === 'select') {
      const labels = [...c.selectedOptions].filter((o) => o.value !== '').map((o) => flat(o.label));
      return labels.length ? { holds: secrets.mask(labels.join(', ')) } : null;
    }
    if (c instanceof HTMLInputElement) return /^(?:button|submit|reset|image|range|color)$/.test(attr(c, 'type')) || !valueOf.call(c) ? null : {};
    if (c instanceof HTMLTextAreaElement) return areaValue.call(c) ? {} : null;
    if (attr(c, 'aria-checked')) return attr(c, 'aria-checked') === 'true' ? {} : null;
    return /\S/.test(c.textContent) ? {} : null;
  }

  const seen = (c) => closest.call(c, 'details:not([open])') || visible.call(c, { visibilityProperty: true }) || (c instanceof HTMLInputElement && [...labelsOf(c)].some((l) => visible.call(l, { visibilityProperty: true })));
  const known = (c) => {
    const is = identify(c);
    return { role: is.role, name: is.name || secrets.mask(is.near()) };
  };

  /** What lies around all controls of a form, such as a row of a table: one that is no part of the form may be sent with it. */
  function around(form, own) {
    for (let at = form; at && at !== body(); at = above(at)) if (own.every((c) => contains(at, c))) return at;
    return form;
  }

  /**
   * The controls of the form around an element that can be seen and used, or lie in a part that is closed, and what is ticked in the table
   * around it; null where there is no form, or it is too large.
   */
  function controlsOf(e) {
    const form = formOf(e);
    const table = closest.call(e, 'table,[role=grid],[role=treegrid]');
    if (!form && !table) return null;
    const own = form instanceof HTMLFormElement ? [...form.elements] : [];
    const ticked = table ? find(table, 'input:checked,[aria-checked=true]') : [];
    const all = [...new Set([...own, ...(form ? find(around(form, own), controls) : []), ...ticked])].filter((c) => !(c instanceof HTMLInputElement) || typeOf.call(c) !== 'hidden');
    return all.length <= most ? all.filter((c) => c !== e && !c.disabled && !/^(?:fieldset|output|object|button)$/.test(tagOf.call(c)) && seen(c)) : null;
  }

  /** What is filled in, ticked and chosen in the form around an element, as human.Filled; undefined where there is no form, or it is too large. */
  function filled(e) {
    return controlsOf(e)?.flatMap((c) => {
      const holds = held(c);
      return holds ? [{ ...known(c), ...holds }] : [];
    });
  }

  /**
   * The first thing in which the form around an element is not as it was taught, in words: {more} is filled in, ticked or chosen, {less} is not
   * ticked. A field that is empty now is left to the steps that fill fields in.
   */
  function unlike(e, taught) {
    const is = (now, was) => now.role === was.role && sameWords(now.name, was.name);
    for (const c of controlsOf(e) || []) {
      const holds = held(c);
      const now = known(c);
      const mine = taught.filter((was) => is(now, was));
      const words = `${now.role} "${now.name.slice(0, 80)}"`;
      if (holds && !mine.some((was) => !was.holds || flat(was.holds) === holds.holds)) return { more: words + (holds.holds ? `: "${holds.holds.slice(0, 80)}"` : '') };
      if (!holds && fields.kind(c) === 'toggle' && mine.some((was) => !was.optional)) return { less: words };
    }
    return null;
  }

  /** What the part of the page around an element says, without what stands in fields; '' where it is large. */
  function says(e) {
    const part = closest.call(e, 'dialog,[role=dialog],[role=alertdialog]') || body();
    if (!part || part.getElementsByTagName('*').length > large) return '';
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_ALL, (node) => {
      if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
      return /^(?:script|style|template|noscript|select|textarea)$/.test(tagOf.call(node)) || !visible.call(node, { visibilityProperty: true }) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    let out = '';
    while (out.length < long && texts.nextNode()) out += ` ${texts.currentNode.data}`;
    return secrets.mask(flat(out)).slice(0, long);
  }

  return { describe: (e) => ({ form: filled(e), text: says(e) || undefined }), unlike };
})
