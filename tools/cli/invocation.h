// A parsed command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// Flags by canonical name, and what stood without a flag. Values are text; the getters check and convert them.
class Invocation {
 public:
  Invocation(const Subcommand& subcommand, std::map<std::string, std::vector<std::string>> values,
             std::vector<std::string> positionals)
      : subcommand_(subcommand), values_(std::move(values)), positionals_(std::move(positionals)) {}

  [[nodiscard]] const Subcommand& subcommand() const { return subcommand_; }
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] bool has(const std::string& flag) const { return values_.contains(flag); }

  /// The value of a flag, if it was given.
  [[nodiscard]] std::optional<std::string> text(const std::string& flag) const;
  /// All values of a repeatable flag, in order.
  [[nodiscard]] std::vector<std::string> all(const std::string& flag) const;
  /// An integer within [minimum, maximum]; nothing if the flag is absent. The Error names flag, value and range.
  [[nodiscard]] Result<std::optional<std::int64_t>> integer(const std::string& flag, std::int64_t minimum,
                                                            std::int64_t maximum) const;
  /// A finite number within [minimum, maximum].
  [[nodiscard]] Result<std::optional<double>> real(const std::string& flag, double minimum, double maximum) const;

 private:
  const Subcommand& subcommand_;
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positionals_;
};

/// Error (kUsage) if one of the flags was given, but for those named in `but`: "--FLAG" and then `why`.
[[nodiscard]] Result<void> refuse(const Invocation& invocation, const std::vector<Flag>& flags, const std::string& why,
                                  const std::string& remedy, const std::vector<std::string>& but = {});

}  // namespace tilesim::cli
