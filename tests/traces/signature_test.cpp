#include "traces/emulator/signature.h"

#include "tests/support/catch.h"

using namespace tilesim::traces;

TEST_CASE("the parameters of a demangled signature") {
  const Signature s = signature_of("void sgemm_tile<128, 128, 8>(int, int, int, float const*, float const*, float*)");
  REQUIRE(s.known);
  CHECK(s.parameters == std::vector<std::string>{"int", "int", "int", "float const*", "float const*", "float*"});
  CHECK(signature_of("void f<(int)8, Pair<int, float> >(Pair<int, float>, void (*)(int, int))").parameters ==
        std::vector<std::string>{"Pair<int, float>", "void (*)(int, int)"});
  CHECK(signature_of("void f()").parameters.empty());
  CHECK(signature_of("void f()").known);
  CHECK_FALSE(signature_of("tile_gemm").known);
}

TEST_CASE("arguments against a signature: number and kind, raw fits all") {
  const std::string kernel = "void k(int, float, long long, float*, Params)";
  CHECK(check_signature(kernel, "i32:1,f32:2,u64:3,ptr:4,raw:p.bin").has_value());
  CHECK(check_signature(kernel, "u32:1,raw:x,i64:3,ptr:4,i32:5").has_value());
  CHECK(check_signature("tile_gemm", "i32:1").has_value());
  const auto message = [&](const char* arguments) { return check_signature(kernel, arguments).error().message; };
  CHECK(message("i32:1") == "the kernel takes 5 arguments (int, float, long long, float*, Params), 1 given");
  CHECK(message("i64:1,f32:2,u64:3,ptr:4,raw:p") == "argument 1 is 'i64:1', but the kernel's parameter is int");
  CHECK(check_signature(kernel, "i32:1,i32:2,u64:3,ptr:4,raw:p").error().remedy == "pass f32:...");
  CHECK(check_signature(kernel, "i32:1,f32:2,u64:3,i64:4,raw:p").error().remedy == "pass ptr:...");
}
