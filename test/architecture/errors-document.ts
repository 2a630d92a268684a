import { type CodeRow, errorCodes } from '../../src/errors/index.ts';

const introduction = `# Error codes

Everything this package refuses or fails with has one of these codes. The list is closed: a code is never renamed and never gets a
synonym. It is made from \`src/errors/codes\`; \`npx vitest run test/architecture/errors.test.ts --update\` writes it anew.

- In the library: \`AuthorityError\` with \`code\`, \`status\`, \`retryable\`, \`details\` and \`cause\`. The message is the title below.
- Over HTTP: \`application/problem+json\` (RFC 9457) with \`code\`, \`status\`, \`title\`, \`retryable\`, \`details\`, and \`error\` for older
  clients: the literal in the fourth column, else the code.
- On the command line: the title, then what was seen, then what to do; exit code 1.

\`retryable\` means that the same request may succeed later without anybody changing it.
`;

/** The whole of docs/errors.md. */
export function errorsDocument(): string {
  const kinds = [...new Set(Object.values(errorCodes).map((row) => row.kind))];
  const sections = kinds.map((kind) => {
    const rows = Object.entries<CodeRow>(errorCodes).filter(([, row]) => row.kind === kind);
    const lines = rows.map(([code, row]) => {
      const legacy = row.legacy === undefined ? '' : `\`${row.legacy}\``;
      return `| \`${code}\` | ${row.status} | ${row.retryable ? 'yes' : ''} | ${legacy} | ${row.title} |`;
    });
    return [
      `## ${kind}`,
      '',
      '| code | status | retryable | `error` | title |',
      '|---|---|---|---|---|',
      ...lines,
      '',
    ].join('\n');
  });
  return [introduction, ...sections].join('\n');
}
