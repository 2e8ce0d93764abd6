// Package registry keeps nodes, pods and logs. NodeRegistry is the store of record of nodes, in memory: it refuses
// changes of phase that a life doesn't allow, and everything that goes in or out is a copy. PodLister is what node
// management needs to know of pods; PodRegistry is one in memory. LogRegistry keeps what agents logged.
//
// Changes that depend on what is stored go through NodeRegistry.Change, which reads and writes in one step; UpdateStatus
// and UpdateNode overwrite what others saved meanwhile. The package talks to no cloud and starts no goroutine.
//
// Its API may still change (docs/stability.md).
package registry
