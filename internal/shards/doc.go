// Package shards divides work among the indexes of a Kubernetes Job: a [Shard] says which part is one process's, a [Job] is the manifest
// that runs a process for each, and [Read] finds what they came to in their logs. What is put together, and how, is the
// caller's. It never talks to a cluster.
package shards
