#include "viewer/function_name.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace memagent::viewer {
namespace {

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Copies a demangled name piece by piece, leaving out what ShortName leaves out.
class NameShortener {
 public:
  explicit NameShortener(std::string_view name) : rest_(name) {}

  std::string Run() {
    while (!rest_.empty() && !done_) Step();
    return result_;
  }

 private:
  void Step() {
    if (AtOperator()) return CopyOperator();
    const char c = rest_.front();
    if (c == '<') return SkipBalanced('<', '>');
    if (c == '(') return HandleParenthesis();
    if (c == '{') return CopyBraces();
    if (c == ' ' || c == '*' || c == '&') return DropReturnType();
    Copy(1);
  }

  void Copy(size_t bytes) {
    result_.append(rest_.substr(0, bytes));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  bool AtOperator() const {
    if (!rest_.starts_with("operator")) return false;
    const bool starts_word = result_.empty() || !IsWordCharacter(result_.back());
    return starts_word && rest_.size() > 8 && !IsWordCharacter(rest_[8]);
  }

  // "operator()", "operator<<", "operator new[]", "operator bool": all up to the parameter list.
  void CopyOperator() {
    Copy(8);
    if (rest_.starts_with("()")) return Copy(2);
    const size_t parameters = rest_.find('(');
    Copy(std::min(parameters, rest_.size()));
    done_ = true;
  }

  // Skips to behind the bracket that closes the one at the front; an arrow is no bracket.
  void SkipBalanced(char open, char close) {
    size_t depth = 0;
    size_t i = 0;
    for (; i < rest_.size(); ++i) {
      if (rest_[i] == open) ++depth;
      const bool arrow = i > 0 && rest_[i - 1] == '-';
      if (rest_[i] == close && !arrow && --depth == 0) break;
    }
    rest_.remove_prefix(std::min(i + 1, rest_.size()));
  }

  void HandleParenthesis() {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (rest_.starts_with(kAnonymous)) return Copy(kAnonymous.size());
    SkipBalanced('(', ')');
    if (rest_.starts_with(" const::")) rest_.remove_prefix(6);
    done_ = !rest_.starts_with("::");  // "f(int)::Local::g()" goes on
  }

  // "{lambda(int)#1}" -> "{lambda#1}"
  void CopyBraces() {
    while (!rest_.empty() && rest_.front() != '}') {
      if (rest_.front() == '(') {
        SkipBalanced('(', ')');
      } else {
        Copy(1);
      }
    }
    Copy(1);
  }

  void DropReturnType() {
    result_.clear();
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string result_;
  bool done_ = false;
};

// ".constprop.0", ".part.3", ".isra.0", ".cold": copies that the compiler made of one function.
std::string_view WithoutCloneSuffix(std::string_view name) {
  for (const std::string_view suffix : {".constprop.", ".part.", ".isra.", ".cold", ".lto_priv."}) {
    const size_t at = name.find(suffix);
    if (at != std::string_view::npos && at > 0) name = name.substr(0, at);
  }
  return name;
}

}  // namespace

std::string ShortName(std::string_view demangled) {
  std::string result = NameShortener(WithoutCloneSuffix(demangled)).Run();
  return result.empty() ? std::string(demangled) : result;
}

bool IsPlumbing(std::string_view name) {
  constexpr std::array<std::string_view, 40> kAllocators = {
      "malloc",        "calloc",         "realloc",       "reallocarray",   "memalign",
      "aligned_alloc", "posix_memalign", "valloc",        "pvalloc",        "strdup",
      "strndup",       "__strdup",       "__GI___strdup", "__GI___strndup", "__libc_malloc",
      "__libc_calloc", "__libc_realloc", "mmap",          "mmap64",         "mremap",
      "brk",           "sbrk",           "shmat",         "operator new",   "operator new[]",
      "xmalloc",       "xcalloc",        "xrealloc",      "xzalloc",        "xstrdup",
      "xmemdup",       "xnmalloc",       "x2nrealloc",    "g_malloc",       "g_malloc0",
      "g_realloc",     "g_malloc_n",     "g_malloc0_n",   "g_strdup",       "g_slice_alloc"};
  // Of libc: no function of the program is outside them.
  constexpr std::array<std::string_view, 9> kStarts = {"start_thread",
                                                       "clone",
                                                       "clone3",
                                                       "__clone",
                                                       "__clone3",
                                                       "_start",
                                                       "__libc_start_main",
                                                       "__libc_start_main_impl",
                                                       "__libc_start_call_main"};
  if (std::find(kStarts.begin(), kStarts.end(), name) != kStarts.end()) return true;
  if (name.starts_with("std::") || name.starts_with("__gnu_cxx::")) return true;
  return std::find(kAllocators.begin(), kAllocators.end(), name) != kAllocators.end();
}

}  // namespace memagent::viewer
