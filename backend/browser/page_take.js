// What Deskbell asks a frame for: what stands in an element that was picked. It
// runs when it is called, never for an event, and may read the layout.
(function takes(secrets, elements, form) {
  'use strict';

  const { attr, tagOf, find, flat, isEditable, rootOf } = elements;
  const rectOf = Element.prototype.getBoundingClientRect;
  const textOf = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'innerText').get;
  const valueOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get;
  const closest = Element.prototype.closest;
  const most = 20_000;

  /** Bounds in CSS pixels of the frame's viewport, rounded to the outside. */
  function bounds(e) {
    const r = rectOf.call(e);
    const x = Math.floor(r.left);
    const y = Math.floor(r.top);
    return { x, y, w: Math.ceil(r.right) - x, h: Math.ceil(r.bottom) - y };
  }

  /** The text as far as it is taken, and how much of it was too much. */
  const short = (taken) => (taken.length > most ? `${taken.slice(0, most)} … and ${taken.length - most} more characters, which were too many to take` : taken);

  function text(e) {
    if (secrets.why(e)) return secrets.hidden;
    if (e instanceof HTMLInputElement) {
      if (/^(?:checkbox|radio)$/.test(e.type)) return e.checked ? 'checked' : 'unchecked';
      return secrets.mask(valueOf.call(e));
    }
    if (e instanceof HTMLTextAreaElement) return secrets.mask(e.value);
    if (e instanceof HTMLSelectElement) return secrets.mask([...e.selectedOptions].map((o) => o.label).join(', '));
    const shown = e instanceof HTMLElement ? textOf.call(e) : e.textContent;
    return short(secrets.mask((shown || attr(e, 'alt') || attr(e, 'aria-label')).trim()));
  }

  /** The text of a cell in one line; of fields in it, what stands in them. */
  function cell(e) {
    const inner = find(e, 'input,select,textarea');
    const shown = flat(text(e));
    return shown || flat([...inner].map(text).join(' '));
  }

  function table(e) {
    const at = closest.call(e, 'table,[role=table],[role=grid],[role=treegrid]');
    if (!at) return null;
    const native = at instanceof HTMLTableElement;
    const rows = native ? [...at.rows] : [...find(at, '[role=row]')];
    const heads = (row) => [...row.children].every((c) => tagOf.call(c) === 'th' || attr(c, 'role') === 'columnheader');
    const cells = (row) => (native ? [...row.cells] : [...find(row, '[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]')]);
    const out = [];
    const below = []; // cells that reach down into rows to come
    for (const row of rows.slice(0, 10_000)) {
      const line = [];
      const fill = () => {
        while (below[line.length] && below[line.length].left > 0) {
          const b = below[line.length];
          b.left--;
          line.push(b.text);
        }
      };
      for (const c of cells(row)) {
        fill();
        const value = cell(c);
        const down = native ? Math.min(c.rowSpan, 1000) - 1 : 0;
        for (let i = native ? Math.min(c.colSpan, 100) : 1; i > 0; i--) {
          if (down > 0) below[line.length] = { left: down, text: value };
          line.push(value);
        }
      }
      fill();
      if (line.length) out.push(line);
    }
    return { node: at, rows: out, left: Math.max(rows.length - 10_000, 0), header: rows.length > 0 && rows[0].children.length > 0 && heads(rows[0]) };
  }

  /** The list around an element: a list, or else the nearest ancestor of several children of one kind. */
  function list(e) {
    const at = closest.call(e, 'ul,ol,menu,dl,[role=list],[role=listbox],[role=menu],[role=tree],select');
    if (at) {
      const items = at instanceof HTMLSelectElement ? [...at.options] : [...find(at, 'li,dt,dd,[role=listitem],[role=option],[role=menuitem],[role=treeitem]')].filter((i) => closest.call(elements.parent(i), 'ul,ol,menu,dl,[role=list],[role=listbox],[role=menu],[role=tree]') === at);
      if (items.length) return { node: at, rows: items.map((i) => [flat(i instanceof HTMLOptionElement ? secrets.mask(i.label) : text(i))]), header: false };
    }
    for (let child = e, up = elements.parent(e); up && tagOf.call(up) !== 'body'; child = up, up = elements.parent(up)) {
      const like = [...find(up, ':scope > *')].filter((c) => tagOf.call(c) === tagOf.call(child) && attr(c, 'class') === attr(child, 'class'));
      if (like.length >= 2) return { node: up, rows: like.map((c) => [flat(text(c))]), header: false };
    }
    return null;
  }

  /** The rows of all tables and lists that a frame shows. */
  const rows = (all) => [...all('table,[role=table],[role=grid],[role=treegrid]')].flatMap((e) => table(e).rows).concat([...all('li,[role=listitem]')].map((e) => [flat(text(e))])).slice(0, 10_000);

  /**
   * Takes what was picked: kind is element, selection, table or list. null when there is none. bounds and element
   * are those of what was taken: the whole table, not the cell that was pointed at. cut says how many rows were left out.
   */
  function take(kind, node) {
    let e = node instanceof Element ? node : node ? elements.parent(node) : null;
    if (kind === 'selection') return selection();
    if (!e) return null;
    const whole = kind === 'table' ? table(e) : kind === 'list' ? list(e) : null;
    if ((kind === 'table' || kind === 'list') && !whole) return null;
    if (whole) {
      let size = 0;
      const rows = whole.rows.filter((r) => (size += r.join('').length + 4) < 500_000).map((r) => r.map((c) => c.slice(0, 2000)));
      const left = whole.rows.length - rows.length + (whole.left || 0);
      return { text: JSON.stringify(rows), rows, cut: left, header: whole.header, bounds: bounds(whole.node), element: elements.describe(whole.node) };
    }
    if (closest.call(e, 'option')) e = closest.call(e, 'select') || e;
    return { text: text(e), bounds: bounds(e), element: { ...elements.describe(e), says: form.worded(e) } };
  }

  function selection() {
    const active = elements.active();
    if (active && (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) && !isEditable(active)) {
      let from;
      try {
        from = active.selectionStart;
      } catch {
        from = null; // fields of some types have no selection
      }
      if (from !== null && active.selectionEnd > from) {
        const value = secrets.why(active) ? secrets.hidden : secrets.mask(active.value.slice(from, active.selectionEnd));
        return { text: short(value), bounds: bounds(active), element: elements.describe(active) };
      }
    }
    const s = getSelection();
    if (!s || !s.rangeCount || s.isCollapsed) return null;
    const range = s.getRangeAt(0);
    const r = range.getBoundingClientRect();
    const at = range.commonAncestorContainer;
    const e = at instanceof Element ? at : elements.parent(at) || rootOf.call(at).host;
    const x = Math.floor(r.left);
    const y = Math.floor(r.top);
    return {
      text: short(secrets.mask(s.toString())),
      bounds: { x, y, w: Math.ceil(r.right) - x, h: Math.ceil(r.bottom) - y },
      element: elements.describe(e),
    };
  }

  return { take, rows };
})
