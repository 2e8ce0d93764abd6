// Package live runs a scenario on a real API server: virtual nodes that keep real Node and Lease objects alive and
// run real pods without containers, drains by real evictions, and a simulated cloud that replaces the nodes.
//
// What goes in: a rest.Config and a [scenarios.File]. What comes out: a roll that
// any client of that API server sees, and a [Report]. The control plane's own
// controllers and its scheduler have to be real; for everything else, the
// simulation's components run here too: kubelets, cloud and provider, interruption
// handlers, autoscaler, and the strategy of the roll.
//
//	New ──► Run ──► Preparing  rights, nodes of others, the record, namespaces and workloads
//	                Settling   nodes join, pods start
//	                Playing    from the scenario's 0s to its end, at the speed
//	                Leaving    what was made is removed
//
// # The parts
//
//	clients.go, pace.go          requests, and how long to wait before the next
//	prepare.go                   what is looked at, and made, before the nodes come
//	run.go, event_loop.go, pace.go    one goroutine runs the components, paced by the wall clock
//	api_server.go, write_queue.go     writes of components: patches in order for each object, retried, computed again on conflicts
//	change.go                    what of an object a controller has changed
//	custom_kinds.go, definition.go      which of the provider's own kinds are written, and their definitions
//	custom_resources.go, custom_resources_write.go NodeClaims, Machines and their owners
//	watch.go                     what the server says: one set of informers
//	kubelets.go, controllers.go  a NodeController for each node, one PodController for all pods
//	own_node.go                  the Node that is a kubelet's, by its UID
//	pods.go                      the provider that the PodController calls
//	disks.go                     volumes, attachments, CSINodes
//	kubelet_server.go, address.go         what answers for all kubelets: logs, exec, attach, port-forward, top; where
//	events.go                    Events through client-go's recorders, one a component and host
//	checkpoint.go, checkpoint_lock.go the checkpoint in the cluster: process, scenario, progress; and the lock on it
//	shards.go                    several processes that each run some of the node groups
//	cleanup.go, sweep*.go          what is removed in the end, or by Cleanup
//	environment.go, plain.go     groups, drains and the cloud as package cycle sees them
//	inplace.go                   rolls of pods where they run
//
// # What it promises
//
// Drains use the eviction subresource, so budgets hold. Nothing is written before the rights have been checked and
// the cluster was found to have no nodes of others. An API server that is restarted, slow, or answers 429, 5xx and
// conflicts is waited for. The next Run resumes a live run that was killed: nodes, pods and UIDs stay, and the
// scenario continues where it was. One that ends removes what it made, and says what is left where it can't. No
// goroutine outlives Run.
//
// A machine that sleeps, or a server that hangs, shifts the scenario against the
// wall: at most two seconds are made up for at once.
//
// # kubectl logs, exec, attach, port-forward, top
//
// One listener answers for all kubelets. A Node says in its status where that is:
// the port in daemonEndpoints, and the host as its address of type Hostname, so
// that its InternalIP stays the scenario's. That works where kube-apiserver takes
// Hostname first, as by its own default and on nodesim's own control plane.
// [KubeletAddress] names this machine for an API server that is elsewhere, and for
// one that takes InternalIP first, as kubeadm and kind have it
// (--kubelet-preferred-address-types=InternalIP,…). [ListenAt] sets the address of the listener.
//
// # What it must never do
//
// It deletes nothing that it hasn't made: everything carries [Label], and pods are those on its nodes and in its
// namespaces; VolumeAttachments are the attach-detach controller's, and those of its volumes. It never runs in a
// cluster with foreign nodes unless told so ([KnownCluster]), nor two scenarios in one. A foreign Node under the name
// of one isn't its own.
//
// # Where it differs from the simulation
//
// The pace of the control plane is its own: a speed divides what components wait for, not --node-monitor-grace-period,
// the pod garbage collector's 40 s, the Deployment's backoff or the attach-detach controller's six minutes for a
// volume that an unhealthy node has mounted. Objects are younger than the scenario says, since the server dates them.
// A provider's own objects (NodeClaims, Machines) have owners that no tape of a simulation holds, NodePools and
// MachineSets, and get their status by a second write. Kinds that the server can't be made to serve, or of which it
// takes no object, are left out.
//
// Its API may still change (docs/stability.md).
package live
