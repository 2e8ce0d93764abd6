// Package rawjson works on JSON text as it stands: it validates and compacts
// it, finds members, and computes and applies merge patches (RFC 7386), all
// without decoding a document into Go values.
//
// A recorder sees thousands of two-kilobyte objects a second of which a
// hundred bytes have changed, and a replay hands the same objects on. Decoding
// them costs ten times what looking at them does, and it loses what the Go
// types don't know: member order, numbers beyond float64, unknown fields.
//
// There are two kinds of function. [Compact] takes any bytes, says what is
// wrong with them, and returns the canonical form: no white space, and every
// string spelt in the one way that a JSON decoder and yaml.v3 read alike.
// Everything else takes text that Compact has returned. Given other bytes it
// returns nonsense, but it never panics and never reads outside of them.
//
// The package knows nothing of Kubernetes and imports nothing of this project.
package rawjson
