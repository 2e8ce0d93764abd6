// Package conformance checks a server over a replay against the API server that the tape was recorded from: it puts
// the same requests to both and says where the answers differ.
//
// # What goes in, what comes out
//
// [TakeInventory] reads from the tape which resources, names, labels and versions there are, and [Requests] makes of that some
// thousands of requests: discovery, lists with every form of selector, limit and version, gets, tables and the other
// forms of an answer, watches from each version of the history, and errors. A [Peer] answers them. [Compare] gives the
// [Difference]s of two answers: status, the headers that clients look at, and the decoded body. [CompareServers] does all of it and
// gives a [Report].
//
// # What may differ
//
// Nothing but what [Known] lists, each entry with its reason: a new difference fails the test, and so does an entry that
// no difference needed. Some things are the same although their bytes aren't, and are compared by their meaning:
//
//   - ages, by the clock of who computed them, to the second;
//   - the version of a list that shows the present: a server stamps it with the version of its whole store, a tape with
//     the last of the resource;
//   - a continue token, which is opaque: whether there is one, and by following it;
//   - bookmarks that come when time has passed; those that end the initial events stay;
//   - managedFields, which no tape holds.
//
// Both servers must be at rest, at the state with which the tape ends. The package writes to neither.
package conformance
