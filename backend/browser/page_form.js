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
  const controlOf = getter(HTMLLabelElement, 'control');
  const parts = 'form,dialog,[role=dialog],[role=alertdialog],[role=form]';
  const toggles = '[role=checkbox],[role=switch],[role=radio],[aria-pressed]';
  const controls = `input:not([type=hidden]),select,textarea,[contenteditable=""],[contenteditable=true],${toggles}`;
  const unsaid = 'label,legend,a,button,summary,nav,aside,[role=button],[role=link],[role=tab],[role=menuitem],[role=navigation],[role=complementary],[role=banner],[role=contentinfo],body>header,body>footer';
  const passing = 'tr,td,th,li,dd,output,meter,time,[role=row],[role=cell],[role=gridcell],[role=listitem],[role=option],[role=article],[role=status],[role=log],[role=timer],[role=marquee]';
  const inForm = 'li,a,button,summary,[role=button],[role=link],[role=tab],[role=listitem]'; // of these a form's own say what is sent
  const small = 200; // elements of a form whose items, links and buttons count
  const matches = Element.prototype.matches;
  const most = 300; // controls of a form, and
  const large = 3000; // elements of a part of a page, beyond which it is not looked at
  const long = 20_000; // characters of it
  const mostLines = 120;

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
      const labels = [...c.selectedOptions].filter((o) => o.value !== '').map((o) => (parent(o) instanceof HTMLOptGroupElement ? `${flat(parent(o).label)} › ${flat(o.label)}` : flat(o.label)));
      return labels.length ? { holds: secrets.mask(labels.join(', ')) } : null;
    }
    if (c instanceof HTMLInputElement && typeOf.call(c) === 'range') return { holds: valueOf.call(c) };
    if (c instanceof HTMLInputElement) return /^(?:button|submit|reset|image|color)$/.test(attr(c, 'type')) || !valueOf.call(c) ? null : {};
    if (c instanceof HTMLTextAreaElement) return areaValue.call(c) ? {} : null;
    const on = attr(c, 'aria-checked') || attr(c, 'aria-pressed');
    if (on) return on === 'true' ? {} : null;
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
    return all.length <= most ? all.filter((c) => c !== e && !c.disabled && (!/^(?:fieldset|output|object|button)$/.test(tagOf.call(c)) || matches.call(c, toggles)) && seen(c)) : null;
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

  /** What the part of the page around an element says, line by line and without what stands in fields; '' where it is large. */
  function says(e) {
    const part = closest.call(e, 'dialog,[role=dialog],[role=alertdialog]') || body();
    return part && part.getElementsByTagName('*').length <= large ? secrets.mask(textOf(part)).slice(0, long) : '';
  }

  /** What can be read in an element, line by line and without what stands in fields. */
  function textOf(part) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
      return /^(?:script|style|template|noscript|select|textarea)$/.test(tagOf.call(node)) || !visible.call(node, { visibilityProperty: true }) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    let out = '';
    let last = null;
    while (out.length < long && texts.nextNode()) {
      const text = flat(texts.currentNode.data);
      if (!text) continue;
      const line = lineOf(texts.currentNode);
      out += (line === last ? (/^\s/.test(texts.currentNode.data) || /\s$/.test(out) ? ' ' : '') : '\n') + texts.currentNode.data.replace(/\s+/g, ' ');
      last = line;
    }
    return out;
  }

  /** What a line is compared by: without what is another each day, which are numbers and dates. */
  const plain = (line) => line.replace(dates(), '0').replace(/\p{Nd}+(?:[.,:/’' -]\p{Nd}+)*/gu, '#');
  let named; // the names of months and days, in the page's language
  function dates() {
    if (named) return named;
    const all = new Set();
    const lang = [document.documentElement.lang, navigator.language, 'en'].filter((l) => /^\p{L}{2,3}(?:-|$)/u.test(l));
    for (const how of [{ month: 'long' }, { month: 'short' }, { weekday: 'long' }, { weekday: 'short' }, { month: 'long', day: 'numeric' }]) {
      const format = new Intl.DateTimeFormat(lang, { ...how, timeZone: 'UTC' });
      for (let n = 0; n < 12; n++) for (const { type, value } of format.formatToParts(Date.UTC(2026, n, n + 1))) if ((type === 'month' || type === 'weekday') && /^\p{L}{3,}$/u.test(value)) all.add(value);
    }
    return (named = new RegExp(`(?<!\\p{L})(?:${[...all].sort((a, b) => b.length - a.length).join('|') || '0'})(?!\\p{L})`, 'gu'));
  }

  /** The element that a text is laid out as a line of. */
  function lineOf(text) {
    let at = parent(text);
    while (at && /^(?:inline|contents|ruby)$/.test(getComputedStyle(at).display)) at = above(at);
    return at;
  }

  /**
   * The lines of text around an element: of the dialog that it lies in, and of the main part of the page. Without the labels of fields and
   * of what can be pressed, which are known by themselves, without other rows, items and the values of facts, which are data, and without what floats over the page.
   * What a box or a switch is called says what is done without it, too; so do the items, links and buttons of the form around the element.
   */
  function lines(e) {
    const whole = body();
    if (!whole) return [];
    const main = closest.call(e, 'main,[role=main]') || find(whole, 'main,[role=main]')[0] || whole;
    const dialog = closest.call(e, 'dialog,[role=dialog],[role=alertdialog]');
    const zone = zoneOf(e);
    return [...(dialog && !contains(main, dialog) ? linesIn(dialog, e, zone) : []), ...linesIn(main, e, zone)];
  }

  /** The form around an element with all its fields, or the dialog; null where there is none that is small: some pages are one form. */
  function zoneOf(e) {
    const part = e.form instanceof HTMLFormElement ? around(e.form, [...e.form.elements]) : closest.call(e, parts);
    return part && part.getElementsByTagName('*').length <= small ? part : null;
  }

  /** Whether a style takes an element out of sight and leaves it to screen readers. */
  const unseen = (style) => style.position === 'absolute' && (/^rect\((?:[01](?:px)?,? ?){4}\)$/.test(style.clip) || /^inset\((?:50|100)%/.test(style.clipPath));

  const switches = (node) => matches.call(node, toggles) || (node instanceof HTMLLabelElement && /^(?:checkbox|radio)$/.test(attr(controlOf.call(node) || node, 'type')));

  function linesIn(part, e, zone) {
    const counts = (node) => switches(node) || (zone && contains(zone, node) && matches.call(node, inForm));
    const left = (node) => {
      if (node === e || /^(?:script|style|template|noscript|select|textarea)$/.test(tagOf.call(node)) || !visible.call(node, { visibilityProperty: true })) return true;
      if (contains(node, e)) return false;
      const style = getComputedStyle(node);
      return (matches.call(node, `${passing},${unsaid}`) && !counts(node)) || style.position === 'fixed' || unseen(style);
    };
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
      return left(node) ? NodeFilter.FILTER_REJECT : tagOf.call(node) === 'br' ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
    });
    const out = [];
    let last = null;
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (!(node instanceof Text)) last = null;
      else if (/\S/.test(node.data)) {
        const line = lineOf(node);
        if (line === last) out[out.length - 1] += node.data;
        else out.push(node.data);
        last = line;
      } else if (last && out.length) out[out.length - 1] += ' ';
    }
    // What patterns have a meaning for is written with letters that are like it.
    return out.map((line) => secrets.mask(flat(line)).slice(0, 200).replaceAll('*', '∗').replaceAll('›', '>')).filter((line) => /\p{L}/u.test(line));
  }

  /** The lines around an element as they are compared; undefined where there are many. */
  function worded(e) {
    if ((body() || e).getElementsByTagName('*').length > large) return undefined;
    const all = lines(e).map(plain);
    return all.length <= mostLines ? all : undefined;
  }

  /**
   * The first line around an element that is none of those that were taught, in which * stands for anything, and A › B for B right after A;
   * undefined where there is none.
   */
  function strange(e, taught) {
    const pattern = (line) => new RegExp(`^${line.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&')).join('.*')}$`, 'su');
    const known = taught.map((line) => plain(line).split(' › ').map(pattern).reverse());
    let before = '';
    return lines(e).find((line) => {
      const both = [plain(line), before];
      before = both[0];
      return !known.some((parts) => parts.length <= 2 && parts.every((p, i) => p.test(both[i])));
    });
  }

  return { describe: (e) => ({ form: filled(e), text: says(e) || undefined, says: worded(e) }), textOf, unlike, worded, strange };
})
