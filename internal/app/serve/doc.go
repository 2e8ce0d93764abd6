// Package serve shows a replay to people and to clients at once: what nodesim
// serve does.
//
// [Open] makes one Player of a tape and puts everything over it: the Kubernetes
// API of replay/apiserver on a socket, a kubeconfig that leads there, the API of
// package control below its own path, the faults that were asked for, and a
// [ui.Show] for the panel or the feed. [Session.Run] lets it all go, until the
// show ends or its context does, and ends it cleanly: the watches, the
// socket, the player. [Session.Close] removes the kubeconfig.
//
// What happens besides the tape (a fault fires, a client rewinds) is a line of
// text for Options.Say.
package serve
