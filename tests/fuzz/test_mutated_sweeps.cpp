// Mutated plans of sweeps and results of trials.
#include "script/sweep/plan.h"
#include "script/sweep/result.h"
#include "tests/fuzz/reading.h"
#include "tests/fuzz/run_texts.h"

using namespace lunagrad;
using namespace lunagrad::tests;
namespace fs = std::filesystem;

TEST_CASE("mutated sweeps and their results") {
  const Folder folder;
  fs::create_directories(folder.file("results"));
  const sweep::Leg leg{1, 0, 0, "abc"};
  const std::string name = "results/" + leg.name() + ".json";
  read_mutated(
      {.file = "result.json",
       .good = {{{"", R"({"trial":1,"leg":0,"ending":"finished","value":0.5,"value_step":3,"steps":9})"}},
                {{"", R"({"trial":1,"leg":0,"ending":"failed","steps":0,"error":"x","exit_code":1})"}}},
       .words = kJsonWords,
       .nests = kJsonNests,
       .assemble = [](const FilePieces& parts) { return summed(first_part(parts)); },
       .read =
           [&](const std::string& path) {
             const ReadersLimit limit;
             fs::copy_file(path, folder.file(name), fs::copy_options::overwrite_existing);
             sweep::read_result(folder.file(""), leg);
           }});
  const std::string plan =
      R"({"lunagrad_sweep":1,"script":"/tmp/t.lua","script_hash":"0","directory":"/tmp","arguments":["a"],"seed":1,"metric":"loss","maximize":false,)"
      R"("device":"cpu","threads":1,"guard":"off","checkpoint_every":1.5,"steps":9,"asha":{"eta":3,"smallest":1,"legs":3},"set":{"a":"1"},)"
      R"("axes":[{"name":"rate","grid":"0.1,0.2"},{"name":"width","random":"1..8"}],"trials":[["0.1","2"],["0.2","3"]]})";
  read_mutated({.file = "sweep.json",
                .good = {{{"", plan}}},
                .words = kJsonWords,
                .nests = kJsonNests,
                .assemble = [](const FilePieces& parts) { return summed(first_part(parts)); },
                .read =
                    [](const std::string& path) {
                      const ReadersLimit limit;
                      sweep::read_plan(fs::path(path).parent_path().string());
                    }});
}
