// Package scenarios makes tapes of simulated rolls, without waiting.
//
// What goes in: a scenario file, YAML of kind Scenario, with values for its
// parameters and a seed. What comes out: the events of a tape, in the order in
// which a watch would have delivered them, to be written by a timeline.Writer or
// read at once.
//
//	name ──Find──────► Scenario ─┐
//	text ──Parse──────────► Document ──Resolve──► File ──Simulate──► Simulation ──Step──► events of a tape
//	                                                └──Open──► timeline.Reader
//
// [Document.Resolve] puts in the values of parameters and the defaults, and refuses what can't be with an [*Error]:
// the key's path, what was found, what is wanted. [File.Simulate] writes a tape, [File.Open] and [Open] read one
// while it is made.
//
// # The files
//
//	shipped.go, shipped/       the scenarios that come along
//	demo.go, demo_moves.go, demo_cluster.go the demo: its objects and changes by hand, without a simulation
//	file.go                    a file of package spec, as what can be simulated
//	simulation*.go             a File becomes a cluster; time passes; the tape begins and ends
//	fault.go, fault_act.go     when a fault happens, and what it does to the cloud and to the API
//	system_pods.go             the pods that a provider's clusters bring along
//
// The engine is below internal: loop (time), kube (objects and their tape), cloud (machines), component (what the parts of
// the cluster share), kubelet, scheduler, controllers, autoscaler, roll (the provider's rollers, one strategy a file). Package model has the values that Kubernetes and
// providers use, such as durations, names and texts.
//
// # What the package must never do
//
// The same file, values, seed and version give the same tape, byte for byte, on
// every machine: nothing here reads a clock, a global random source or the
// environment, starts a goroutine, computes with floating point, or lets the
// order of a map show. No simulation is endless: [File] has a time limit.
package scenarios
