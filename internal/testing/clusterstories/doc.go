// Package clusterstories runs a story on a real control plane and records it, so that a test can hold the tape
// against another one: a simulation with the same parameters, or the same story told again.
//
// In: a [testcluster.Cluster] and a [Story], which says what is in the cluster before (a group's nodes, workloads
// with their budgets) and what then happens: a roll in any order that [testcluster.Roll] knows, or a node that
// vanishes. Out: a tape, made by the recorder itself, that begins at rest.
//
// The package is for tests alone and must never touch a cluster that the caller didn't start.
package clusterstories
