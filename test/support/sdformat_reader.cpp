// Copyright 2026 robot_semantics maintainers
// Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
// the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
// applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
// governing permissions and limitations under the License.

// Loads an SDFormat file with libsdformat 12, which knows version 1.9: a newer version of the text is lowered to it.
// Prints each error, then model, links and joints of each model. Exit code 1 on errors.
#include <fstream>
#include <iostream>
#include <regex>
#include <sdf/sdf.hh>
#include <sstream>

int main(int, char **arguments) {
  std::stringstream text;
  text << std::ifstream(arguments[1]).rdbuf();
  sdf::Root root;
  const auto errors = root.LoadSdfString(std::regex_replace(text.str(), std::regex("version=\"1\\.1[0-9]\""), "version=\"1.9\""));
  for (const auto &error : errors) std::cout << "Error: " << error << "\n";
  const auto *world = root.WorldByIndex(0);
  for (uint64_t number = 0; world && number < world->ModelCount(); ++number) {
    const auto *model = world->ModelByIndex(number);
    std::cout << model->Name() << "\t" << model->LinkCount() << "\t" << model->JointCount() << "\n";
  }
  return !errors.empty() || !world;
}
