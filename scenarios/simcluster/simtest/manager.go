package simtest

import (
	"time"

	"github.com/go-logr/logr/testr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Manager makes a manager of the cluster for unmodified reconcilers. It opens no
// port, takes the name of a controller more than once in a process, and logs to
// the test unless the options have a Logger. [Cluster.Start] starts it.
//
// Its controllers have client-go's work queues unless the options say UsePriorityQueue: a priority queue of v0.24 may block for ever when
// it is shut down, and a bubble waits for it (kubernetes-sigs/controller-runtime#3538, mended in v0.25).
func (c *Cluster) Manager(o ctrl.Options) ctrl.Manager {
	c.t.Helper()
	const none = "0" // how controller-runtime's options say so
	o.Metrics.BindAddress, o.HealthProbeBindAddress, o.PprofBindAddress = none, none, none
	if o.Controller.SkipNameValidation == nil {
		unchecked := true
		o.Controller.SkipNameValidation = &unchecked
	}
	if o.Controller.UsePriorityQueue == nil {
		withoutPriorities := false
		o.Controller.UsePriorityQueue = &withoutPriorities
	}
	if o.Logger.GetSink() == nil {
		o.Logger = testr.NewWithInterface(c.t, testr.Options{})
	}
	m, err := ctrl.NewManager(c.RESTConfig(), o)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// settling is longer than the caches of a manager take, and a whole second.
// client-go asks ten times a second whether they have synced (syncedPollPeriod of
// tools/cache/shared_informer.go), and which time is the last depends on how the
// machine schedules goroutines.
const settling = time.Second

// Start lets the cluster live, with these managers in it, until the test ends.
// A manager that ends earlier fails the test. With managers it returns a second of
// the bubble later, when their caches have synced, so that what the test does next
// comes to them at the same moment every time.
func (c *Cluster) Start(managers ...ctrl.Manager) {
	c.TestCluster.Start()
	for _, m := range managers {
		ended := make(chan error, 1)
		go func() { ended <- m.Start(c.t.Context()) }()
		c.t.Cleanup(func() { // the test's context has ended by then
			if err := <-ended; err != nil {
				c.t.Error(err)
			}
		})
	}
	if len(managers) > 0 {
		time.Sleep(settling)
	}
}
