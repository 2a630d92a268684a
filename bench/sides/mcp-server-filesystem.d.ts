/** The package ships no types. Only what the trial calls. */
declare module '@modelcontextprotocol/server-filesystem/dist/lib.js' {
  export function setAllowedDirectories(directories: readonly string[]): void;
  export function validatePath(requestedPath: string): Promise<string>;
  export function readFileContent(path: string): Promise<string>;
}
