#include "tools/cli/invocation.h"

#include <algorithm>

#include "tools/cli/numbers.h"

namespace tilesim::cli {

namespace {

/// The flag as users write it, for messages.
std::string written(const Subcommand& subcommand, const std::string& name) {
  for (const Flag& flag : subcommand.flags) {
    if (flag.name == name) {
      return spelling(flag);
    }
  }
  return "--" + name;
}

}  // namespace

std::optional<std::string> Invocation::text(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::nullopt : std::optional<std::string>(found->second.back());
}

std::vector<std::string> Invocation::all(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Result<std::optional<std::int64_t>> Invocation::integer(const std::string& flag, std::int64_t minimum,
                                                        std::int64_t maximum) const {
  const auto value = text(flag);
  if (!value) {
    return std::optional<std::int64_t>{};
  }
  const auto number = parse_integer(written(subcommand_, flag), *value, minimum, maximum);
  if (!number) {
    return tl::unexpected<Error>(number.error());
  }
  return std::optional<std::int64_t>(*number);
}

Result<std::optional<double>> Invocation::real(const std::string& flag, double minimum, double maximum) const {
  const auto value = text(flag);
  if (!value) {
    return std::optional<double>{};
  }
  const auto number = parse_real(written(subcommand_, flag), *value, minimum, maximum);
  if (!number) {
    return tl::unexpected<Error>(number.error());
  }
  return std::optional<double>(*number);
}

Result<void> refuse(const Invocation& invocation, const std::vector<Flag>& flags, const std::string& why,
                    const std::string& remedy, const std::vector<std::string>& but) {
  for (const Flag& flag : flags) {
    if (invocation.has(flag.name) && std::find(but.begin(), but.end(), flag.name) == but.end()) {
      return fail(ErrorKind::kUsage, spelling(flag) + " " + why, remedy);
    }
  }
  return {};
}

}  // namespace tilesim::cli
