// Package formats finds out which program has written a file or folder, and makes a dump of it that
// package recorder imports.
//
// What goes in: a reader, or the name of a folder. What comes out: a dump, with the time of each
// change, and what the format couldn't tell. The format is known by its content, never by its
// name; compression is seen through. Read are the audit logs of API servers, also as the large
// clouds export them (package auditlog), recordings of kwokctl, archives of k8shark, traces of
// SimKube, and the state that must-gather and kubectl cluster-info dump keep.
//
// It never redacts: whatever is in the input is in the dump, which is a file that is gone
// after Close. The import redacts. It never guesses a format either: anything else is refused by
// what was found.
//
// Its API may still change (docs/stability.md).
package formats
