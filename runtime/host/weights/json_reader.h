// A JSON event reader for untrusted headers: bounded depth, duplicate keys and NUL bytes refused, no tree is
// built.
//
// Derive, override the events that the format allows, and call run(). Every event that is not overridden is
// an error, so a format accepts exactly what it names. Depth 1 is inside the outermost object.
#pragma once
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "host/weights/result.h"
#include "host/weights/span.h"

namespace axon::weights {

class JsonReader : public nlohmann::json::json_sax_t {
 public:
  /// Parses the whole text, which must be one object; the first error, if any.
  Status run(Bytes json) {
    if (json.empty() || json.data()[0] != '{')
      return Error{code::format, "the JSON text does not start with `{`"};
    // The library takes a NUL byte for the end of its input, which would hide whatever follows.
    if (std::memchr(json.data(), 0, json.size()))
      return Error{code::format, "the JSON text contains a NUL byte"};
    const char* const text = reinterpret_cast<const char*>(json.data());
    if (!nlohmann::json::sax_parse(text, text + json.size(), this) && !error_)
      fail("the JSON text is malformed");
    return error_;
  }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number that is no integer");
  }
  bool string(string_t&) override { return unexpected("a string"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool start_array(std::size_t) override { return unexpected("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(text("malformed JSON at byte ", position));
  }

 protected:
  bool fail(std::string message, const char* which = code::format) {
    if (!error_) error_ = Error{which, std::move(message)};
    return false;
  }
  virtual std::string where() const { return ""; }  ///< for messages, e.g. " in tensor `w`"
  bool unexpected(const char* what) { return fail(text(what, " is not expected", where())); }

 private:
  Status error_;
};

}  // namespace axon::weights
