// amsim: networks and machines, simulated cycle by cycle: the papers' machines beside what the papers say of them, and networks
// of a textbook's routers under load. ambench measures this machine; amsim simulates others.

#include <am/version.h>

#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "amsim/options.hpp"
#include "amsim/simulation.hpp"
#include "amsim/trace_file.hpp"
#include "results/output_file.hpp"

namespace {

constexpr std::array simulations{
    &amsim::network::simulation, &amsim::t1::simulation,        &amsim::mmachine::simulation,
    &amsim::ncube2::simulation,  &amsim::cm5::simulation,       &amsim::iwarp::simulation,
    &amsim::care::simulation,    &amsim::switching::simulation, &amsim::papers::simulation};

void simulate(int argc, char** argv) {
  const amsim::Options options = amsim::parse_options(argc, argv, simulations);
  if (options.version) {
    std::cout << "amsim " AM_VERSION "\n";
    return results::flush_output();
  }
  if (options.help) {
    std::cout << amsim::help_text(simulations);
    return results::flush_output();
  }
  if (!options.trace_file.empty() && options.trace_file == options.outputs.json_file)
    throw amsim::UsageError("--json and --trace name the same file");
  options.outputs.prepare();
  if (!options.trace_file.empty()) amsim::be_able_to_trace(options.trace_file);
  options.outputs.put_out(options.simulation->run(options));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    simulate(argc, argv);
    return 0;
  } catch (const amsim::UsageError& error) {
    std::fprintf(stderr, "amsim: %s\n", error.what());
    return 2;
  } catch (const std::invalid_argument& error) {  // no such network, or machine
    std::fprintf(stderr, "amsim: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "amsim: %s\n", error.what());
    return 1;
  }
}
