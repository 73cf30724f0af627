// Reads back the text of print.cpp.
//
// Lines stand in the order of that text. The first thing that does not fit is the error, with its line. What
// is read is well formed enough to be printed, verified and interpreted; whether it is right is verify's
// business. Extents and counts are bounded, so that a text cannot ask for more work than its length suggests.
#include <fmt/format.h>

#include <algorithm>

#include "layout/atoms.h"
#include "layout/evaluate.h"
#include "layout/text.h"
#include "tile/parse_ops.h"
#include "tile/places.h"

namespace axon::tile {

namespace {

constexpr int64_t most_elements = 1 << 18, most_bytes = 1 << 24, most_slots = 64, most_threads = 1 << 12;

class Parser : OpsReader {
 public:
  explicit Parser(const std::string& text) : OpsReader(text) {}

  std::optional<Program> run(std::string& error) {
    header();
    while (!failed() && !at_end() && head_line()) {
    }
    if (!failed()) {
      if (accept("do")) {
        end_of_line();
        program_.body = body(1);
        require_end();
      } else {
        program_.body = roles();
        if (!failed() && program_.body.empty()) fail("`do` or roles are expected");
      }
    }
    error = this->error();
    return failed() ? std::nullopt : std::optional(std::move(program_));
  }

 private:
  void require_end() {
    if (!failed() && !at_end()) fail("an operation is expected, two spaces deeper than what it is in");
  }

  // ---- the head ----

  void header() {
    expect("tiles");
    program_.name = name();
    expect("on");
    const std::string machine = word();
    const auto found = find_machine(machine);
    if (std::string more; found && !next_is_name(more)) {
      program_.machine = *found;
    } else {
      Machine& m = program_.machine;
      m.name = machine;
      m.lanes = part("lanes", most_lanes);
      m.warps = part("warps", most_threads);
      m.registers = part("registers", most_bytes);
      m.register_bytes = part("of", most_bytes);
      m.scratch = part("scratch", most_bytes);
    }
    end_of_line();
  }
  int64_t part(const char* word, int64_t most) {
    expect(word);
    return at_most(most);
  }
  int64_t at_most(int64_t most, int64_t least = 1) {
    const int64_t value = number();
    if (!failed() && (value < least || value > most))
      fail(fmt::format("this number is {}, and it has to be {} to {}", value, least, most));
    return value;
  }

  /// False where the head ends.
  bool head_line() {
    std::string word;
    if (!next_is_name(word)) return fail("a word is expected"), false;
    using Read = void (Parser::*)();
    static constexpr std::pair<const char*, Read> lines[] = {
        {"sizes", &Parser::sizes},     {"facts", &Parser::sizes_facts}, {"guard", &Parser::guard},
        {"layout", &Parser::layout},   {"grid", &Parser::grid},         {"tensor", &Parser::tensor},
        {"waits", &Parser::waits},     {"notifies", &Parser::notifies}, {"registers", &Parser::in_registers},
        {"scratch", &Parser::scratch}, {"ring", &Parser::ring},         {"view", &Parser::view},
    };
    const auto found = std::find_if(std::begin(lines) + stage_, std::end(lines),
                                    [&](const auto& line) { return word == line.first; });
    if (found == std::end(lines)) return false;
    // Each kind of line stands behind the kinds before it; the kinds of tiles stand in any order.
    stage_ = std::min<size_t>(static_cast<size_t>(found - std::begin(lines)), tiles_begin);
    if (stage_ < 3) ++stage_;
    name();
    (this->*found->second)();
    end_of_line();
    return true;
  }
  static constexpr size_t tiles_begin = 8;

  void sizes() {
    do {
      const std::string size = fresh_name("size");
      program_.sizes.push_back(declare(size, shape::fresh_var(size)));
    } while (!failed() && accept(","));
  }
  void sizes_facts() { program_.facts = conditions(); }
  void guard() { program_.guard = conditions(); }

  shape::NameLookup names_of_sizes() const {
    return [this](std::string_view name) -> std::optional<Dim> {
      for (Var v : program_.sizes)
        if (shape::var_name(v) == name) return Dim(v);
      return std::nullopt;
    };
  }
  void fail_at(const layout::ParseError& error, const std::string& text) {
    if (!failed())
      fail(fmt::format("{}, at `{}`", error.message, text.substr(std::min(error.offset, text.size()))));
  }

  void layout() {
    NamedLayout out;
    out.name = name();
    expect("=");
    const std::string text = rest_of_line();
    layout::ParseError error;
    if (const layout::Atom* atom = layout::find_atom(text)) {
      out.atom = text;
      out.layout.layout = atom->operand.layout;
    } else if (const auto found = layout::parse_swizzled(text, names_of_sizes(), {}, &error)) {
      out.layout = *found;
    } else {
      return fail_at(error, text);
    }
    if (const auto why = why_too_large(out.layout)) return fail(*why);
    if (const auto why = why_no_place(out.layout)) return fail(*why);
    if (!layouts_.emplace(out.name, LayoutId{program_.layouts.size()}).second)
      return fail("this layout is declared twice");
    program_.layouts.add(std::move(out));
  }
  static std::optional<std::string> why_too_large(const layout::Swizzled& swizzled) {
    const layout::Layout& l = swizzled.layout;
    const auto elements = layout::size(l).constant(),
               points = (layout::size(l) * layout::copies(l)).constant();
    if (!layout::is_constant(l) || !elements || *elements > most_elements || *points > 4 * most_elements)
      return fmt::format("the layout of a tile is of at most {} numbers", most_elements);
    for (const auto& [axis, span] : layout::spans(l)) {
      const int64_t most = axis.name == "m" ? most_bytes : most_threads;
      if (*span.low.constant() < 0 || *span.high.constant() >= most)
        return fmt::format("the layout leaves 0 to {} on `{}`", most, axis.name);
    }
    if (layout::period(swizzled.swizzle) > most_bytes) return "the swizzle is too wide";
    return std::nullopt;
  }

  void grid() {
    Coordinate c;
    const std::string coordinate = fresh_name("coordinate");
    expect("<");
    c.extent = size();
    c.var = declare(coordinate, shape::fresh_var(coordinate));
    program_.grid.push_back(c);
  }

  void tensor() {
    Tensor t;
    t.name = fresh_name("tensor");
    t.elem = elem();
    expect("[");
    list("]", [&] { t.shape.push_back(size()); });
    if (accept("round")) {
      expect("[");
      list("]", [&] { t.multiples.push_back(at_most(most_elements)); });
    } else {
      t.multiples.assign(t.shape.size(), 1);
    }
    if (!failed() && t.multiples.size() != t.shape.size()) fail("one number per axis is expected");
    t.align = part("align", 128);
    if (accept("reads")) t.reads = box(t.shape.size());
    if (accept("writes")) t.writes = box(t.shape.size());
    t.stated = accept("stated");
    expect("at");
    const std::string text = rest_of_line();
    layout::ParseError error;
    const auto place = layout::parse(text, names_of_sizes(), {}, &error);
    if (!place) return fail_at(error, text);
    t.place = *place;
    if (failed()) return;
    tensors_.emplace(t.name, TensorId{program_.tensors.size()});
    program_.tensors.add(std::move(t));
  }

  Announcement announcement() {
    Announcement a;
    a.tensor = known(tensors_, "tensor");
    if (!failed()) a.box = box(program_.tensors[a.tensor].shape.size());
    return a;
  }
  void waits() { program_.waits.push_back(announcement()); }
  void notifies() { program_.notifications.push_back(announcement()); }

  // ---- tiles ----

  void in_registers() { tile(Space::registers); }
  void scratch() { tile(Space::scratch); }
  void ring() { tile(Space::ring); }
  void view() { tile(Space::view); }

  void tile(Space space) {
    Tile t;
    t.space = space;
    t.name = fresh_name("tile");
    t.elem = elem();
    expect("[");
    int64_t elements = 1;
    list("]", [&] {
      t.shape.push_back(at_most(most_elements));
      if (!failed() && (elements *= t.shape.back()) > most_elements)
        fail(fmt::format("a tile has at most {} elements", most_elements));
    });
    if (space != Space::view) {
      expect("as");
      t.layout = known(layouts_, "layout");
      if (!failed() && !layout::size(program_.layouts[t.layout].layout.layout).is(elements))
        fail("the layout has another size than the tile");
    }
    if (space == Space::scratch || space == Space::ring) {
      expect("at");
      t.offset = at_most(most_bytes, 0);
      if (!failed())
        for (const layout::Axis& axis : layout::axes_of(program_.layouts[t.layout].layout.layout))
          if (axis.name != "m") fail("a layout in scratch counts on `m` alone");
    }
    if (space == Space::ring) t.depth = part("depth", most_slots);
    if (failed()) return;
    tiles_.emplace(t.name, TileId{program_.tiles.size()});
    program_.tiles.add(std::move(t));
  }

  size_t stage_ = 0;
};

}  // namespace

std::optional<Program> parse(const std::string& text, std::string& error) { return Parser(text).run(error); }

}  // namespace axon::tile
