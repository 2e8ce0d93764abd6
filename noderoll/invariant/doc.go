// Package invariant checks a tape against what every Kubernetes cluster obeys.
//
// In: the changes of a tape, in its order, as whole objects ([Change]), and whether they were recorded or simulated
// ([CheckRecorded], [CheckSimulated]). Out: each place that breaks an [Invariant], as a [Violation]. [All] lists the
// invariants, each with its source in Kubernetes or at a provider; docs/invariants.md is written from it.
//
// What one resource tells is judged at once. What takes two resources waits for the bound of its invariant, and on a
// recording for two seconds more, since two watches have no order between them.
//
// A [Checker] is a fold: it reads no clock and starts no goroutine, and its memory grows with the objects alive. It is
// not safe for concurrent use.
//
// Its API may still change (docs/stability.md).
package invariant
