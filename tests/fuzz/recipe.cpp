#include "config/recipe.h"

#include "config/config.h"
#include "config/describe.h"
#include "tests/fuzz/fuzz.h"

// A recipe that is taken is written out as one that is taken and says the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tethys;
  const Path path = fuzz_folder() / "a.toml", again = fuzz_folder() / "again.toml";
  return fuzz({data, size}, [&](std::string_view content) {
    put(path, content);
    Config config;
    load_recipe(config, path.string(), fuzz_folder());
    const std::string written = config_toml(config);
    put(again, written);
    Config other;
    load_recipe(other, again.string(), fuzz_folder());
    require(config_toml(other) == written, "written and read again it is another recipe");
  });
}
