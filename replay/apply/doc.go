// Package apply writes a tape into a real API server: an envtest, a kind
// cluster, a test cluster. Controllers, dashboards and kubectl there then see
// the recorded or simulated roll happen.
//
// What goes in: a rest.Config and a [replay.Player], which has the tape, its
// pace and its time. What comes out: objects in the cluster, in the order of the
// tape, each change when the Player shows it, and a [Report] of everything that
// isn't in the cluster as it is on the tape.
//
// # What is written
//
// A new object is created with what the tape says of it, then patched to where
// the tape has it: a server takes no status with a new pod or node, and taints a
// new node. A change is one patch of what has changed, and one more where the
// status has changed too. A pod that the tape binds later is bound by a Binding;
// until then it names a scheduler that isn't there. A deletion is immediate; an
// object that the tape shows as being deleted is shown so, by the server's own
// grace or by a finalizer of ours. Times in known fields are moved to now.
//
// Names, labels and specs are the tape's. UIDs, versions and creation times are
// the cluster's; owners and Events name them. Owners that aren't on the tape keep
// kind and name in a group that doesn't exist, so that neither a garbage
// collector nor a controller acts on them. Finalizers, classes that the
// cluster doesn't have, and what a redacted tape lacks are replaced. The Report
// counts all of that, and what the server has made of it.
//
// Everything carries the label [Label] and the annotation [AnnotationUID].
// Missing namespaces and service accounts are made, and leases of the nodes that
// live are renewed; they carry the label too. [Applier.Cleanup] deletes what
// carries the label with this tape's name, and nothing else.
//
// # Order and interruption
//
// Writes go out one after the other, so a watcher sees the order of the
// tape; between two resources, as far as watches have an order. The initial
// state is the exception: nothing in it comes before anything else.
//
// A replay that was interrupted, by a kill at any moment too, is begun again:
// [Applier.Open] lists what carries the label, brings it to the initial state of
// the Player (which is where [replay.From] says) and takes away what isn't in
// it. What belongs to the tape by its UID is kept, the rest is made again. A
// write that fails for a reason that may pass is repeated until the context
// ends. What the server refuses is left out, counted, and the tape continues.
//
// # What it must never do
//
// It never writes to, or deletes, an object that doesn't carry the label. It
// never writes into a cluster with nodes that no replay has made, unless told
// that it is meant ([KnownCluster]). It never writes a time that lies in the
// future. With [DryRun] it writes nothing.
//
// # Where a cluster differs from the tape
//
// With controllers at work (kind; not envtest) some of what is written is
// written over: a budget's status is computed from the pods, the taints of a
// node from its conditions, a node that lacks a podCIDR gets one, and DaemonSets
// put pods on every node. Nodes that the replay leaves behind go Unknown when it
// has ended.
//
// Its API may still change (docs/stability.md).
package apply
