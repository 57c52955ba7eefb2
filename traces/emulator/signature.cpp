#include "traces/emulator/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/counted.h"

namespace tilesim::traces {

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string()
                                         : std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

/// Splits at commas outside brackets.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && (depth == 0 || i == text.size())) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return parts;
}

struct Kind {
  std::string_view type;
  std::string_view first, second;  ///< argument prefixes that fit
};
constexpr std::array kKinds{Kind{"int", "i32", "u32"},       Kind{"unsigned int", "u32", "i32"},
                            Kind{"long", "i64", "u64"},      Kind{"unsigned long", "u64", "i64"},
                            Kind{"long long", "i64", "u64"}, Kind{"unsigned long long", "u64", "i64"},
                            Kind{"float", "f32", "f32"},     Kind{"double", "f64", "f64"}};

/// The prefix to use for a parameter; empty if any fits.
std::string_view wanted(const std::string& type, std::string_view given) {
  if (given == "raw") {
    return {};
  }
  if (type.find('*') != std::string::npos) {
    return given == "ptr" || given == "ptrs" || given == "mem" ? std::string_view{} : "ptr";
  }
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&type](const Kind& k) { return k.type == type; });
  const bool fits = kind == kKinds.end() || given == kind->first || given == kind->second;
  return fits ? std::string_view{} : kind->first;
}

}  // namespace

Signature signature_of(std::string_view demangled) {
  const std::size_t close = demangled.rfind(')');
  if (close == std::string_view::npos) {
    return {};
  }
  int depth = 0;
  std::size_t open = close;
  for (std::size_t i = close + 1; i-- > 0;) {
    depth += demangled[i] == ')' ? 1 : demangled[i] == '(' ? -1 : 0;
    if (depth == 0) {
      open = i;
      break;
    }
  }
  Signature signature{true, split(demangled.substr(open + 1, close - open - 1))};
  if (signature.parameters.size() == 1 && (signature.parameters[0].empty() || signature.parameters[0] == "void")) {
    signature.parameters.clear();
  }
  return signature;
}

Result<void> check_signature(std::string_view demangled, std::string_view arguments) {
  const Signature signature = signature_of(demangled);
  if (!signature.known) {
    return {};
  }
  const std::vector<std::string> given = arguments.empty() ? std::vector<std::string>{} : split(arguments);
  if (given.size() != signature.parameters.size()) {
    return fail(ErrorKind::kUsage,
                fmt::format("the kernel takes {} ({}), {} given",
                            counted(static_cast<std::int64_t>(signature.parameters.size()), "argument"),
                            fmt::join(signature.parameters, ", "), given.size()),
                "list all of them in --args, in parameter order");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string prefix = given[i].substr(0, given[i].find(':'));
    if (const std::string_view better = wanted(signature.parameters[i], prefix); !better.empty()) {
      return fail(ErrorKind::kUsage,
                  fmt::format("argument {} is '{}', but the kernel's parameter is {}", i + 1, given[i],
                              signature.parameters[i]),
                  fmt::format("pass {}:...", better));
    }
  }
  return {};
}

}  // namespace tilesim::traces
