// run_launch NAME [ROUNDS]: launches NAME.ptx (write_launch.cpp) on the first GPU, through the driver alone.
//
// Prints how far results are from those of the reference interpreter, as |a - b| / (1 + |b|), and the median
// time of a launch with the bytes of all memories over it. Status 1 where a result is further away than 1e-2,
// or the launch fails; 2 where there is no GPU.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr double seconds_of_a_launch = 10;  ///< after which it hangs

[[noreturn]] void fail(const std::string& why, int status = 1) {
  std::printf("run_launch: %s\n", why.c_str());
  std::fflush(stdout);
  _exit(status);
}

/// The driver's functions, by name.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (!library_) fail("there is no driver", 2);
  }
  template <class... Args>
  void call(const char* name, Args... args) {
    if (const int status = try_call(name, args...))
      fail(std::string(name) + " returns " + std::to_string(status));
  }
  template <class... Args>
  int try_call(const char* name, Args... args) {
    void* found = dlsym(library_, name);
    if (!found) fail(std::string("the driver has no ") + name);
    return reinterpret_cast<int (*)(Args...)>(found)(args...);
  }

 private:
  void* library_;
};

using Pointer = uint64_t;  ///< in the GPU's memory

struct Image {
  std::string kernel;
  unsigned threads = 0;
  unsigned shared = 0;
  std::vector<int64_t> sizes, offsets;
  uint64_t events = 0;
  uint32_t epochs = 1;
  bool has_data = false;
  std::vector<std::pair<uint64_t, bool>> memory;
  std::vector<std::pair<size_t, uint64_t>> buffers;
  struct Result {
    size_t memory;
    uint64_t offset, count;
    std::string elem;
  };
  std::vector<Result> results;
};

template <class T>
std::vector<T> list(std::istream& in) {
  size_t n;
  in >> n;
  std::vector<T> out(n);
  for (T& value : out) in >> value;
  return out;
}

Image read_image(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail("no file " + path);
  Image image;
  std::string word;
  size_t n;
  in >> word >> image.kernel >> word >> image.threads >> word >> image.shared >> word;
  image.sizes = list<int64_t>(in);
  in >> word >> image.events >> word;
  image.offsets = list<int64_t>(in);
  in >> word >> image.epochs >> word >> image.has_data >> word >> n;
  image.memory.resize(n);
  for (auto& [bytes, written] : image.memory) in >> bytes >> written;
  in >> word >> n;
  image.buffers.resize(n);
  for (auto& [memory, offset] : image.buffers) in >> memory >> offset;
  in >> word >> n;
  image.results.resize(n);
  for (auto& r : image.results) in >> r.memory >> r.offset >> r.count >> r.elem;
  if (!in) fail(path + " is no launch");
  return image;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("no file " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// axon_kernel_context of runtime/device/abi.h, with addresses in the GPU's memory.
struct Context {
  Pointer sizes, buffers, events, event_offset;
  uint32_t epoch, workers;
  Pointer scratch;
  uint64_t scratch_bytes;
  Pointer failed, failed_value, cancel, services;
};

double value_of(const std::string& elem, const char* at) {
  const auto get = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (elem == "f64") return get(double());
  if (elem == "f32") return get(float());
  if (elem == "i64") return static_cast<double>(get(int64_t()));
  if (elem == "i32") return get(int32_t());
  if (elem == "u32") return get(uint32_t());
  if (elem == "i8") return get(int8_t());
  if (elem == "bool" || elem == "u8") return get(uint8_t());
  if (elem == "bf16") {
    const uint32_t bits = static_cast<uint32_t>(get(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  fail("results of type " + elem + " are not compared");
}

class Launch {
 public:
  explicit Launch(const std::string& name) : name_(name), image_(read_image(name + ".launch")) {
    cuda_.call("cuInit", 0U);
    int device = 0;
    cuda_.call("cuDeviceGet", &device, 0);
    void* context = nullptr;
    cuda_.call("cuDevicePrimaryCtxRetain", &context, device);
    cuda_.call("cuCtxSetCurrent", context);
    cuda_.call("cuDeviceGetAttribute", &processors_, 16, device);
    load();
    fill();
  }

  void run(int rounds) {
    std::vector<double> times;
    launch();
    compare();
    for (int i = 0; i < rounds; ++i) times.push_back(launch());
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    uint64_t bytes = 0;
    for (const auto& [size, written] : image_.memory) bytes += size;
    std::printf("%s: %u blocks, %.1f us, %.0f GB/s of %.1f MB\n", name_.c_str(), blocks_, median,
                static_cast<double>(bytes) / median / 1e3, static_cast<double>(bytes) / 1e6);
  }

 private:
  Pointer allocate(uint64_t bytes) {
    Pointer at = 0;
    cuda_.call("cuMemAlloc_v2", &at, static_cast<size_t>(std::max<uint64_t>(bytes, 64)));
    return at;
  }
  void write(Pointer to, const void* from, uint64_t bytes) {
    if (bytes != 0) cuda_.call("cuMemcpyHtoD_v2", to, from, static_cast<size_t>(bytes));
  }
  template <class T>
  Pointer table(const std::vector<T>& values) {
    const Pointer at = allocate(values.size() * sizeof(T));
    write(at, values.data(), values.size() * sizeof(T));
    return at;
  }

  void load() {
    const std::string ptx = read_file(name_ + ".ptx");
    void* module = nullptr;
    std::vector<char> log(1 << 14);
    int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, its size
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    if (cuda_.try_call("cuModuleLoadDataEx", &module, ptx.c_str(), 2U, options, values) != 0)
      fail(std::string("the code does not load: ") + log.data());
    cuda_.call("cuModuleGetFunction", &function_, module, image_.kernel.c_str());
    if (image_.shared > 48 * 1024)
      cuda_.call("cuFuncSetAttribute", function_, 8, static_cast<int>(image_.shared));
    int each = 0;
    cuda_.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &each, function_,
               static_cast<int>(image_.threads), static_cast<size_t>(image_.shared));
    if (const char* most = std::getenv("BLOCKS_EACH")) each = std::min(each, std::atoi(most));
    blocks_ = static_cast<unsigned>(each * processors_);
  }

  void fill() {
    const std::string data = image_.has_data ? read_file(name_ + ".data") : "";
    uint64_t at = 0;
    for (const auto& [bytes, written] : image_.memory) {
      memory_.push_back(allocate(bytes));
      if (image_.has_data) {
        write(memory_.back(), data.data() + at, bytes);
      } else {
        std::vector<uint32_t> random((bytes + 3) / 4);  // floats in [1, 2), also as halves
        uint32_t state = 1;
        for (uint32_t& word : random) word = 0x3f800000U | ((state = state * 1664525U + 1013904223U) >> 9);
        write(memory_.back(), random.data(), bytes);
      }
      at += bytes;
    }
    std::vector<Pointer> buffers;
    for (const auto& [memory, offset] : image_.buffers) buffers.push_back(memory_[memory] + offset);
    context_.sizes = table(image_.sizes);
    context_.buffers = table(buffers);
    context_.events = table(std::vector<uint32_t>(image_.events + 1, 0));
    context_.event_offset = table(image_.offsets);
    context_.workers = blocks_;
    context_.failed = context_.cancel = table(std::vector<uint32_t>(1, 0));
    context_.failed_value = table(std::vector<int64_t>(2, 0));
    place_ = allocate(sizeof context_);
  }

  /// Microseconds.
  double launch() {
    write(place_, &context_, sizeof context_);
    void *begin = nullptr, *end = nullptr;
    cuda_.call("cuEventCreate", &begin, 0U);
    cuda_.call("cuEventCreate", &end, 0U);
    void* arguments[] = {&place_};
    cuda_.call("cuEventRecord", begin, static_cast<void*>(nullptr));
    cuda_.call("cuLaunchCooperativeKernel", function_, blocks_, 1U, 1U, image_.threads, 1U, 1U, image_.shared,
               static_cast<void*>(nullptr), static_cast<void**>(arguments));
    cuda_.call("cuEventRecord", end, static_cast<void*>(nullptr));
    const auto start = std::chrono::steady_clock::now();
    for (int status; (status = cuda_.try_call("cuEventQuery", end)) != 0;) {
      if (status != 600) fail(name_ + ": the launch fails with " + std::to_string(status));
      if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(seconds_of_a_launch))
        fail(name_ + ": the launch hangs");
    }
    float milliseconds = 0;
    cuda_.call("cuEventElapsedTime", &milliseconds, begin, end);
    context_.epoch += image_.epochs;
    return static_cast<double>(milliseconds) * 1e3;
  }

  void compare() {
    if (!image_.has_data) return;
    const std::string want = read_file(name_ + ".want");
    const char* next = want.data();
    double worst = 0;
    for (const auto& r : image_.results) {
      std::vector<char> got(image_.memory[r.memory].first);
      if (got.empty()) continue;
      cuda_.call("cuMemcpyDtoH_v2", static_cast<void*>(got.data()), memory_[r.memory], got.size());
      const uint64_t bytes = r.elem == "bool" || r.elem == "i8" || r.elem == "u8" ? 1
                             : r.elem == "bf16"                                   ? 2
                             : r.elem == "f64" || r.elem == "i64"                 ? 8
                                                                                  : 4;
      for (uint64_t i = 0; i < r.count; ++i, next += sizeof(double)) {
        double b;
        std::memcpy(&b, next, sizeof b);
        const double a = value_of(r.elem, got.data() + r.offset + i * bytes);
        if (std::isnan(a) && std::isnan(b)) continue;
        const double far = a == b ? 0 : std::abs(a - b) / (1 + std::abs(b));
        worst = std::isnan(far) ? INFINITY : std::max(worst, far);
      }
    }
    std::printf("%s: at most %.2g from the interpreter\n", name_.c_str(), worst);
    if (worst > 1e-2) fail(name_ + ": wrong");
  }

  Driver cuda_;
  const std::string name_;
  const Image image_;
  void* function_ = nullptr;
  int processors_ = 0;
  unsigned blocks_ = 0;
  std::vector<Pointer> memory_;
  Context context_{};
  Pointer place_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("run_launch NAME [ROUNDS]");
  Launch(argv[1]).run(argc > 2 ? std::atoi(argv[2]) : 20);
}
