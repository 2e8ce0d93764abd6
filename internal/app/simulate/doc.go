// Package simulate writes the tapes of scenarios, and tells what scenarios
// there are: what the verb simulate calls.
//
// A [Source] is a scenario whose parameters have their values. It is found by
// [Find] and [Resolve], opened as a tape by [Source.Open], and written to a file
// by [Run], which shows how it goes and can be interrupted. [List], [Describe]
// and [JSON] tell people and programs what can be simulated.
//
// What is simulated, and in which order, is never the business of this package:
// the bytes of a tape come from package scenarios alone, whatever the machine.
package simulate
