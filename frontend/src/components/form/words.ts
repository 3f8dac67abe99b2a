import type { Fault, Question } from '../../lib/form';
import { m } from '../../paraglide/messages';

const formats: Record<string, () => string> = { email: m.form_email, uri: m.form_uri, date: m.form_date, 'date-time': m.form_date_time };

/** What is wrong with a value, as a sentence for the one who fills it in. */
export function faultWords({ code, limit }: Fault, question?: Question): string {
  const words: Record<string, () => string> = {
    required: () => (question?.ranking ? m.form_rank_all() : question?.choices.length ? m.form_choose() : m.form_required()),
    type: () => (limit === 'integer' ? m.form_integer() : limit === 'number' ? m.form_number() : m.form_type({ limit })),
    minLength: () => m.form_min_length({ limit }),
    maxLength: () => m.form_max_length({ limit }),
    format: () => formats[limit]?.() ?? m.form_type({ limit }),
    formatMinimum: () => m.form_after({ limit: momentWords(limit) }),
    formatMaximum: () => m.form_before({ limit: momentWords(limit) }),
    pattern: () => m.form_pattern({ limit }),
    minimum: () => m.form_minimum({ limit }),
    maximum: () => m.form_maximum({ limit }),
    exclusiveMinimum: () => m.form_more_than({ limit }),
    exclusiveMaximum: () => m.form_less_than({ limit }),
    multipleOf: () => m.form_multiple({ limit }),
    choice: m.form_not_a_choice,
    uniqueItems: m.form_twice,
    minItems: () => (question?.ranking ? m.form_rank_all() : m.form_min_items({ limit })),
    maxItems: () => m.form_max_items({ limit }),
    unknown: m.form_unknown,
  };
  return (words[code] ?? (() => m.form_type({ limit })))();
}

/** A date as it was sent; a moment in this machine's time zone. */
function momentWords(limit: string): string {
  return limit.includes('T') ? `${localOf(limit).replace('T', ' ')} (${zone()})` : limit;
}

/** What a value must be like, before anything is wrong with it. */
export function rangeWords(q: Question): string {
  if (q.ranking) return '';
  const { minLength: least, maxLength: most, minimum: low, maximum: high, minItems: few, maxItems: many } = q;
  if (q.type === 'array') return few && many ? m.form_items({ few, many }) : few ? m.form_min_items({ limit: few }) : many ? m.form_max_items({ limit: many }) : '';
  if (q.choices.length) return '';
  if (q.type === 'string') {
    const dates = [q.formatMinimum && m.form_after({ limit: momentWords(q.formatMinimum) }), q.formatMaximum && m.form_before({ limit: momentWords(q.formatMaximum) })].filter(Boolean).join(' ');
    return dates || (least && most ? m.form_length({ least, most }) : most ? m.form_max_length({ limit: most }) : least ? m.form_min_length({ limit: least }) : '');
  }
  return low !== undefined && high !== undefined ? m.form_range({ low, high }) : low !== undefined ? m.form_minimum({ limit: low }) : high !== undefined ? m.form_maximum({ limit: high }) : '';
}

export const zone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (n: number): string => String(Math.abs(n)).padStart(2, '0');

/** A moment as a field for local date and time has it; '' for what is none. */
export function localOf(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return '';
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A local date and time as a moment, with the offset that this machine's zone has then. */
export function momentOf(local: string): string {
  const at = new Date(local);
  if (!local || Number.isNaN(at.getTime())) return local;
  const offset = -at.getTimezoneOffset();
  const seconds = local.length === 16 ? ':00' : '';
  return `${local}${seconds}${offset < 0 ? '-' : '+'}${two(Math.trunc(offset / 60))}:${two(offset % 60)}`;
}
