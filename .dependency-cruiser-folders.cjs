// No two folders import each other, tests left out: a test imports test/, and test/ imports everything.

const { options } = require('./.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-folder-loops',
      comment: 'Two folders that import each other cannot be read separately: move what both need into a third.',
      scope: 'folder',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: [options.exclude.path, '\\.(?:test|spec)\\.tsx?$', '^test/'] } },
};
