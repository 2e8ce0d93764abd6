// Package hunt is what `nodesim hunt` calls: a scenario, or a cluster that was read, and policies by their names go in, a search of
// package scenarios/hunt runs on all cores with a line that says how far it is, and what it finds is written: a scenario file and its tape.
//
// A [StoreConfig] has such a search for each tape of a store, one after the other, and a [StoreResult] what they came to:
//
//	store ──a shard's tapes──► cluster ──► search ──► StoreResult, a line of JSON ──► a pod's log ──ReadResults, MergeStore──► StoreResult
//
// It depends on the tapes, the flags and the seed alone. Of a shard that couldn't try all of its cases there is none: it has to run again.
package hunt
