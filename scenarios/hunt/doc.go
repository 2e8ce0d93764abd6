// Package hunt searches for rolls that go wrong: it simulates the cases of a file (package variant) until one breaks an invariant
// or a policy, makes that case small, and says what was tried.
//
// In: a scenario, policies, a seed, and how many cases or how much time. Out: a [Result]: the failing case with the lowest number, as a
// scenario file that shows it again, and the coverage: in which states nodes were when which faults began, by strategy.
//
//	variant.Space ──Case n──► simulation ──► objects ──► invariants ─┐
//	                              └── tape (with policies) ──► analysis ──► policies ─┴─► Outcome ──► Result ──Merge──► Result of all shards
//
// The same file, policies, seed and number of cases give the same Result, on any number of cores; time only ends a search earlier.
// Cases that are tried at the same time are committed in the order of their numbers.
//
// Its API may still change (docs/stability.md).
package hunt
