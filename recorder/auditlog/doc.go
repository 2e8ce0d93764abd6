// Package auditlog makes a dump that package recorder imports of the audit log of a
// Kubernetes API server: lines of audit.k8s.io/v1, as a file, as rotated files one after the
// other, or as the log services of the large clouds export them.
//
// What goes in: a reader. What comes out: the dump, with the time of each change, and a
// Report on what the log couldn't tell. The order of the log doesn't matter, and what is in
// it twice counts once.
//
// The state of an object is what the answers to its requests had in them (level
// RequestResponse). Between two answers it is worked out from requests as the API server
// does it: an eviction, a binding, a graceful deletion, and, at the level Request, patches and
// updates. At the level Metadata a change says only that there was one. An object that
// nobody wrote or read while the log ran isn't in it.
//
// An eviction that the server refused (429) is in the log at every level. It becomes a
// REFUSED on the tape, with the budget in the server's words.
//
// It never guesses what isn't in the log: the Report counts what stays unknown. It keeps nothing
// in memory but the living objects and about a hundred bytes for each request that matters.
//
// Its API may still change (docs/stability.md).
package auditlog
