// Package trigger says when a tape of a roll begins and when it is over, from what a recorder writes about a cluster, line
// by line: nobody announces the roll.
//
// What goes in: the events of a recording with whole objects, each with the wall time of its arrival, and the passing of
// time. What comes out: the rolls that are on, group by group, and those that have ended.
//
// A roll begins when a node of its group is cordoned or gets a taint that says it is to go, when a notice of interruption is
// there, when a node, NodeClaim or Machine is being deleted, when a node that was Ready is not, when a node is gone, when a pod
// of a cordoned node is evicted, and when many pods are within a minute. Where a recording begins, a node, NodeClaim or Machine that is on
// its way out begins a roll too: it may be in the middle of one. If nothing of that roll happens, there was none.
//
// It is over when nothing of that is under way any more and nothing has happened for a while. A node that was
// cordoned or broken before the roll or the recording began keeps no roll open: it may stay so for weeks.
//
// The package reads no clock. The same lines with the same times give the same rolls, so a daemon that was killed
// finds by its own tape what it was at.
//
// Its API may still change (docs/stability.md).
package trigger
