// Films a page with rrweb, in a world of its own. All that is typed is hidden, and so is what the recorder hides.
(function film(send, secrets, load, limits) {
  'use strict';

  if (!send || globalThis.filmed === document) return;
  globalThis.filmed = document;
  try {
    if (window !== window.top && window.parent.document) return; // the film of the page around it shows this one, too
  } catch {
    // of another site: it has a film of its own
  }

  const name = Math.random().toString(36).slice(2);
  let number = 0;
  let size = 0;
  let stop;

  const say = (message) => send(JSON.stringify({ d: name, n: number, ...message }));

  // What else holds addresses and texts: attributes, titles. Style sheets and pictures hold none.
  const clean = (key, value) => {
    if (typeof value !== 'string' || value.length < 4 || key === '_cssText' || key === 'cssText' || value.startsWith('data:')) return value;
    return value.length > 15 || value.includes('=') ? secrets.mask(value) : value;
  };

  function emit(event) {
    number++;
    const text = JSON.stringify(event, clean);
    size += text.length;
    if (size > limits.film || text.length > limits.event) {
      say({ lost: text.length });
      if (stop && size > limits.film) stop();
      return;
    }
    const of = Math.ceil(text.length / limits.piece);
    for (let i = 0; i < of; i++) say({ i, of, s: text.slice(i * limits.piece, (i + 1) * limits.piece) });
  }

  addEventListener(
    'input',
    (event) => {
      const field = event.composedPath()[0];
      if (event.isTrusted && field instanceof Element && secrets.why(field)) secrets.remember(field);
    },
    true,
  );

  // rrweb marks fields that were for passwords in the page itself, where others see it. All fields are hidden here.
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (attribute, value) {
    if (attribute !== 'data-rr-is-password') set.call(this, attribute, value);
  };

  const all = ['color', 'date', 'datetime-local', 'email', 'hidden', 'month', 'number', 'range', 'search', 'tel', 'text', 'time', 'url', 'week', 'textarea', 'select', 'password'];

  function start() {
    try {
      stop = load()({
        emit,
        maskInputOptions: Object.fromEntries(all.map((kind) => [kind, true])),
        maskInputFn: (text) => (text ? secrets.hidden : ''),
        maskTextSelector: '*',
        maskTextFn: (text) => secrets.mask(text),
        sampling: { mousemove: 100, scroll: 150, media: 800 },
        slimDOMOptions: 'all',
        recordCanvas: false,
        recordCrossOriginIframes: false,
        collectFonts: false,
        inlineImages: false,
      });
    } catch (problem) {
      say({ failed: String(problem).slice(0, 300) });
    }
  }

  // While a page is built rrweb may not come to an end with it.
  if (document.readyState === 'complete') setTimeout(start);
  else addEventListener('load', () => setTimeout(start), { once: true });
})
