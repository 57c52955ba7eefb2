// Signals that would end the process before it has removed what it leaves behind.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>

namespace tilesim::app {

/// While one lives, SIGINT, SIGTERM and SIGHUP end the program that run_program() waits for, not this process; it ends
/// by the signal when the guard goes, by when its owner has cleaned up. A second signal ends it at once. What is
/// ignored stays ignored. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// True while a guard lives: programs then run in a process group of their own.
[[nodiscard]] bool interrupts_held();

/// The signal that came while a guard lived; 0 if none did.
[[nodiscard]] int interrupted_by();

/// The process group that ends when a signal comes, now if one came already; 0: none.
void end_on_interrupt(pid_t group);

}  // namespace tilesim::app
