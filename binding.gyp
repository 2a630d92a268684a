{
  # Builds the same addon as CMakeLists.txt, from the same list of sources, for those who have node-gyp but no CMake.
  "variables": { "with_faults%": 0 },
  "targets": [
    {
      "target_name": "workspace_authority",
      "conditions": [
        [
          "OS=='linux'",
          {
            "sources": ["<!@(cat native/sources.txt)"],
            "include_dirs": ["native"],
            "cflags_cc!": ["-std=gnu++20", "-fno-exceptions", "-fno-rtti", "-std=gnu++17"],
            "cflags_cc": [
              "-std=gnu++17",
              "-isystem<!(node -p \"require('path').resolve(require('node-addon-api').include_dir)\")",
              "-isystem<!(node -p \"require('node-api-headers').include_dir\")",
              "-fno-exceptions",
              "-fvisibility=hidden",
              "-fvisibility-inlines-hidden",
              "-Wall",
              "-Wextra",
              "-Wpedantic",
              "-Werror"
            ],
            "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS"],
            "conditions": [["with_faults==1", { "defines": ["WITH_FAULTS"] }]]
          },
          { "type": "none" }
        ]
      ]
    },
    {
      "target_name": "death-guard",
      "conditions": [
        [
          "OS=='linux'",
          {
            "type": "executable",
            "sources": ["native/death-guard.cc"],
            "cflags_cc!": ["-std=gnu++20", "-fno-exceptions", "-fno-rtti", "-std=gnu++17"],
            "cflags_cc": ["-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
          },
          { "type": "none" }
        ]
      ]
    }
  ]
}
