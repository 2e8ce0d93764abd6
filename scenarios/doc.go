// Package scenarios makes tapes of rolls that nobody has to wait for.
//
// What goes in: the name of a scenario. What comes out: the events of a tape,
// whole objects in the order in which a watch would have delivered them, to be
// written by a timeline.Writer or read at once through [Open].
//
// The same name gives the same tape, byte for byte, on every machine: nothing
// here reads a clock, a random source or the environment.
package scenarios
