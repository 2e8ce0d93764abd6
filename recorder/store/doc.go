// Package store keeps finished tapes where a team keeps them: in a folder, or in a bucket of a cloud.
//
//	a daemon's folder ──Uploader──► Store (a Bucket) ──List, Get, Prune──► nodesim tapes
//
// What goes in: finished tapes, each a file with a [Tape] that describes it, and a [Bucket]. What comes out: the same tapes, by cluster
// and time. Two objects are kept of each: the tape, NAME-CHECKSUM.yaml.zst, and what describes it, NAME.json, which is written
// last. A tape whose description isn't there was never whole, and is never listed. Keys begin with the cluster and the day on which the
// roll began, so that a list of some days reads those days alone.
//
// What is read is held against the checksum in the description: a damaged object, or one that somebody else has replaced, is an
// error that says so, never a tape. Nothing is removed but by [Store.Prune], and by an [Uploader] once the store has the tape.
//
// Functions may be called from several goroutines where their types say so.
//
// Its API may still change (docs/stability.md).
package store
