// Package shards divides work among the indexes of a Kubernetes Job: a [Shard] says which part is one process's, by number or by name
// ([ByName]), a [Job] is the manifest that runs a process for each, and [Results] finds what they came to in their logs. What is
// put together, and how, is the caller's. It never talks to a cluster.
package shards
