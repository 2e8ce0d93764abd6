// Package analysis tells what took how long in the rolls of a tape, and what held them up: a tape goes in, an [Analysis]
// comes out. Text, JSON, reports, comparisons, exports and policies all show this one result and compute nothing anew. A [Fold]
// takes the events while they are made, without a tape's text.
//
// Every moment names the line of the tape that shows it, so that every number can be looked up. What the tape doesn't show
// is absent (nil), never guessed: a tape that begins in the middle of a drain has no beginning of that drain.
//
// Whatever is on a tape is hostile: names, reasons and messages are kept as they were found, and are escaped where they are
// shown.
//
// Its API may still change (docs/stability.md).
package analysis
