// C++ names from the symbols that compilers make of them.
#ifndef MEMAGENT_VIEWER_DEMANGLE_H_
#define MEMAGENT_VIEWER_DEMANGLE_H_

#include <string>
#include <string_view>

namespace memagent::viewer {

// The C++ name of a mangled symbol; the symbol itself when it is not mangled or is too long to try.
// A symbol can refer to parts of itself, and 300 bytes can stand for a name of any length: where
// many references could make it explode each of them is shown as "...".
std::string Demangle(std::string_view symbol);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_DEMANGLE_H_
