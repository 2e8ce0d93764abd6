// Package pool keeps a pool of pre-started idle pods, which are turned into running sandboxes by an update in place, and
// back.
//
// It is a library for programs that keep sandboxes: no scenario and no verb of nodesim uses it. ExamplePool takes one pod
// from idle to a sandbox and back.
//
// In: a Pool (which pods, what they run while idle), and claims. Out: pods whose phase is brought on, and a Stopped for
// each sandbox that has ended.
//
//	Plan, Action       the decider: what is to be done about the pods now
//	Pool.Pass          lists, plans and executes once
//	Pool.Claim         turns an idle pod into a sandbox
//	Pool.Release       turns a sandbox into an idle pod again
//	Releasing          the options of the update by which that is done
//
// A sandbox is released by its owner, when one of its containers was restarted without an update, when it takes too
// long to start, and when its update fails. It keeps its identity until its pod is idle, so that its end can be
// recorded.
//
// # What the package must never do
//
// It creates and deletes no pod, and touches none that is being deleted. Plan reads no clock and changes none of its
// arguments.
//
// Its API may still change (docs/stability.md).
package pool
