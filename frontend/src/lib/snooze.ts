export type SnoozeName = 'quarter' | 'hour' | 'later' | 'tomorrow' | 'monday';

/** When an operation may ring again, as wire times, counted from `now`: days begin at nine in the morning here. What would say the same twice is left out. */
export function snoozeTimes(now: number): { name: SnoozeName; until: string }[] {
  const inMinutes = (n: number): Date => new Date(now + n * 60_000);
  const morning = (days: number): Date => {
    const day = new Date(now);
    day.setDate(day.getDate() + days);
    day.setHours(9, 0, 0, 0);
    return day;
  };
  const later = inMinutes(180);
  const untilMonday = (8 - new Date(now).getDay()) % 7 || 7;
  const times: [SnoozeName, Date, boolean][] = [
    ['quarter', inMinutes(15), true],
    ['hour', inMinutes(60), true],
    ['later', later, later.getDate() === new Date(now).getDate()],
    ['tomorrow', morning(1), true],
    ['monday', morning(untilMonday), untilMonday > 1],
  ];
  return times.filter(([, , offered]) => offered).map(([name, at]) => ({ name, until: at.toISOString() }));
}
