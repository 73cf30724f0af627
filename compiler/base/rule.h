// Conditions that tests switch off one at a time.
//
// The deriver and the planner decide by conditions whose absence nobody would notice for long: a wait too few
// shows as a wrong result once in a while. AXON_RULE(name, condition) is the condition. In a test build
// (AXON_RULE_MUTANTS) it can be fixed to true or to false by its name, to see that the proofs refuse what
// then comes out. Names are unique in the compiler.
#pragma once

#ifdef AXON_RULE_MUTANTS
namespace axon::base {
bool rule(const char* name, bool condition);  ///< the test's
}
#define AXON_RULE(name, ...) (::axon::base::rule(#name, static_cast<bool>(__VA_ARGS__)))
#else
#define AXON_RULE(name, ...) (__VA_ARGS__)
#endif
