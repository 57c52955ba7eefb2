#include "tools/lib/nvdisasm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/lib/run_program.h"
#include "tools/lib/scratch_folder.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

/// Texts of the instructions that `arguments` make nvdisasm print, if they are those of the kernel.
std::optional<std::vector<std::string>> texts_of(const std::string& program, const std::vector<std::string>& arguments,
                                                 const traces::CubinKernel& kernel) {
  const auto done = run_program(program, arguments);
  if (!done || done->exit_code != 0) {
    return std::nullopt;
  }
  const auto listing = traces::parse_listing(done->output, program);
  if (!listing) {
    return std::nullopt;
  }
  // A raw section has no name.
  const auto found = listing->kernels.size() == 1
                         ? listing->kernels.begin()
                         : std::find_if(listing->kernels.begin(), listing->kernels.end(),
                                        [&kernel](const auto& listed) { return listed.name == kernel.name; });
  if (found == listing->kernels.end() || found->instructions.size() != kernel.code.size()) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const traces::ListedInstruction& listed = found->instructions[i];
    if (listed.encoding.low != kernel.code[i].low || listed.encoding.high != kernel.code[i].high) {
      return std::nullopt;
    }
    texts.push_back(listed.text);
  }
  return texts;
}

Result<std::vector<std::string>> all_texts(const std::string& program, const std::string& path,
                                           const traces::CubinKernel& kernel) {
  if (auto texts = texts_of(program, {"-hex", path}, kernel)) {
    return std::move(*texts);
  }
  // An older one than the file, or a file that holds cubins: it can read the section alone.
  const auto scratch = ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const std::filesystem::path section = scratch->path() / "text.bin";
  {
    std::ofstream file(section, std::ios::binary);
    for (const traces::Encoding& word : kernel.code) {
      for (const std::uint64_t half : {word.low, word.high}) {
        for (int byte = 0; byte < 8; ++byte) {
          file.put(static_cast<char>(half >> (8 * byte) & 0xff));
        }
      }
    }
    if (!file.flush()) {
      return fail(ErrorKind::kFailed, "the code cannot be written for nvdisasm", "make room in $TMPDIR",
                  section.string());
    }
  }
  if (auto texts =
          texts_of(program, {"-b", fmt::format("SM{}", kernel.architecture), "-hex", section.string()}, kernel)) {
    return std::move(*texts);
  }
  return fail(ErrorKind::kFailed, fmt::format("nvdisasm prints no listing of {} that could be read", kernel.name),
              "pass one of CUDA 11 to 13, or leave --nvdisasm out", program);
}

/// A label, which stands for a target, is not compared.
bool same(std::string_view ours, std::string_view theirs) {
  const std::size_t label = theirs.find("`(");
  return ours.substr(0, label) == theirs.substr(0, label);
}

}  // namespace

Result<std::string> find_nvdisasm(const std::string& asked) {
  if (asked != "auto") {
    if (is_program(asked)) {
      return asked;
    }
    return fail(ErrorKind::kAbsent, fmt::format("--nvdisasm '{}' is no program", asked),
                "give the path of nvdisasm, or auto to look in CUDA_HOME and PATH");
  }
  if (auto found = find_cuda_program("nvdisasm")) {
    return std::move(*found);
  }
  return fail(ErrorKind::kAbsent, "nvdisasm is neither in CUDA_HOME nor in PATH",
              "install the CUDA Toolkit, give its path with --nvdisasm, or leave the flag out");
}

Result<DisassemblyCheck> take_nvdisasm_text(const std::string& program, const std::string& path,
                                            const traces::CubinKernel& kernel, traces::DecodedKernel& decoded) {
  auto texts = all_texts(program, path, kernel);
  if (!texts) {
    return tl::unexpected<Error>(texts.error());
  }
  DisassemblyCheck check;
  check.program = program;
  check.instructions = texts->size();
  for (std::size_t i = 0; i < texts->size(); ++i) {
    if (!same(decoded.text[i], (*texts)[i])) {
      if (check.different++ == 0) {
        check.first =
            fmt::format("0x{:x} '{}', decoded '{}'", decoded.instructions[i].address, (*texts)[i], decoded.text[i]);
      }
    }
  }
  decoded.text = std::move(*texts);
  return check;
}

}  // namespace tilesim::app
