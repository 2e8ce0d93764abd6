// Package variant makes variants of a scenario file for a search: the numbered cases of a [Space], and what is smaller than a
// file ([Smaller]).
//
// In: a file, its parameters' bounds, a seed and a number. Out: a file that can be simulated, the same one each time. A case has
// another seed, other values of the parameters, other numbers of nodes and replicas, other settings of the roll, another jitter
// and additional faults, all within what the file's checks allow. Case 0 is the file itself.
//
//	space.go        a case: which parts are drawn
//	parameters.go   values of the file's parameters
//	sizes.go        nodes, replicas, and what has to follow them
//	rolls.go        strategies and their settings
//	faults*.go      faults that apply to a file, and their triggers
//	smaller*.go     what is smaller than a file, the largest steps first
//
// The package must never simulate anything.
//
// Its API may still change (docs/stability.md).
package variant
