// Package noderoll observes the roll of a group of Kubernetes nodes: old nodes
// are cordoned, drained and terminated while new ones join.
//
// What goes in: the state of nodes, pods, disruption budgets and Events, as
// objects of a live cluster (KubeObserver), as ready-made frames
// (ScriptedObserver), or as single changes in the order of a recording
// (State, Feed). What comes out: a Snapshot of the group at one instant, the
// Events that a Tracker finds between snapshots, and the Entries of a Feed, one
// line of text or JSON each.
//
// The parts, from the inside out:
//
//	Node, Pod, Budget, EventRecord   what a roll needs to know of each object
//	Provider                         which label names the pool and the image
//	Classify                         Ready, Joining, Draining or NotReady
//	State                            all of the above, indexed; a Snapshot at any time
//	Tracker                          snapshots, or single nodes, to Events
//	Feed                             changes with a time to Entries
//	KubeObserver, ScriptedObserver   the two sources of snapshots
//	Watch                            polls an Observer through transient errors
//	PodScope, Instance               a roll whose instances are pods, updated in place
//	invariant.Checker                what every cluster obeys, checked against whole objects in the order of a tape
//	Snapshot.Check, EntryChecker     what every picture and every feed obeys
//
// # Driving a Feed
//
// A caller that has changes in order, live or from a recording, makes slim objects of
// them (NodeFrom and its siblings, or by filling the fields) and calls, with the
// time since the start:
//
//	added, modified      SetNode, SetPod, SetBudget, SetEvent, SetMachine; SetInstance for pods that Follows names
//	deleted              DeleteNode, DeletePod, DeleteBudget, DeleteEvent, DeleteMachine
//	end of a list        Synced, for each resource
//	changes were lost    Gap, then the new list as changes, then Synced
//	a named moment       Mark; Fail for the end that no object tells
//	an eviction refused  RefuseEviction, where an audit log tells
//	nothing happens      Advance, at the latest at NextDeadline
//	back in time         Reset, all that is alive as changes, Synced
//
// and shows what each call returns. Snapshot gives the picture at any time. A
// State takes the same changes without time, for callers that want pictures only. A
// recording without an end of list calls Synced where its first list ends, or
// nothing ever becomes news.
//
// # Where it differs from the package it follows
//
// Names, signatures and the kinds of events are those of the package noderoll that this one follows. What they say differs
// in these points, each for a reason:
//
//   - A node with the taint DeletionCandidateOfClusterAutoscaler is not draining. Cluster Autoscaler puts it on idle nodes,
//     with the effect PreferNoSchedule, and takes it away again, for minutes on end: a feed would tell of drains that
//     never come. Give RemovalTaints of the options DefaultRemovalTaints and "DeletionCandidateOfClusterAutoscaler*" for the
//     other way.
//   - A node that was Ready and falls silent (its Ready condition is False or Unknown) is NotReady, with the event
//     notready, and not Joining a second time: it is an old node in trouble. It counts in Snapshot.NotReady, and
//     Complete waits for it; a node that comes back is online again.
//   - A baseline holds UIDs, so a node of a reused name is a new one; an empty target matches nothing.
//   - PodsTotal is the most in this drain and forgotten with it; pods that can't be counted are unknown, not none.
//   - Complete looks for nodes off target, joining or draining, since the number of nodes may change during a roll.
//   - Tracker keeps the last events only, and those of nodes that vanish together come in order of name.
//
// # Deciders
//
// State, Tracker and Feed are deciders: no clock, no chance, no environment and
// no goroutine. Time comes in as an argument, so that a live informer and the
// replay of a recording share every line of them and the same input gives the
// same output. Only KubeObserver and Watch wait for anything, and both take a
// clock.
//
// The package never writes to a cluster, and nothing that it is given makes it
// panic: names, messages and times are taken as hostile input, and whatever
// goes to a terminal passes through OneLine.
package noderoll
