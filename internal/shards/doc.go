// Package shards divides work among the indexes of a Kubernetes Job: a [Shard] says which part is one process's, by number or by name
// ([ByName]), a [Job] is the manifest that runs a process for each, [Read] finds what they came to in their logs, and a
// [Work] says what the results of one work are. How they are put together is the caller's. It never talks to a cluster.
package shards
