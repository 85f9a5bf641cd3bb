// Times as RFC 3339 writes them, in whole milliseconds since 1970.

const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The time that a text is; finer digits than milliseconds are cut off. */
export function parse(text: string): number | undefined {
  const found = TIME.exec(text);
  if (found === null || text.endsWith("\n")) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const [ahead, behind] = [Number(found[9] ?? 0), Number(found[10] ?? 0)];
  const leap = second === 60;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 60 || ahead > 23 || behind > 59) return undefined;
  const offset = (found[8] === "-" ? -1 : 1) * (60 * ahead + behind) * 60_000;
  const millis = Number(`${found[7] ?? ""}000`.slice(0, 3));
  const time = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + millis - offset;
  // A leap second is the last of a month of UTC, and belongs to the next.
  if (leap && ((time - millis) % 86_400_000 !== 0 || new Date(time).getUTCDate() !== 1)) return undefined;
  return time;
}

/** A time as this producer writes it. */
export function format(time: number): string {
  return new Date(time).toISOString();
}
