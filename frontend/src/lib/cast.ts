/** When something was printed in an asciicast of version 3, in seconds from its start. Lines that are no event are left out. */
export function printed(cast: string): number[] {
  const times: number[] = [];
  let at = 0;
  for (const line of cast.split('\n').slice(1)) {
    if (!line.startsWith('[')) continue;
    const [after, code] = JSON.parse(line) as [number, string];
    at += after;
    if (code === 'o') times.push(at);
  }
  return times;
}

/** Nothing printed for longer is skipped to this much before what comes next, in seconds. */
const lull = 2;
const lead = 0.7;

/** Where playing goes on at a time within a long pause; undefined elsewhere. `times` are in order. */
export function past(times: readonly number[], now: number): number | undefined {
  const next = times.find((at) => at > now);
  return next !== undefined && next - now > lull ? next - lead : undefined;
}
