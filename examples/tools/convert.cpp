// convert-checkpoint: a llama2.c checkpoint, or random numbers of any shape, to safetensors for the model
// examples.
//
//   convert-checkpoint stories.bin -o stories.safetensors
//   convert-checkpoint --random 4096 11008 32 32 8 32000 2048 --dtype bf16 -o random.safetensors
//
// The model has a classifier; where the checkpoint shares the embedding's numbers, they are written twice.
// --share leaves it out, for programs or binding maps (`classifier <- embed`) that share it themselves.
//
// Exit status: 0 done, 1 the input or the disk is at fault (nothing is left behind), 2 wrong usage.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

#include "checkpoint.h"

namespace {

using namespace axon;

struct Options {
  std::string input, output;
  std::vector<int64_t> random;
  std::string dtype = "f32";
  uint64_t seed = 0;
  bool share = false;
};

weights::Status convert(const Options& options) {
  const auto dtype = *elem_from_name(options.dtype);
  const auto classifier = options.share ? examples::Classifier::never : examples::Classifier::always;
  examples::Shape shape;
  if (!options.random.empty()) {
    std::array<int64_t, 7> header{};
    std::copy_n(options.random.begin(), header.size(), header.begin());
    const auto checked = examples::shape_from_header(header);
    if (!checked) return checked.error();
    return weights::write_safetensors(options.output,
                                      examples::random_tensors(*checked, dtype, classifier, options.seed),
                                      examples::model_metadata(*checked));
  }
  const auto file = weights::File::open(options.input);
  if (!file) return file.error();
  const auto bytes = (*file)->view();
  if (!bytes) return bytes.error();
  auto tensors = examples::checkpoint_tensors(*bytes, dtype, classifier, shape);
  if (!tensors) return weights::Error{tensors.error().code, options.input + ": " + tensors.error().message};
  return weights::write_safetensors(options.output, std::move(*tensors), examples::model_metadata(shape));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Converts a llama2.c checkpoint to safetensors.");
  auto* const input = app.add_option("checkpoint", options.input, "the .bin file to convert");
  app.add_option("-o,--output", options.output, "the .safetensors file to write")->required();
  app.add_option("--random", options.random,
                 "random weights instead: dim hidden layers heads kv_heads vocabulary sequence "
                 "(vocabulary negative: with a classifier of its own)")
      ->expected(7)
      ->excludes(input);
  app.add_option("--dtype", options.dtype, "f32, bf16 or f16")->check(CLI::IsMember({"f32", "bf16", "f16"}));
  app.add_option("--seed", options.seed, "of the random weights");
  app.add_flag("--share", options.share,
               "write no classifier, whether or not the checkpoint has one of its own");
  try {
    app.parse(argc, argv);
    if (options.input.empty() && options.random.empty()) throw CLI::RequiredError("checkpoint or --random");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const auto error = convert(options)) {
    std::fprintf(stderr, "error[%s]: %s\n", error->code.c_str(), error->message.c_str());
    return 1;
  }
  return 0;
}
