// Package roll replaces the nodes of a group the way its provider does, changes
// the pods of a workload in place, and answers notices of spot interruptions the
// way those do who handle them.
//
// What goes in: a group at the provider, the template that its nodes shall run,
// and a strategy. What comes out: launches, cordons, evictions and terminations,
// written to the simulated API and asked of the simulated provider, and in the
// end an [Outcome].
//
// The parts, in the order in which a roll meets them:
//
//	config.go       what a roll is to do
//	roller.go       the loop: describe the group, let scenarios/cycle plan, execute
//	member.go       what is noted of each instance
//	describe.go     the group as the planner sees it
//	strategy.go     what a strategy may decide: bounds, order, and how each step is done
//	strategy_*.go   one provider's strategy each, with the sources of what it does
//	roller_work.go  what becomes of an instance that is drained
//	drainer.go      evictions until a node is empty, or the time is over
//	node.go         cordon, labels and taints
//	roller_end.go   the ways in which a roll ends: done, failed, cancelled, gone back
//	karpenter*.go   Karpenter's controllers of NodeClaims, which its strategy and its
//	                handler of interruptions share
//	capi*.go        Cluster API's controllers of Machines
//	handler*.go     who answers notices of interruption
//	podroll*.go     rolls in place: the pods of a workload are changed where they run
//
// A strategy knows the API's and the provider's state, and what it has itself begun; never a scenario's name. It acts
// from the loop and writes through the API alone. A roll that has failed begins nothing more; what it has launched
// stays.
package roll
