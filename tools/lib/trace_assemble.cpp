#include "tools/lib/trace_assemble.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "tools/lib/code_file.h"
#include "traces/cubin/cubin_patcher.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/assembler.h"
#include "traces/trace/text_stream.h"

namespace tilesim::app {
namespace {

constexpr int kArchitecture = 90;  // that text is assembled for

struct Placeholder {
  std::string file;
  std::string bytes;
  std::size_t room = 0;

  [[nodiscard]] std::span<const std::byte> view() const { return std::as_bytes(std::span(bytes)); }
};

Result<std::string> content_of(const std::string& file) {
  const std::filesystem::path path(file);
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    return fail(ErrorKind::kUsage, fmt::format("{} is no file", file), "check the path");
  }
  return traces::TextSource::read_all(path, traces::kMaximumCubinBytes);
}

Result<std::vector<Placeholder>> read_placeholders(const std::vector<std::string>& files) {
  std::vector<Placeholder> placeholders;
  for (const std::string& file : files) {
    auto bytes = content_of(file);
    if (!bytes) {
      return tl::unexpected<Error>(bytes.error());
    }
    Placeholder placeholder{file, std::move(*bytes), 0};
    const auto room = traces::room_of(placeholder.view(), file, {});
    if (!room) {
      return tl::unexpected<Error>(room.error());
    }
    const auto cubin = traces::parse_cubin(placeholder.view(), file);
    if (cubin && cubin->kernels.front().architecture != kArchitecture) {
      return fail(ErrorKind::kUsage, fmt::format("{} is for sm_{}", file, cubin->kernels.front().architecture),
                  fmt::format("text is assembled for sm_{}: compile the placeholder for it", kArchitecture));
    }
    placeholder.room = *room;
    placeholders.push_back(std::move(placeholder));
  }
  return placeholders;
}

Result<void> write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    return fail(ErrorKind::kFailed, fmt::format("{} cannot be written", path.string()), "check the path and the disk");
  }
  return {};
}

Result<AssembledCubin> put_into(const traces::AssembledKernel& kernel, const std::string& text,
                                const std::vector<Placeholder>& placeholders, const std::filesystem::path& path) {
  for (const Placeholder& placeholder : placeholders) {
    if (placeholder.room < kernel.code.size()) {
      continue;
    }
    const auto cubin = traces::patch_cubin(placeholder.view(), placeholder.file, {{}, kernel.code, kernel.registers});
    if (!cubin) {
      Error error = cubin.error();
      error.where = fmt::format("{}:{}", text, kernel.line);
      return tl::unexpected<Error>(std::move(error));
    }
    if (const auto done = write_file(path, *cubin); !done) {
      return tl::unexpected<Error>(done.error());
    }
    return AssembledCubin{kernel.name, placeholder.file, path.string(), kernel.code.size()};
  }
  return fail(ErrorKind::kUsage,
              fmt::format("kernel {} has {} instructions, more than any placeholder has room for", kernel.name,
                          kernel.code.size()),
              "compile a longer placeholder and name it with --into", fmt::format("{}:{}", text, kernel.line));
}

}  // namespace

Result<std::vector<AssembledCubin>> assemble_into(const std::string& text, const std::vector<std::string>& placeholders,
                                                  const std::string& out) {
  const auto source = content_of(text);
  const auto targets = read_placeholders(placeholders);
  if (!source || !targets) {
    return tl::unexpected<Error>(!source ? source.error() : targets.error());
  }
  if (out == "-") {
    return fail(ErrorKind::kUsage, "cubins do not go to stdout", "name a file or a folder with --out");
  }
  const auto kernels = traces::assemble(*source, text, kArchitecture);
  if (!kernels) {
    return tl::unexpected<Error>(kernels.error());
  }
  const bool into_folder = kernels->size() > 1 || out.ends_with('/');
  std::error_code code;
  if (into_folder) {
    std::filesystem::create_directories(out, code);
    if (code) {
      return fail(ErrorKind::kUsage, fmt::format("folder {} cannot be made: {}", out, code.message()),
                  "name another one with --out");
    }
  }
  std::vector<AssembledCubin> made;
  for (const traces::AssembledKernel& kernel : *kernels) {
    const std::filesystem::path path =
        into_folder ? std::filesystem::path(out) / (kernel.name + ".cubin") : std::filesystem::path(out);
    auto cubin = put_into(kernel, text, *targets, path);
    if (!cubin) {
      return tl::unexpected<Error>(cubin.error());
    }
    made.push_back(std::move(*cubin));
  }
  return made;
}

Result<std::string> assembly_of(const std::string& file, const std::string& kernel) {
  const CodeFormat format = traces::is_machine_code(file) ? CodeFormat::kCubin : CodeFormat::kListing;
  const auto code = load_code(file, format, kernel, 0, traces::Unknown::kIsRefused, {});
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  std::string text = fmt::format(".kernel {}\n", code->kernel.name);
  text += code->facts ? fmt::format(".registers {}\n", code->facts->registers) : "";
  for (const traces::SassInstruction& instruction : code->kernel.instructions) {
    text += traces::assembly_line(instruction) + "\n";
  }
  return text;
}

}  // namespace tilesim::app
