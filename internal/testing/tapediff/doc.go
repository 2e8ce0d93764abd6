// Package tapediff compares two tapes by what they say about Kubernetes: a simulated roll with a real one, or two
// recordings of the same story.
//
// In: two [timeline.Reader]s and [Options]. Out: a [Report] of what was compared, what was left out, and every
// difference, with both sequences side by side. Times, UIDs, versions, addresses and random names don't count. The
// package must never change a tape or decide what is right: it only says where two tapes differ.
//
// # What is compared
//
// Every object has tracks. A track holds what one actor did to one object, step by step: each write that changed
// something is a step, and says what it changed. Steps that change nothing are no steps, so that repeats are merged.
// What one actor did must be equal, step by step; how the steps of two actors interleave is not compared, since two
// runs of a real cluster differ in it. These are the tracks, with the actor of each:
//
//	Node  feed              the transitions that package noderoll finds, and blocked; not draining, which
//	                        depends on which pods are on the node
//	      conditions        the kubelet posts its four in one write; the node lifecycle controller takes over where
//	                        the kubelet is silent, and so never at the same time
//	      condition TYPE    one track for each other type: route controller, problem detectors
//	      taints NoSchedule, taints NoExecute
//	                        the node lifecycle controller's own keys. It adds the two effects from two goroutines,
//	                        the second one rate limited (pkg/controller/nodelifecycle/node_lifecycle_controller.go,
//	                        Run: doNodeProcessingPassWorker and doNoExecuteTaintingPass): a race
//	      taint KEY         one track for each other key
//	      cordon, labels    the roller: spec.unschedulable, and the label that keeps load balancers away
//	      life              added, deleting, deleted
//	Pod   kubelet           phase and the conditions of the kubelet. The node lifecycle controller and the pod
//	                        garbage collector write there when the kubelet is silent or gone
//	      scheduler         PodScheduled and the binding
//	      end               DisruptionTarget, the deletion with its grace, and the end: the eviction API writes the
//	                        condition and then deletes (pkg/registry/core/pod/storage/eviction.go,
//	                        addConditionAndDeletePod), as does the garbage collector (pkg/controller/podgc)
//	both  in one write      which tracks change in one write: those of one actor may, those of two never do
//	any   events COMPONENT  type and reason of the Events of one component about one object. A recorder sends them one
//	                        after the other (client-go, tools/record/event.go); between components there is no order,
//	                        nor between an Event and a write of the object
//
// # What is matched with what
//
// Nodes go by role: old is a node that is on the tape from the beginning, new is one that joins; the number
// is that of its creation. Nodes of equal history are paired first, then those that differ least, so that it doesn't
// matter which of several nodes goes first. [Report].Pairs says who became whom.
//
// Pods have random names, and the scheduler may put them anywhere: how many pods are evicted twice in a roll differs
// from run to run. So the history of a pod has chapters: its start (until it is ready for the first time), its run, and
// its end. The chapters of all pods of a workload with the same fate (kept, evicted, lost with the node, deleted, deleted before they had a node) form a
// set, and the sets must be equal: every chapter of one tape has its like on the other. A start that an early end
// has cut short is a part of a start.
//
// Budgets go by name. Their numbers depend on which client asks first; compared are the state at the beginning, the
// set of states
// (allowing or blocking, with the DisruptionAllowed condition), and whether the budget blocked while a node drained.
//
// The roll as a whole has one track, feed, where [Options].InOrder asks for it: the transitions of all nodes by role.
//
// Every other object is known by its Events alone, and goes by kind and name, a ReplicaSet without its hash.
//
// # What is not compared
//
// What is on a tape from the beginning is a state, not news: Events of the initial list are only counted. Where
// a tape ends, a history may break off: within [Options].Tail of a tape's end, a track may be shorter there than on the
// other tape, if what it lacks comes last. The node lifecycle controller notices a deleted node only at its next turn,
// up to five seconds later (node-monitor-period). What can't agree for other reasons is said in [Options].Exclude, row
// by row, each with its source.
package tapediff
