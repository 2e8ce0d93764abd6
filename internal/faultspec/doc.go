// Package faultspec reads and writes what faults are asked for in, on a command
// line, in the header of a tape and in a scenario file alike:
//
//	kind[:resource][,parameter=value]…
//
//	drop:nodes,type=DELETED,p=0.2,seed=7
//	close:pods,at=T+1m
//	429:nodes,retry-after=5s,for=30s
//	unobserved
//
// A text goes in and a [Spec] comes out, or an [Error] that says where the text
// is bad, what was found there and what is wanted. [Kinds] and [Params] are the
// tables by which it reads, for completion and documentation. What a fault does
// is the business of replay/fault; which resources there are is that of a tape.
//
// The package is a leaf: of this project it imports
// internal/phrase.
package faultspec
