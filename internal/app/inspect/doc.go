// Package inspect tells what is on a tape: a tape goes in, a [Report] comes
// out, for people ([Report.Text]) and for programs ([Report.JSON]).
//
// It reads a tape line by line and puts together only what rolls are found by,
// the nodes, so that a tape of a gigabyte takes seconds. What only a look at
// each whole object can tell is therefore not checked, unless the Reader was
// opened without timeline.Lines. [Check] does that, and holds every object
// against invariant.All; a [Checker] does so for events from anywhere.
//
// Whatever is on a tape is hostile: text passes through noderoll.OneLine,
// and JSON escapes what could act on a terminal.
package inspect
