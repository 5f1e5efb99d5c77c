// Function names: from a demangled name (demangle.h) to what a person wants to read.
#ifndef MEMAGENT_VIEWER_FUNCTION_NAME_H_
#define MEMAGENT_VIEWER_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace memagent::viewer {

// A demangled name without parameters, template arguments and return type:
// "void Grid<double>::fill(int) const" -> "Grid::fill". Names it can't take apart stay whole.
std::string ShortName(std::string_view demangled);

// Whether a function only passes memory on: the malloc family and its common wrappers, operator
// new, everything in std:: and __gnu_cxx::; or starts threads and programs. A site is named after the
// first function that isn't.
bool IsPlumbing(std::string_view short_name);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_FUNCTION_NAME_H_
