// Arithmetic, conversions and storage formats: the numerics of the language in LLVM's terms.
//
// In: LLVM values, scalars or vectors, with the element types that they stand for. Out: values with as many
// lanes. A value is of the type that its element type is computed in: f64, f32, an integer type, or i1 of
// bool; narrow floats are f32. Invariant: every lane of a vector gets the bits that a scalar would.
#pragma once
#include "base/pointwise.h"
#include "module/frame.h"

namespace axon::module {

/// A value with the type it is computed in: f64, f32, an integer type, or boolean (i1).
struct Typed {
  llvm::Value* value = nullptr;
  Elem elem = Elem::f32;
};

class Arithmetic {
 public:
  explicit Arithmetic(Frame& frame) : f_(frame) {}

  llvm::Type* type_of(Elem computed, unsigned lanes = 1);
  llvm::Value* constant(Elem computed, double real, int64_t integer, unsigned lanes = 1);
  llvm::Value* converted(Typed, Elem to);
  /// A value of one type of the language as one of another: what is narrow is rounded to it, once.
  llvm::Value* cast(llvm::Value*, Elem from, Elem to);
  /// The same of what to_stored() gets next, which rounds.
  llvm::Value* cast_to_store(llvm::Value*, Elem from, Elem to);

  // ---- storage ----
  llvm::Type* stored_type(Elem storage, unsigned lanes = 1);
  llvm::Value* from_stored(llvm::Value* stored, Elem storage);
  llvm::Value* to_stored(llvm::Value* computed, Elem storage);

  // ---- operators ----
  /// Of operands of that type, computed in it.
  llvm::Value* apply(base::Pointwise, Elem computed, const std::vector<llvm::Value*>& args);
  /// One of `add`, `mul`, `min`, `max`, `and_`, `or_`. Floats have the flags, and the sign of a zero that is
  /// an extremum is free.
  llvm::Value* combined(base::Pointwise monoid, Elem computed, llvm::Value* a, llvm::Value* b,
                        llvm::FastMathFlags = {});
  /// a * b + sum: rounded once on machines that can.
  llvm::Value* multiply_add(Elem computed, llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  /// A function of the device library, of as many lanes as the arguments have.
  llvm::Value* call(const std::string& name, llvm::Type* result, const std::vector<llvm::Value*>& args);

 private:
  llvm::Type* converted_by_instruction(Elem storage);
  llvm::Value* called_on_each(const std::string& name, llvm::Type* result,
                              const std::vector<llvm::Value*>& args, unsigned lanes);
  llvm::Type* as_wide(const llvm::Value*, llvm::Type* scalar) const;
  llvm::Value* saturated(llvm::Value*, Elem to);
  llvm::Value* rounded(llvm::Value* f32, Elem narrow);
  llvm::Value* of_floats(base::Pointwise, Elem, const std::vector<llvm::Value*>&);
  llvm::Value* of_integers(base::Pointwise, Elem, const std::vector<llvm::Value*>&);
  llvm::Value* compared(base::Pointwise, Elem, llvm::Value*, llvm::Value*);
  llvm::Value* quotient(Elem, llvm::Value*, llvm::Value*);
  llvm::Value* floor_divide(Elem, llvm::Value*, llvm::Value*, bool remainder);
  llvm::Value* extremum(bool larger, Elem, llvm::Value*, llvm::Value*);

  Frame& f_;
};

}  // namespace axon::module
