// Parameters that share a tensor, and tensors that are joined in one parameter (propose.h).
#pragma once
#include "tools/weights/families.h"
#include "tools/weights/matching.h"

namespace axon::tools {

class Sharing : public Matching {
 protected:
  using Matching::Matching;

  /// Parts in a usual order wait until other parameters are matched, where there are not as many tensors as
  /// parameters and none, or not one each, with the words of the parts.
  void withhold_parts();
  /// Parts that have a usual order are tried in it, others as they stand beside each other in the program.
  void share_tensors();
  void join_tensors();

 private:
  struct Split {
    double score = -1;
    size_t unit = 0;
    std::vector<size_t> parts;
    bool transposed = false;
    std::string cut;
    std::vector<Shape> shapes;
    std::optional<UsualOrder> order;  ///< that the parts are in
  };

  std::vector<Family> families() const;
  bool are_together(const UsualOrder& order) const;
  double score_of_parts(const std::vector<size_t>& parts, const Unit& unit) const;
  void try_parts(const std::vector<size_t>& parts, const std::optional<UsualOrder>& order, Split& best) const;
  /// How a unit may be cut or joined: along the columns first, transposed or not, as most layers are first;
  /// the axis is counted from the last.
  std::vector<std::pair<bool, size_t>> orientations(const Unit& unit) const;
  bool cut(const std::vector<size_t>& parts, const Unit& unit, Split& out) const;
  /// Can these parameters share the unit along an axis, counted from the last?
  bool cut(const std::vector<size_t>& parts, const Unit& unit, bool transposed, size_t back,
           Split& out) const;
  /// Is there an orientation left for each tensor that is chosen?
  bool allow_what_is_chosen(const Facts& known) const;
  /// How much of an axis each part has: what is known of it, and of what is left as much as the others of the
  /// same size. Empty where that does not follow, or is not all of the axis.
  std::vector<uint64_t> sizes_of_parts(const std::vector<size_t>& parts, size_t axis, uint64_t extent) const;
  void take(const Split& split);
  /// What a split leaves open: the tensor, where another is as like the parts, and their order.
  void doubt_parts(const Split& split, const ProposedRule& rule);
  /// Units that are free and have the same name but for one part between dots, by that.
  std::vector<std::vector<size_t>> unit_families(const Parameter& p) const;
  void join(size_t i);
  /// The rule, if the parameter can have the shape of the units behind one another.
  bool joined(size_t i, const std::vector<size_t>& units, ProposedRule& out);
};

}  // namespace axon::tools
