// story: continues a text with a compiled language model, one token at a time, always the most likely one.
//
//   story --bundle llama.axb --model stories260K.safetensors --tokenizer tok512.bin "Once upon a time"
//
// The text goes to stdout as it is made, the speed to stderr. Token 1 separates texts: the story ends before
// one, or when --positions tokens have been fed. Exit status: 0 done, 1 an input is at fault, 2 wrong usage,
// 3 failed while running.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>

#include "story.h"
#include "tokenizer.h"

namespace {

using namespace axon::examples;

constexpr int64_t usual_positions = 200;
constexpr int64_t recorded_positions = 8;

struct Options {
  ModelFiles files;
  std::string tokenizer, prompt = "Once upon a time", logits;
  std::vector<int32_t> prompt_tokens;
  int64_t positions = 0;  ///< 0: usual_positions, or what the cache holds
  bool tokens = false;
};

/// Where pieces or numbers of tokens go; everything fed and the token after it.
class Output {
 public:
  Output(const Tokenizer* tokenizer, bool numbers) : tokenizer_(tokenizer), numbers_(numbers) {}

  void fed(int32_t token) {
    if (numbers_) put(first_ ? std::to_string(token) : " " + std::to_string(token));
    first_ = false;
  }
  void next(int32_t previous, int32_t token) {
    if (!numbers_) put(tokenizer_->decode(previous, token));
  }
  void end() { put("\n"); }

 private:
  static void put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw Failure("cannot write to the standard output", 3);
  }
  const Tokenizer* tokenizer_;
  bool numbers_, first_ = true;
};

/// Writes logits as they are made; a file that cannot be written is told before the model runs.
class Recorder {
 public:
  explicit Recorder(const std::string& path) : file_(path, std::ios::binary) {
    if (!file_) throw Failure("cannot write " + path);
  }
  void add(const std::vector<float>& logits) {
    const auto size = static_cast<std::streamsize>(logits.size() * sizeof(float));
    if (!file_.write(reinterpret_cast<const char*>(logits.data()), size).flush())
      throw Failure("cannot write all of the logits", 3);
  }

 private:
  std::ofstream file_;
};

/// The most likely token, the lowest of equals.
int32_t most_likely(const std::vector<float>& logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::optional<Tokenizer> load_tokenizer(const Options& options, const Model& model) {
  if (options.tokenizer.empty()) return std::nullopt;
  std::string error;
  auto tokenizer = Tokenizer::load(options.tokenizer, error);
  if (!tokenizer) throw Failure(error);
  if (tokenizer->vocabulary() != model.vocabulary())
    throw Failure("the tokenizer " + options.tokenizer + " has " + std::to_string(tokenizer->vocabulary()) +
                  " tokens, the weights are for " + std::to_string(model.vocabulary()));
  return tokenizer;
}

int64_t positions_to_feed(const Options& options, const Model& model, const std::vector<int32_t>& prompt) {
  const int64_t wanted = options.positions ? options.positions : std::min(usual_positions, model.positions());
  const auto given = static_cast<int64_t>(prompt.size());
  if (wanted > model.positions())
    throw Failure(std::to_string(wanted) + " positions are wanted, the model has " +
                  std::to_string(model.positions()));
  if (given > wanted)
    throw Failure("the prompt is too long: it has " + std::to_string(given) + " tokens for " +
                  std::to_string(wanted) + " positions");
  return wanted;
}

/// The prompt in one go, then token by token; with --logits every token by itself.
void tell(const Options& options, Model& model, const std::vector<int32_t>& prompt, int64_t positions,
          Output& output) {
  std::optional<Recorder> recorder;
  if (!options.logits.empty()) recorder.emplace(options.logits);
  const auto start = std::chrono::steady_clock::now();
  const size_t at_once = recorder ? 1 : prompt.size();
  const std::vector<float>* logits = recorder ? &model.decode(prompt[0], 0) : &model.prefill(prompt);
  const double prefilled = seconds_since(start);
  int32_t token = prompt[0];
  for (int64_t position = 0;; ++position) {
    const auto at = static_cast<size_t>(position);
    if (at >= at_once) logits = &model.decode(token, position);
    if (recorder && position < recorded_positions) recorder->add(*logits);
    output.fed(token);
    const int32_t next = at + 1 < prompt.size() ? prompt[at + 1] : most_likely(*logits);
    if (next == Tokenizer::begin_of_text)
      positions = position + 1;
    else
      output.next(token, next);
    token = next;
    if (position + 1 >= positions) break;
  }
  output.end();
  const double decoded = seconds_since(start) - prefilled;
  const auto rest = static_cast<double>(positions) - static_cast<double>(at_once);
  std::fprintf(stderr,
               "%zu tokens at once in %.2f ms, then %.0f one by one at %.0f tokens/s (%s, %u workers)\n",
               at_once, prefilled * 1e3, rest, decoded > 0 ? rest / decoded : 0.0, model.level(),
               model.statistics().workers);
}

void run(const Options& options) {
  Model model(options.files);
  const auto tokenizer = load_tokenizer(options, model);
  if (!tokenizer && (!options.tokens || options.prompt_tokens.empty()))
    throw Failure("text needs a --tokenizer; --tokens with --prompt-tokens does without", 2);
  const std::vector<int32_t> prompt =
      options.prompt_tokens.empty() ? tokenizer->encode(options.prompt) : options.prompt_tokens;
  Output output(tokenizer ? &*tokenizer : nullptr, options.tokens);
  tell(options, model, prompt, positions_to_feed(options, model, prompt), output);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Continues a text with a compiled language model, greedily.", "story");
  app.add_option("prompt", options.prompt, "how the story begins")->capture_default_str();
  app.add_option("--bundle", options.files.bundle, "the compiled program, from etcc build")->required();
  app.add_option("--model", options.files.weights, "weights: .safetensors, its index, or .npz")->required();
  app.add_option("--map", options.files.map, "a binding map, when the weights have other names");
  app.add_option("--tokenizer", options.tokenizer, "the vocabulary");
  app.add_option("--positions", options.positions,
                 "how many tokens to feed; 200, or as many as the model has")
      ->check(CLI::PositiveNumber);
  app.add_option("--workers", options.files.workers, "how many threads; 0: as many as pay off");
  app.add_option("--logits", options.logits,
                 "feed every token by itself and write the logits of the first 8 positions here, as float32");
  app.add_flag("--tokens", options.tokens,
               "print the numbers of the tokens that were fed instead of the text");
  app.add_option("--prompt-tokens", options.prompt_tokens, "begin with these tokens, by number");
  try {
    app.parse(argc, argv);
    run(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Failure& failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", failure.what());
    return failure.exit_status;
  }
}
