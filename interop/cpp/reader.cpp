// Copyright 2026 robot_semantics maintainers
// Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
// the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
// applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
// governing permissions and limitations under the License.

// The C++ reader as conformance/README.md wants a reader: lines in, one JSON object a line out.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "usdf.hpp"

namespace {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  // JSON readers take -0 for an integer, which has no sign.
  return std::string(text) == "-0" ? "-0.0" : text;
}

std::string time(std::int64_t ns) {
  char text[40];
  const unsigned long long size = ns < 0 ? -static_cast<unsigned long long>(ns) : static_cast<unsigned long long>(ns);
  std::snprintf(text, sizeof text, "\"%s%llu.%09llu\"", ns < 0 ? "-" : "", size / 1000000000, size % 1000000000);
  return text;
}

template <typename Row>
std::string row(const Row &values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + number(value);
  return "[" + out + "]";
}

// An object or a list, put together piece by piece; what is not stated has no key.
class Json {
 public:
  void put(const std::string &key, const std::string &value) { text_ += (text_.empty() ? "" : ", ") + quoted(key) + ": " + value; }
  void add(const std::string &value) { text_ += (text_.empty() ? "" : ", ") + value; }
  template <typename Value, typename Write>
  void maybe(const std::string &key, const std::optional<Value> &value, Write write) {
    if (value) put(key, write(*value));
  }
  std::string object() const { return "{" + text_ + "}"; }
  std::string list() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

std::string pose(const usdf::Pose &value) {
  Json out;
  out.put("xyz_rpy", row(value.xyz_rpy));
  out.maybe("quat_xyzw", value.quat_xyzw, row<usdf::Quat>);
  return out.object();
}

std::string body(const usdf::Body &value) {
  Json out, links, joints;
  out.put("name", quoted(value.name));
  out.put("parent", quoted(value.parent));
  out.maybe("parent_link", value.parent_link, quoted);
  out.maybe("age", value.age_ns, time);
  out.maybe("description", value.description, quoted);
  out.maybe("semantic", value.semantic, quoted);
  out.maybe("urdf_sha256", value.hash, quoted);
  out.maybe("pose", value.pose, pose);
  out.maybe("twist", value.twist, row<usdf::Six>);
  for (const usdf::LinkState &link : value.links) {
    Json part;
    part.put("name", quoted(link.name));
    part.maybe("pose", link.pose, pose);
    part.maybe("twist", link.twist, row<usdf::Six>);
    part.maybe("wrench", link.wrench, row<usdf::Six>);
    links.add(part.object());
  }
  for (const usdf::JointState &joint : value.joints) {
    Json part;
    part.put("name", quoted(joint.name));
    part.maybe("positions", joint.positions, row<std::vector<double>>);
    part.maybe("velocities", joint.velocities, row<std::vector<double>>);
    part.maybe("torques", joint.torques, row<std::vector<double>>);
    part.maybe("age", joint.age_ns, time);
    joints.add(part.object());
  }
  if (value.is_model) {
    out.put("links", links.list());
    out.put("joints", joints.list());
  }
  return out.object();
}

std::string state(const usdf::WorldState &value) {
  Json out, models, frames, engines;
  out.put("format", quoted(std::string(usdf::kNamespace)));
  out.maybe("name", value.name, quoted);
  out.maybe("version", value.version, quoted);
  out.maybe("time", value.time_ns, time);
  out.maybe("comment", value.comment, quoted);
  for (const usdf::Body &one : value.bodies) (one.is_model ? models : frames).add(body(one));
  for (const usdf::Engine &engine : value.engines) {
    Json part, arrays, properties;
    for (const auto &[name, numbers] : engine.arrays) arrays.put(name, row(numbers));
    for (const auto &[name, text] : engine.properties) properties.put(name, quoted(text));
    part.put("name", quoted(engine.name));
    part.put("version", quoted(engine.version));
    part.put("arrays", arrays.object());
    part.put("attributes", properties.object());
    engines.add(part.object());
  }
  out.put("models", models.list());
  out.put("frames", frames.list());
  if (!value.engines.empty()) out.put("engines", engines.list());
  return out.object();
}

std::string answer(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const usdf::Document document = usdf::read(bytes);
  const char *severities[] = {"error", "warning", "note"};
  Json out, problems, resolved;
  for (const usdf::Problem &problem : document.problems) {
    Json part;
    part.put("severity", quoted(severities[static_cast<int>(problem.severity)]));
    part.put("code", quoted(problem.code));
    if (problem.line) {
      part.put("line", std::to_string(problem.line));
      part.put("column", std::to_string(problem.column));
    }
    problems.add(part.object());
  }
  for (const auto &[name, placed] : document.resolved) {
    Json part;
    const auto &[x, y, z] = placed.xyz;
    const auto &[qx, qy, qz, qw] = placed.quat_xyzw;
    part.put("pose", row(std::array{x, y, z, qx, qy, qz, qw}));
    part.maybe("twist", placed.twist, row<usdf::Six>);
    resolved.put(name, part.object());
  }
  out.put("refused", document.refused ? "true" : "false");
  out.put("problems", problems.list());
  if (!document.refused) {
    out.put("state", state(document.state));
    if (!document.failed()) out.put("resolved", resolved.object());
  }
  return out.object();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t'), end = line.find('\t', tab + 1);
    std::cout << (line.substr(0, tab) == "usdf" ? answer(line.substr(tab + 1, end - tab - 1)) : "{\"unsupported\": true}") << std::endl;
  }
}
