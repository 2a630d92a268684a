/** The value below which the given share of the figures lies (nearest rank). */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = Float64Array.from(figures).sort();
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (value === undefined) throw new RangeError('no figures');
  return value;
}

export function median(figures: readonly number[]): number {
  const sorted = Float64Array.from(figures).sort();
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no figures');
  return (upper + lower) / 2;
}
