// Package controller holds the controllers of package virtualnode, which describes them: a [NodeController] keeps a Node
// object and its lease alive, a [PodController] has a provider follow pods.
//
// What goes in: a provider, and clients by the methods that are used of them. What comes out: writes to the API server, as
// a kubelet would make them. Package virtualnode has the same under the types of client-go's clients, whose packages link
// those of every group of Kubernetes; a program with clients of its own uses this package. It must never run a
// container, never delete a node, never undo a cordon, and never start a goroutine that outlives Run.
//
// Its API may still change (docs/stability.md).
package controller
