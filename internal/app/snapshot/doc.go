// Package snapshot reads a cluster from wherever it is, and makes a scenario file of it by package scenarios/snapshot.
//
// In: a [Source]: a cluster's API server, a tape, a file or a folder of objects. Out: a scenario file, with what couldn't be read in its
// LeftOut. Of an API server it asks for lists, page by page, and its version, and for nothing else: the requests are GET alone.
//
// What is read is hostile: sizes are bounded, links lead nowhere, and errors name the place on one line.
package snapshot
