// The files of web/, compiled in.
#pragma once

namespace axon::page {

extern const char* const page_template;
extern const char* const page_style;
extern const char* const page_script;  ///< all scripts, in the order in which they use each other

}  // namespace axon::page
