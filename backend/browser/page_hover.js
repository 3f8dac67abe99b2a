// Hovers that opened something: a menu that came when the pointer rested on an element. Nothing is measured: what
// opens is told by attributes, added elements, transitions, and by the engine's own watch over menus (an
// IntersectionObserver answers after the frame's layout and forces none). It runs in the recorder's own world.
(function hover(elements, tell, sight) {
  'use strict';

  const { attr, tagOf, find, isActing } = elements;
  const contains = Node.prototype.contains;
  const closest = Element.prototype.closest;
  const within = 800; // ms in which something opens because of a hover
  const menus =
    'li ul, li ol, li [role=menu], li > div, [aria-haspopup] ~ *, [class*=dropdown i] > [class*=menu i], [class*=dropdown i] > [class*=content i], [class*=submenu i]';
  const bars = 'nav, header, menu, [role=menubar], [role=navigation], [class*=menu i], [class*=nav i], [class*=dropdown i]';
  const layers = 'dialog, [role=dialog], [role=alertdialog], [class*=overlay i], [class*=modal i]';
  const acted = 'a[href], button, input, select, [role^=menuitem], [role=option], [tabindex]';

  let over = null; // what the pointer is on, until something is pressed
  let watched = 0;
  const shown = new WeakMap();

  const opening = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const was = shown.get(entry.target);
      shown.set(entry.target, entry.isIntersecting);
      if (was === false && entry.isIntersecting) opened(entry.target, false);
    }
  });

  /** Watches menus that may open without any trace in the document. */
  function search() {
    const began = performance.now();
    look();
    rest = Math.max(3000, (performance.now() - began) * 1000); // on a large page less often: a thousandth of the time
  }

  /** What style sheets show while something else is hovered over, and what that is. */
  const triggers = new WeakMap();
  function styled() {
    let left = 200;
    const read = (rules) => {
      for (const rule of rules) {
        if (left <= 0) return;
        if (rule.cssRules && rule.cssRules.length) read(rule.cssRules);
        if (!rule.selectorText || !rule.selectorText.includes(':hover')) continue;
        for (const one of rule.selectorText.split(',')) {
          const at = one.indexOf(':hover');
          if (at < 0 || !/[\s>+~]/.test(one.slice(at).trim())) continue;
          const [what, by] = [one.replaceAll(':hover', ''), one.slice(0, at)];
          try {
            for (const e of find(document, what)) {
              if (shown.has(e) || left-- <= 0) continue;
              triggers.set(e, by.trim() || '*');
              shown.set(e, undefined);
              opening.observe(e);
            }
          } catch {
            // a part of a selector with parentheses is none
          }
        }
      }
    };
    for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
      try {
        read(sheet.cssRules);
      } catch {
        // of another site
      }
    }
  }

  function look() {
    let count = 0;
    styled();
    for (const bar of [...find(document, bars)].slice(0, 50)) {
      for (const menu of find(bar, menus)) {
        if (shown.has(menu)) continue;
        shown.set(menu, undefined);
        opening.observe(menu);
        if (++count > 100) return;
      }
    }
  }

  const changes = new MutationObserver((records) => {
    for (const r of records) {
      if (r.type === 'attributes') {
        if (r.attributeName !== 'aria-expanded') {
          const was = r.attributeName === 'hidden' ? r.oldValue !== null : /display:\s*none|visibility:\s*hidden/.test(r.oldValue || '');
          const is = r.attributeName === 'hidden' ? r.target.hasAttribute('hidden') : /display:\s*none|visibility:\s*hidden/.test(attr(r.target, 'style'));
          if (was && !is && find(r.target, acted).length) return opened(r.target, true);
        } else if (attr(r.target, 'aria-expanded') === 'true' && over && (contains.call(r.target, over.e) || contains.call(over.e, r.target))) return opened(null, true);
      } else {
        for (const n of r.addedNodes) if (n instanceof Element && isMenu(n)) return opened(n, true);
      }
    }
  });

  function isMenu(e) {
    const called = `${attr(e, 'role')} ${attr(e, 'class')}`;
    return /menu|listbox|dialog|dropdown|popover|popup|flyout|overlay|hovercard/i.test(called) && (find(e, acted).length > 0 || isActing(e));
  }

  /** Whether something came in one layer with what the pointer is on, such as a dialog with what darkens the page behind it. */
  function together(e) {
    for (let at = closest.call(over.e, layers); at; at = elements.parent(at) && closest.call(elements.parent(at), layers)) if (contains.call(at, e)) return true;
    return false;
  }

  /** Something opened; sure: it need not lie beside what the pointer is on. */
  function opened(e, sure) {
    if (!over || over.told || performance.now() - over.at > within) return;
    if (e && contains.call(e, over.e)) return;
    if (e && !isActing(over.e) && together(e)) return;
    const by = e && triggers.get(e);
    if (by) {
      if (!closest.call(over.e, by) || (!find(e, acted).length && !isActing(e))) return;
    } else if (!sure && !contains.call(over.e, e) && !(elements.parent(over.e) && contains.call(elements.parent(over.e), e))) return;
    over.told = true;
    changes.disconnect();
    tell(over.at, { type: 'page_hover', x: over.x, y: over.y, element: sight.seen(over.e, elements.describeClosed(over.e, e)) });
  }

  function entered(event, way) {
    if (event.pointerType !== 'mouse' || event.buttons) return;
    let e = null;
    for (let i = 0; i < way.length && i < 6 && !e; i++) {
      const at = way[i];
      if (at instanceof Element && (isActing(at) || tagOf.call(at) === 'li' || attr(at, 'aria-haspopup'))) e = at;
    }
    if (!e) e = way[0] instanceof Element ? way[0] : null;
    if (!e || (over && over.e === e)) return;
    over = { e, x: Math.floor(event.clientX), y: Math.floor(event.clientY), at: event.timeStamp, told: false };
    changes.observe(document, { subtree: true, childList: true, attributes: true, attributeOldValue: true, attributeFilter: ['aria-expanded', 'hidden', 'style'] });
    clearTimeout(watched);
    watched = setTimeout(() => changes.disconnect(), within);
    if (event.timeStamp - searched > rest) {
      searched = event.timeStamp;
      requestIdleCallback(search);
    }
  }
  let searched = 0;
  let rest = 3000; // ms

  function pressed() {
    over = null;
    changes.disconnect();
  }

  function moved(event) {
    const e = event.composedPath()[0];
    if (!over || !/^(?:opacity|visibility|transform|max-height|height|clip-path)$/.test(event.propertyName)) return;
    if (e instanceof Element && e !== over.e && find(e, acted).length) opened(e, false);
  }

  function toggled(event) {
    if (event.newState === 'open' && event.target instanceof Element) opened(event.target, true);
  }

  return { entered, pressed, moved, toggled, search };
})
