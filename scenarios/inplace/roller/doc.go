// Package roller rolls a set of pods in place: each gets other images, or other resources, without being replaced, and at
// most so many are unavailable at a time.
//
// In: a Roll (what is wanted, within which bounds), the pods, and the time. Out of Plan: a Decision, which says how
// the roll stands, what to do now, and why no more. Plan keeps nothing that isn't on the pods, but which restarts
// were reported (State); the next Plan resumes a roll that was cut short.
//
//	Roll, Plan, Decision, Action, Standing   the decider
//	Roller                                   lists, plans and executes over a client, pass by pass
//
// # What happens to a pod
//
//	outdated              triggered, where the bounds let it; those that aren't available first, since they cost nothing
//	updating              awaited; marked when it is done; given up or rolled back when it has failed or took too long
//	going back            awaited; marked; failed when it took too long as well
//	at the target         left alone; an unexpected restart is reported, once per container
//	given up, back        left alone, until a Roll with a later Since
//	deleted, ended        passed over
//
// Pods are looked at in the order of their names, whatever order they come in.
//
// # Bounds
//
// A pod is unavailable while it isn't ready and while it is changed, and so is each that is missing from Roll.Replicas.
// A pod that is available is changed only while fewer than MaxUnavailable are unavailable; no more than MaxUnavailable
// are changed at a time in any case.
//
// # When it goes wrong
//
// A pod that fails is treated as Roll.OnFailure says. When more than FailureBudget have failed, no other pod is
// changed: the roll is Stopped, or, with RollbackAll, every pod that this roll has changed goes back, within the same
// bounds, and it is RolledBack.
//
// # What the package must never do
//
// Plan reads no clock, starts no goroutine, changes none of its arguments and gives the same decision for the same
// input. The Roller deletes no pod and touches none beyond its selector.
//
// Its API may still change (docs/stability.md).
package roller
