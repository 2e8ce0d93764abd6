// Package hunttest searches in a Go test for a roll in which a controller goes wrong: [Check] runs the test's function in simulated
// clusters, each a case of a scenario (package variant), until one fails; that case is made small, written as a scenario file, and shown
// with the command that repeats it.
//
//	func TestDrainer(t *testing.T) {
//		hunttest.Check(t, hunttest.Config{Scenario: "surge", NoRoll: true}, func(t hunttest.TB, c *simtest.Cluster) {
//			m := c.Manager(ctrl.Options{})
//			if err := (&Drainer{}).SetupWithManager(m); err != nil {
//				t.Fatal(err)
//			}
//			c.Start(m)
//			// ask for something, and wait for it
//		})
//	}
//
// Each case runs in a testing/synctest bubble of its own, in virtual time, one after the other. Like tests of testing/quick and of
// rapid, the same seed has the same cases; -hunt.checks and -hunt.seed change their number and the seed. Files that were found
// stay in testdata/hunt/NAME-OF-THE-TEST, and are tried first the next time, as the corpus of a fuzz test is.
//
// A goroutine that outlives the function and its cleanups, or one that panics, ends the whole test binary, as in any bubble.
package hunttest
