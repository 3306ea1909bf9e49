// Files: read whole, mapped, or written so that a reader sees the old content or the new, never a half.
//
// Every failure names the path and the system's reason: a DiskError if the disk is full or broken, else a UserError.
// What a function has written when it returns survives a power cut: data and folder entries are flushed (fsync).
//
//   write_file("run/config.toml", text);
//   MappedFile file("model.safetensors");     // file.bytes() while it lives
//   FolderLock lock("outputs/run");           // until the end of scope; a second holder gets a UserError
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tethys {

using Path = std::filesystem::path;

// Throws the error of a call that failed with `reason`, an errno: "cannot write run/log.txt: No space left on device".
[[noreturn]] void throw_file_error(const std::string& what, int reason);

// Of a regular file: what else has a name may have no end, or never begin. UserError, too, if it is larger than `most`.
std::string read_file(const Path& path, uint64_t most = uint64_t{16} << 30);

// Also of a pipe or a terminal, to its end: what a person may give as `<(command)` or /dev/stdin.
std::string read_input(const Path& path, uint64_t most);

// Replaces the file as a whole.
void write_file(const Path& path, std::string_view content);

// Where a write to a path goes: a link is followed, also to what is not there yet. UserError if links lead in a circle.
Path followed(const Path& path);

// Throws what write_file would before it writes. For what is written at the end of long work.
void require_writable(const Path& path);

// Whether something is there, at the end of its links. Where the system does not say, as of links in a loop, it fails.
bool is_there(const Path& path);

// The names in a folder, sorted.
std::vector<std::string> names_in(const Path& folder);

// From the root, without "." and ".." and without a slash at its end. There is none of an empty path.
Path whole_path(const Path& path);

// With all parents; a folder that is there already is fine.
void make_directories(const Path& path);

// Renames and flushes both folders. A folder is not put over one that holds something.
void rename_path(const Path& from, const Path& to);

// A file, or a folder with all that it holds; nothing there is fine.
void remove_path(const Path& path);

// Flushes the entries of a folder: what was created, renamed or removed in it.
void sync_directory(const Path& path);

// An open file descriptor, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  void close();

 private:
  int fd_ = -1;
};

// What read_input reads, piece by piece. A pipe that nothing writes to is refused, and not waited for.
class InputFile {
 public:
  explicit InputFile(Path path);
  // UserError if it is no regular file, or one of more than `most` bytes.
  void require_regular(uint64_t most) const;
  // Puts bytes at the front of `out`, which is not empty, and gives how many; 0 only at the end.
  size_t read(std::span<char> out);

 private:
  Path path_;
  Descriptor file_;
  bool is_pipe_, is_empty_ = true;
};

// Written at its end, and made if it is not there; what append was given is in the system's hands when it returns, so
// that a kill loses none. A pipe is refused.
class AppendedFile {
 public:
  explicit AppendedFile(Path path);
  void append(std::string_view bytes);

 private:
  Path path_;
  Descriptor file_;
};

// Written piece by piece under a temporary name next to its own, which it takes in commit(). Without a commit nothing
// appears. One thread at a time. A link is written through; what is no regular file is refused.
class AtomicFile {
 public:
  explicit AtomicFile(Path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  Descriptor create();

  Path given_;
  Path path_;  // with links followed
  Path temporary_;
  Descriptor file_;
  int64_t written_ = 0, begun_ = 0;  // bytes, and those of them that the disk was asked to take
};

// The bytes of a file, mapped read-only. Whoever shortens the file meanwhile crashes the reader.
class MappedFile {
 public:
  explicit MappedFile(const Path& path);
  MappedFile(MappedFile&& other) noexcept : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }
  // All of them in order, piece by piece, each read before it is used: what a failing disk does not give is a DiskError
  // then, and reading is as fast as the disk. None stays in memory.
  void for_each_piece(const std::function<void(std::span<const std::byte>)>& use) const;
  // A part of the bytes that was read stays in this process's memory until the end, or until this; it may be read
  // again.
  void let_go(std::span<const std::byte> part) const;

 private:
  void read_in(std::span<const std::byte> part) const;

  Path path_;
  std::span<const std::byte> bytes_;
};

// Held by at most one process (and one FolderLock within it); the system drops it when the holder dies, however that
// happens. It is a lock on the file `.lock` in the folder, which stays there.
class FolderLock {
 public:
  explicit FolderLock(const Path& folder);

 private:
  Descriptor file_;
};

}  // namespace tethys
