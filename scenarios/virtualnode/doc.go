// Package virtualnode operates nodes of a Kubernetes cluster without machines and without kubelets: a
// [NodeController] keeps one Node object and its lease alive, and a [PodController] has a provider follow the pods
// that are bound to that node. The provider decides how a node and its pods live: a few methods that a caller
// implements. A [Node] is both, with the informers that they need: the shortest way to one node.
//
// What goes in: clients and informers of the cluster, the Node as it shall be created, and a provider. What comes out:
// writes to the API server, as a kubelet would make them. The package must never run a container, never delete a node,
// never undo a cordon, and never start a goroutine that outlives Run, but for one that is writing an Event. It knows nothing of scenarios and tapes. The HTTP
// routes of a kubelet are package virtualnode/api's.
//
//	provider := virtualnode.NewNaiveNodeProvider()
//	controller, err := virtualnode.NewNodeController(provider, node, client.CoreV1().Nodes(),
//		virtualnode.WithNodeEnableLeaseV1(client.CoordinationV1().Leases(corev1.NamespaceNodeLease), 0))
//	…
//	go controller.Run(ctx)
//	select {
//	case <-controller.Ready(): // the node is registered
//	case <-controller.Done(): // controller.Err() says why it couldn't be
//	}
//	err = provider.UpdateStatus(ctx, changed)
//
// Live runs of scenarios use the two controllers. The other parts are a library for programs that have nodes of their own:
// [Node] with its informers, the environment of containers (config maps, secrets, services, fields), and the polling of
// providers that don't notify. ExampleNode_environment runs all of them.
//
// The names and signatures are those of Virtual Kubelet's package node (github.com/virtual-kubelet/virtual-kubelet), so that
// providers written for that work here; [MockProvider] is one to begin with.
//
// # A node's life
//
// [NodeController.Run] pings the provider, and registers the node: it writes the status of the node of that name, or
// creates the one that it was given, if there is none. Then three loops go on until the context ends:
//
//	ping    each ping interval (10 s); a Ping that takes longer than its timeout (10 s) has failed
//	lease   each renew interval (a quarter of the lease's duration, 10 s), if leases are enabled
//	status  each status interval (1 min) with a lease, each ping interval without; and at once when the provider
//	        notifies, when pings begin to fail or to succeed again, and when the node is seen to be gone
//
// While pings fail, nothing is written and the lease expires: a node lifecycle controller then says Unknown of the node,
// as of one whose kubelet fell silent. With [WithNodeNotReadyOnPingFailure] the status says NotReady at once.
//
// Provider's labels, annotations and status replace what the provider said before; labels, annotations and conditions
// that others added survive, by a three-way merge with what the node's annotations say was applied last. So a
// controller that is started again, or another process, continues where the last one stopped. The heartbeat times of
// all conditions are the time of the write. The spec is written at creation, and taints later too with
// [WithNodeSpecReconciliation].
//
// A node that was deleted is created again, with the spec that was given and the newest labels, annotations and
// status: at the next look at it, or at once after [NodeController.Reconcile]. A node that another client made
// meanwhile under the same name is adopted. In both cases the lease gets the new owner. A node that shall go is
// stopped first (end the context, wait for Done) and deleted then.
//
// # A pod's life
//
// [PodController.Run] has a [PodLifecycleHandler], the provider, follow the pods in a shared informer, and writes what the
// provider says of them. One controller is enough for all nodes of a process: its filter says which pods are ours.
//
//	bound here    the provider's CreatePod, with the environment resolved from config maps, secrets, services and fields
//	changed       UpdatePod: labels, images, resources (also by the resize subresource), ephemeral containers
//	a status      the provider calls the function that NotifyPods gave it (or is polled, 5 s), and the status is written;
//	              conditions that others own survive, readiness gates are heeded
//	deleted       DeletePod; when the provider says that no container runs any more, the status is written and the object
//	              is removed, as by a kubelet; without such a word, when the grace period and 2 s are over
//	gone          deleted by force, or re-created under its name: DeletePod, of exactly the pod that is gone
//
// A pod is its UID; the provider is asked by name, or by UID where it implements [PodUIDGetter]. What fails is tried again,
// 5 ms later at first, and after 20 failures in a row when all pods are looked at again, each minute: then pods that the
// provider runs without the API's knowledge are deleted too. A node that falls silent is one whose pods the filter leaves
// out for a while: nothing is done for them then, and [PodController.Relook] catches up.
//
// Of each pod the controller keeps a few hundred bytes besides the informer's copy, and its fingerprint instead of a
// copy of what the provider was told; an informer whose transform drops managed fields saves much of the rest.
//
// # Errors
//
// Run fails where the node can't be registered, and names the request that failed and, for one that isn't allowed, the
// verb and the resource, as the API server words it. An API server that is out of reach or busy (429, 5xx) is asked again
// for half a minute before that. Later errors never end Run: they are told to the handlers of
// [WithNodeStatusUpdateErrorHandler] and [WithNodeLeaseErrorHandler], or else logged through klog once for each row of
// failures; what may pass is tried again after 200 ms, doubling to 7 s, but no later than at the next interval.
//
// The renew time of a lease and the age of a ping's answer stand clocks that are set back, and processes that were stopped.
//
// # Many nodes in one process
//
// Between two beats a NodeController is one goroutine, the one that called Run, and three timers. A renewal of a lease is
// one PUT, made from the answer to the last one. For hundreds of nodes, add:
//
//   - [WithNodeLister], with the lister of one informer for all of them: the status is compared with the cache, not a GET.
//   - [WithNodeStatusReportInterval], with five minutes: a status that hasn't changed isn't written, as with a kubelet.
//   - a client that speaks protobuf (rest.Config's ContentType), without a rate limit of its own (QPS: -1), for the leases
//     at the least: a renewal that waits in a queue is late.
//   - [WithNodeRequestLimit], with one limit for all of them: a server that can't take all at once takes them in turn.
//
// A restart of the API server, or a start of all nodes at once, doesn't bring all of them in step: pauses are longer by
// chance, by 4% ([WithNodeJitter]), and those after failures by up to a half.
//
// # Concurrency
//
// All exported methods are safe for concurrent use. Objects that a provider hands over are copied before its call returns,
// and stay the provider's.
//
// Its API may still change (docs/stability.md).
package virtualnode
