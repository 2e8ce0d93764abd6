// Package observe reads a tape for package noderoll: it turns the events of a
// timeline into a [noderoll.Snapshot] of the group, or into the entries of its
// [noderoll.Feed].
//
// A [Follower] takes the tape's events one by one, in their order, from a
// Reader, a Player or whatever else hands them out, and is itself a
// [noderoll.Observer] of the moment that it has reached; where a Player goes
// back, it goes back with [Follower.Rewind]. [Feed] and [Frames]
// run over a whole tape: into the lines of its feed, and into the snapshots
// that a [noderoll.ScriptedObserver] plays.
//
// It reads only the fields that a roll shows, from the object's JSON,
// and decodes again only what has changed since the object's last event. That
// brings a tape into the feed at several hundred thousand events a second.
//
// The package never changes an event, reads no clock and starts no goroutine.
package observe
