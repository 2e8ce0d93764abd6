// Package kube is the API server of the simulation: the objects, the store that
// keeps them, what a write does to them, and the watch that tells the
// components of it.
//
// What goes in: changes of objects by components. What comes out: the events of a
// tape, in the order of the writes, through the sink; and calls of the functions
// that watch. Versions go up with every write of the cluster, those of Leases
// included, which no tape holds.
//
// Objects are structs of our own, small enough for half a million pods, whose JSON equals that of a recorder for the
// real ones: metadata, spec and status as far as a roll shows them. A change of an object is written by
// [Store.UpdateNode] and its like, which call a function on it and put the difference on the tape. What a slice of an
// object points to must never be changed in place: copies of the old state share it.
//
// A function that watches is called at once, inside of the write, and may only take
// notes and put calls in the loop: a write from there ends the simulation with an
// error. Objects change only through the store. The package reads no clock and no
// random source; it gets both from its caller.
package kube
