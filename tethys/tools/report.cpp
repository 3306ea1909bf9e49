// tethys report: runs as a page to look at.
#include <fmt/ostream.h>

#include <map>

#include "base/error.h"
#include "config/describe.h"
#include "config/option_table.h"
#include "tools/commands.h"
#include "tools/report/page.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

std::vector<Option> options() { return {text_option("output", "report.html", "the file that is written")}; }

ReportedRun read_run(const std::string& folder) {
  const Path path(folder);
  ReportedRun run;
  run.name = path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
  std::error_code ignored;
  if (!std::filesystem::exists(path / "metrics.jsonl", ignored)) {
    user_error("{} is no folder of a run: there is no metrics.jsonl in it", folder);
  }
  run.metrics = read_metrics(path / "metrics.jsonl");
  if (run.metrics.steps.empty()) user_error("{} has no step to report yet", (path / "metrics.jsonl").string());
  Config config(with_training_options({}));
  load_run_config(config, path / "config.toml");
  run.settings = settings_of(config_toml(config));
  return run;
}

// Runs of one name, in different folders, are told apart by their folders.
void tell_apart(std::vector<ReportedRun>& runs, const std::vector<std::string>& folders) {
  std::map<std::string, int> counts;
  for (const ReportedRun& run : runs) ++counts[run.name];
  for (size_t i = 0; i < runs.size(); ++i) {
    if (counts[runs[i].name] > 1) runs[i].name = folders[i];
  }
}

int run(Invocation& invocation) {
  const std::vector<std::string>& folders = invocation.arguments;
  if (folders.empty()) user_error("name the folders of the runs; usage: tethys report {}", kReportCommand.usage);
  const Path output(invocation.config.get_string("output"));
  require_writable(output);
  std::vector<ReportedRun> runs;
  for (const std::string& folder : folders) {
    if (folder.empty()) user_error("a run is an empty argument (''); usage: tethys report {}", kReportCommand.usage);
    runs.push_back(read_run(folder));
  }
  tell_apart(runs, folders);
  write_file(output, report_page(runs));
  fmt::print(invocation.surroundings.out, "wrote {}: open it in a browser\n", output.string());
  return 0;
}

}  // namespace

const Command kReportCommand{
    "report",
    "RUN… [--output FILE]",
    "make a page of curves, figures and settings of runs",
    "  tethys report outputs/llama3_debugmodel\n"
    "  tethys report outputs/a outputs/b --output compare.html      side by side, with the options that differ\n\n"
    "The page is one file that needs no network. A run that is still going on can be reported.\n",
    options,
    run,
};

}  // namespace tethys
