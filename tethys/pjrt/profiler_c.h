// The profiler's table of functions, which a plugin offers by extension type 1, and whose header is not part of the
// plugin's package. For the sources of pjrt/ only.
#pragma once

#include <xla/pjrt/c/pjrt_c_api.h>

#include <cstddef>
#include <cstdint>

namespace tethys::pjrt {

struct ProfilerHandle;  // the plugin's
struct ProfilerFailure;

struct ProfilerDropFailureArgs {
  size_t struct_size;
  void* priv;
  ProfilerFailure* failure;
};

struct ProfilerTextArgs {
  size_t struct_size;
  void* priv;
  const ProfilerFailure* failure;
  const char* text;  // out
  size_t text_size;  // out
};

struct ProfilerCodeArgs {
  size_t struct_size;
  void* priv;
  const ProfilerFailure* failure;
  int code;  // out
};
inline constexpr size_t kProfilerCodeArgsSize = offsetof(ProfilerCodeArgs, code) + sizeof(int);

struct ProfilerCreateArgs {
  size_t struct_size;
  const char* options;  // a serialized ProfileOptions
  size_t options_size;
  ProfilerHandle* profiler;  // out
};

struct ProfilerArgs {
  size_t struct_size;
  ProfilerHandle* profiler;
};

// Null: the plugin says how much there is, and may give a buffer of its own; else it writes there.
struct ProfilerCollectArgs {
  size_t struct_size;
  ProfilerHandle* profiler;
  uint8_t* buffer;
  size_t buffer_size;
};

struct ProfilerTable {
  size_t struct_size;
  void* priv;
  void (*drop_failure)(ProfilerDropFailureArgs*);
  void (*text)(ProfilerTextArgs*);
  ProfilerFailure* (*code)(ProfilerCodeArgs*);
  ProfilerFailure* (*create)(ProfilerCreateArgs*);
  ProfilerFailure* (*destroy)(ProfilerArgs*);
  ProfilerFailure* (*start)(ProfilerArgs*);
  ProfilerFailure* (*stop)(ProfilerArgs*);
  ProfilerFailure* (*collect)(ProfilerCollectArgs*);
};

struct ProfilerExtension {
  PJRT_Extension_Base base;
  const ProfilerTable* table;
};

}  // namespace tethys::pjrt
