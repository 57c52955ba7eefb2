#include "sim/engine/cycle.h"

#include <stdexcept>

namespace tilesim::sim {

void engine_bug(const char* what) { throw std::logic_error(what); }

}  // namespace tilesim::sim
