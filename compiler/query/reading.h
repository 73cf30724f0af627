// A declaration as it was read last, seen through the text that stands there now.
//
// In: a loaded file of a session. Out: for each of its declarations what is known of the text that was
// checked last and, where that has errors, of the last text without; with a way from places of those texts to
// the file as it is, and back. Invariant: a place is mapped to one with the same characters around it, or to
// none.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

/// From an earlier text to a later one.
class TextMap {
 public:
  TextMap(std::string_view before, std::string_view after);
  /// Of a stretch [begin, end) that is the same in both; nothing where it was edited.
  std::optional<source::Span> later(source::Span span) const;
  std::optional<uint32_t> earlier(uint32_t offset) const;

 private:
  struct Same {
    uint32_t before, after, size;
  };
  std::vector<Same> same_;  ///< stretches of both texts, in order
};

/// A record of a declaration with the text that it was made from.
class Layer {
 public:
  Layer(const session::Record& record, const session::ReadPart& read, source::Span now,
        std::string_view text_now);
  const session::Record& record() const { return *record_; }
  /// The part that places of the declaration have to be in.
  source::FileId part() const { return part_; }
  /// A place of the part, in the whole file as it is now.
  std::optional<source::Span> now(source::Span span) const;
  /// A place of the whole file, in the part.
  std::optional<uint32_t> then(uint32_t offset) const;
  /// A stretch of the whole file, in the part.
  std::optional<source::Span> then(source::Span whole) const;

 private:
  const session::Record* record_;
  source::FileId part_;
  source::Span now_;  ///< where the declaration's part lies in the whole file
  TextMap map_;
};

struct Reading {
  session::Entry entry;
  source::Span whole;         ///< of the part it stands in, in the file
  std::vector<Layer> layers;  ///< the newest first; none where nothing was checked
};

/// Of one declaration of the session.
Reading reading_of(const session::Session& session, session::Entry entry);
/// Those of the declarations of a loaded file, in order.
std::vector<Reading> readings(const session::Session& session, const std::string& path);
/// Of what a stretch of the file touches.
std::vector<Reading> readings_in(const session::Session& session, const std::string& path, uint32_t begin,
                                 uint32_t end);
/// Of what stands at the place, of which several share a part only where one is the `val` of another.
std::vector<Reading> readings_at(const session::Session& session, const std::string& path, uint32_t offset);

}  // namespace axon::query
