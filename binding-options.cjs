// What the prebuilt addon is called, for pkg-prebuilds: to find it when installed, and to build only when it is not there.
module.exports = { name: 'workspace_authority', napi_versions: [8] };
