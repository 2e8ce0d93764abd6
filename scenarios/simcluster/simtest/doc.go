// Package simtest is a simulated cluster for a Go test of a controller: a
// [simcluster.TestCluster] with the clients that controllers use, and managers of
// controller-runtime that run in it. It links the clients of every group, so
// it is a package of its own.
//
// In: a start, as simcluster has it, and unmodified reconcilers. Out: a cluster
// that answers to them, and its feed for a golden file.
//
//	func TestDrainer(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			c := simtest.New(t, simcluster.AtRest(simcluster.Scenario("surge")))
//			m := c.Manager(ctrl.Options{})
//			if err := (&Drainer{}).SetupWithManager(m); err != nil {
//				t.Fatal(err)
//			}
//			c.Start(m)
//			// write what the reconciler waits for
//			c.Eventually(10*time.Minute, "the node to be empty", func() bool {
//				return len(c.Pods("shop", "app=web", node)) == 0
//			})
//		})
//	}
//
// Run a manager only inside of a testing/synctest bubble. There the cluster's
// time goes on when every goroutine waits, so a reconciler has done what it had to do before
// the cluster's next moment comes. Out of a bubble nobody knows when a work queue is
// empty: use the clients there, and simcluster's RunFor and RunUntil.
//
// The same test makes the same tape, if at any moment only one goroutine writes: one manager whose
// controllers have one worker each, and no two of them write at the same moment. client-go
// takes its jitter (leader election, lists after an expired watch) from
// math/rand: GODEBUG=randautoseed=0 makes it the same every time.
package simtest
