// Device functions on vectors give the bits of the scalar ones in every lane, at each level that this machine
// runs; the other levels compile. What is not in the device library is given as LLVM text.
#include "module/widen.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <regex>
#include <set>
#include <tuple>

#include "base/bug.h"
#include "device/math.h"
#include "harness.h"
#include "module/native.h"

namespace axon::testing {
namespace {

// ---- the functions ----

enum class Number : uint8_t { f32, f64, i64, u16, u8 };

size_t bytes_of(Number n) { return n == Number::u8 ? 1 : n == Number::u16 ? 2 : n == Number::f32 ? 4 : 8; }

template <class T>
constexpr Number number() {
  if constexpr (std::is_same_v<T, float>) return Number::f32;
  if constexpr (std::is_same_v<T, double>) return Number::f64;
  if constexpr (std::is_same_v<T, int64_t>) return Number::i64;
  return sizeof(T) == 2 ? Number::u16 : Number::u8;
}

/// Applies a scalar function to element `i` of each operand.
using Apply = void (*)(void* f, uint8_t* out, const uint8_t* const* operands, size_t i);

struct DeviceFunction {
  std::string name;
  Number result;
  std::vector<Number> params;
  Apply apply;
};

template <class T>
T element(const uint8_t* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class R, class... A>
DeviceFunction row(const char* name, R (*)(A...)) {
  const Apply apply = [](void* f, uint8_t* out, const uint8_t* const* operands, size_t i) {
    size_t n = 0;  // braces evaluate from left to right
    const std::tuple<A...> args{element<A>(operands[n++], i)...};
    const R value = std::apply(reinterpret_cast<R (*)(A...)>(f), args);
    std::memcpy(out + i * sizeof(R), &value, sizeof(R));
  };
  return {name, number<R>(), {number<A>()...}, apply};
}

/// A type of a null pointer: the functions are not linked into the test.
#define FUNCTION(name) row(#name, static_cast<decltype(&name)>(nullptr))

std::vector<DeviceFunction> device_functions() {
  return {
#define UNARY(name, length) FUNCTION(axon_##name##_f32), FUNCTION(axon_##name##_f64),
#define BINARY(name, length) UNARY(name, length)
#include "device/functions.def"
      FUNCTION(axon_erfc_f32),    FUNCTION(axon_erfc_f64),  FUNCTION(axon_mod_f32),
      FUNCTION(axon_mod_f64),     FUNCTION(axon_to_odd),    FUNCTION(axon_to_odd_i64),
      FUNCTION(axon_from_f16),    FUNCTION(axon_from_bf16), FUNCTION(axon_from_f8e4m3),
      FUNCTION(axon_from_f8e5m2), FUNCTION(axon_to_f16),    FUNCTION(axon_to_bf16),
      FUNCTION(axon_to_f8e4m3),   FUNCTION(axon_to_f8e5m2),
  };
}

// ---- code on vectors ----

llvm::Type* type_of(Number n, llvm::LLVMContext& c) {
  if (n == Number::f32) return llvm::Type::getFloatTy(c);
  if (n == Number::f64) return llvm::Type::getDoubleTy(c);
  return llvm::Type::getIntNTy(c, static_cast<unsigned>(bytes_of(n)) * 8);
}

std::string name_of(const DeviceFunction& f, unsigned lanes) { return f.name + "_" + std::to_string(lanes); }

/// void NAME_LANES(result, operands...): one vector each, in memory.
void add_wrapper(llvm::Module& m, const DeviceFunction& f, unsigned lanes) {
  auto& c = m.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(c);
  const std::vector<llvm::Type*> pointers(f.params.size() + 1, pointer);
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), pointers, false);
  auto* const wrapper =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name_of(f, lanes), m);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(c, "", wrapper));
  std::vector<llvm::Type*> params;
  std::vector<llvm::Value*> args;
  for (unsigned n = 0; n < f.params.size(); ++n) {
    params.push_back(type_of(f.params[n], c));
    args.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(params.back(), lanes),
                                       wrapper->getArg(n + 1), llvm::Align(1)));
  }
  auto* const wide = module::widened(m, f.name, type_of(f.result, c), params, lanes);
  b.CreateAlignedStore(b.CreateCall(wide, args), wrapper->getArg(0), llvm::Align(1));
  b.CreateRetVoid();
}

const std::vector<unsigned> every_count{1, 2, 4, 8, 16, 32};

std::string code_of(const std::vector<DeviceFunction>& functions, const std::vector<unsigned>& counts,
                    const target::Machine& level, int optimization,
                    llvm::CodeGenFileType kind = llvm::CodeGenFileType::ObjectFile) {
  llvm::LLVMContext context;
  llvm::Module m("widened", context);
  for (const DeviceFunction& f : functions)
    for (const unsigned lanes : counts) add_wrapper(m, f, lanes);
  return module::native_code(m, level, {.optimization = optimization}, kind);
}

// ---- inputs ----

/// Where the code of some function decides something, and what is special; of both signs, with neighbours.
const double notable[] = {
    0,           0x1p-149,   0x1p-140, 0x1p-127, 0x1p-126,    0x1p-1074,   0x1p-1030,
    0x1p-1022,   0x1p-24,    0x1p-17,  0x1p-14,  0x1p-10,     0x1p-6,      0x1p-16,
    0.25,        0.41421356, 0.5,      0.625,    0.707106781, 0.927734375, 1,
    2.414213562, 1.5,        2,        3,        4,           6,           10.1,
    27.3,        88.72284,   89,       104,      127,         128,         129,
    149,         151,        240,      448,      464,         480,         710,
    745.2,       746,        1023,     1025,     1076,        57344,       61440,
    65504,       65520,      0x1p20,   0x1p24,   0x1p25,      0x1p31,      0x1p53,
    0x1p63,      1e30,       1e38,     3.4e38,   1e200,       1.7e308,     0.785398163,
    1.57079633,  3.14159265, 16777215, 33554431, 1e-3,        1e-30,       9007199254740991,
    INFINITY,    NAN,
};

template <class T, class Bits>
std::vector<T> floats(uint64_t seed, size_t count) {
  std::vector<T> all;
  for (const double value : notable)
    for (const T signed_value : {static_cast<T>(value), static_cast<T>(-value)})
      for (int away = -2; away <= 2; ++away)
        all.push_back(std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(signed_value) +
                                                         static_cast<Bits>(static_cast<int64_t>(away)))));
  std::mt19937_64 random(seed);
  while (all.size() < count) {
    const uint64_t bits = random();
    const int64_t whole = static_cast<int64_t>(bits) >> 8;
    const int kind = static_cast<int>(random() % 3), scale = static_cast<int>(random() % 24);
    all.push_back(kind == 0   ? std::bit_cast<T>(static_cast<Bits>(bits))
                  : kind == 1 ? static_cast<T>(std::ldexp(static_cast<double>(whole), scale - 65))
                              : static_cast<T>(whole >> (32 + scale)));
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

std::vector<int64_t> integers(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> all;
  for (const int64_t end : {int64_t{0}, int64_t{1} << 24, int64_t{1} << 53, INT64_MIN, INT64_MAX})
    for (int64_t away = -3; away <= 3; ++away)
      all.push_back(static_cast<int64_t>(static_cast<uint64_t>(end) + static_cast<uint64_t>(away)));
  while (all.size() < count) all.push_back(static_cast<int64_t>(random()) >> random() % 64);
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

template <class T>
std::vector<uint8_t> as_bytes(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

constexpr size_t input_count = 8192;  // of each function, a multiple of every number of lanes

std::vector<uint8_t> inputs(Number n, uint64_t seed) {
  if (n == Number::f32) return as_bytes(floats<float, uint32_t>(seed, input_count));
  if (n == Number::f64) return as_bytes(floats<double, uint64_t>(seed, input_count));
  if (n == Number::i64) return as_bytes(integers(seed, input_count));
  std::vector<uint16_t> patterns(input_count);  // in an order in which neighbours have little in common
  const uint32_t step = n == Number::u16 ? 40507 : 167;
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i * step);
  return n == Number::u16 ? as_bytes(patterns)
                          : as_bytes(std::vector<uint8_t>(patterns.begin(), patterns.end()));
}

// ---- the same bits ----

struct Calls {
  const Library& scalar;
  const Library& wide;
};

std::string describe(const DeviceFunction& f, const std::vector<const uint8_t*>& operands, size_t i) {
  std::string text = f.name + " of";
  for (size_t n = 0; n < operands.size(); ++n) {
    char digits[32];
    uint64_t bits = 0;
    std::memcpy(&bits, operands[n] + i * bytes_of(f.params[n]), bytes_of(f.params[n]));
    std::snprintf(digits, sizeof digits, " 0x%llx", static_cast<unsigned long long>(bits));
    text += digits;
  }
  return text;
}

void expect_same_bits(const DeviceFunction& f, const Calls& calls, const std::vector<unsigned>& counts) {
  std::vector<std::vector<uint8_t>> given;
  std::vector<const uint8_t*> operands;
  for (const Number param : f.params) given.push_back(inputs(param, 11 + given.size()));
  for (const auto& operand : given) operands.push_back(operand.data());
  const size_t bytes = bytes_of(f.result);
  std::vector<uint8_t> want(input_count * bytes), got(want.size());
  void* const scalar = calls.scalar.find(f.name);
  ASSERT_NE(scalar, nullptr) << f.name;
  for (size_t i = 0; i < input_count; ++i) f.apply(scalar, want.data(), operands.data(), i);
  for (const unsigned lanes : counts) {
    void* const wide = calls.wide.find(name_of(f, lanes));
    ASSERT_NE(wide, nullptr) << f.name;
    for (size_t i = 0; i < input_count; i += lanes) {
      const auto at = [&](size_t n) { return operands[n] + i * bytes_of(f.params[n]); };
      if (operands.size() == 1)
        reinterpret_cast<void (*)(uint8_t*, const uint8_t*)>(wide)(&got[i * bytes], at(0));
      else
        reinterpret_cast<void (*)(uint8_t*, const uint8_t*, const uint8_t*)>(wide)(&got[i * bytes], at(0),
                                                                                   at(1));
    }
    for (size_t i = 0; i < input_count; ++i)
      ASSERT_EQ(std::memcmp(&got[i * bytes], &want[i * bytes], bytes), 0)
          << describe(f, operands, i) << " on " << lanes << " lanes";
  }
}

std::unique_ptr<Library> linked(const std::string& object) {
  std::string error;
  auto library = Library::link({object}, error);
  EXPECT_EQ(error, "");
  return library;
}

void check_level(const target::Machine& level, const std::vector<unsigned>& counts, int optimization) {
  std::string error;
  const auto functions = device_functions();
  const auto scalar = linked(module::emit_device_object(level, error).value());
  const auto wide = linked(code_of(functions, counts, level, optimization));
  ASSERT_TRUE(scalar && wide);
  for (const DeviceFunction& f : functions) {
    SCOPED_TRACE(::testing::Message() << level.name);
    expect_same_bits(f, {*scalar, *wide}, counts);
  }
}

bool runs_here(const target::Machine& level) {
  for (const auto& way : every_level())
    if (way.level == level.name) return true;
  return false;
}

TEST(Widen, SameBitsInEveryLane) {
  for (const auto& level : target::machines())
    if (runs_here(level))
      check_level(level, every_count, 3);
    else
      EXPECT_FALSE(code_of(device_functions(), every_count, level, 3).empty());
}

TEST(Widen, SameBitsWithoutOptimisation) { check_level(target::machines().front(), {8}, 0); }

// ---- what the code is ----

/// The instructions of a function, one a line.
std::string assembly_of(const std::string& name, unsigned lanes, const char* level = "x86-64-v3") {
  std::vector<DeviceFunction> one;
  for (const DeviceFunction& f : device_functions())
    if (f.name == name) one.push_back(f);
  const std::string text =
      code_of(one, {lanes}, target::find_machine(level).value(), 3, llvm::CodeGenFileType::AssemblyFile);
  const size_t begin = text.find(name_of(one.at(0), lanes) + ":");
  std::string code = text.substr(begin, text.find(".Lfunc_end", begin) - begin), instructions;
  static const std::regex instruction("\n\t([a-z][^\n]*)");
  for (std::sregex_iterator it(code.begin(), code.end(), instruction), end; it != end; ++it)
    instructions += (*it)[1].str() + "\n";
  return instructions;
}

bool has(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

TEST(Widen, CodeIsThatOfVectors) {
  for (const char* name : {"axon_exp_f32", "axon_tanh_f32", "axon_erf_f32", "axon_sin_f32"}) {
    const std::string code = assembly_of(name, 8);
    RecordProperty(name, static_cast<int>(std::count(code.begin(), code.end(), '\n')));
    EXPECT_TRUE(has(code, "vmulps.*%ymm") || has(code, "vmulpd.*%ymm")) << code;
    EXPECT_FALSE(has(code, "call|\\bj[a-z]+\\b")) << code;
    EXPECT_FALSE(has(code, "\\bv?(add|sub|mul|div|sqrt|min|max|f[a-z]+[0-9]+)s[sd]\\b")) << code;
    if (std::string(name) != "axon_sin_f32") {
      EXPECT_FALSE(has(code, "vmov(ss|sd|d|q)\\b|vpinsr|vinsertps|vpextr|vextractps")) << code;
    }
  }
}

/// Those that leave the straight line: remainders, whose steps the data counts, and trigonometry in f64.
TEST(Widen, OnlyTheseAreCalledForEachLane) {
  const std::set<std::string> called{"axon_mod_f32", "axon_mod_f64", "axon_sin_f64", "axon_cos_f64"};
  for (const DeviceFunction& f : device_functions())
    EXPECT_EQ(has(assembly_of(f.name, 8), "call"), called.contains(f.name)) << f.name;
}

TEST(Widen, RegistersOfTheLevel) {
  EXPECT_TRUE(has(assembly_of("axon_exp_f32", 16, "x86-64-v4"), "vmulps.*%zmm"));
  EXPECT_FALSE(has(assembly_of("axon_exp_f32", 16, "x86-64-v4"), "%ymm"));
  EXPECT_TRUE(has(assembly_of("axon_exp_f32", 4, "x86-64-v2"), "mulps.*%xmm"));
}

// ---- other shapes of functions ----

constexpr const char* shapes = R"(
@table = internal constant [4 x i32] [i32 7, i32 -3, i32 5, i32 11]
define i32 @nested(i32 %x, i32 %y) {
  %a = icmp slt i32 %x, %y
  br i1 %a, label %one, label %two
one:
  %b = icmp ugt i32 %x, 31
  %s = shl nuw i32 1, %x  ; poison where x is outside of 0 .. 31
  %c = icmp eq i32 %s, 8
  br i1 %b, label %early, label %inner
inner:
  br i1 %c, label %join, label %two
early:
  ret i32 %x
two:
  %p = phi i32 [ %x, %0 ], [ %s, %inner ]
  %d = icmp ugt i32 %y, 20
  br i1 %d, label %join, label %last
last:
  %q = sub i32 %p, %y
  br label %join
join:
  %r = phi i32 [ -1, %inner ], [ %p, %two ], [ %q, %last ]
  %t = mul i32 %r, 3
  ret i32 %t
}
define i32 @load(i32 %x, i32 %y) {
  %i = and i32 %x, 3
  %at = getelementptr [4 x i32], ptr @table, i32 0, i32 %i
  %v = load i32, ptr %at
  %first = load i32, ptr @table
  %w = mul i32 %v, %first
  %z = add i32 %w, %y
  ret i32 %z
}
define i32 @guarded(i32 %x, i32 %y) {
  %a = icmp ult i32 %x, 4
  br i1 %a, label %in, label %out
in:
  %at = getelementptr [4 x i32], ptr @table, i32 0, i32 %x
  %v = load i32, ptr %at
  br label %out
out:
  %r = phi i32 [ %y, %0 ], [ %v, %in ]
  ret i32 %r
}
define i32 @division(i32 %x, i32 %y) {
  %a = icmp eq i32 %y, 0
  br i1 %a, label %out, label %in
in:
  %v = udiv i32 %x, %y
  br label %out
out:
  %r = phi i32 [ -1, %0 ], [ %v, %in ]
  ret i32 %r
}
define i32 @loop(i32 %x, i32 %y) {
  %end = and i32 %x, 15
  br label %again
again:
  %i = phi i32 [ 0, %0 ], [ %n, %again ]
  %s = phi i32 [ %y, %0 ], [ %m, %again ]
  %m = mul i32 %s, 3
  %n = add i32 %i, 1
  %c = icmp ult i32 %n, %end
  br i1 %c, label %again, label %done
done:
  ret i32 %m
}
define i32 @cases(i32 %x, i32 %y) {
  switch i32 %x, label %other [ i32 1, label %out
                                i32 2, label %two ]
two:
  br label %out
other:
  br label %out
out:
  %r = phi i32 [ 10, %0 ], [ %y, %two ], [ %x, %other ]
  ret i32 %r
}
define internal i32 @helper(i32 %x) norecurse {
  %a = icmp sgt i32 %x, 9
  br i1 %a, label %in, label %out
in:
  ret i32 9
out:
  %v = call i32 @llvm.abs.i32(i32 %x, i1 false)
  ret i32 %v
}
define i32 @callee(i32 %x, i32 %y) {
  %a = call i32 @helper(i32 %x)
  %b = call i32 @helper(i32 %y)
  %r = sub i32 %a, %b
  ret i32 %r
}
define i32 @classes(i32 %x, i32 %y) {
  %f = bitcast i32 %x to float
  %n = call i1 @llvm.is.fpclass.f32(float %f, i32 264)
  %i = call i32 @llvm.fptosi.sat.i32.f32(float %f)
  %r = select i1 %n, i32 %i, i32 %y
  ret i32 %r
}
declare i32 @llvm.abs.i32(i32, i1)
declare i1 @llvm.is.fpclass.f32(float, i32)
declare i32 @llvm.fptosi.sat.i32.f32(float)
)";

std::unique_ptr<llvm::Module> parsed(const char* text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic wrong;
  auto m = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(m) << wrong.getMessage().str() << " in line " << wrong.getLineNo();
  return m;
}

TEST(Widen, BranchesTablesAndWhatHasNoVectorForm) {
  llvm::LLVMContext context;
  const auto m = parsed(shapes, context);
  ASSERT_TRUE(m);
  using Two = int32_t(int32_t, int32_t);
  std::vector<std::string> names;
  for (const llvm::Function& f : *m)
    if (f.hasExternalLinkage() && !f.isDeclaration()) names.push_back(f.getName().str());
  ASSERT_EQ(names.size(), 8u);
  for (const std::string& name : names) {
    llvm::Type* const word = llvm::Type::getInt32Ty(context);
    llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
    auto* const wrapper = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false),
        llvm::GlobalValue::ExternalLinkage, name + "_8", *m);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", wrapper));
    auto* const words = llvm::FixedVectorType::get(word, 8);
    llvm::Value* const x = b.CreateAlignedLoad(words, wrapper->getArg(1), llvm::Align(4));
    llvm::Value* const y = b.CreateAlignedLoad(words, wrapper->getArg(2), llvm::Align(4));
    auto* const wide = module::widened(*m, name, word, {word, word}, 8);
    b.CreateAlignedStore(b.CreateCall(wide, {x, y}), wrapper->getArg(0), llvm::Align(4));
    b.CreateRetVoid();
  }
  const auto library =
      linked(module::native_code(*m, target::machines().front(), {}, llvm::CodeGenFileType::ObjectFile));
  ASSERT_TRUE(library);
  std::mt19937 random(3);
  for (const std::string& name : names) {
    auto* const scalar = reinterpret_cast<Two*>(library->find(name));
    auto* const wide =
        reinterpret_cast<void (*)(int32_t*, const int32_t*, const int32_t*)>(library->find(name + "_8"));
    for (int round = 0; round < 500; ++round) {
      int32_t x[8], y[8], got[8];
      for (int lane = 0; lane < 8; ++lane) {
        x[lane] = static_cast<int32_t>(random()) >> random() % 32;
        y[lane] = static_cast<int32_t>(random()) >> random() % 32;
      }
      wide(got, x, y);
      for (int lane = 0; lane < 8; ++lane)
        ASSERT_EQ(got[lane], scalar(x[lane], y[lane])) << name << " " << x[lane] << " " << y[lane];
    }
  }
}

TEST(Widen, RefusesWhatIsNoNumberAndWhatIsNotThere) {
  llvm::LLVMContext context;
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const real = llvm::Type::getFloatTy(context);
  llvm::Module m("refused", context);
  EXPECT_THROW(module::widened(m, "a", real, {pointer}, 4), base::InternalError);
  EXPECT_THROW(module::widened(m, "a", llvm::Type::getVoidTy(context), {real}, 4), base::InternalError);
  module::widened(m, "axon_no_such_function", real, {real}, 4);
  EXPECT_THROW(module::define_widened(m), base::InternalError);
  llvm::Module other("other", context);
  auto* const one = llvm::Function::Create(llvm::FunctionType::get(real, {real}, false),
                                           llvm::GlobalValue::ExternalLinkage, "f", other);
  llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "", one)).CreateRet(one->getArg(0));
  other.getOrInsertFunction("f.x4", llvm::FixedVectorType::get(real, 2), llvm::FixedVectorType::get(real, 2));
  EXPECT_THROW(module::define_widened(other), base::InternalError);
}

}  // namespace
}  // namespace axon::testing
