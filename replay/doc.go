// Package replay plays a tape: it holds the state of a recorded or simulated
// cluster at a moment, answers list and watch requests about it as an API
// server would, and moves it along the tape.
//
// # What goes in, what comes out
//
// A [timeline.Source] is a tape that can be opened again: [File], or [Events] in memory.
// A [Player] reads it and applies one event after the other to its [Cluster]:
// at a pace ([Player.Run]), one by one ([Player.Step], [Player.StepTo]), or
// up to a position ([Player.Seek]). Adapters are on the Cluster: they turn [Cluster.List],
// [Cluster.Get] and [Cluster.Watch] into a clientset, an HTTP server, a feed.
// Objects are JSON as it is on the tape; nothing is decoded here, and what
// an adapter decodes or encodes it keeps with the object ([Object.Memo]), once
// for all.
//
// # Order
//
// Events are applied in the order of the tape, one after the other, each at
// once for everyone. A watch sees those of its resource in that order, at its
// own pace; between two resources there is no order, as on the wire. Listing
// at a moment and watching from the list's version misses nothing and repeats
// nothing. Pace, pauses, steps and seeks change when an event is applied, never
// which or in which order.
//
// Some events take effect together, with the one that ends them: the initial
// list of a resource, at its first SYNC, and what is between a GAP and the
// next SYNC, which was found by listing again. Inside of these a list shows
// the state before. A GAP that no SYNC ends has no effect.
//
// # Versions
//
// Versions are those of the tape until the first rewind, and higher ones
// afterwards ([Cluster.Rewind] says how they are formed). A version below a
// resource's first SYNC, one from before a rewind, and one that the history
// doesn't reach back to ([History]) is 410 Expired. Deletions that were found
// by listing again have no version on the tape; they get one between the GAP
// and its SYNC that no other change of the block has.
//
// # What goes wrong
//
// A [FaultInjector] is between the Cluster and its clients, where one was
// given: it refuses requests, answers them with an older state, and changes
// what watches deliver, at moments of the tape. Package replay/fault is one.
//
// # What it never does
//
// It never blocks the tape for a watcher: a slow one is late, on one
// shared copy of the events. It never drops, repeats or merges an event
// without saying so by 410, unless a FaultInjector was asked to. It starts no goroutine, reads no clock but the
// Player's, and writes to nothing it was given.
//
// # Where it differs from an API server
//
//   - Bookmarks come where the tape has a SYNC, not every minute.
//   - A list at version V from the future is refused at once, where a server
//     waits three seconds first.
//   - Custom resources can be selected by name and namespace only where the tape
//     doesn't hold their definition, and with it its selectableFields.
//   - A get or a watch at a version that is no integer is refused with 400, where
//     kube-apiserver answers its client's mistake with 500.
//   - A list right after an object that was recorded late (it came into scope
//     after newer ones) is stamped with that object's own, older version.
package replay
