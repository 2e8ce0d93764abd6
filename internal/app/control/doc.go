// Package control pauses, steps, seeks and paces a replay: for the keys of a
// terminal, and for the clients of an HTTP API below [Path].
//
// A [Control] moves one [replay.Player], which another goroutine runs. Pause,
// Resume, SetSpeed and Mark take effect at once. Step and Seek take a while, and run
// one after the other: a caller waits for its turn, until its context ends.
// [Control.Status] may be called at any time.
//
// [Control.Handler] is the same over HTTP:
//
//	GET  /nodesim.dev/v1/status
//	POST /nodesim.dev/v1/pause
//	POST /nodesim.dev/v1/resume
//	POST /nodesim.dev/v1/step    {"count": 1, "until": "event", "wait": true}
//	POST /nodesim.dev/v1/seek    {"to": "T+1m32s"}
//	POST /nodesim.dev/v1/speed   {"speed": "20x"}
//	POST /nodesim.dev/v1/mark    {"name": "before the drain"}
//
// Each is answered with a [Status], step with a [Stepped]; errors are a
// metav1.Status, as everywhere in a Kubernetes API. A field that isn't known is
// an error, so that a misspelt one isn't silently left out.
//
// The package checks no token and opens no port: the server that mounts the Handler does
// both. It never writes to the tape: a marker that was set here lives as long
// as the Control.
package control
