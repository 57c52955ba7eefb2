// The launches that the runner works through: one a line, words separated by spaces, written by `record`.
//   ID CUBIN DTYPE LAYOUT M N K PARTS GRID_X GRID_Y THREADS DYNAMIC_SHARED_BYTES SCALED ALPHA BETA
// DTYPE: f32, tf32, f16 or bf16. PARTS: of K, which is gridDim.z; C is so many products behind each other. SCALED 1:
// the kernel takes alpha and beta.
#pragma once

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "operands.cuh"

namespace runner {

struct Job {
  int id = 0;
  std::string cubin;
  Type type = Type::kF32;
  bool a_transposed = false;
  bool b_transposed = false;
  int m = 0, n = 0, k = 0, parts = 1;
  unsigned grid_x = 0, grid_y = 0, threads = 0, shared_bytes = 0;
  bool scaled = false;
  float alpha = 1.0F, beta = 0.0F;

  [[nodiscard]] long long bytes_a() const { return static_cast<long long>(m) * k * bytes_of(type); }
  [[nodiscard]] long long bytes_b() const { return static_cast<long long>(k) * n * bytes_of(type); }
  [[nodiscard]] long long elements_c() const { return static_cast<long long>(m) * n * parts; }
  [[nodiscard]] bool same_product(const Job& o) const { return m == o.m && n == o.n && k == o.k && type == o.type; }
  [[nodiscard]] bool same_operands(const Job& o) const {
    return same_product(o) && a_transposed == o.a_transposed && b_transposed == o.b_transposed;
  }
};

/// False: the line is not a job.
inline bool parse_job(const std::string& line, Job& job) {
  constexpr std::array<const char*, 4> kTypes = {"f32", "tf32", "f16", "bf16"};
  std::istringstream words(line);
  std::string type;
  std::string layout;
  words >> job.id >> job.cubin >> type >> layout >> job.m >> job.n >> job.k >> job.parts >> job.grid_x >> job.grid_y >>
      job.threads >> job.shared_bytes >> job.scaled >> job.alpha >> job.beta;
  if (!words || layout.size() != 2) return false;
  job.a_transposed = layout[0] == 't';
  job.b_transposed = layout[1] == 't';
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (type == kTypes[i]) {
      job.type = static_cast<Type>(i);
      return true;
    }
  }
  return false;
}

/// Empty: the file cannot be read, or a line of it is not a job.
inline std::vector<Job> read_manifest(const char* path) {
  std::ifstream file(path);
  std::vector<Job> jobs;
  for (std::string line; std::getline(file, line);) {
    if (!parse_job(line, jobs.emplace_back())) return {};
  }
  return jobs;
}

}  // namespace runner
