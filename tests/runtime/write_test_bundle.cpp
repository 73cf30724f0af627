// Writes the bundle of the tests to a file, for tests that are not in C++. usage: write_test_bundle FILE
#include <fstream>

#include "support.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const axon::test::Bytes bytes = axon::test::test_bundle();
  std::ofstream file(arguments[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.good() ? 0 : 1;
}
