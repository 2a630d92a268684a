// Stands for nodegit, as far as the smoke test of a build asks it anything.
exports.Repository = { openExt: async (path) => ({ workdir: () => `${path}/` }) };
