// What is secret on a page, and how it is hidden before anything is sent. It runs in the recorder's own world.
(function secrets(config) {
  'use strict';

  const hidden = '•••';
  const attribute = Element.prototype.getAttribute;
  const typeOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'type').get;
  const valueOf = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get;

  /** Fields that were for passwords once, whatever they say now. */
  const were = new WeakSet();
  /** What was typed into secret fields of this document: hidden wherever else it turns up. */
  let known = [];

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parameter = new RegExp(
    // Also where the address is a parameter of another, and its own signs are encoded.
    `((?:[?&#;]|%3F|%26|%23)(?:[a-z0-9]+[._-])*(?:${config.parameters.map(escaped).join('|')})(?:=|%3D))(?:[^&#;%\\s"'<>]|%(?:[013-9A-F][0-9A-F]|2[0-57-9A-F]))+`,
    'gi',
  );
  const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@?#]*:)[^/\s@]+(?=@)/gi;

  const shapes = [
    /-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|$)/g,
    /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)*/g,
    /\b(?:gh[pousr]_|github_pat_|gl[a-z]{2,5}-|npm_|hf_|dop_v1_|shp[a-z]{2}_|whsec_|sq0[a-z]{3}-)[\w-]{16,}/g,
    /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}/g,
    /\b(?:xox[a-z]|xapp)-[\w-]{10,}/g,
    /\b[srp]k_(?:live|test)_\w{10,}/g,
    /\b(?:sk|pypi)-[\w-]{16,}/g,
    /\bAIza[\w-]{30,}/g,
    /\bya29\.[\w-]{10,}/g,
    /\bSG\.[\w-]{10,}\.[\w-]{10,}/g,
    /\b\d{8,10}:AA[\w-]{30,}/g,
    /\bhttps:\/\/hooks\.slack\.com\/\S+/g,
    /(?<=\b(?:bearer|basic)\s+)(?=[a-z._~+/-]*\d)[a-z0-9._~+/-]{16,}=*/gi,
    /(?<=\bPIN\s*[:=：]\s*)\d{4,12}\b/gi,
    /(?<=(?:^|\s)--?(?:password|passwd|passphrase|pwd|token|secret|api-?key)(?:=|\s+)["']?)[^\s"'<$-][^\s"'<$]{3,}/gi,
  ];
  const written =
    /((?:password|passwort|kennwort|passwd|passcode|passphrase|pwd|密码|密碼|口令)["'`]?\s*(?:[:=：]|\bis\b|是|为)\s*["'`]?)([^\s"'`<>$，。]{4,64})/gi;
  /** Beginnings of secrets: what is being typed may become one. */
  const begun = [
    /-----BEGIN[^]*/g,
    /\b(?:eyJ|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|npm_|hf_|AKIA|ASIA|xox[a-z]-|[srp]k_|sk-|pypi-|AIza|ya29\.|SG\.)\S*/g,
    /(?<=(?:password|passwort|kennwort|passwd|passcode|passphrase|pwd|密码|密碼|口令|\bpin)["'`]?\s*[:=：]\s*)\S+/gi,
    /(?<=\b(?:bearer|basic)\s+)\S+/gi,
    /\d(?:[ -]?\d){5,}/g,
  ];

  function issued(d) {
    const n = d.length;
    const four = Number(d.slice(0, 4));
    const from = (low, high, digits) => {
      const head = Math.floor(four / 10 ** (4 - digits));
      return head >= low && head <= high;
    };
    if (d[0] === '4') return n === 13 || n === 16 || n === 19;
    if (from(51, 55, 2) || from(2221, 2720, 4) || from(6011, 6011, 4) || from(644, 659, 3)) return n === 16;
    if (from(34, 34, 2) || from(37, 37, 2)) return n === 15;
    if (from(3528, 3589, 4) || from(62, 62, 2)) return n >= 16;
    if (from(300, 305, 3) || from(36, 36, 2) || from(38, 39, 2)) return n === 14 || n === 16;
    return false;
  }

  /** The check digit of ISO/IEC 7812-1. */
  function checks(digits) {
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
      let d = Number(digits[digits.length - 1 - i]);
      if (i % 2 === 1) d = d * 2 > 9 ? d * 2 - 9 : d * 2;
      sum += d;
    }
    return sum % 10 === 0;
  }

  /** Hides numbers of payment cards in a run of digits, spaces and hyphens; another number may stand before. */
  function cards(run) {
    const groups = [...run.matchAll(/\d+/g)];
    for (let i = 0; i < groups.length; i++) {
      let digits = '';
      for (let j = i; j < groups.length && digits.length <= 19; j++) {
        digits += groups[j][0];
        if (digits.length >= 13 && digits.length <= 19 && issued(digits) && checks(digits)) {
          const end = groups[j].index + groups[j][0].length;
          return run.slice(0, groups[i].index) + hidden + cards(run.slice(end));
        }
      }
    }
    return run;
  }

  /** The text with its secrets hidden. Of a text that is still being typed (open), what may become one as well. */
  function mask(text, open) {
    let out = text;
    for (const secret of known) if (out.includes(secret)) out = out.split(secret).join(hidden);
    if (open) for (const shape of begun) out = out.replace(shape, hidden);
    if (out.length < 4) return out;
    for (const shape of shapes) out = out.replace(shape, hidden);
    out = out.replace(written, (all, before, word) => (/[a-z]/i.test(word) && /[\d!@#%^&*+=~|\\?_]/.test(word) ? before + hidden : all));
    if (out.includes('=') || out.includes('%3')) out = out.replace(parameter, `$1${hidden}`);
    if (out.includes('://')) out = out.replace(userInfo, `$1${hidden}`);
    if (/\d{4}/.test(out)) out = out.replace(/\d[\d -]{11,}\d/g, cards);
    return out;
  }

  /** An address without the values of secret parameters, and without content of its own (data:). */
  function url(address) {
    if (/^(?:data|javascript|blob):/i.test(address)) return address.slice(0, address.indexOf(':') + 1);
    return mask(address).slice(0, 4000);
  }

  const words = /pass(?:w(?:or[dt]|d)|code|phrase)|\bpwd|kennwort|密码|密碼|口令/i;
  const others = /\b(?:cvv2?|cvc2?|csc|otp|totp|mfa|2fa)\b|one[-_ ]?time[-_ ]?(?:code|pass)|card[-_ ]?(?:number|num|no)\b|cc[-_ ]?(?:number|num)\b|security[-_ ]?code|verification[-_ ]?code|验证码|驗證碼/i;

  /** Why a field is secret: password or secret; '' when it is not. */
  function why(field) {
    const input = field instanceof HTMLInputElement;
    if (input && typeOf.call(field) === 'password') were.add(field);
    if (were.has(field)) return 'password';
    const complete = (attribute.call(field, 'autocomplete') || '').toLowerCase();
    if (/current-password|new-password/.test(complete)) return 'password';
    if (/one-time-code|\bcc-(?!name|type|given|family|additional)/.test(complete)) return 'secret';
    if (!input || !/^(?:text|tel|number|search|email)$/.test(typeOf.call(field))) return '';
    const called = ['name', 'id', 'placeholder', 'aria-label'].map((a) => attribute.call(field, a) || '').join(' ');
    if (words.test(called)) return 'password';
    return others.test(called.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ')) || others.test(called) ? 'secret' : '';
  }

  /** Reads whether a field's letters are shown as dots by its style, as those of a password. It may compute styles. */
  function styled(field) {
    const dots = getComputedStyle(field).webkitTextSecurity;
    if (dots && dots !== 'none') were.add(field);
  }

  const starts = 'eyJ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- npm_ hf_ dop_v1_ shpat_ whsec_ sq0atp- AKIA ASIA ABIA ACCA xoxb- xoxp- xoxa- xapp- sk_live_ sk_test_ rk_live_ pk_live_ sk-proj- pypi- AIza ya29. SG. -----BEGIN'.split(' ');

  /** Whether a secret may have begun at the end of a text, of which too little is there to say so. */
  function mayBegin(text) {
    if (mask(text, true) !== mask(text)) return true;
    const word = /\S*$/.exec(text.slice(-60))[0];
    return word !== '' && (/\d[\d -]*$/.test(text) || starts.some((start) => start.startsWith(word)));
  }

  /** A number that two secrets share if they are the same. Its key is this recording's, and nobody keeps either. */
  function alike(text) {
    let a = config.seed[0] | 0;
    let b = config.seed[1] | 0;
    for (let i = 0; i < text.length; i++) {
      a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
      b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (b >>> 0) * 65536 + (a >>> 16);
  }

  /** Keeps what stands in a secret field, so that it is hidden in a field that takes its place, too. */
  function remember(field, text = '') {
    const value = field instanceof HTMLInputElement ? valueOf.call(field) : text;
    if (value.length < 4 || known.includes(value)) return;
    // What is typed on grows from what is known: only the longest of them is kept.
    known = [value, ...known.filter((k) => !value.startsWith(k))].sort((a, b) => b.length - a.length).slice(0, 50);
  }

  /** Says whether a text has a secret in it that was typed into a secret field. */
  const holds = (text) => known.some((k) => text.includes(k));

  /** Watches a document or an open shadow root for password fields that change their type. */
  const watching = new MutationObserver((records) => {
    for (const r of records) {
      if (r.oldValue && r.oldValue.toLowerCase() === 'password') were.add(r.target);
    }
  });
  const watch = (root) => watching.observe(root, { subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true });

  return { hidden, mask, url, why, styled, mayBegin, alike, remember, holds, watch, were };
})
