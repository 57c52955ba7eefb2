#include "tools/lib/interrupt.h"

#include <atomic>
#include <cstddef>

namespace tilesim::app {

namespace {

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};

// What a handler may touch.
std::atomic<bool> g_held{false};
std::atomic<int> g_signal{0};
std::atomic<pid_t> g_group{0};

void on_signal(int number) {
  const pid_t group = g_group;
  if (g_signal.exchange(number) != 0) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  if (group > 0) {
    ::kill(-group, SIGTERM);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_signal = 0;
  g_held = true;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      ::sigaction(kSignals[i], &action, nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  g_held = false;
  if (const int number = g_signal; number != 0) {
    std::raise(number);
  }
}

bool interrupts_held() { return g_held; }

int interrupted_by() { return g_signal; }

void end_on_interrupt(pid_t group) {
  g_group = group;
  if (group > 0 && g_signal != 0) {
    ::kill(-group, SIGTERM);
  }
}

}  // namespace tilesim::app
