// Package recorder makes tapes: it watches a live cluster, or reads a raw
// dump of watch events.
//
// # Recording
//
// The input is a [Config]: a rest.Config, the names of resources, a [Scope], and a
// function that makes the tape. [Recorder.Run] asks the server what it is and
// what it offers, lists everything, opens every watch, and only then makes the
// tape: a cluster that can't be reached, a resource that isn't there, a list
// or watch that is forbidden and a group that doesn't exist leave no file. The
// lists are on the tape at 0s, each with its SYNC; what the watches deliver
// follows with the time of its arrival.
//
// The promise: every event that the server delivered is on the tape, in
// the order of its resource, or a GAP says where events may be missing.
//
//   - Every failure of a watch but one leads to a new watch from the last
//     version: refused connections, cut ones, 429 (as late as Retry-After
//     asks), 5xx, time-outs, ERROR events, nonsense in the stream. Nothing is
//     lost by that, and nothing comes twice: what is not above the last
//     version of its resource is dropped.
//   - 410 (as a status or as an ERROR event) says that the server has
//     forgotten the version. It becomes a GAP, then comes a new list, whose
//     differences are between the GAP and its SYNC. A restart of the only
//     API server says so too where it has a watch cache, as by default: the
//     new cache begins at the cluster's version, and a resource whose last
//     event is older is behind (k8s.io/apiserver, pkg/storage/cacher,
//     getAllEventsSinceLocked). With several servers, or without that cache,
//     a restart leaves no GAP. client-go's reflector
//     lists again after most failures and says nothing about it; a restart of
//     the API server would look like a loss every time.
//   - Bookmarks become SYNC at most once a minute for each resource, and at
//     the end, so that a tape can be resumed where its resource was quiet.
//   - Lines reach the disk within a second. A tape that can't be written ends
//     the recording with what is on it, readable, and without an END.
//
// With [Config].Resume a recording continues with the tape that an earlier one
// has left, from the version where it ends.
//
// # How it reads
//
// A watch is a stream of bytes over an HTTP/1.1 connection of its own. Its
// frames are cut by counting braces, redacted as text, and handed to the tape
// as text, which works out what has changed: nothing is decoded into Go
// values, neither known types nor maps. One goroutine a watch does all of
// this, under one mutex; there is no queue that could fill or be lost. When
// the disk is slow, reading stops, and a server that hangs up over it is asked
// again from the last version.
//
// # Import
//
// [Import] reads dumps in four forms and goes through the same sequencer: what
// comes twice, what is out of scope, and what is missing is treated as in a
// recording.
//
// # What it must never do
//
// It never writes to a cluster, never records a Secret, never records what
// the default redaction drops unless asked for whole objects, and never
// presents as whole what isn't: a tape without END was cut off, and a GAP
// stands wherever events may be missing. [Summary].LeftOut counts everything
// that was left out on purpose.
package recorder
