// Package apiserver shows a replay as a Kubernetes API over HTTP: to kubectl, to
// informers and controllers, to a client in any language.
//
// # What goes in, what comes out
//
// A [replay.Player] goes in. Out comes a [Server]: list, get and watch of
// everything on the tape, with discovery, OpenAPI and health, as kube-apiserver
// answers them. [Server.Listen] serves it on a socket, with TLS and a token,
// [Server.RESTConfig] without either, in memory, for a test in Go:
//
//	p, _ := replay.NewPlayer(replay.File("roll.yaml"))
//	s, _ := apiserver.New(p)
//	mgr, _ := ctrl.NewManager(s.RESTConfig(), ctrl.Options{})
//
// The Player moves the tape; the server shows it. The caller that runs, pauses
// or seeks the Player decides what clients see, in Go or through the paths below /nodesim.dev.
//
// # What it promises
//
// A client sees each event once and in the order of its resource, as replay's
// package comment says; objects are the tape's bytes. An event is encoded once
// for all watchers of the same form. A slow client holds no one up, except at
// maximum speed where the Player was told to keep pace; one that doesn't read at
// all is cut off, and what is kept for it in memory is bounded.
//
// # What it must never do
//
// It never answers a request without the token where it listens on a socket,
// never changes the tape, and writes nothing but the answers, and the log of
// writes that it was asked for.
package apiserver
