// Package fault injects faults at the watch boundary of a replay: events are
// lost, late, doubled or merged, watches end, stall or give 410, lists are old,
// requests are refused, objects come back as others. A controller that survives
// them on a tape is likely to survive them in a cluster.
//
// # Use
//
// A fault is asked for in a line of text, on the command line (--fault), in the
// header of a tape, or in a test:
//
//	kind[:resource][,parameter=value]…
//
//	drop:nodes,type=DELETED,p=0.2,seed=7
//	close:pods,at=T+1m
//	429:nodes,retry-after=5s,for=30s
//	delay:nodes,by=10s,when=node:ip-10-0-1-10:cordoned
//	unobserved
//
//	c, err := fakeclient.New(replay.File("roll.yaml"), fault.Inject("unobserved"))
//
// [Inject] makes of such lines an option of a [replay.Player], and adds what the
// tape's header declares; every adapter that is on the Player's cluster then
// shows the faults. [InjectAndLog] tells what has fired, and where on the tape.
// [Kinds] and [Params] list what there is; docs/faults.md is the manual.
//
// # When a fault fires
//
// Without at, when, event, p and count: at everything that matches. With at or
// when: once, at the first that matches from there on, or, with for, at all that
// matches for that long. What ends or silences open watches (close, gone, stall,
// stale, unobserved) needs no event: with at or when and nothing that chooses
// among events it fires at that moment. Initial lists, and what was found by
// listing again after a GAP, are never hit.
//
// # What is promised
//
// Faults of events and streams are decided by the tape alone, in its order: the
// same tape and faults fire the same, for any watcher and any speed. Chance
// is a hash of the fault, its seed, and the event; a request's of what it asks
// for, and the how manyeth of that it is. A client that watches again from an older
// version meets on the way what everyone met there, but for the ends of streams
// that were over before. In lock-step, deliveries are the same as well.
//
// In one stream events keep their order: after one that is held back
// everything waits. Time is the tape's; what is still held back at its end comes
// there. So clients that watch, and list where they are told to, end in the
// tape's end state under every kind but drop, recreate, and bookmarks with
// initial.
//
// # What it never does
//
// It changes nothing but what recreate does in the cluster that a replay shows,
// and nothing on the tape. It reads no clock, starts no goroutine, and waits for
// no client. What it holds back for a client that doesn't read on, or through a
// stall, it keeps in memory, one reference for each event.
//
// # After Sieve
//
// stale, unobserved and intermediate are the patterns by which Sieve found its
// bugs (Sun et al., Automatic Reliability Testing for Cluster Management
// Controllers, OSDI '22; https://github.com/sieve-project/sieve). They work
// without parameters on any tape:
//
//   - stale: a client whose API server is late. After the first node that
//     joins, the first that drains, the first that isn't ready and the first
//     that is gone (of other resources, the first object that is deleted), open
//     watches end with 410; the next list has the state of 30 s before, and the
//     watch delivers the events since then again.
//   - unobserved: a watch that breaks and comes back when it is over. While a
//     node drains or isn't ready, up to where it is online again or gone, and
//     while one joins, open watches of nodes are silent; then they end with 410,
//     and the client lists. Of other resources: from an event that modifies an
//     object to its next.
//   - intermediate: a client that is stopped between two steps. Before the
//     second object of a change that spans several (events at most 1 s apart),
//     all open watches are silent for 10 s; and the second of several writes
//     that come together fails with 500.
package fault
