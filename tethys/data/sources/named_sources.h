// Named sources: what data.text and data.mix mean together. Without a mix all files are one source. With one, each glob
// belongs to the source whose name stands in front of it, and the mix gives each name its weight.
//
//   named_sources({"code:src/**/*.py", "code:lib/*.py", "prose:books/*.txt"}, {"code=0.7", "prose=0.3"}, "--data.mix");
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tethys {

struct NamedSource {
  std::string name;
  double share = 1;                // of the rows; those of all sources add up to 1
  std::vector<std::string> files;  // globs
  bool operator==(const NamedSource&) const = default;
};

// In the order of the mix. UserError, opening with `where`, for a weight that is not a number above 0 or
// less than a 1e-12 of all, a name that
// comes twice, and a name that only one of the two lists has.
std::vector<NamedSource> named_sources(const std::vector<std::string>& text, const std::vector<std::string>& mix,
                                       std::string_view where);

}  // namespace tethys
