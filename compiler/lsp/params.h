// Parts of the parameters of a message, which have to be there and of their kind.
#pragma once
#include <fmt/format.h>

#include "lsp/server.h"

namespace axon::lsp {

inline const Json& part(const Json& params, const char* name, Json::value_t type) {
  if (!params.is_object() || !params.contains(name) || params[name].type() != type)
    throw RequestError{invalid_params, fmt::format("`{}` is missing, or not what it should be", name)};
  return params[name];
}

inline std::string uri_in(const Json& params) {
  return part(part(params, "textDocument", Json::value_t::object), "uri", Json::value_t::string)
      .get<std::string>();
}

}  // namespace axon::lsp
