// Package convert turns the objects of the simulation into those of k8s.io/api and back: the writes of a live run's
// actors go to a real API server, and its events go to them.
//
// What goes in and comes out are values; nothing is sent. Outward an object is read from the JSON that the simulation
// writes of it on a tape, so there is one place that knows what its fields are called. Inward only that is taken
// which others than the kubelet own: a kubelet of a live run knows its own status better than the server, whose copy
// is older.
//
// [Observed] does without that JSON: it sets what observers of a roll look at, and of that what has changed. A test of
// package scenarios holds each of its objects against what a reader of the tape decodes, over all scenarios.
//
// Times of the simulation are scenario time. [Clock] says which wall time that is;
// outward every time passes through it, inward only times that count.
package convert
