// See document.h. The layout walks the document with a stack of its own, so its depth is not a matter here.
#include "format/document.h"

#include <algorithm>

#include "source/span.h"

namespace axon::format {

Documents::Documents() { nodes_.push_back({Kind::concat, {}, {}, 0, 0, false}); }

Doc Documents::add(Node node) {
  nodes_.push_back(std::move(node));
  return Doc{static_cast<uint32_t>(nodes_.size() - 1)};
}

Doc Documents::text(std::string_view text) {
  return add({Kind::text, std::string(text), {}, 0, source::display_width(text), false});
}

Doc Documents::comment_behind(std::string_view text) {
  return add({Kind::comment_behind, std::string(text), {}, 0, 0, true});
}
Doc Documents::comment_line(std::string_view text) {
  return add({Kind::comment_line, std::string(text), {}, 0, 0, true});
}

Doc Documents::concat(std::vector<Doc> parts) {
  Node node{Kind::concat, {}, {}, 0, 0, false};
  for (Doc part : parts) {
    node.width += nodes_[part.index].width;
    node.broken |= nodes_[part.index].broken;
  }
  node.parts = std::move(parts);
  return add(std::move(node));
}

Doc Documents::group(Doc inside) {
  const Node& node = nodes_[inside.index];
  return add({Kind::group, {}, {inside}, 0, node.width, node.broken});
}
Doc Documents::nest(int columns, Doc inside) {
  const Node& node = nodes_[inside.index];
  return add({Kind::nest, {}, {inside}, columns, node.width, node.broken});
}
Doc Documents::align(Doc inside) {
  const Node& node = nodes_[inside.index];
  return add({Kind::align, {}, {inside}, 0, node.width, node.broken});
}

class Layout {
 public:
  Layout(const Documents& documents, uint32_t width) : nodes_(documents.nodes_), width_(width) {}

  std::string run(Doc doc) {
    todo_.push_back({doc, 0, false});
    while (!todo_.empty()) {
      Item item = todo_.back();
      todo_.pop_back();
      step(item, nodes_[item.doc.index]);
    }
    end_line();
    return std::move(out_);
  }

 private:
  using Kind = Documents::Kind;
  using Node = Documents::Node;
  struct Item {
    Doc doc;
    uint32_t indent;
    bool flat;
  };

  void step(const Item& item, const Node& node) {
    switch (node.kind) {
      case Kind::text:
        return write(node.text, node.width);
      case Kind::line:
        if (item.flat) return write(" ", 1);
        return new_line(item.indent);
      case Kind::soft_line:
        if (!item.flat) new_line(item.indent);
        return;
      case Kind::hard_line:
        return new_line(item.indent);
      case Kind::blank_line:
        new_line(item.indent);
        if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
        return;
      case Kind::comment_behind:
        return comment_behind(node, item.indent);
      case Kind::comment_line:
        new_line(item.indent);
        write(node.text, node.width);
        return new_line(item.indent);
      case Kind::concat:
        for (size_t i = node.parts.size(); i-- > 0;) todo_.push_back({node.parts[i], item.indent, item.flat});
        return;
      case Kind::group:
        return todo_.push_back({node.parts[0], item.indent, item.flat || fits(node)});
      case Kind::nest:
        return todo_.push_back({node.parts[0], item.indent + static_cast<uint32_t>(node.columns), item.flat});
      case Kind::align:
        return todo_.push_back({node.parts[0], column(), item.flat});
    }
  }

  uint32_t column() const { return line_is_empty_ ? indent_ : column_; }

  /// Does the group fit flat, with what follows up to the next possible break?
  bool fits(const Node& group) {
    if (group.broken || column() + group.width > width_) return false;
    uint32_t left = width_ - column() - group.width;
    ahead_.clear();
    size_t rest = todo_.size();
    while (true) {
      if (ahead_.empty()) {
        if (rest == 0) return true;
        ahead_.push_back(todo_[--rest]);
      }
      Item item = ahead_.back();
      ahead_.pop_back();
      const Node& node = nodes_[item.doc.index];
      bool ends = node.kind == Kind::hard_line || node.kind == Kind::blank_line ||
                  node.kind == Kind::comment_behind || node.kind == Kind::comment_line;
      bool may_end = node.kind == Kind::line || node.kind == Kind::soft_line;
      if (ends || (may_end && !item.flat)) return true;
      if (node.kind == Kind::text || node.kind == Kind::line) {
        if (node.width > left) return false;
        left -= node.width;
      }
      for (size_t i = node.parts.size(); i-- > 0;) ahead_.push_back({node.parts[i], 0, item.flat});
    }
  }

  void write(std::string_view text, uint32_t width) {
    if (line_is_empty_) {
      if (text == " ") return;
      out_.append(indent_, ' ');
      column_ = indent_;
      line_is_empty_ = false;
    }
    out_ += text;
    column_ += width;
  }

  void end_line() {
    if (line_is_empty_) return;
    out_.erase(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
    line_is_empty_ = true;
  }
  void new_line(uint32_t indent) {
    end_line();
    indent_ = indent;
  }

  void comment_behind(const Node& comment, uint32_t indent) {
    end_line();
    if (out_.ends_with('\n')) out_.pop_back();
    out_ += out_.empty() ? "" : "  ";
    out_ += comment.text + "\n";
    indent_ = indent;
  }

  const std::vector<Node>& nodes_;
  uint32_t width_;
  std::vector<Item> todo_, ahead_;
  std::string out_;
  bool line_is_empty_ = true;  // then indent_ says where it will begin
  uint32_t indent_ = 0;
  uint32_t column_ = 0;
};

std::string Documents::render(Doc doc, uint32_t width) const { return Layout(*this, width).run(doc); }

}  // namespace axon::format
