#include "data/index/token_index.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/temporary_name.h"
#include "data/chat/chat_encoder.h"
#include "data/ordered_batches.h"
#include "data/parallel.h"
#include "data/sources/documents.h"
#include "data/sources/text.h"
#include "data/tokenizer/encoder.h"

namespace tethys {
namespace {

using HashText = std::array<char, 32>;

constexpr std::array<char, 8> kMagic = {'t', 'e', 't', 'h', 'y', 'i', 'd', 'x'};
constexpr uint32_t kVersion = 3;
constexpr std::string_view kExtension = ".idx";

struct Part {
  uint64_t documents = 0;
  uint64_t tokens = 0;
  uint64_t text_bytes = 0;
};

// The end of the file, which holds: the training tokens, the validation tokens, zeros up to a multiple of 8, the starts
// of the training documents and of the validation documents (u64, each from 0), of chats the bits that say which
// training and which validation tokens are learnt (u64 each), and this.
struct Footer {
  HashText tokenizer_hash{};
  HashText sources_hash{};
  HashText fingerprint{};
  double validation_share = 0;
  std::array<Part, 2> parts;  // training, validation
  uint64_t skipped_lines = 0;
  uint64_t masked = 0;  // 1 of chats
  uint32_t token_bytes = 0;
  uint32_t version = kVersion;
  std::array<char, 8> magic = kMagic;

  uint64_t tokens_size() const { return token_bytes * (parts[0].tokens + parts[1].tokens); }
  uint64_t starts_offset() const { return (tokens_size() + 7) / 8 * 8; }
  uint64_t file_size() const {
    return starts_offset() + 8 * (parts[0].documents + parts[1].documents) +
           8 * (mask_words(parts[0]) + mask_words(parts[1])) + sizeof(Footer);
  }
  uint64_t mask_words(const Part& part) const { return masked * ((part.tokens + 63) / 64); }
};
static_assert(sizeof(Footer) == 184 && std::is_trivially_copyable_v<Footer>);

HashText hash_text(const std::string& hex) {
  HashText text;
  require(hex.size() == text.size(), "a hash of {} digits", hex.size());
  std::copy(hex.begin(), hex.end(), text.begin());
  return text;
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

struct Document {
  size_t file = 0;
  int64_t line = 0;  // of a file that holds them
  int64_t size = 0;  // of the text
  HashText hash{};
};

// What of the options decides which documents the files hold: nothing, unless some hold lines.
std::string key_of(const LineOptions& lines, const std::vector<std::string>& files) {
  if (std::none_of(files.begin(), files.end(), holds_lines)) return "";
  return fmt::format("\n{} {}", lines.skip_bad_lines ? "skip" : "all", lines.chats ? "\n" : lines.text_field);
}

// Paths, sizes and times: enough to notice a change without reading a byte of text.
std::string hash_sources(const std::vector<std::string>& files, const LineOptions& lines) {
  std::string list;
  for (const std::string& file : files) {
    std::error_code error;
    uint64_t size = std::filesystem::file_size(file, error);
    auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
    if (error) user_error("cannot read {}: {}", file, error.message());
    list += fmt::format("{} {} {}\n", size, time, file);
  }
  return hash_hex(list + key_of(lines, files));
}

// The lines of the files that hold some, for one who asks for them in order.
class LineCursor {
 public:
  LineCursor(const std::vector<std::string>& files, const LineOptions& options) : files_(files), options_(options) {}

  // False if the file has no such line.
  bool seek(const Document& document, Line& line) {
    if (!lines_ || file_ != document.file) lines_ = open_line_source(files_[file_ = document.file], options_);
    while (lines_->next(line)) {
      if (line.number >= document.line) return line.number == document.line;
    }
    return false;
  }

 private:
  const std::vector<std::string>& files_;
  const LineOptions& options_;
  size_t file_ = 0;
  std::unique_ptr<LineSource> lines_;
};

// A document, and its line if it has one.
struct Read {
  const Document* document;
  Line line;
};

// What a document becomes.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<bool> learnt;  // of a chat
};

// Encodes documents, or chats, on one thread.
class DocumentEncoder {
 public:
  DocumentEncoder(const Tokenizer& tokenizer, bool chats) : encoder_(tokenizer), end_(tokenizer.end_of_text()) {
    if (chats) chats_.emplace(tokenizer);
  }
  Tokens encode(std::string_view text) {
    Tokens tokens;
    encoder_.encode_document(text, tokens.ids);
    tokens.ids.push_back(end_);
    return tokens;
  }
  // It ends as the template does.
  Tokens encode(const Conversation& conversation) {
    Tokens tokens;
    chats_->encode(conversation, tokens.ids, tokens.learnt);
    return tokens;
  }

 private:
  Encoder encoder_;
  int32_t end_;
  std::optional<ChatEncoder> chats_;
};

// The text that stands for the document of a line; nothing if the line is skipped.
std::optional<std::string> text_of_line(const Line& line, const std::string& path, const LineOptions& options) {
  if (!options.chats) return document_in(line, path, options);
  const std::optional<Conversation> conversation = conversation_in(line, path, options);
  return conversation ? std::optional(canonical_text(*conversation)) : std::nullopt;
}

class Builder {
 public:
  Builder(const Tokenizer& tokenizer, const Corpus& corpus, const std::vector<std::string>& files,
          const std::string& path)
      : tokenizer_(tokenizer), corpus_(corpus), files_(files), path_(path) {}

  void build(Footer footer) {
    survey();
    std::array<std::vector<Document>, 2> parts = divide();
    // Opened when it is soon written to: remove_abandoned goes by the time of the last write.
    file_.emplace(path_);
    std::array<std::vector<uint64_t>, 2> starts;
    report(corpus_.progress, "tokenising", 0, static_cast<int64_t>(documents_.size()));
    for (size_t part = 0; part < 2; ++part) {
      footer.parts[part].documents = parts[part].size();
      starts[part] =
          append_tokens(parts[part], static_cast<int>(footer.token_bytes), footer.parts[part], learnt_[part]);
    }
    file_->write(bytes_of(std::vector<uint8_t>(footer.starts_offset() - footer.tokens_size())));
    for (const std::vector<uint64_t>& part : starts) append(bytes_of(part));
    for (const std::vector<uint64_t>& part : learnt_) append(bytes_of(part));
    footer.skipped_lines = static_cast<uint64_t>(skipped_lines_);
    footer.fingerprint = hash_text(content_.hex());
    file_->write(std::as_bytes(std::span(&footer, 1)));
    file_->commit();
  }

 private:
  // Sizes and hashes of all documents; those without text are dropped.
  void survey() {
    std::vector<std::vector<Document>> found(files_.size());
    const auto count = static_cast<int64_t>(files_.size());
    std::mutex mutex;
    BytesRead bytes(files_, "reading", corpus_.progress);
    parallel_for(count, corpus_.threads, [&](int, int64_t index) {
      const auto file = static_cast<size_t>(index);
      const int64_t skipped = survey_file(file, found[file], bytes);
      std::lock_guard lock(mutex);
      skipped_lines_ += skipped;
    });
    bytes.finish();
    for (const std::vector<Document>& file : found) documents_.insert(documents_.end(), file.begin(), file.end());
    if (documents_.empty()) {
      user_error("the corpus is empty: of the {} that data.text names, such as {}, none holds text{}",
                 counted(count, "file"), files_[0],
                 skipped_lines_ > 0 ? fmt::format("; {} skipped", counted(skipped_lines_, "bad line")) : "");
    }
  }

  // Returns how many lines were skipped.
  int64_t survey_file(size_t file, std::vector<Document>& found, BytesRead& bytes) const {
    const std::string& path = files_[file];
    if (!holds_lines(path) && corpus_.lines.chats) {
      user_error(
          "{} holds no chats: data.chats takes files of JSON lines, named .jsonl, .jsonl.gz or .jsonl.zst, or .parquet",
          path);
    }
    const auto add = [&](const std::string& text, int64_t line) {
      if (!text.empty()) found.push_back({file, line, static_cast<int64_t>(text.size()), hash_text(hash_hex(text))});
    };
    return for_each_document(
        path, corpus_.lines, add, [&](int64_t count) { bytes.add(count); }, text_of_line);
  }

  // The documents with the lowest hashes are held out; copies of one document stay together, with the training text
  // where the line falls between them.
  std::array<std::vector<Document>, 2> divide() const {
    std::vector<HashText> hashes;
    for (const Document& document : documents_) hashes.push_back(document.hash);
    std::sort(hashes.begin(), hashes.end());
    auto held_out = static_cast<size_t>(corpus_.validation_share * static_cast<double>(hashes.size()) + 0.5);
    bool at_least_one = corpus_.validation_share > 0 && hashes.size() >= 2;
    if (at_least_one) held_out = std::clamp<size_t>(held_out, 1, hashes.size() - 1);
    std::array<std::vector<Document>, 2> parts;
    for (const Document& document : documents_) {
      bool validation = held_out > 0 && held_out < hashes.size() && document.hash < hashes[held_out];
      parts[validation ? 1 : 0].push_back(document);
    }
    return parts;
  }

  [[noreturn]] void changed(const Document& document) const {
    user_error("{} changed while it was indexed; start again", files_[document.file]);
  }

  // Lines are read one after the other, and whole files and what is in a line by the threads.
  Tokens tokens_of(const Document& document, const Line& line, DocumentEncoder& encoder) const {
    const std::string& path = files_[document.file];
    const std::string text =
        document.line == 0 ? read_document(path) : text_of_line(line, path, corpus_.lines).value_or("");
    if (hash_text(hash_hex(text)) != document.hash) changed(document);
    return corpus_.lines.chats ? encoder.encode(conversation_in(line, path, corpus_.lines).value())
                               : encoder.encode(text);
  }

  // Tokenises the documents and appends their tokens in order. Returns where each begins.
  std::vector<uint64_t> append_tokens(const std::vector<Document>& documents, int token_bytes, Part& part,
                                      std::vector<uint64_t>& learnt) {
    std::vector<DocumentEncoder> encoders(static_cast<size_t>(thread_count(corpus_.threads)),
                                          DocumentEncoder(tokenizer_, corpus_.lines.chats));
    std::vector<uint64_t> starts;
    const auto encode = [&](int worker, const Read& read) {
      return tokens_of(*read.document, read.line, encoders[static_cast<size_t>(worker)]);
    };
    const auto append_batch = [&](std::span<const Read> batch, std::span<const Tokens> tokens) {
      for (size_t i = 0; i < batch.size(); ++i) {
        starts.push_back(part.tokens);
        append_bits(tokens[i].learnt, part.tokens, learnt);
        part.tokens += tokens[i].ids.size();
        part.text_bytes += static_cast<uint64_t>(batch[i].document->size);
        append(tokens[i].ids, token_bytes);
      }
      done_ += static_cast<int64_t>(batch.size());
      report(corpus_.progress, "tokenising", done_, static_cast<int64_t>(documents_.size()));
    };
    OrderedBatches<Read, Tokens> batches(corpus_.threads, encode, append_batch);
    LineCursor cursor(files_, corpus_.lines);
    for (const Document& document : documents) {
      Read read{&document, {}};
      if (document.line > 0 && !cursor.seek(document, read.line)) changed(document);
      const auto line_bytes = static_cast<int64_t>(read.line.text.size());
      batches.add(std::move(read), std::max(document.size, line_bytes));
    }
    batches.finish();
    return starts;
  }

  static void append_bits(const std::vector<bool>& bits, uint64_t at, std::vector<uint64_t>& words) {
    for (const bool bit : bits) {
      if (at % 64 == 0) words.push_back(0);
      words.back() |= uint64_t{bit} << (at++ % 64);
    }
  }

  void append(const std::vector<int32_t>& ids, int token_bytes) {
    if (token_bytes == 4) return append(bytes_of(ids));
    append(bytes_of(std::vector<uint16_t>(ids.begin(), ids.end())));
  }

  void append(std::span<const std::byte> bytes) {
    content_.update(bytes);
    file_->write(bytes);
  }

  const Tokenizer& tokenizer_;
  const Corpus& corpus_;
  const std::vector<std::string>& files_;
  const std::string& path_;
  std::optional<AtomicFile> file_;
  std::vector<Document> documents_;              // in the order of the files and their lines
  std::array<std::vector<uint64_t>, 2> learnt_;  // bits
  int64_t skipped_lines_ = 0;
  Hasher content_;  // of tokens, starts and bits
  int64_t done_ = 0;
};

// The index at `path`, if it is there, whole and of what `expected` says.
std::optional<TokenIndex> open_existing(const std::string& path, const Footer& expected, const std::string& source) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  auto file = std::make_shared<const MappedFile>(path);
  std::span<const std::byte> bytes = file->bytes();
  Footer footer;
  if (bytes.size() < sizeof footer) return std::nullopt;
  std::memcpy(&footer, bytes.last(sizeof footer).data(), sizeof footer);
  bool fits = footer.magic == kMagic && footer.version == kVersion && footer.token_bytes == expected.token_bytes &&
              footer.masked == expected.masked && footer.tokenizer_hash == expected.tokenizer_hash &&
              footer.sources_hash == expected.sources_hash && footer.validation_share == expected.validation_share &&
              footer.file_size() == bytes.size();
  if (!fits) return std::nullopt;

  TokenIndex index;
  index.path = path;
  index.fingerprint.assign(footer.fingerprint.begin(), footer.fingerprint.end());
  const std::string of_source = source.empty() ? "" : " of " + source;
  size_t tokens_at = 0, starts_at = footer.starts_offset();
  size_t masks_at = starts_at + 8 * (footer.parts[0].documents + footer.parts[1].documents);
  auto next_part = [&](const Part& part, std::string name) {
    std::span<const std::byte> tokens = bytes.subspan(tokens_at, footer.token_bytes * part.tokens);
    std::span<const std::byte> starts = bytes.subspan(starts_at, 8 * part.documents);
    std::span<const std::byte> learnt = bytes.subspan(masks_at, 8 * footer.mask_words(part));
    tokens_at += tokens.size();
    starts_at += starts.size();
    masks_at += learnt.size();
    return TokenStream::over(tokens, static_cast<int>(footer.token_bytes),
                             {reinterpret_cast<const uint64_t*>(starts.data()), part.documents}, file, std::move(name),
                             {reinterpret_cast<const uint64_t*>(learnt.data()), footer.mask_words(part)});
  };
  index.training = next_part(footer.parts[0], "the training text" + of_source);
  index.validation = next_part(
      footer.parts[1], fmt::format("the validation text{} (data.holdout {})", of_source, footer.validation_share));
  index.training_bytes = static_cast<int64_t>(footer.parts[0].text_bytes);
  index.validation_bytes = static_cast<int64_t>(footer.parts[1].text_bytes);
  index.skipped_lines = static_cast<int64_t>(footer.skipped_lines);
  return index;
}

// UserError, which names the option, if the folder cannot be made or not be written to.
void make_writable(const Path& folder) {
  constexpr const char* kFix = "--data.cache_dir or XDG_CACHE_HOME chooses another folder for the token index";
  try {
    make_directories(folder);
  } catch (const UserError& error) {
    user_error("{}; {}", error.what(), kFix);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    user_error("cannot write to the folder {}: {}; {}", folder.string(), std::strerror(errno), kFix);
  }
}

}  // namespace

TokenIndex open_index(const Tokenizer& tokenizer, const Corpus& corpus) {
  if (!(corpus.validation_share >= 0 && corpus.validation_share < 1)) {
    user_error("data.holdout, the share of documents kept for validation, is {}: expected at least 0 and less than 1",
               corpus.validation_share);
  }
  if (corpus.lines.chats) const ChatEncoder fits(tokenizer);  // before any file is read
  std::vector<std::string> files = find_text_files(corpus.files);
  Footer footer;
  footer.token_bytes = static_cast<uint32_t>(token_bytes_for(tokenizer.vocab_size()));
  footer.tokenizer_hash = hash_text(tokenizer.hash());
  footer.sources_hash = hash_text(hash_sources(files, corpus.lines));
  footer.validation_share = corpus.validation_share;
  footer.masked = corpus.lines.chats ? 1 : 0;

  // One file per tokenizer, set of patterns and field: a changed corpus replaces its index, another corpus does not.
  std::string what = tokenizer.hash();
  for (const std::string& pattern : corpus.files) what += "\n" + pattern;
  what += key_of(corpus.lines, files);
  std::filesystem::path folder = corpus.folder.empty() ? "." : corpus.folder;
  std::string path = folder / fmt::format("tokens-{}{}", hash_hex(what).substr(0, 16), kExtension);

  std::optional<TokenIndex> index = open_existing(path, footer, corpus.name);
  const bool build = !index;
  if (build) {
    make_writable(folder);
    remove_abandoned(folder, kExtension);
    Builder(tokenizer, corpus, files, path).build(footer);
    index = open_existing(path, footer, corpus.name);
    require(index.has_value(), "the index at {} does not read back", path);
  }
  index->built = build;
  index->files = static_cast<int64_t>(files.size());
  return *index;
}

}  // namespace tethys
