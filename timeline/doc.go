// Package timeline is the tape: what a recorder writes, a scenario engine
// makes and a replay plays. It is a file format and nothing else. The package
// knows that objects have names, versions and states, and not what a Node is.
//
// # The format
//
// A tape is a YAML stream. The first document is the [Header], in block style
// for people. After it comes one event per line, each a whole YAML document
// whose body is one JSON object:
//
//	apiVersion: nodesim.dev/v1
//	kind: Timeline
//	metadata:
//	  name: spot-burst
//	  start: "2026-11-20T22:21:09.113Z"
//	resources:
//	  - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
//	--- {"at":"0s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-10","uid":"…","rv":"481","object":{…}}
//	--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"512"}
//	--- {"at":"12.41s","type":"MODIFIED","resource":"nodes","name":"ip-10-0-1-10","rv":"530","patch":{…}}
//	--- {"at":"95s","type":"END","events":4}
//
// The constants explain the types; docs/format.md has all of it.
// Files that end in .gz and .zst are compressed in frames.
//
// # Reading
//
// [Open] or [NewReader], then [Reader.Next] until io.EOF. Events come with
// whole objects, patches applied; with [Lines] they come as they are on the line, which
// is three times faster. A tape is hostile input: its lines, nesting and
// memory are bounded, and whatever is wrong is an [*Error] with file, line,
// what was found and what was wanted. Only what a dying writer leaves behind
// at the very end is no error, since losing a whole recording over its last
// line doesn't help: [Reader.Torn] and [Reader.Complete] tell of it.
//
// # Writing
//
// [Create] or [NewWriter], then [Writer.Write] with whole objects; [Append]
// to continue with a tape. The Writer works out patches and keyframes. A producer that keeps
// the objects and knows what has changed, such as a simulation, writes lines as
// they are to stand with [Writer.WriteLine], the counterpart of [Lines], and
// answers for them.
//
// # Changing
//
// A [Transform] makes a tape of a tape, header and events: [Window], [Speed],
// [IdleLimit], [Filter], [Rebase], and the Events of a [Redactor]. They stream,
// and [Chain] puts several after each other:
//
//	h, events := timeline.Chain(timeline.Window(from, to), timeline.Speed(20))(r.Header(), r.All())
//
// [Format] writes the same tape in another style: blocks of YAML to edit by
// hand, or JSON lines.
//
// The package reads no clock, starts no goroutine, and never looks into an
// object further than a transform was asked to.
package timeline
