/**
 * What is closed below a root, as data. This room confines paths and knows no Git: the authority hands in which names,
 * shapes and directories are closed (R12).
 */
export interface Confinement {
  /** Whether one path component is closed by its name alone. */
  readonly isClosedName: (component: string) => boolean;
  /** A directory holding all of these names is closed, whatever it is called. */
  readonly closedShape: readonly string[];
  /** Directories closed by identity wherever they are found. */
  readonly closedIdentities: readonly { readonly device: bigint; readonly inode: bigint }[];
}
