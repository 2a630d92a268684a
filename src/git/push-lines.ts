/** What a remote said to one ref of a push. */
export interface PushLine {
  /** Full name at the remote. */
  readonly to: string;
  /** Null when the remote has the commit now. */
  readonly rejection: 'non-fast-forward' | 'refused-there' | 'other' | null;
}

/** Reads the lines of `git push --porcelain`: flag, `from:to` and summary, with tabs between them. Other lines are for people. */
export function parsePushLines(output: Buffer): readonly PushLine[] {
  return output
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [flag, refs, ...summary] = line.split('\t');
      if (flag?.length !== 1 || refs === undefined) return [];
      const to = refs.slice(refs.indexOf(':') + 1);
      return [{ to, rejection: flag === '!' ? rejectionOf(summary.join(' ')) : null }];
    });
}

function rejectionOf(summary: string): Exclude<PushLine['rejection'], null> {
  if (/\((?:non-fast-forward|fetch first)\)/.test(summary)) return 'non-fast-forward';
  return summary.startsWith('[remote rejected]') ? 'refused-there' : 'other';
}
