// Package diff compares two rolls: two analyses go in, a [Diff] comes out, which says what is longer, shorter or otherwise
// different in the second, and which waits explain it.
//
// Rolls and nodes are compared by what they are in their roll, never by the names of machines: a node is "the second old one of
// its group", by the order in which they were replaced. Workloads and budgets are compared by their names, node groups as well
// where both tapes have them; a static pod, whose name ends in its node's, by the place of that node.
//
// A comparison of an analysis with itself is empty, and that of B with A is that of A with B with its sides swapped.
//
// Its API may still change (docs/stability.md).
package diff
