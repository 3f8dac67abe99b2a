/** When an operation may ring again, as wire times, counted from `now`; tomorrow is nine in the morning here. */
export function snoozeTimes(now: number): { quarter: string; hour: string; threeHours: string; tomorrow: string } {
  const inMinutes = (n: number): string => new Date(now + n * 60_000).toISOString();
  const morning = new Date(now);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(9, 0, 0, 0);
  return { quarter: inMinutes(15), hour: inMinutes(60), threeHours: inMinutes(180), tomorrow: morning.toISOString() };
}
