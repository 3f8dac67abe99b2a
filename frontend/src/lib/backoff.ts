/**
 * How long to wait, in milliseconds, before try number `attempt` (from 0): doubling from a quarter of a second to
 * ten seconds, spread by `random` (0 to 1) so that many pages do not come back at the same instant.
 */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(10_000, 250 * 2 ** attempt);
  return whole / 2 + (whole / 2) * random;
}
