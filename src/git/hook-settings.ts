declare const trusted: unique symbol;

/** Descriptor path of a held directory whose programs the operator trusts. Made only where that trust is looked up. */
export type HooksDirectory = string & { readonly [trusted]: true };

export function hooksDirectoryOf(directory: { descriptorPath(): string }): HooksDirectory {
  return directory.descriptorPath() as HooksDirectory;
}

/** The setting that makes Git look for hooks there and nowhere else. */
export function hooksSetting(directory: HooksDirectory): string {
  return `core.hooksPath=${directory}`;
}
