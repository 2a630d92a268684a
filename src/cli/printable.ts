/** C0 but the line feed, DEL and C1 (ECMA-48): what a terminal would obey instead of showing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

/** Names of files come from strangers. Shown, not obeyed; in JSON the escape stands for the same character. */
export function printable(text: string): string {
  return text.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
