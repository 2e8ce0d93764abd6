// Package api holds the two objects that capacity is about: a Pod that waits for a machine of its own, and a Node, the
// machine. In: nothing. Out: plain data with JSON names, deep copies, and the table of phases that a node may pass
// through.
//
// Values have no behaviour of their own: the package reads no clock, makes no names and talks to nobody. It must never
// import what acts on these objects.
//
// Its API may still change (docs/stability.md).
package api
