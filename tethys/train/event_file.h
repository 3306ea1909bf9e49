// EventFile: curves and texts for TensorBoard. A file of records, each with its length and the masked CRC-32C of both
// (TFRecord), around `Event` messages. TensorBoard shows all event files of a folder as one run; a file that begins at
// a step hides what earlier files say of that step and later ones, so a resumed run begins a new file.
//
//   EventFile events(run.path(), {.first_step = 21, .wall_time = now});
//   events.add_scalars(21, now, {{"loss", 2.5}, {"grad_norm", 0.8}});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace tethys {

// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
uint32_t crc32c(std::string_view bytes);

// One record: length u64, masked CRC of the length u32, data, masked CRC of the data u32, little-endian.
std::string tf_record(std::string_view data);

class EventFile {
 public:
  struct Begin {
    int64_t first_step = 1;
    double wall_time = 0;  // seconds since 1970; in the file's name too
  };
  // Makes the file in `folder`. DiskError or UserError if it cannot be written.
  EventFile(const Path& folder, const Begin& begin);

  void add_scalars(int64_t step, double wall_time, const std::vector<std::pair<std::string, double>>& scalars);

  // Markdown, in UTF-8.
  void add_text(int64_t step, double wall_time, const std::string& tag, const std::string& text);

  const Path& path() const { return path_; }

 private:
  void append(const std::string& message);

  Path path_;
  AppendedFile file_;
};

}  // namespace tethys
