#pragma once
// Texts of the files of a run, and words with which the tests of mutated runs, bundles and sweeps change
// them.
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/checksum.h"
#include "script/run/json.h"

namespace lunagrad::tests {

inline const std::vector<std::string> kJsonWords = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ":",
                                                    ",",
                                                    "\"",
                                                    "null",
                                                    "true",
                                                    "-1",
                                                    "1e400",
                                                    "0.5",
                                                    "\"a\"",
                                                    "\"\"",
                                                    "{}",
                                                    "[]",
                                                    "\\u0000",
                                                    "\"NaN\"",
                                                    "\"Infinity\"",
                                                    "18446744073709551616",
                                                    "-9223372036854775808",
                                                    "\"step\"",
                                                    "\"time\"",
                                                    "\"metrics\"",
                                                    "\"image\"",
                                                    "\"text\"",
                                                    "\"histogram\"",
                                                    "\"param\"",
                                                    "\"resume\"",
                                                    "\"reload\"",
                                                    "\"checkpoint\"",
                                                    "\"console\"",
                                                    "\"module\"",
                                                    "\"watch\"",
                                                    "\"nodes\"",
                                                    "\"values\"",
                                                    "\"sources\"",
                                                    "\"like\"",
                                                    "\"in\"",
                                                    "\"shape\"",
                                                    "\n",
                                                    "\xff"};
inline const std::vector<std::pair<std::string, std::string>> kJsonNests = {{"[", "]"}, {"{\"a\":", "}"}};

// Adds the checksum that readers compare to every second text of one JSON object.
inline std::string summed(const std::string& object) {
  return object.size() % 2 && object.find('}') != object.npos && object.size() > 1 ? with_checksum(object)
                                                                                   : object;
}
inline const std::string kScript = "return 1\n";
inline const std::string kConfig =
    R"({"script":"train.lua","arguments":["a",""],"command_line":"lunagrad train.lua","started":"2026-01-31T23:59:59Z","seed":3,)"
    R"("device":"cpu","threads":2,"steps":9,"steps_option":9,"parent":{"run":"runs/a","step":2,"changed":true},)"
    R"("resumed":{"checkpoint":"c","step":2},"reloads":[{"step":2,"script":"script-00000002.lua"}],)"
    R"("scripts":{"script.lua":")" +
    checksum_text(hash_of(kScript.data(), kScript.size())) +
    R"("},"set":{"rate":"0.1"},"params":{"rate":0.1,"name":"x"},"outcome":"finished",)"
    R"("exit_code":0,"last_step":9,"seconds":1.5})";
inline const std::string kMetrics =
    R"({"step":1,"time":0.1,"metrics":{"loss":0.5,"acc":"NaN"}})"
    "\n"
    R"({"step":1,"time":0.1,"param":{"rate":0.2}})"
    "\n"
    R"({"step":2,"time":0.2,"image":{"x":"x-1.png"}})"
    "\n"
    R"({"step":2,"time":0.2,"text":{"t":"words"}})"
    "\n"
    R"({"step":2,"time":0.2,"histogram":{"h":{"count":3,"min":0,"max":1,"mean":0.5,"std":0.1,"zeros":0,"nan":0,"inf":0,"-inf":0,"edges":[0,1],"counts":[3]}}})"
    "\n"
    R"({"step":2,"time":0.3,"checkpoint":"checkpoints/step-00000002.safetensors"})"
    "\n"
    R"({"step":2,"time":0.3,"watch":{"m":{"norm":1}}})"
    "\n"
    R"({"step":1,"time":0.4,"resume":"checkpoints/step-00000001.safetensors","abandons":[2]})"
    "\n"
    R"({"step":1,"time":0.4,"reload":"script-00000001.lua"})"
    "\n"
    R"({"step":1,"time":0.5,"console":{"code":"x = 1","place":"op","ops":3,"line":4}})"
    "\n"
    R"({"step":0,"time":0,"module":{"file":"m.lua","copy":"modules/COPY"}})"
    "\n";

}  // namespace lunagrad::tests
