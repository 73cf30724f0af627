// The part of DLPack's binary interface that tensors in main memory need, by its specification
// (https://dmlc.github.io/dlpack/latest/c_api.html): capsules `dltensor`, and `dltensor_versioned` since 1.0.
#pragma once
#include <cstdint>

namespace axon::python::dlpack {

enum Device : int32_t { cpu = 1, cuda_host = 3, rocm_host = 11 };  ///< those whose memory a CPU reads
enum Code : uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e5m2 = 12
};

struct Type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t rank;
  Type type;
  int64_t* shape;
  int64_t* strides;  ///< in elements; null: row-major
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);  ///< may be null
};

constexpr uint64_t read_only = 1;
struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);  ///< may be null
  uint64_t flags;
  Tensor tensor;
};

}  // namespace axon::python::dlpack
