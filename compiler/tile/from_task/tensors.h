// The tensors of a program. Only from_task/ includes this.
//
// In: a buffer, or an output, and an index into it. Out: the tensor of the program that has the element, and
// the index in that. Invariant: a tensor is declared once, with the boxes that the task type has of its
// buffer, and the program waits for what it reads. A tensor may have other axes than its buffer: those of the
// domain (merged_outputs.cpp), or several that are one (join_axes.h).
#pragma once
#include "tile/from_task/frame.h"

namespace axon::tile {

class TensorMaker : protected ProgramFrame {
 protected:
  using ProgramFrame::ProgramFrame;

  /// The tensor of an access: each box of a buffer that is used is one. Throws Declined.
  TensorId tensor_for(task::BufferId, const std::vector<Dim>& index, const BlockPlace&, bool write);
  /// Where the element of an output lies that is stored in a place.
  Access access_to_output(uint32_t output, const BlockPlace&);
  std::optional<Access> updated(const graph::Scalar& load, const BlockPlace&);
  std::optional<Access> unmerged(const graph::Scalar& load, const BlockPlace&);
  /// Throws Declined where an index that the data decides may leave the box.
  void check_box(TensorId, task::BufferId, const std::vector<Dim>& index, const BlockPlace&);
  TensorId box_alone(uint32_t access, const std::vector<bool>& begins_there);

  std::vector<uint32_t> boxes_of(task::BufferId, bool write) const;
  /// A box that holds the element wherever the place's bounds do.
  std::optional<uint32_t> box_around(task::BufferId, const std::vector<Dim>& index, const BlockPlace&,
                                     bool write) const;
  Box box_of(uint32_t access) const;
  /// Is what is read in the tensor's box wherever the place's bounds hold? Numbers stay in it by themselves.
  bool is_in_tensor(const Access& read, const BlockPlace&) const;
  /// Is it to be looked whether a box holds the element, since the verifier may not show it?
  bool is_hard(task::BufferId, const std::vector<Dim>& index) const;
  bool may_widen(task::BufferId) const;
  bool is_of_sizes(const Dim&) const;
  bool is_on_axis(const Dim& index, const Dim& extent, const std::vector<Fact>&) const;
  /// What is known where the place has elements.
  std::vector<Fact> facts_at(const BlockPlace&) const;

 private:
  TensorId declare(uint32_t access);
  TensorId widened(uint32_t access);
  TensorId add_tensor(task::BufferId, Tensor);
  TensorId own_tensor(uint32_t access, Tensor);
  std::optional<Access> unmerged(uint32_t output, const BlockPlace&);
  std::optional<Access> unsplit(uint32_t output, const BlockPlace&);
  std::vector<bool> may_leave_axes(const std::vector<Dim>& at, const std::vector<Dim>& shape) const;
  bool may_ask_for_all(task::BufferId) const;
  bool has_slots(task::BufferId) const;
  bool reads_before_stores(task::BufferId) const;
  bool is_updated(task::BufferId) const;

  std::map<uint32_t, TensorId> tensors_;   ///< by access of the type
  std::map<uint32_t, TensorId> unmerged_;  ///< the same of those that have the domain's axes
  std::map<std::pair<uint32_t, std::vector<bool>>, TensorId> boxes_alone_;
};

}  // namespace axon::tile
