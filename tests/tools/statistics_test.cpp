// Figures of merit on numbers that can be checked by hand.
#include "tools/lib/statistics.h"

#include <vector>

#include "tests/support/catch.h"

namespace tilesim::app {

namespace {

// Errors +10 %, -5 %, 0.
const std::vector<Sample> kThree{{"a", 110.0, 100.0}, {"b", 190.0, 200.0}, {"c", 400.0, 400.0}};

}  // namespace

TEST_CASE("errors of three samples", "[unit]") {
  const auto e = error_statistics(kThree);
  REQUIRE(e.has_value());
  CHECK(e->count == 3);
  CHECK(e->mape == Approx(0.05));
  CHECK(e->median == Approx(0.05));
  CHECK(e->bias == Approx(0.05 / 3));
  CHECK(e->worst == Approx(0.10));
  CHECK(e->worst_name == "a");
  CHECK(e->pearson.value() == Approx(0.9961064824));  // of the logarithms, by Python's math
}

TEST_CASE("the median of an even number of errors is between the middle two; the worst keeps its sign", "[unit]") {
  const std::vector<Sample> four{{"a", 101.0, 100.0}, {"b", 97.0, 100.0}, {"c", 105.0, 100.0}, {"d", 80.0, 100.0}};
  const auto e = error_statistics(four);
  CHECK(e->median == Approx(0.04));
  CHECK(e->worst == Approx(-0.20));
  CHECK(e->worst_name == "d");
  CHECK(e->bias == Approx(-0.0425));
}

TEST_CASE("what has no value says so", "[unit]") {
  CHECK_FALSE(error_statistics({}).has_value());
  CHECK_FALSE(kendall_tau({}).has_value());
  CHECK_FALSE(top1_regret({}).has_value());
  const std::vector<Sample> two{{"a", 1.0, 1.0}, {"b", 2.0, 2.0}};
  CHECK_FALSE(error_statistics(two)->pearson.has_value());  // two points always lie on a line
  const std::vector<Sample> flat{{"a", 1.0, 7.0}, {"b", 2.0, 7.0}, {"c", 3.0, 7.0}};
  CHECK_FALSE(error_statistics(flat)->pearson.has_value());
  CHECK_FALSE(kendall_tau(flat).has_value());
}

TEST_CASE("tau counts pairs that are measured apart by more than 2 %", "[unit]") {
  const std::vector<Sample> samples{
      {"a", 10.0, 100.0}, {"b", 20.0, 200.0}, {"c", 15.0, 204.0}, {"d", 5.0, 50.0}, {"e", 12.0, 400.0}};
  // Pairs: ab+ ac+ ad+ ae+ bd+ be- cd+ ce- de+; bc is a tie.
  CHECK(kendall_tau(samples).value() == Approx((7.0 - 2.0) / 9.0));
  CHECK(kendall_tau(samples, 0.0).value() == Approx((7.0 - 3.0) / 10.0));
  const std::vector<Sample> reversed{{"a", 3.0, 1.0}, {"b", 2.0, 2.0}, {"c", 1.0, 3.0}};
  CHECK(kendall_tau(reversed).value() == Approx(-1.0));
  // Predicted equal: in the number of pairs, on neither side.
  const std::vector<Sample> equal{{"a", 1.0, 1.0}, {"b", 1.0, 2.0}, {"c", 2.0, 3.0}};
  CHECK(kendall_tau(equal).value() == Approx(2.0 / 3.0));
}

TEST_CASE("regret is what our pick costs", "[unit]") {
  const std::vector<Sample> samples{{"a", 90.0, 110.0}, {"b", 95.0, 100.0}, {"c", 200.0, 300.0}};
  const auto regret = top1_regret(samples);
  CHECK(regret->value == Approx(0.10));
  CHECK(regret->pick == "a");
  CHECK(regret->best == "b");
  const std::vector<Sample> equal{{"a", 90.0, 100.0}, {"b", 90.0, 130.0}};  // of equal predictions the slowest
  CHECK(top1_regret(equal)->value == Approx(0.30));
}

}  // namespace tilesim::app
