// Package inbound reads requests off the wire: the options of lists, and writes: an HTTP request goes in, a
// writes.Request comes out, its body JSON whatever it was sent as, or the error
// that kube-apiserver answers with to a request that it can't read.
//
// It reads the body once, of 3 MiB at the most. It validates how a write was
// sent and nothing that it says: that is for package writes. It never answers.
package inbound
