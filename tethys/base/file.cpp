#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <future>
#include <system_error>
#include <vector>

#include "base/disk.h"
#include "base/error.h"
#include "base/number.h"
#include "base/temporary_name.h"

namespace tethys {
namespace {

// The reason is read first: formatting the path may change errno.
[[noreturn]] void fail(const char* verb, const Path& path) {
  const int reason = errno;
  throw_file_error(fmt::format("cannot {} {}", verb, path.string()), reason);
}

// Not what was asked for is wrong then, but the place where it was to go.
bool is_of_disk(int reason) { return reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO; }

template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

Descriptor open_file(const char* verb, const Path& path, int flags) {
  const int fd = retry_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
  if (fd < 0) fail(verb, path);
  return Descriptor(fd);
}

// A pipe is not waited for.
Descriptor open_to_read(const Path& path) { return open_file("read", path, O_RDONLY | O_NONBLOCK); }

struct stat status_of(const Descriptor& file, const char* verb, const Path& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail(verb, path);
  return status;
}

[[noreturn]] void fail_as_too_large(const Path& path, uint64_t most) {
  user_error("cannot read {}: it is larger than the {} bytes that are read of such a file", path.string(),
             with_commas(static_cast<int64_t>(most)));
}

Descriptor create_file(const Path& path, int flags) {
  const int fd = disk::create(path, flags);
  if (fd < 0) fail("write", path);
  return Descriptor(fd);
}

// Measured on Linux 6 with ext4: larger writes may take ten times as long, while the kernel looks for huge pages.
constexpr size_t kMostAtOnce = size_t{1} << 20;

void write_all(int fd, std::span<const std::byte> bytes, const Path& path) {
  while (!bytes.empty()) {
    const ssize_t n = disk::write(fd, bytes.first(std::min(bytes.size(), kMostAtOnce)), path);
    if (n < 0) fail("write", path);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

}  // namespace

void throw_file_error(const std::string& what, int reason) {
  const std::string text = fmt::format("{}: {}", shown(what), std::generic_category().message(reason));
  if (is_of_disk(reason)) throw DiskError(text);
  throw UserError(text);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

namespace {

// Also of what has no size, as under /proc.
std::string read_to_end(InputFile& file, const Path& path, uint64_t most) {
  std::string content;
  constexpr size_t kChunk = 1 << 16;
  while (true) {
    const size_t size = content.size();
    content.resize(size + kChunk);
    const size_t n = file.read(std::span(content).subspan(size));
    content.resize(size + n);
    if (content.size() > most) fail_as_too_large(path, most);
    if (n == 0) return content;
  }
}

}  // namespace

std::string read_file(const Path& path, uint64_t most) {
  InputFile file(path);
  file.require_regular(most);
  return read_to_end(file, path, most);
}

std::string read_input(const Path& path, uint64_t most) {
  InputFile file(path);
  return read_to_end(file, path, most);
}

void InputFile::require_regular(uint64_t most) const {
  const struct stat status = status_of(file_, "read", path_);
  if (S_ISDIR(status.st_mode)) throw_file_error("cannot read " + path_.string(), EISDIR);
  if (!S_ISREG(status.st_mode)) user_error("cannot read {}: it is no regular file", path_.string());
  if (static_cast<uint64_t>(status.st_size) > most) fail_as_too_large(path_, most);
}

InputFile::InputFile(Path path)
    : path_(std::move(path)), file_(open_to_read(path_)), is_pipe_(S_ISFIFO(status_of(file_, "read", path_).st_mode)) {}

size_t InputFile::read(std::span<char> out) {
  while (true) {
    const ssize_t n = retry_interrupted([&] { return ::read(file_.get(), out.data(), out.size()); });
    if (n > 0) is_empty_ = false;
    if (n == 0 && is_pipe_ && is_empty_) user_error("cannot read {}: nothing writes to this pipe", path_.string());
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EAGAIN) fail("read", path_);
    pollfd more{file_.get(), POLLIN, 0};
    ::poll(&more, 1, -1);
  }
}

AppendedFile::AppendedFile(Path path)
    : path_(std::move(path)), file_(disk::create(path_, O_WRONLY | O_APPEND | O_NONBLOCK)) {
  const bool is_unread_pipe = file_.get() < 0 && errno == ENXIO;
  if (!is_unread_pipe && file_.get() < 0) fail("write", path_);
  if (is_unread_pipe || S_ISFIFO(status_of(file_, "write", path_).st_mode)) {
    user_error("cannot write {}: it is a pipe, expected a file; remove it", path_.string());
  }
  ::fcntl(file_.get(), F_SETFL, O_APPEND);  // a terminal, where it is one, is waited for
}

void AppendedFile::append(std::string_view bytes) { write_all(file_.get(), std::as_bytes(std::span(bytes)), path_); }

void write_file(const Path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(content)));
  file.commit();
}

bool is_there(const Path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::none) throw_file_error("cannot look at " + path.string(), error.value());
  return type != std::filesystem::file_type::not_found;
}

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) names.push_back(entry->path().filename().string());
  if (error) throw_file_error("cannot list " + folder.string(), error.value());
  std::sort(names.begin(), names.end());
  return names;
}

Path whole_path(const Path& path) {
  std::error_code error;
  const Path whole = std::filesystem::absolute(path, error).lexically_normal();
  if (path.empty()) user_error("a path is empty: give one");
  if (error) throw_file_error(fmt::format("cannot tell where {} is", path.string()), error.value());
  return whole.has_filename() ? whole : whole.parent_path();
}

void make_directories(const Path& path) {
  std::error_code ignored;  // mkdir says better what is wrong
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return;
  if (path.has_parent_path() && path.parent_path() != path) make_directories(path.parent_path());
  if (!path.has_filename()) return;
  if (disk::make_folder(path) == 0) return sync_directory(folder_of(path));
  const int reason = errno;
  if (reason == EEXIST && std::filesystem::is_directory(path, ignored)) return;
  if (reason == EEXIST)
    user_error("cannot make the folder {}: something that is no folder has its name", path.string());
  errno = reason;
  fail("make the folder", path);
}

void rename_path(const Path& from, const Path& to) {
  if (disk::rename(from, to) != 0) {
    const int reason = errno;
    throw_file_error(fmt::format("cannot rename {} to {}", from.string(), to.string()), reason);
  }
  sync_directory(folder_of(to));
  if (folder_of(from) != folder_of(to)) sync_directory(folder_of(from));
}

void remove_path(const Path& path) {
  // No link is followed: what it points to is not the path's.
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return;
  if (type != std::filesystem::file_type::directory) {
    if (disk::remove_file(path) != 0 && errno != ENOENT) fail("remove", path);
    return;
  }
  for (const std::string& name : names_in(path)) remove_path(path / name);
  if (disk::remove_folder(path) != 0 && errno != ENOENT) fail("remove", path);
}

void sync_directory(const Path& path) {
  const Descriptor folder = open_file("open the folder", path, O_RDONLY | O_DIRECTORY);
  // Some file systems have no fsync of folders and say EINVAL: there is nothing more to be done on them.
  if (disk::flush_folder(folder.get(), path) != 0 && errno != EINVAL) fail("flush the folder", path);
}

Path followed(const Path& path) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  Path real = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(real, error); ++links) {
    if (links == kMostLinks) user_error("cannot write {}: its links lead in a circle", path.string());
    const Path target = std::filesystem::read_symlink(real, error);
    if (error) user_error("cannot write {}: {}", path.string(), error.message());
    real = real.parent_path() / target;  // an absolute target is taken alone
  }
  return real;
}

void require_writable(const Path& path) { AtomicFile file(path); }

namespace {

// A device or a pipe must not become a file, which root could make of it.
Path written_path(const Path& path) {
  const Path real = followed(path);
  std::error_code ignored;
  const auto type = std::filesystem::status(real, ignored).type();
  using enum std::filesystem::file_type;
  if (type == directory) throw_file_error("cannot write " + path.string(), EISDIR);
  if (type == character || type == block || type == fifo || type == socket) {
    user_error("cannot write {}: it is no regular file; name another", path.string());
  }
  return real;
}

}  // namespace

AtomicFile::AtomicFile(Path path) : given_(std::move(path)), path_(written_path(given_)), file_(create()) {}

Descriptor AtomicFile::create() {
  remove_abandoned_of(path_);
  while (true) {
    temporary_ = temporary_name(path_);
    Descriptor file(disk::create(temporary_, O_WRONLY | O_TRUNC));
    if (file.get() < 0) fail("write", given_);
    if (claim_temporary(file.get(), temporary_)) return file;
  }
}

AtomicFile::~AtomicFile() {
  if (file_.get() >= 0) disk::remove_file(temporary_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kBegin = size_t{8} << 20;
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kBegin));
    write_all(file_.get(), piece, given_);
    written_ += static_cast<int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
    // The disk begins now, so that the flush at the end finds little left to do. A hint: whether it works is not asked.
    if (written_ - begun_ < static_cast<int64_t>(kBegin)) continue;
    ::sync_file_range(file_.get(), begun_, written_ - begun_, SYNC_FILE_RANGE_WRITE);
    begun_ = written_;
  }
}

void AtomicFile::commit() {
  if (disk::flush(file_.get(), path_) != 0) fail("flush", given_);
  if (disk::rename(temporary_, path_) != 0) fail("write", given_);
  file_.close();
  sync_directory(folder_of(path_));
}

MappedFile::MappedFile(const Path& path) : path_(path) {
  const Descriptor file = open_to_read(path);
  const struct stat status = status_of(file, "read", path);
  if (!S_ISREG(status.st_mode)) user_error("cannot read {}: it is not a file", path.string());
  const size_t size = static_cast<size_t>(status.st_size);
  if (size == 0) return;  // the system maps no empty range
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail("map", path);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::read_in(std::span<const std::byte> part) const {
  for (size_t at = 0; at < part.size(); at += kMostAtOnce) {
    const std::span<const std::byte> piece = part.subspan(at, std::min(kMostAtOnce, part.size() - at));
    auto* address = const_cast<std::byte*>(piece.data());
    const int failed = retry_interrupted([&] { return ::madvise(address, piece.size(), MADV_POPULATE_READ); });
    // Where it is not known, or there is no memory for it now, the bytes are read when they are touched.
    const bool unreadable = failed != 0 && (errno == EFAULT || errno == EIO || errno == EHWPOISON);
    if (unreadable) throw_file_error(fmt::format("cannot read {}", path_.string()), EIO);
  }
  // In a virtual machine a page may still have to be brought in by the host, when it is touched.
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < part.size(); at += kPage)
    static_cast<void>(*static_cast<const volatile std::byte*>(&part[at]));
}

void MappedFile::for_each_piece(const std::function<void(std::span<const std::byte>)>& use) const {
  constexpr size_t kPiece = 4 * kMostAtOnce, kAhead = 2;
  if (bytes_.empty()) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_SEQUENTIAL);  // read ahead further
  const auto piece_at = [&](size_t at) { return bytes_.subspan(at, std::min(kPiece, bytes_.size() - at)); };
  std::deque<std::future<void>> ahead;
  size_t begun = 0;
  for (size_t at = 0; at < bytes_.size(); at += kPiece) {
    for (; begun < bytes_.size() && ahead.size() <= kAhead; begun += kPiece) {
      ahead.push_back(std::async(std::launch::async, [this, part = piece_at(begun)] { read_in(part); }));
    }
    ahead.front().get();
    ahead.pop_front();
    use(piece_at(at));
    let_go(piece_at(at));
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::let_go(std::span<const std::byte> part) const {
  if (part.empty()) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // a hint: a failure costs memory alone
}

FolderLock::FolderLock(const Path& folder) {
  const Path path = folder / ".lock";
  Descriptor file = create_file(path, O_RDWR);
  if (retry_interrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) fail("lock", path);
    user_error("{} is in use by process {}: wait for it to end, or choose another output folder", folder.string(),
               read_file(path));
  }
  struct stat held = {}, there = {};
  if (::fstat(file.get(), &held) != 0 || ::stat(path.c_str(), &there) != 0 || held.st_ino != there.st_ino) {
    user_error("{} was left by another process just now: try again", folder.string());
  }
  if (::ftruncate(file.get(), 0) != 0) fail("write", path);
  const std::string pid = std::to_string(::getpid());
  write_all(file.get(), std::as_bytes(std::span(pid)), path);
  file_ = std::move(file);
}

}  // namespace tethys
