#include "train/event_file.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "event.pb.h"

namespace tethys {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[byte] = crc;
  }
  return table;
}();

template <typename Number>
void append_number(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

// A CRC of data that holds its own CRC is weak, so the format turns it and adds a constant.
uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U; }

train::proto::Event event_at(int64_t step, double wall_time) {
  train::proto::Event event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  return event;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

std::string tf_record(std::string_view data) {
  std::string record;
  append_number(record, static_cast<uint64_t>(data.size()));
  append_number(record, masked_crc(record));
  record += data;
  append_number(record, masked_crc(data));
  return record;
}

EventFile::EventFile(const Path& folder, const Begin& begin)
    : path_(folder / fmt::format("events.out.tfevents.{}.tethys.{}", std::llround(std::floor(begin.wall_time)),
                                 begin.first_step)),
      file_(path_) {
  train::proto::Event version = event_at(0, begin.wall_time);
  version.set_file_version("brain.Event:2");
  append(version.SerializeAsString());
  train::proto::Event start = event_at(begin.first_step, begin.wall_time);
  start.mutable_session_log()->set_status(1);
  append(start.SerializeAsString());
}

void EventFile::add_scalars(int64_t step, double wall_time,
                            const std::vector<std::pair<std::string, double>>& scalars) {
  train::proto::Event event = event_at(step, wall_time);
  for (const auto& [tag, value] : scalars) {
    train::proto::Summary::Value& entry = *event.mutable_summary()->add_value();
    entry.set_tag(tag);
    entry.set_simple_value(static_cast<float>(value));
  }
  append(event.SerializeAsString());
}

void EventFile::add_text(int64_t step, double wall_time, const std::string& tag, const std::string& text) {
  constexpr int kStrings = 7;
  train::proto::Event event = event_at(step, wall_time);
  train::proto::Summary::Value& entry = *event.mutable_summary()->add_value();
  entry.set_tag(tag);
  entry.mutable_tensor()->set_dtype(kStrings);
  entry.mutable_tensor()->mutable_tensor_shape();  // a scalar
  entry.mutable_tensor()->add_string_val(text);
  entry.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  append(event.SerializeAsString());
}

// A record is whole in the file when this returns.
void EventFile::append(const std::string& message) { file_.append(tf_record(message)); }

}  // namespace tethys
