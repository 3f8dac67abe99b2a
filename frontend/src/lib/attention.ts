/** Days added up to weeks, which begin on Mondays; in minutes. */
export function weeksOf(days: readonly { date: string; spent_ms: number; saved_ms: number }[]): { from: string; spent: number; saved: number }[] {
  const weeks: { from: string; spent: number; saved: number }[] = [];
  for (const day of days) {
    const monday = new Date(`${day.date}T00:00:00Z`).getUTCDay() === 1;
    if (monday || !weeks.length) weeks.push({ from: day.date, spent: 0, saved: 0 });
    const week = weeks[weeks.length - 1];
    if (!week) continue;
    week.spent += day.spent_ms / 60_000;
    week.saved += day.saved_ms / 60_000;
  }
  return weeks;
}
