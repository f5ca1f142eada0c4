#include "peers/peers.hpp"

#include <stdexcept>

namespace ambench {

Peers::Peers(Who who, const Wire& wire) {
  if (who == Who::nobody) return;
  openmpi_.emplace(wire);
  no_openmpi_ = openmpi_->unavailable();
  if (who == Who::openmpi) return;
  ucx_.emplace(wire);
  no_ucx_ = ucx_->unavailable();
}

void Peers::with_openmpi(const std::function<void(const OpenMpi&)>& ask) {
  if (!openmpi_ || !no_openmpi_.empty()) return;
  try {
    ask(*openmpi_);
  } catch (const std::runtime_error& error) {
    no_openmpi_ = std::string("failed: ") + error.what();
  }
}

void Peers::ask_openmpi(const std::string& measure, std::span<const std::size_t> sizes, Series& series) {
  std::vector<std::string> arguments;
  arguments.reserve(sizes.size());
  for (const std::size_t bytes : sizes) arguments.push_back(std::to_string(bytes));
  with_openmpi([&](const OpenMpi& openmpi) {
    for (const auto& [name, value] : openmpi.run(measure, 2, arguments).figures()) {
      const std::size_t slash = name.find('/') + 1;
      series.add(name.substr(0, slash) + "openmpi_" + name.substr(slash), value);
    }
  });
}

void Peers::with_ucx(const std::string& id, const std::function<void(const Ucx&)>& ask) {
  if (!ucx_ || !no_ucx_.empty() || no_figures_of_ucx_.contains(id)) return;
  try {
    ask(*ucx_);
  } catch (const std::runtime_error& error) {
    no_figures_of_ucx_[id] = std::string("failed: ") + error.what();
  }
}

void Peers::describe(Report& report) const {
  if (openmpi_) report.peers.push_back(no_openmpi_.empty() ? openmpi_->name() : "Open MPI: " + no_openmpi_);
  if (ucx_) report.peers.push_back(no_ucx_.empty() ? ucx_->name() : "UCX: " + no_ucx_);
}

void Peers::compare(Row& row, const Series& series, const std::string& prefix, const std::string& figure,
                    const std::string& id, const std::string& label) const {
  const bool is_ucx = id.starts_with("ucx");
  if (is_ucx ? !ucx_ : !openmpi_) return;
  const auto failed = no_figures_of_ucx_.find(id);
  const std::string& reason = failed != no_figures_of_ucx_.end() ? failed->second
                              : is_ucx                           ? no_ucx_
                                                                 : no_openmpi_;
  if (reason.empty()) {
    ambench::compare(row, series, prefix, figure, id, label);
  } else {
    row.note(id + "_" + figure, label, reason);
  }
}

void compare(Row& row, const Series& series, const std::string& prefix, const std::string& figure,
             const std::string& id, const std::string& label) {
  const std::string name = id + "_" + figure;
  const std::vector<double>& other = series.at(prefix + name);
  row.figure(name, label, other);
  row.figure("to_" + id + "_ratio", "  libam / " + label, ratios(series.at(prefix + figure), other));
}

}  // namespace ambench
