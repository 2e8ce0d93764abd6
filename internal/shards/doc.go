// Package shards divides work among the indexes of a Kubernetes Job: a [Shard] says which part is one process's, by number or by name
// ([ByName]), a [Job] is the manifest that runs a process for each, [Results] finds what they came to in their logs, and a
// [Work] has one of each. How they are put together is the caller's. It never talks to a cluster.
package shards
