// Package storetest is what `nodesim test --store` calls: it tests the tapes of a store, as one work or in shards of a Kubernetes
// Job, and puts the results of shards together.
//
//	store ──a shard's tapes──► Run ──► Result, a line of JSON ──► a pod's log ──ReadResults, Merge──► Result ──► tapetest.Report
//
// What goes in: a store, a query and policies. Each tape is read to its end, held against its description, against what every
// cluster obeys, and against the policies. What comes out: a [Result] that says of each tape whether it passes, and if not, why.
// A tape belongs to a shard by its key alone, so shards that run again, while others come and go, test their own tapes and no others.
//
// It never writes to the store, and tells nothing of a shard that it couldn't test whole: that is an error, and the shard has to
// run again.
package storetest
