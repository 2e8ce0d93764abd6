// Package simcluster is a simulated Kubernetes cluster that takes writes and
// lives on: what a client creates, changes and deletes is kept and watched, and
// scheduler, kubelets, controllers and provider answer to it. Its time is
// virtual: an hour of the cluster passes in milliseconds, in the same way every
// time.
//
// In: a scenario ([Scenario], [File]), which gives nodes, workloads, budgets and
// a provider, and, unless [AtRest] leaves them out, a roll and faults; or
// [Groups] of nodes alone, or what is there at a moment of a [Tape]. [Cluster.Do] has something go wrong. Out: a Kubernetes
// API without a socket ([Cluster.RESTConfig]), and a tape of all that
// has happened ([Cluster.WriteTape]).
//
// # Time
//
// [Cluster.Run] lets time pass by the clock of the process. Inside of a bubble
// of testing/synctest that is the bubble's clock: it goes on as soon as every
// goroutine of the bubble waits, so that a controller has always done what it had
// to do before the cluster's next moment comes. That is the way for tests of
// controllers. A cluster of a scenario has the bubble's date too, whatever start
// the file says, so that a controller that compares the time of an object with
// its own is right; one of a [Tape] has the tape's.
//
// Without Run nothing happens by itself: [Cluster.RunFor] and
// [Cluster.RunUntil] say how far time goes, and wait after each event until every
// watch has delivered it.
//
// Writes take effect at the present moment. Two goroutines that write at the
// same moment come in either order: a test that wants the same tape each time
// writes from one.
package simcluster
