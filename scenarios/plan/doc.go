// Package plan tells before a roll what it will do: how long it takes, what holds it up, which pods find no node, how many pods of
// each workload stay available, and how many more nodes there are meanwhile.
//
//	File ──Prepare──► File with the roll ──run, once a seed──► outcome ─┐
//	                                                           outcome ─┼─fold──► Plan ──► Text, Markdown, JSON
//	                                                           outcome ─┘
//
// What goes in: a scenario file, with or without a roll, and [Options]. The roll is simulated with many seeds, and replay/analysis
// tells of each run what it tells of a tape; no tape is kept. What comes out is a [Plan], or of several settings a [Comparison].
// [Plan.Sample] is one of the runs, to be simulated again into a tape.
//
// The same file, options and version of nodesim give the same Plan, whatever the number of runs at a time and the order in which
// they end. A duration that is the quantile of several is the nearest rank: P90 of 200 runs is the 180th shortest.
//
// The package must never write to a cluster, and keeps no more of a run than its outcome.
//
// Its API may still change (docs/stability.md).
package plan
