/** Milliseconds from one wire time to another, or to a clock's reading; 0 for what is missing. */
export function between(from: string | undefined, to: string | number | undefined): number {
  if (!from || to === undefined) return 0;
  return (typeof to === 'number' ? to : Date.parse(to)) - Date.parse(from);
}

/** What is finer than a millisecond, in nanoseconds. */
const beyond = (at: string): number => Number((/\.\d{3}(\d{1,6})/.exec(at)?.[1] ?? '').padEnd(6, '0'));

/** Orders wire times by the instants they name, however they are written; what is missing comes first. */
export function byTime(a: string | undefined, b: string | undefined): number {
  if (!a || !b) return Number(!!a) - Number(!!b);
  return Date.parse(a) - Date.parse(b) || beyond(a) - beyond(b);
}

const pad = (n: number): string => String(n).padStart(2, '0');

/** A span as a stop watch shows it: '0:52', '12:04', '1:02:03'. Never negative. */
export function stopwatch(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const h = Math.floor(s / 3600);
  const m = Math.floor(s / 60) % 60;
  return h ? `${h}:${pad(m)}:${pad(s % 60)}` : `${m}:${pad(s % 60)}`;
}

/** What a span is best said in: seconds below ten minutes, then minutes, hours, days. */
export type Span = { unit: 'clock'; text: string } | { unit: 'minutes' | 'hours' | 'days'; n: number };

/** Ten minutes and more are said in minutes, less by the clock. */
export function span(ms: number): Span {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 10) return { unit: 'clock', text: stopwatch(ms) };
  if (minutes < 120) return { unit: 'minutes', n: minutes };
  if (minutes < 48 * 60) return { unit: 'hours', n: Math.floor(minutes / 60) };
  return { unit: 'days', n: Math.floor(minutes / 1440) };
}

/** The coarse age of a row: 'now' below a minute, then minutes, hours, days. */
export function age(ms: number): { unit: 'now' } | { unit: 'minutes' | 'hours' | 'days'; n: number } {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return { unit: 'now' };
  if (minutes < 60) return { unit: 'minutes', n: minutes };
  if (minutes < 24 * 60) return { unit: 'hours', n: Math.floor(minutes / 60) };
  return { unit: 'days', n: Math.floor(minutes / 1440) };
}

/** The time of day, in 24 hours on the operator's clock, with seconds where `exact`. */
export function timeOfDay(at: string | number, exact = false): string {
  const d = new Date(at);
  const short = `${pad(d.getHours())}:${pad(d.getMinutes())}`;
  return exact ? `${short}:${pad(d.getSeconds())}` : short;
}

/** A day of the operator's calendar, as a date field says it. */
export function dateOf(day: Date): string {
  return [day.getFullYear(), pad(day.getMonth() + 1), pad(day.getDate())].join('-');
}

/** Whether two moments lie on one day of the operator's calendar. */
export function sameDay(a: string | number, b: string | number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** How much of the time limit is left, from 1 to 0; null where there is no limit. */
export function fractionLeft(created: string, expires: string | undefined, now: number): number | null {
  if (!expires) return null;
  const whole = between(created, expires);
  return whole <= 0 ? 0 : Math.min(1, Math.max(0, -between(expires, now) / whole));
}
