import { describe, expect, it } from 'vitest';
import { ConfigSyntaxError, parseGitConfig } from '../../src/proof/git-config.ts';

function flat(text: string): string[] {
  return parseGitConfig(Buffer.from(text, 'latin1')).map(({ section, subsection, key, value }) => {
    const name = [section, subsection, key].filter((part) => part !== null).join('.');
    return value === null ? name : `${name}=${value}`;
  });
}

describe('Git configuration text', () => {
  it.each<readonly [string, string, readonly string[]]>([
    ['nothing', '', []],
    ['comments and blank lines', '# a\n; b\n\n\t \n', []],
    ['a plain setting', '[core]\n\tbare = false\n', ['core.bare=false']],
    ['case of names', '[CoRe]\n\tBaRe = TRUE\n', ['core.bare=TRUE']],
    ['a subsection, whose case counts', '[remote "Origin"]\n url = x\n', ['remote.Origin.url=x']],
    ['escapes in a subsection', '[a "x\\"y\\\\z\\q"]\nb=1\n', ['a.x"y\\zq.b=1']],
    ['the old form of a subsection', '[a.B]\nc=1\n', ['a.b.c=1']],
    ['a setting on the line of the section', '[core] bare = true\n', ['core.bare=true']],
    ['two sections on one line', '[a][b] c = 1\n', ['b.c=1']],
    ['a key without a value', '[core]\n\tbare\n', ['core.bare']],
    ['a key without a value at the end', '[core]\nbare', ['core.bare']],
    ['an empty value', '[a]\nb =\n', ['a.b=']],
    ['no newline at the end', '[a]\nb = 1', ['a.b=1']],
    ['space around and within a value', '[a]\nb = \t x  y \t\n', ['a.b=x  y']],
    ['quotes', '[a]\nb = " x "y" z"\n', ['a.b= x y z']],
    ['comment characters in and out of quotes', '[a]\nb = "x # y" # z\nc = 1;2\n', ['a.b=x # y', 'a.c=1']],
    ['escapes', '[a]\nb = x\\ty\\nz\\b\\\\\\"\n', ['a.b=x\ty\nz\b\\"']],
    ['a continued line', '[a]\nb = x \\\n  y\n', ['a.b=x   y']],
    ['a continued key name is still a value', '[a]\nb = \\\n[include]\n', ['a.b=[include]']],
    ['DOS line ends', '[a]\r\nb = 1\r\n', ['a.b=1']],
    ['a byte order mark', '\xef\xbb\xbf[a]\nb = 1\n', ['a.b=1']],
    ['bytes of any encoding', '[a]\nb = \xff\xfe\n', ['a.b=\xff\xfe']],
  ])('reads %s', (_, text, entries) => {
    expect(flat(text)).toEqual(entries);
  });

  it.each<readonly [string, string]>([
    ['a setting before any section', 'a = 1\n'],
    ['an open section', '[core\n'],
    ['an open subsection', '[a "b\n"]\n'],
    ['a space before the bracket', '[a "b" ]\n'],
    ['a space after the bracket', '[ a]\n'],
    ['no space before the subsection', '[a"b"]\n'],
    ['an empty section', '[]\n'],
    ['text after a section', '[a] =\n'],
    ['a key that begins with a digit', '[a]\n1b = 1\n'],
    ['an underscore in a key', '[a]\nb_c = 1\n'],
    ['two words without an equals sign', '[a]\nb c\n'],
    ['a comment after a key without a value', '[a]\nb # c\n'],
    ['an open quote', '[a]\nb = "x\n'],
    ['an unknown escape', '[a]\nb = \\x\n'],
    ['a backslash at the end', '[a]\nb = \\'],
    ['NUL', '[a]\nb = x\0y\n'],
    ['a lone carriage return', '[a]\nb = x\ry\n'],
    ['a vertical tab', '[a]\vb = 1\n'],
    ['part of a byte order mark', '\xef\xbb[a]\nb=1\n'],
    ['a second byte order mark', '\xef\xbb\xbf\xef\xbb\xbf[a]\nb=1\n'],
  ])('R04: refuses %s', (_, text) => {
    expect(() => flat(text)).toThrow(ConfigSyntaxError);
  });

  it('says in which line', () => {
    expect(() => flat('[a]\nb=1\n[c\n')).toThrow(expect.objectContaining({ line: 3 }));
  });
});
