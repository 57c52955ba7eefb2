// From 128-bit encodings to decoded instructions.
#pragma once

#include <string_view>

#include "model/result.h"
#include "traces/sass/instruction.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::traces {

/// What becomes of instructions that the table does not know: an error, or a NOP that DecodedKernel::unknown names.
enum class Unknown : std::uint8_t { kIsRefused, kDoesNothing };

/// Decodes one instruction of an sm_`architecture` kernel at byte offset `address`. Never reads the listing's text.
/// Errors (kUsage, without `where`): an architecture or an opcode that the table lacks, a modifier value without a
/// meaning, set bits that no field of the row covers.
[[nodiscard]] Result<SassInstruction> decode(const Encoding& encoding, std::uint64_t address, int architecture = 90);

/// Decodes a kernel of a listing. Errors name the listing text of the instruction and carry "FILE:LINE" in `where`;
/// branch targets must be instructions of the kernel.
[[nodiscard]] Result<DecodedKernel> decode_kernel(const ListedKernel& kernel, Unknown unknown = Unknown::kIsRefused);

}  // namespace tilesim::traces
