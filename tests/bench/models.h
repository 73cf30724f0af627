// The models of examples/models, or any entry, planned: what benchmarks of plans measure.
#pragma once
#include <memory>
#include <string>

#include "pipeline.h"

namespace axon::bench {

struct Model {
  const char *file, *entry, *sizes;
};

/// Sizes of published models of these kinds, the sequences of ordinary length.
constexpr Model models[] = {
    {"llama", "prefill", "n=12 v=32000 d=768 f=2048 h=12 g=1 r=32 s=1024 m=512 pos=0"},
    {"llama", "decode", "n=12 v=32000 d=768 f=2048 h=12 g=1 r=32 s=1024 pos=511"},
    {"gpt2", "logits", "n=12 v=50257 s=1024 h=12 k=64 f=3072 m=512"},
    {"gpt2", "loss", "n=12 v=50257 s=1024 h=12 k=64 f=3072 m=512"},
    {"bert", "encode", "n=12 v=30522 s=512 c=2 h=12 k=64 f=3072 o=2 b=4 m=128"},
    {"moe", "logits", "n=8 v=32000 d=512 h=8 k=64 e=8 f=1024 top=2 m=256"},
    {"moe", "sparse_logits", "n=8 v=32000 d=512 h=8 k=64 e=8 f=1024 top=2 m=1"},
    {"lstm", "logits", "n=2 v=10000 d=512 b=16 t=64"},
    {"lstm", "next", "n=2 v=10000 d=512 b=16"},
    {"resnet", "classify", "n=3 m=3 c=3 d=64 e=128 r=1 o=1000 b=1 h=56 w=56"},
    {"ssm", "logits", "n=8 v=32000 d=512 e=1024 k=16 w=4 r=32 t=256"},
};

/// examples/models/<file>.axn
std::string path_of(const Model&);
/// "llama.axn prefill"
std::string name_of(const std::string& path, const std::string& entry);

/// What does not compile ends the program.
std::unique_ptr<Compilation> planned(const std::string& path, const std::string& entry, plan::Schedule);
/// "n=12 m=512": all sizes of the entry but those of the data.
shape::Assignment parse_sizes(const graph::Graph&, const std::string&);
/// The variant of the entry that runs with these sizes.
const plan::Variant& variant_for(const Compilation&, const shape::Assignment&);
/// Arguments from the third on, as one text.
std::string sizes_text(int argc, char** argv);

}  // namespace axon::bench
