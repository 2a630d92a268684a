/** Archives of what is not in Git. */
export const archiveCodes = {
  archive_not_found: {
    kind: 'missing',
    status: 404,
    title: 'There is no archive of this name for this checkout.',
  },
  archive_quota_exceeded: {
    kind: 'unavailable',
    status: 507,
    title:
      'What would be destroyed does not fit beside the archives that are kept, so nothing was destroyed.',
  },
  not_archivable: {
    kind: 'conflict',
    status: 409,
    title: 'What would be destroyed cannot be kept as an archive, so nothing was destroyed.',
  },
} as const;
