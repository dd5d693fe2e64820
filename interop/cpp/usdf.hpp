// Copyright 2026 robot_semantics maintainers
// Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
// the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
// applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
// governing permissions and limitations under the License.

// Reads USDF 1.0 (spec/usdf-1.0.md) in C++17 with pugixml: values, where everything is in the world, and every problem
// with its place. Numbers in comments are those of the specification's rules.
//
//   usdf::Document document = usdf::read(bytes);
//   if (document.failed()) for (const usdf::Problem &problem : document.problems) ...
//
// A document with errors is read leniently (U10.2): what is in error is left out. Licence: Apache-2.0, as the package's.
#ifndef ROBOT_SEMANTICS_USDF_HPP
#define ROBOT_SEMANTICS_USDF_HPP

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usdf {

inline constexpr std::string_view kNamespace = "urn:robot-semantics:usdf:1";
inline constexpr std::string_view kReserved = "{urn:robot-semantics:usdf";
inline constexpr std::string_view kWorld = "world";
inline constexpr int kMaxDepth = 250;

using Six = std::array<double, 6>;   // of a pose x y z roll pitch yaw; of a twist linear, angular; of a wrench force, torque
using Quat = std::array<double, 4>;  // x y z w
using Vec = std::array<double, 3>;

enum class Severity { error, warning, note };

struct Problem {
  Severity severity;
  std::string code, message;
  int line = 0, column = 0;  // from 1, in characters; 0: not known
};

struct Pose {
  Six xyz_rpy{};
  std::optional<Quat> quat_xyzw;  // exact, and wins (U6.2)
};

struct JointState {
  std::string name;
  std::optional<std::vector<double>> positions, velocities, torques;
  std::optional<std::int64_t> age_ns;
};

struct LinkState {
  std::string name;
  std::optional<Pose> pose;         // T_model_link
  std::optional<Six> twist, wrench;  // in the link's axes
};

// A model_state or a frame; a frame has no links, joints and description.
struct Body {
  bool is_model = false;
  std::string name, parent{kWorld};
  std::optional<Pose> pose;   // T_parent_self
  std::optional<Six> twist;  // relative to the parent, in its axes
  std::optional<std::string> parent_link, description, semantic, hash;
  std::optional<std::int64_t> age_ns;
  std::vector<LinkState> links;
  std::vector<JointState> joints;
};

struct Engine {
  std::string name, version;
  std::map<std::string, std::vector<double>> arrays;
  std::map<std::string, std::string> properties;
};

struct WorldState {
  std::optional<std::string> name, version, comment;
  std::optional<std::int64_t> time_ns;
  std::vector<Body> bodies;  // in document order
  std::vector<Engine> engines;
};

// Where something is in the world; the twist is about its own origin, in the world's axes, where it is known (U7.4).
struct Placed {
  Vec xyz{};
  Quat quat_xyzw{0, 0, 0, 1};
  std::optional<Six> twist;
};

struct Document {
  bool refused = false;  // nothing could be read
  WorldState state;
  std::vector<Problem> problems;
  std::map<std::string, Placed> resolved;  // models, frames and MODEL::LINK; empty where there are errors

  bool failed() const {
    return std::any_of(problems.begin(), problems.end(), [](const Problem &p) { return p.severity == Severity::error; });
  }
};

namespace detail {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

inline std::string trimmed(const std::string &text) {
  std::size_t first = 0, last = text.size();
  while (first < last && is_space(text[first])) ++first;
  while (last > first && is_space(text[last - 1])) --last;
  return text.substr(first, last - first);
}

inline bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// -- bytes to UTF-8 (U1.2) --

inline void append_utf8(std::string &out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 63));
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

inline bool utf16_to_utf8(const std::string &bytes, bool big, std::string &out) {
  if (bytes.size() % 2) return false;
  auto unit = [&](std::size_t at) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return big ? first << 8 | second : second << 8 | first;
  };
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= 0xD800 && c < 0xE000) {
      if (c >= 0xDC00 || at + 4 > bytes.size()) return false;
      const std::uint32_t low = unit(at += 2);
      if (low < 0xDC00 || low >= 0xE000) return false;
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, c);
  }
  return true;
}

inline bool is_utf8(const std::string &text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const int more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : -1;
    if (more < 0 || at + static_cast<std::size_t>(more) >= text.size()) return false;
    std::uint32_t c = more == 0 ? lead : lead & (0x3F >> more);
    for (int i = 1; i <= more; ++i) {
      const auto next = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
      if (next >> 6 != 2) return false;
      c = c << 6 | (next & 63);
    }
    const std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (c < least[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
    at += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

// -- rotations: unit quaternions x y z w --

inline Vec cross(const Vec &a, const Vec &b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Quat product(const Quat &a, const Quat &b) {
  return {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
          a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

inline Vec rotated(const Quat &q, const Vec &v) {
  const Vec axis{q[0], q[1], q[2]}, once = cross(axis, v), twice = cross(axis, once);
  return {v[0] + 2 * (q[3] * once[0] + twice[0]), v[1] + 2 * (q[3] * once[1] + twice[1]),
          v[2] + 2 * (q[3] * once[2] + twice[2])};
}

inline Quat from_rpy(double roll, double pitch, double yaw) {  // Rz(yaw) Ry(pitch) Rx(roll)
  const Quat x{std::sin(roll / 2), 0, 0, std::cos(roll / 2)}, y{0, std::sin(pitch / 2), 0, std::cos(pitch / 2)},
      z{0, 0, std::sin(yaw / 2), std::cos(yaw / 2)};
  return product(z, product(y, x));
}

inline Quat orientation(const Pose &pose) {
  if (!pose.quat_xyzw) return from_rpy(pose.xyz_rpy[3], pose.xyz_rpy[4], pose.xyz_rpy[5]);
  Quat q = *pose.quat_xyzw;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double &part : q) part /= length;
  return q;
}

// What a pose and twist, in the axes of `axes`, make of where and how `base` is (U6.1, U7.1, U7.2).
inline Placed placed(const Placed &base, const std::optional<Pose> &pose, const std::optional<Six> &twist, bool own_axes) {
  Placed result;
  const Pose stated = pose.value_or(Pose{});
  const Vec arm = rotated(base.quat_xyzw, {stated.xyz_rpy[0], stated.xyz_rpy[1], stated.xyz_rpy[2]});
  for (std::size_t i = 0; i < 3; ++i) result.xyz[i] = base.xyz[i] + arm[i];
  result.quat_xyzw = product(base.quat_xyzw, orientation(stated));
  if (twist && base.twist) {
    const Six &t = *twist, &b = *base.twist;
    const Quat &axes = own_axes ? result.quat_xyzw : base.quat_xyzw;
    const Vec v = rotated(axes, {t[0], t[1], t[2]}), w = rotated(axes, {t[3], t[4], t[5]}),
              carried = cross({b[3], b[4], b[5]}, arm);
    result.twist = Six{b[0] + carried[0] + v[0], b[1] + carried[1] + v[1], b[2] + carried[2] + v[2],
                       b[3] + w[0],              b[4] + w[1],              b[5] + w[2]};
  }
  return result;
}

// -- the reader --

class Reader {
 public:
  explicit Reader(Document &document) : document_(document) {}

  void read(const std::string &bytes) {
    if (!decode(bytes) || !well_formed()) {
      document_.refused = true;
      return;
    }
    const pugi::xml_node root = xml_.document_element();
    const std::string name = key(root);
    if (name != "world_state" && name != "world") {  // U1.4
      problem(Severity::error, "wrong-root", "the root must be <world_state>", root);
      document_.refused = true;
      return;
    }
    if (other_namespace(root)) {  // U9.12
      document_.refused = true;
      return;
    }
    if (name == "world") problem(Severity::note, "other-root", "<world> is read as <world_state>", root);
    world(root);
    drop_slashes();
    check_names();
    check_parents();
    if (document_.failed()) {
      leave_out();
    } else {
      resolve();
    }
  }

 private:
  using Node = pugi::xml_node;
  using OnAttribute = std::function<void(const std::string &name, const std::string &value)>;
  using OnChild = std::function<void(const std::string &name, Node child)>;

  // What an element may have (chapter 2); `value`: it holds a text.
  struct Shape {
    std::set<std::string> attributes, required, once, many;
    bool value = false;
  };

  // Where a body, or a part of one, stands in the document.
  struct Origin {
    Node node;
    bool bad = false;  // it is left out
  };

  Document &document_;
  std::string text_;
  pugi::xml_document xml_;
  std::vector<Origin> bodies_, engines_;
  std::vector<std::vector<Origin>> links_, joints_;  // by body

  // -- problems (U10.1) --

  void refuse(const char *code, const std::string &message) {
    document_.problems.push_back({Severity::error, code, message, 0, 0});
  }

  void problem(Severity severity, const char *code, const std::string &message, Node node, const std::string &attribute = "") {
    std::size_t at = static_cast<std::size_t>(node.offset_debug()) - 1;  // of its "<"
    if (!attribute.empty()) at = attribute_offset(at, node, attribute);
    const std::size_t line_start = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const auto begin = text_.begin();
    const auto line = 1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
    const auto column = 1 + std::count_if(begin + static_cast<std::ptrdiff_t>(line_start), begin + static_cast<std::ptrdiff_t>(at),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    document_.problems.push_back({severity, code, message, static_cast<int>(line), static_cast<int>(column)});
  }

  std::size_t attribute_offset(std::size_t tag, Node node, const std::string &wanted) const {
    std::size_t at = tag + 1 + std::strlen(node.name());
    for (const pugi::xml_attribute attribute : node.attributes()) {
      while (is_space(text_[at])) ++at;
      if (key(node, attribute) == wanted) return at;
      at = text_.find_first_of("\"'", at);
      at = text_.find(text_[at], at + 1) + 1;
    }
    return tag;
  }

  // -- the text as XML (chapter 1) --

  bool decode(const std::string &bytes) {
    bool decoded = true;
    if (starts_with(bytes, "\xFF\xFE") || starts_with(bytes, "\xFE\xFF")) {
      decoded = utf16_to_utf8(bytes, bytes[0] == '\xFE', text_);
    } else {
      text_ = starts_with(bytes, "\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
      decoded = is_utf8(text_) && has_known_encoding();
    }
    if (!decoded) refuse("not-decodable", "the text is not in a known encoding");
    if (decoded && trimmed(text_).empty()) {
      refuse("empty-document", "the text is empty");
      return false;
    }
    return decoded;
  }

  bool has_known_encoding() const {
    const std::size_t end = text_.find("?>");
    if (!starts_with(text_, "<?xml") || end == std::string::npos) return true;
    const std::string declaration = text_.substr(0, end);
    std::size_t at = declaration.find("encoding");
    if (at == std::string::npos || (at = declaration.find_first_of("\"'", at)) == std::string::npos) return true;
    std::string name = declaration.substr(at + 1, declaration.find(declaration[at], at + 1) - at - 1);
    for (char &c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool ascii = std::all_of(text_.begin(), text_.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return name == "utf-8" || ((name == "us-ascii" || starts_with(name, "iso-8859-")) && ascii);
  }

  bool well_formed() {
    const unsigned options = pugi::parse_default | pugi::parse_doctype | pugi::parse_pi | pugi::parse_comments |
                             pugi::parse_declaration | pugi::parse_ws_pcdata | pugi::parse_fragment;
    const pugi::xml_parse_result result = xml_.load_buffer(text_.data(), text_.size(), options, pugi::encoding_utf8);
    if (!result) return malformed(result.description());
    int roots = 0;
    for (const Node node : xml_.children()) {
      if (node.type() == pugi::node_doctype && std::strstr(node.value(), "<!ENTITY")) {  // U1.3
        refuse("entity-declared", "entity declarations are not read");
        return false;
      }
      if (node.type() == pugi::node_element) ++roots;
      if (is_text(node) && !trimmed(node.value()).empty()) return malformed("text stands beside the root");
    }
    if (roots != 1) return malformed("there must be one root element");
    if (!good_references()) {
      const Node type = xml_.find_child([](Node node) { return node.type() == pugi::node_doctype; });
      if (std::strstr(type.value(), "SYSTEM") || std::strstr(type.value(), "PUBLIC")) {  // U1.3
        refuse("entity-reference", "an entity is not declared here");
        return false;
      }
      return malformed("an entity is not declared");
    }
    return good_names(xml_.document_element(), 0);
  }

  bool malformed(const std::string &why) {
    refuse("not-well-formed", "not well-formed XML: " + why);
    return false;
  }

  // Whether digits are the number of a character that XML has.
  static bool is_character(const std::string &digits) {
    const bool hexadecimal = starts_with(digits, "x");
    const char *first = digits.data() + hexadecimal, *last = digits.data() + digits.size();
    std::uint32_t c = 0;
    const auto [end, error] = std::from_chars(first, last, c, hexadecimal ? 16 : 10);
    return error == std::errc{} && end == last && first != last && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF) &&
           c != 0xFFFE && c != 0xFFFF && (c >= 0x20 || c == '\t' || c == '\n' || c == '\r');
  }

  // pugixml leaves entities that it does not know as they stand.
  bool good_references() const {
    const std::pair<std::string_view, std::string_view> skipped[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const std::string_view rest = std::string_view(text_).substr(at);
      for (const auto &[open, close] : skipped)
        if (starts_with(rest, open)) at = std::min(text_.find(close, at), text_.size() - 1);
      if (text_[at] != '&') continue;
      const std::size_t end = text_.find(';', at);
      if (end == std::string::npos) return false;
      const std::string name = text_.substr(at + 1, end - at - 1);
      if (!name.empty() && name[0] == '#' && !is_character(name.substr(1))) return false;
      if (name.empty() || (name[0] != '#' && name != "lt" && name != "gt" && name != "amp" && name != "quot" && name != "apos"))
        return false;
    }
    return true;
  }

  bool good_names(Node node, int depth) {
    if (depth > kMaxDepth) {
      refuse("nested-too-deep", "elements are nested too deep");
      return false;
    }
    std::set<std::string> seen;
    if (!declared(node, node.name())) return malformed("a prefix is not declared");
    for (const pugi::xml_attribute attribute : node.attributes()) {
      if (!seen.insert(attribute.name()).second) return malformed("an attribute stands twice");
      if (!starts_with(attribute.name(), "xmlns") && !declared(node, attribute.name()))
        return malformed("a prefix is not declared");
    }
    for (const Node child : node.children())
      if (child.type() == pugi::node_element && !good_names(child, depth + 1)) return false;
    return true;
  }

  static bool is_text(Node node) { return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata; }

  // -- names and namespaces (U9.1): "pose", "rs:time", "{uri}name" --

  static bool declared(Node node, const std::string &name) {
    const std::size_t colon = name.find(':');
    return colon == std::string::npos || starts_with(name, "xml:") || !uri(node, name.substr(0, colon)).empty();
  }

  static std::string uri(Node node, const std::string &prefix) {
    const std::string attribute = prefix.empty() ? "xmlns" : "xmlns:" + prefix;
    for (Node here = node; here; here = here.parent())
      if (const pugi::xml_attribute found = here.attribute(attribute.c_str())) return found.value();
    return prefix == "xml" ? "http://www.w3.org/XML/1998/namespace" : "";
  }

  static std::string qualified(const std::string &uri, const std::string &local) {
    return uri.empty() ? local : uri == kNamespace ? "rs:" + local : "{" + uri + "}" + local;
  }

  static std::string key(Node node) {
    const std::string name = node.name();
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) return qualified(uri(node, ""), name);
    return qualified(uri(node, name.substr(0, colon)), name.substr(colon + 1));
  }

  static std::string key(Node node, pugi::xml_attribute attribute) {
    const std::string name = attribute.name();
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) return name;  // a default namespace is not of attributes
    return qualified(uri(node, name.substr(0, colon)), name.substr(colon + 1));
  }

  // Report the first element with a namespace of another version, or a misspelt one (U9.12).
  bool other_namespace(Node node) {
    bool found = starts_with(key(node), kReserved);
    for (const pugi::xml_attribute attribute : node.attributes())
      found = found || starts_with(key(node, attribute), kReserved);
    if (found) problem(Severity::error, "other-namespace", "the namespace is misspelt or of another version", node);
    for (const Node child : node.children())
      found = found || (child.type() == pugi::node_element && other_namespace(child));
    return found;
  }

  static std::string in_words(const std::string &key) { return key.substr(key.find('}') + 1); }

  // -- any element: what it has by its shape is handed on, the rest reported. False: a required attribute is missing --

  bool element(Node node, const Shape &shape, const OnAttribute &on_attribute, const OnChild &on_child) {
    bool good = true;
    std::set<std::string> stated;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const std::string name = key(node, attribute);
      if (name == "xmlns" || starts_with(attribute.name(), "xmlns:")) continue;
      if (shape.attributes.count(name)) {
        stated.insert(name);
        on_attribute(name, attribute.value());
      } else if (starts_with(name, "rs:")) {  // U9.9
        problem(Severity::warning, "unknown-attribute", name + " is not known here; it is kept", node, name);
      } else if (name[0] == '{') {  // U9.10
        problem(Severity::warning, "foreign-content", in_words(name) + " is of another namespace", node);
      } else {  // U2.3
        problem(Severity::error, "unknown-attribute", name + " is not known here", node, name);
      }
    }
    for (const std::string &name : shape.required)
      if (!stated.count(name)) {  // U2.4
        problem(Severity::error, "missing-attribute", "there is no " + name, node);
        good = false;
      }
    std::set<std::string> seen;
    for (const Node child : node.children()) {
      if (is_text(child) && !shape.value && !trimmed(child.value()).empty())  // U1.5
        problem(Severity::error, "stray-text", "text does not belong here", node);
      if (child.type() != pugi::node_element) continue;
      const std::string name = key(child);
      if (shape.many.count(name)) {
        on_child(name, child);
      } else if (!shape.once.count(name)) {
        if (!unknown(name, child) && shape.value) good = false;
      } else if (!seen.insert(name).second) {  // U2.1
        problem(Severity::error, "duplicate-element", "a second <" + name + ">", child);
      } else {
        on_child(name, child);
      }
    }
    return good;
  }

  // Report an element that is not of the table; false where it is an error.
  bool unknown(const std::string &name, Node node) {
    if (starts_with(name, "rs:")) {  // U9.9
      problem(Severity::warning, "unknown-element", "<" + name + "> is not known here; it is kept", node);
      return true;
    }
    if (name[0] != '{') {  // U2.2
      problem(Severity::error, "unknown-element", "<" + name + "> is not known here", node);
      return false;
    }
    const std::size_t colon = name.find(':'), end = name.find_first_of("/}");
    if (colon == std::string::npos || colon > end) {  // U9.11
      problem(Severity::error, "relative-namespace", "the namespace has no scheme", node);
      return false;
    }
    problem(Severity::warning, "foreign-content", "<" + in_words(name) + "> is of another namespace", node);
    return true;
  }

  // -- values (chapter 5) --

  std::optional<std::string> text(Node node, const Shape &shape = {{}, {}, {}, {}, true}, const OnAttribute &on_attribute = {}) {
    const bool good = element(node, shape, on_attribute, {});
    std::string found;
    for (const Node child : node.children())
      if (is_text(child)) found += child.value();
    return good ? std::optional(found) : std::nullopt;
  }

  static bool is_number(std::string_view word) {  // U5.1
    std::size_t at = 0, digits = 0;
    auto skip_digits = [&] {
      const std::size_t before = at;
      while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
      return at - before;
    };
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    digits = skip_digits();
    if (at < word.size() && word[at] == '.') {
      ++at;
      digits += skip_digits();
    }
    if (digits == 0) return false;
    if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
      ++at;
      if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
      if (skip_digits() == 0) return false;
    }
    return at == word.size();
  }

  // Tell whether a number that is no 64-bit float is too large, and not too small.
  static bool is_large(std::string_view word) {
    const std::size_t mark = word.find_first_of("eE");
    const std::string_view mantissa = word.substr(0, mark);
    const std::size_t first = mantissa.find_first_of("123456789"), point = std::min(mantissa.find('.'), mantissa.size());
    const bool negative = mark != std::string_view::npos && word[mark + 1] == '-';
    if (first == std::string_view::npos) return false;
    std::size_t digits = 0;  // of the exponent; more than nine of them outweigh any mantissa
    long long exponent = 0;
    for (std::size_t at = mark; at < word.size(); ++at)
      if (word[at] >= '0' && word[at] <= '9' && (digits || word[at] != '0') && ++digits <= 9)
        exponent = exponent * 10 + (word[at] - '0');
    if (digits > 9) return !negative;
    return static_cast<long long>(point) - static_cast<long long>(first) + (negative ? -exponent : exponent) > 0;
  }

  static std::optional<double> number(std::string_view word) {
    if (!is_number(word)) return std::nullopt;
    if (word[0] == '+') word.remove_prefix(1);
    double value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec == std::errc::result_out_of_range) {  // U5.2
      if (is_large(word)) return std::nullopt;
      value = word[0] == '-' ? -0.0 : 0.0;
    }
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }

  // Numbers of a text, `count` of them where that is not 0; the place of a problem is that of node and attribute.
  std::optional<std::vector<double>> numbers(const std::string &text, std::size_t count, Node node, const std::string &attribute = "") {
    std::vector<double> found;
    for (std::size_t at = 0; at < text.size();) {
      if (is_space(text[at])) {  // U5.3
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && !is_space(text[end])) ++end;
      const std::optional<double> value = number(std::string_view(text).substr(at, end - at));
      if (!value) {
        problem(Severity::error, "bad-number", "'" + text.substr(at, end - at) + "' is no number", node, attribute);
        return std::nullopt;
      }
      found.push_back(*value);
      at = end;
    }
    if (count && found.size() != count) {  // U5.4
      problem(Severity::error, "wrong-count", "there must be " + std::to_string(count) + " numbers", node, attribute);
      return std::nullopt;
    }
    return found;
  }

  std::optional<std::vector<double>> numbers(Node node, std::size_t count = 0) {
    const std::optional<std::string> found = text(node);
    return found ? numbers(*found, count, node) : std::nullopt;
  }

  std::optional<Six> six(Node node) {
    const auto found = numbers(node, 6);
    if (!found) return std::nullopt;
    Six result{};
    std::copy(found->begin(), found->end(), result.begin());
    return result;
  }

  std::optional<Pose> pose(Node node) {
    Pose result;
    bool good = true;
    const Shape shape{{"rs:quaternion"}, {}, {}, {}, true};
    const auto said = text(node, shape, [&](const std::string &name, const std::string &value) {
      if (const auto four = numbers(value, 4, node, name)) {
        result.quat_xyzw.emplace();
        std::copy(four->begin(), four->end(), result.quat_xyzw->begin());
      }
    });
    const auto found = said ? numbers(*said, 6, node) : std::nullopt;
    if (!found) return std::nullopt;
    std::copy(found->begin(), found->end(), result.xyz_rpy.begin());
    if (result.quat_xyzw) good = agrees(result);
    if (!good) problem(Severity::error, "quaternion-disagrees", "rs:quaternion is not the orientation beside it", node, "rs:quaternion");
    return good ? std::optional(result) : std::nullopt;
  }

  static bool agrees(const Pose &pose) {  // U6.2
    const Quat &given = *pose.quat_xyzw, meant = from_rpy(pose.xyz_rpy[3], pose.xyz_rpy[4], pose.xyz_rpy[5]);
    double plus = 0, minus = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      plus = std::max(plus, std::abs(given[i] - meant[i]));
      minus = std::max(minus, std::abs(given[i] + meant[i]));
    }
    return std::min(plus, minus) <= 1e-9;
  }

  // Nanoseconds of seconds with a point with at most nine digits behind it, or without (U9.2, U9.3).
  std::optional<std::int64_t> seconds(const std::string &text, Node node, const std::string &attribute) {
    const bool negative = !text.empty() && text[0] == '-';
    const std::string digits = text.substr(negative ? 1 : 0);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    std::string whole = digits.substr(0, point), part = point < digits.size() ? digits.substr(point + 1) : "";
    auto all_digits = [](const std::string &word) { return word.find_first_not_of("0123456789") == std::string::npos; };
    const bool good = !whole.empty() && whole.size() <= 10 && all_digits(whole) && all_digits(part) && part.size() <= 9 &&
                      (point == digits.size() || !part.empty());
    if (!good) {
      problem(Severity::error, "bad-value", attribute + " is no such time", node, attribute);
      return std::nullopt;
    }
    part.resize(9, '0');
    const std::int64_t value = std::stoll(whole) * 1'000'000'000 + std::stoll(part);
    return negative ? -value : value;
  }

  // -- the elements (chapter 2) --

  void world(Node node) {
    WorldState &state = document_.state;
    const Shape shape{{"name", "rs:version", "rs:time"}, {}, {"rs:comment"}, {"model_state", "frame", "rs:engine"}};
    element(
        node, shape,
        [&](const std::string &name, const std::string &value) {
          if (name == "name") state.name = value;
          if (name == "rs:time") {
            state.time_ns = seconds(value, node, name);
            const std::size_t point = value.find('.');  // U9.2
            if (state.time_ns && (point == std::string::npos || value.size() - point != 10))
              problem(Severity::warning, "bad-value", "the time has less than nine digits behind its point", node, name);
          }
          if (name == "rs:version") {
            state.version = value;
            if (value != "1" && value != "1.0") problem(Severity::warning, "newer-version", "the version is not 1", node, name);  // U9.8
          }
        },
        [&](const std::string &name, Node child) {
          if (name == "rs:comment") state.comment = text(child);
          if (name == "rs:engine") engine(child);
          if (name == "model_state" || name == "frame") body(child, name == "model_state");
        });
  }

  void body(Node node, bool is_model) {
    Body result;
    result.is_model = is_model;
    std::vector<Origin> links, joints;
    Shape shape{{"name", "rs:age", "rs:parent_link"}, {"name"}, {"parent", "pose", "twist"}, {}};
    if (is_model) {
      shape.attributes.insert({"rs:description", "rs:semantic", "rs:hash"});
      shape.many = {"link_state", "joint_state"};
    }
    const bool good = element(
        node, shape,
        [&](const std::string &name, const std::string &value) {
          if (name == "name") result.name = value;
          if (name == "rs:age") result.age_ns = seconds(value, node, name);
          if (name == "rs:parent_link") result.parent_link = value;
          if (name == "rs:description") result.description = value;
          if (name == "rs:semantic") result.semantic = value;
          if (name == "rs:hash") {  // U9.4
            if (value.size() == 64 && value.find_first_not_of("0123456789abcdef") == std::string::npos)
              result.hash = value;
            else
              problem(Severity::error, "bad-value", "rs:hash is no SHA-256", node, name);
          }
        },
        [&](const std::string &name, Node child) {
          if (name == "parent") {  // U4.1
            const std::string said = trimmed(text(child).value_or(""));
            if (!said.empty()) result.parent = said;
          }
          if (name == "pose") result.pose = pose(child);
          if (name == "twist") result.twist = six(child);
          if (name == "link_state") link(child, result.links, links);
          if (name == "joint_state") joint(child, result.joints, joints);
        });
    if (!good) return;
    document_.state.bodies.push_back(std::move(result));
    bodies_.push_back({node});
    links_.push_back(std::move(links));
    joints_.push_back(std::move(joints));
  }

  void link(Node node, std::vector<LinkState> &links, std::vector<Origin> &origins) {
    LinkState result;
    const bool good = element(
        node, {{"name"}, {"name"}, {"pose", "twist", "wrench"}, {}},
        [&](const std::string &, const std::string &value) { result.name = value; },
        [&](const std::string &name, Node child) {
          if (name == "pose") result.pose = pose(child);
          if (name == "twist") result.twist = six(child);
          if (name == "wrench") result.wrench = six(child);
        });
    if (!good) return;
    links.push_back(std::move(result));
    origins.push_back({node});
  }

  void joint(Node node, std::vector<JointState> &joints, std::vector<Origin> &origins) {
    JointState result;
    const bool good = element(
        node, {{"name", "rs:age"}, {"name"}, {"positions", "velocities", "torques"}, {}},
        [&](const std::string &name, const std::string &value) {
          if (name == "name") result.name = value;
          if (name == "rs:age") result.age_ns = seconds(value, node, name);
        },
        [&](const std::string &name, Node child) {
          if (name == "positions") result.positions = numbers(child);
          if (name == "velocities") result.velocities = numbers(child);
          if (name == "torques") result.torques = numbers(child);
        });
    if (!good) return;
    joints.push_back(std::move(result));
    origins.push_back({node});
  }

  void engine(Node node) {
    Engine result;
    const Shape array{{"name"}, {"name"}, {}, {}, true}, property{{"name", "value"}, {"name", "value"}, {}, {}};
    const bool good = element(
        node, {{"name", "version"}, {"name", "version"}, {}, {"rs:array", "rs:property"}},
        [&](const std::string &name, const std::string &value) { (name == "name" ? result.name : result.version) = value; },
        [&](const std::string &kind, Node child) {
          std::string name, value;
          const OnAttribute keep = [&](const std::string &which, const std::string &said) {
            (which == "name" ? name : value) = said;
          };
          if (kind == "rs:array") {
            const auto said = text(child, array, keep);
            const auto row = said ? numbers(*said, 0, child) : std::nullopt;
            if (row && !result.arrays.emplace(name, *row).second) twice(child);
          } else if (element(child, property, keep, {}) && !result.properties.emplace(name, value).second) {
            twice(child);
          }
        });
    if (!good) return;
    document_.state.engines.push_back(std::move(result));
    engines_.push_back({node});
  }

  // -- names and parents (chapters 3 and 4) --

  // U3.6: a frame loses one leading slash, as in tf2; a model keeps its own, also as a parent.
  void drop_slashes() {
    std::vector<Body> &bodies = document_.state.bodies;
    std::set<std::string> models;
    for (const Body &body : bodies)
      if (body.is_model) models.insert(body.name);
    const auto drop = [&](std::string &name, Node node, const std::string &attribute) {
      if (name.empty() || name.front() != '/') return;
      problem(Severity::warning, "leading-slash", "'" + name + "' begins with a slash", node, attribute);
      name.erase(0, 1);
    };
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      if (!bodies[at].is_model) drop(bodies[at].name, bodies_[at].node, "name");
      if (!models.count(bodies[at].parent)) drop(bodies[at].parent, parent_node(at), "");
    }
  }

  void twice(Node node) { problem(Severity::error, "duplicate-name", "the name is there already", node, "name"); }

  // Look at the names of siblings: what has none that can be used, or one that an earlier one has, is bad.
  template <typename Items>
  void check_names(const Items &items, std::vector<Origin> &origins, bool reserved) {
    std::set<std::string> seen;
    for (std::size_t at = 0; at < items.size(); ++at) {
      const std::string &name = items[at].name;
      Origin &origin = origins[at];
      origin.bad = true;
      if (trimmed(name).empty())
        problem(Severity::error, "empty-name", "the name is empty", origin.node, "name");
      else if (trimmed(name) != name)
        problem(Severity::error, "bad-name", "white space stands around the name", origin.node, "name");
      else if (reserved && name == kWorld)
        problem(Severity::error, "reserved-name", "the name is the inertial frame's", origin.node, "name");
      else if (!seen.insert(name).second)
        twice(origin.node);
      else
        origin.bad = false;
    }
  }

  void check_names() {
    WorldState &state = document_.state;
    check_names(state.bodies, bodies_, true);
    for (std::size_t at = 0; at < state.bodies.size(); ++at) {
      check_names(state.bodies[at].links, links_[at], false);
      check_names(state.bodies[at].joints, joints_[at], false);
    }
    check_names(state.engines, engines_, false);
    std::map<std::string, std::string> links;  // as they are called in the world (U3.2), with their models
    for (std::size_t at = 0; at < state.bodies.size(); ++at) {
      const Body &body = state.bodies[at];
      for (std::size_t number = 0; number < body.links.size(); ++number) {
        const auto first = links.emplace(body.name + "::" + body.links[number].name, body.name).first;
        if (first->second == body.name) continue;
        twice(links_[at][number].node);
        links_[at][number].bad = true;
      }
    }
    for (std::size_t at = 0; at < state.bodies.size(); ++at) {
      if (bodies_[at].bad || !links.count(state.bodies[at].name)) continue;
      twice(bodies_[at].node);
      bodies_[at].bad = true;
    }
  }

  void check_parents() {
    const std::vector<Body> &bodies = document_.state.bodies;
    std::map<std::string, std::size_t> by_name;
    for (std::size_t at = 0; at < bodies.size(); ++at) by_name.emplace(bodies[at].name, at);
    std::vector<int> known(bodies.size(), 0);  // 0 not looked at, 1 on the way that is followed, 2 done
    for (std::size_t first = 0; first < bodies.size(); ++first) {
      std::vector<std::size_t> trail;
      for (std::size_t at = first; known[at] != 2;) {
        const Body &body = bodies[at];
        if (known[at] == 1) {  // U4.2
          problem(Severity::error, "parent-cycle", "the parents of '" + body.name + "' form a cycle", parent_node(at));
          break;
        }
        known[at] = 1;
        trail.push_back(at);
        const auto above = by_name.find(body.parent);
        const bool is_world = body.parent == kWorld;
        if (body.parent_link && (is_world || (above != by_name.end() && !bodies[above->second].is_model)))  // U4.3
          problem(Severity::error, "unknown-parent-link", "the parent is no model", bodies_[at].node, "rs:parent_link");
        if (is_world) break;
        if (above == by_name.end()) {  // U4.1
          problem(Severity::error, "unknown-parent", "'" + body.parent + "' is neither a frame nor a model", parent_node(at));
          break;
        }
        at = above->second;
      }
      for (const std::size_t at : trail) known[at] = 2;
    }
  }

  Node parent_node(std::size_t at) const { return bodies_[at].node.child("parent"); }

  // -- reading with errors (U10.2) --

  template <typename Items>
  static void erase_bad(Items &items, const std::vector<Origin> &origins) {
    Items kept;
    for (std::size_t at = 0; at < items.size(); ++at)
      if (!origins[at].bad) kept.push_back(std::move(items[at]));
    items = std::move(kept);
  }

  void leave_out() {
    WorldState &state = document_.state;
    for (std::size_t at = 0; at < state.bodies.size(); ++at) {
      erase_bad(state.bodies[at].links, links_[at]);
      erase_bad(state.bodies[at].joints, joints_[at]);
    }
    erase_bad(state.bodies, bodies_);
    erase_bad(state.engines, engines_);
    std::set<std::string> grounded{std::string(kWorld)};
    for (std::size_t before = 0; before != grounded.size();) {
      before = grounded.size();
      for (const Body &body : state.bodies)
        if (grounded.count(body.parent)) grounded.insert(body.name);
    }
    auto floats = [&](const Body &body) { return !grounded.count(body.parent); };
    state.bodies.erase(std::remove_if(state.bodies.begin(), state.bodies.end(), floats), state.bodies.end());
  }

  // -- where everything is (chapters 6 and 7) --

  void resolve() {
    const std::vector<Body> &bodies = document_.state.bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at)
      if (!bodies[at].pose)  // U6.3
        problem(Severity::warning, "missing-pose", "'" + bodies[at].name + "' states no pose", bodies_[at].node);
    std::map<std::string, Placed> &found = document_.resolved;
    found[std::string(kWorld)].twist = Six{};
    std::vector<const Body *> waiting;
    for (const Body &body : bodies) waiting.push_back(&body);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Body *&body : waiting) {
        if (!body) continue;
        // The link of a model that it stands in, or else its parent.
        const auto base = found.find(body->parent_link ? body->parent + "::" + *body->parent_link : body->parent);
        if (base == found.end()) continue;
        const Placed here = found[body->name] = placed(base->second, body->pose, body->twist, false);
        for (const LinkState &link : body->links)
          if (link.pose) found[body->name + "::" + link.name] = placed(here, link.pose, link.twist, true);
        body = nullptr;
        changed = true;
      }
    }
    const auto beyond = [](double value) { return !std::isfinite(value); };
    for (const auto &[name, placed] : found) {
      const Six moving = placed.twist.value_or(Six{});
      if (std::any_of(placed.xyz.begin(), placed.xyz.end(), beyond) || std::any_of(moving.begin(), moving.end(), beyond)) {
        refuse("out-of-range", "'" + name + "' is or moves beyond the range of a 64-bit float");  // U6.1, U7.1
        found.clear();
        return;
      }
    }
  }
};

}  // namespace detail

// Return what a document says; a document that cannot be read at all is `refused`.
inline Document read(const std::string &bytes) {
  Document document;
  detail::Reader(document).read(bytes);
  return document;
}

}  // namespace usdf

#endif
