package controller

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

func forbidden(verb, resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "virtual",
		fmt.Errorf("User \"u\" cannot %s resource \"%s\"", verb, resource))
}

// What ends Run before the node is registered is returned; nothing is left running (the bubble waits for every
// goroutine), and Ready stays open.
func TestRunFails(t *testing.T) {
	for name, c := range map[string]struct {
		ping  error
		fault func(request string) error
		want  string
	}{
		"ping": {ping: errors.New("no power"), want: "no power"},
		"get":  {want: `cannot get resource "nodes"`, fault: func(string) error { return forbidden("get", "nodes") }},
		"create": {want: `cannot create resource "nodes"`, fault: func(r string) error {
			if r == "POST nodes" {
				return forbidden("create", "nodes")
			}
			return nil
		}},
		"refused for half a minute": {want: "refused", fault: func(r string) error {
			return &url.Error{Op: "Get", URL: "http://server", Err: syscall.ECONNREFUSED}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.pings(func(context.Context) error { return c.ping })
				f.fails(c.fault)
				n := f.controller(t, readyNode(), f.leases())
				begun := time.Now()
				err := n.Run(t.Context())
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "register node virtual") || strings.Contains(err.Error(), "\n") {
					t.Errorf("Run: %v, want one line about %q", err, c.want)
				}
				if !errors.Is(n.Err(), err) {
					t.Errorf("Err: %v, want what Run returned", n.Err())
				}
				<-n.Done()
				select {
				case <-n.Ready():
					t.Error("Ready is closed, want it open")
				default:
				}
				if took := time.Since(begun); took > startPatience+backoffMost*2 {
					t.Errorf("Run failed after %s", took)
				}
				n.Reconcile()
				if err := n.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "called before") {
					t.Errorf("second Run: %v, want an error", err)
				}
			})
		})
	}
}

// An API server that comes back within half a minute is waited for.
func TestRunWaitsForTheServer(t *testing.T) {
	for name, fault := range map[string]error{
		"429":     apierrors.NewTooManyRequestsError("slow down"),
		"503":     apierrors.NewServiceUnavailable("starting"),
		"refused": &url.Error{Op: "Get", URL: "http://server", Err: syscall.ECONNREFUSED},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.fails(func(string) error { return fault })
				n := f.controller(t, readyNode(), f.leases())
				ctx, cancel := context.WithCancel(t.Context())
				go func() { _ = n.Run(ctx) }()
				pass(20 * time.Second)
				f.fails(nil)
				pass(10 * time.Second)
				if f.node() == nil || f.lease() == nil {
					t.Errorf("found node %v and lease %v, want both", f.node(), f.lease())
				}
				cancel()
				<-n.Done()
				if n.Err() != nil {
					t.Error(n.Err())
				}
			})
		})
	}
}

// The end of the context ends Run with nil, also while it registers.
func TestRunEndsWhileItRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.fails(func(string) error { return apierrors.NewServiceUnavailable("starting") })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		if err := f.controller(t, readyNode()).Run(ctx); err != nil || time.Since(begun) != 3*time.Second {
			t.Errorf("Run: %v after %s, want nil after 3s", err, time.Since(begun))
		}
	})
}

// An outage after Ready ends nothing; afterwards all is written soon.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var trouble list[error]
		n := f.controller(t, readyNode(), f.leases(), WithNodeLeaseErrorHandler(func(_ context.Context, err error) error {
			trouble.add(err)
			return nil
		}))
		stop := running(t.Context(), t, n)
		synctest.Wait()
		f.fails(func(string) error { return &url.Error{Op: "Put", URL: "http://server", Err: syscall.ECONNREFUSED} })
		changed := readyNode()
		changed.Labels["zone"] = "b"
		f.say(t, changed)
		pass(30 * time.Second)
		if trouble := trouble.all(); len(trouble) < 3 || len(trouble) > 12 {
			t.Errorf("told of %d failed renewals in thirty seconds, want one after each pause", len(trouble))
		}
		f.fails(nil)
		pass(backoffMost + time.Second)
		if f.node().Labels["zone"] != "b" || time.Since(f.lease().Spec.RenewTime.Time) > backoffMost+time.Second {
			t.Errorf("found labels %v and renew time %s, want both of after the outage", f.node().Labels, f.lease().Spec.RenewTime)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A Ping that ignores the end of its context is waited for as long as a Ping may take, and then named.
func TestPingOutlivesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		release := make(chan struct{})
		n := f.controller(t, readyNode(), WithNodePingTimeout(time.Minute))
		stop := running(t.Context(), t, n)
		f.pings(func(context.Context) error { <-release; return nil })
		pass(DefaultPingInterval)
		begun := time.Now()
		if err := stop(); err == nil || !strings.Contains(err.Error(), "Ping") || time.Since(begun) != time.Minute {
			t.Errorf("Run: %v after %s, want an error about Ping after a minute", err, time.Since(begun))
		}
		close(release)
	})
}

// The handler of status errors is asked about what the API server says: its error is kept, its nil is one more try.
func TestStatusErrorHandler(t *testing.T) {
	for name, answer := range map[string]error{"handled": nil, "not handled": errors.New("leave it")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				var asked list[error]
				n := f.controller(t, readyNode(), WithNodeStatusUpdateErrorHandler(func(_ context.Context, err error) error {
					asked.add(err)
					return answer
				}))
				running(t.Context(), t, n)
				f.remove("nodes/virtual")
				f.say(t, readyNode())
				if asked := asked.all(); len(asked) != 1 || !apierrors.IsNotFound(asked[0]) {
					t.Errorf("asked about %v, want NotFound once", asked)
				}
				if is := f.node() != nil; is != (answer == nil) {
					t.Errorf("the node is there again: %v, want %v", is, answer == nil)
				}
			})
		})
	}
}

// A write of the status that meets a conflict is made again; a storm of them doesn't end it.
func TestConflicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		synctest.Wait()
		count := 0
		f.fails(func(request string) error {
			if count++; strings.HasPrefix(request, "P") && count%3 != 0 {
				return apierrors.NewConflict(schema.GroupResource{}, "virtual", errors.New("storm"))
			}
			return nil
		})
		changed := readyNode()
		changed.Labels["zone"] = "b"
		f.say(t, changed)
		pass(time.Second)
		if f.node().Labels["zone"] != "b" {
			t.Errorf("found %v, want the change in spite of conflicts", f.node().Labels)
		}
		pass(time.Minute)
		if age := time.Since(f.lease().Spec.RenewTime.Time); age > 11*time.Second {
			t.Errorf("the lease was renewed %s ago, want every ten seconds in spite of conflicts", age)
		}
	})
}

// The status of a node that isn't there is NotFound, before and after; otherwise it becomes what was desired.
func TestUpdateStatus(t *testing.T) {
	ctx := patient(t)
	nodes := fake.NewSimpleClientset().CoreV1().Nodes()
	desired := node("virtual")
	desired.Status.Phase = corev1.NodeRunning
	desired.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}}
	n := must(t, NaiveNodeProvider{}, desired, nodes)
	n.wire(ctx)
	n.pinger.task.start(0)
	defer func() { <-n.pinger.task.stop() }()
	if err := n.updateStatus(ctx); !apierrors.IsNotFound(err) {
		t.Errorf("before: %v, want NotFound", err)
	}
	if _, err := nodes.Create(ctx, node("virtual"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := n.updateStatus(ctx); err != nil {
		t.Fatal(err)
	}
	if got := live(ctx, t, nodes).Status; got.Phase != corev1.NodeRunning || len(got.Conditions) != 1 || got.Conditions[0].LastHeartbeatTime.IsZero() {
		t.Errorf("found %+v, want the wished status with a heartbeat", got)
	}
	if err := nodes.Delete(ctx, "virtual", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := n.updateStatus(ctx); !apierrors.IsNotFound(err) {
		t.Errorf("after: %v, want NotFound", err)
	}
}
