const errors = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EXDEV', 'EACCES', 'ENAMETOOLONG', 'EINVAL']);

/** Whether an open failed because nothing, a link, or something else than a directory that we may enter has the name (openat2(2)). */
export function isNotInPlace(errno: string): boolean {
  return errors.has(errno);
}
