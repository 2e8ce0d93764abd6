package live

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// conflicting is a server that refuses a Lease that was written since it was read, as an API server does.
func conflicting(objects ...runtime.Object) *fake.Clientset {
	server := fake.NewClientset(objects...)
	version := 0
	var mu sync.Mutex
	server.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		is := a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease)
		has, err := server.Tracker().Get(a.GetResource(), is.Namespace, is.Name)
		if err != nil {
			return true, nil, err
		}
		if has.(*coordinationv1.Lease).ResourceVersion != is.ResourceVersion {
			return true, nil, apierrors.NewConflict(coordinationv1.Resource("leases"), is.Name, errors.New("changed"))
		}
		version++
		is.ResourceVersion = strconv.Itoa(version)
		return true, is, server.Tracker().Update(a.GetResource(), is, is.Namespace)
	})
	return server
}

// sharding is the Runner of a process of two shards, at a server.
func sharding() *Runner {
	f := &scenarios.File{File: spec.File{Groups: []spec.Group{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}}}}
	p := &Runner{
		config: &rest.Config{Host: "https://example.invalid"}, label: "surge", record: RecordName, clock: clock.RealClock{}, file: f, shards: 2,
		warn: func(error) {}, tell: func(Progress) {}, removeWithin: 2 * time.Minute,
	}
	if err := p.divide(); err != nil {
		panic(err)
	}
	return p
}

// taken is what a process has got.
type taken struct {
	l             *checkpointLock
	adopted, over bool
	err           error
}

// claiming begins to claim a shard.
func claiming(ctx context.Context, kube kubeclient.Interface) <-chan taken {
	got := make(chan taken, 1)
	go func() {
		var is taken
		is.l, is.adopted, is.over, is.err = sharding().claimShard(ctx, kube)
		got <- is
	}()
	return got
}

// renew writes a record as its living process does, until ctx ends.
func renew(ctx context.Context, l *checkpointLock, ended bool) {
	l.now.Ended = ended
	for ctx.Err() == nil {
		_ = l.note(ctx, true, ended, time.Minute) // where it fails, the record's state tells
		select {
		case <-time.After(checkpointEvery):
		case <-ctx.Done():
		}
	}
}

// A process waits for a shard as long as another one renews it, and takes it where that has given it up, or is silent for the Lease's time.
func TestJudge(t *testing.T) {
	lease := func(holder string, seconds int32, ended bool) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{annotation + "ended": strconv.FormatBool(ended)}}}
		if holder != "" {
			l.Spec.HolderIdentity = ptr.To(holder)
		}
		if seconds > 0 {
			l.Spec.LeaseDurationSeconds = ptr.To(seconds)
		}
		return l
	}
	const me, other = "host:1:cafe", "host:2:cafe"
	for name, c := range map[string]struct {
		lease  *coordinationv1.Lease
		had    bool
		silent time.Duration
		want   verdict
	}{
		"another's":                          {lease(other, 10, false), false, 10*time.Second - 1, toWait},
		"another's, silent":                  {lease(other, 10, false), false, 10 * time.Second, toTake},
		"another's, silent, with more time":  {lease(other, 60, false), false, 10 * time.Second, toWait},
		"another's, silent, without time":    {lease(other, 0, false), false, time.Hour, toWait},
		"another's, which has ended":         {lease(other, 10, true), false, 0, toWait},
		"another's, which has ended, silent": {lease(other, 10, true), false, 10 * time.Second, toTake},
		"given up":                           {lease("", 10, false), false, 0, toTake},
		"given up after its end":             {lease("", 10, true), false, 0, toWait},
		"given up after its end, silent":     {lease("", 10, true), false, 10 * time.Second, toTake},
		"being removed":                      {lease(cleaner, 10, false), false, time.Hour, toWait},
		"created by this one":                {lease(me, 10, false), false, 0, toRenew},
		"this one's":                         {lease(me, 10, true), true, time.Hour, toRenew},
		"taken by another":                   {lease(other, 10, false), true, 0, toEnd},
		"taken by another, which is silent":  {lease(other, 10, false), true, time.Hour, toEnd},
		"this one's, now being removed":      {lease(cleaner, 10, false), true, 0, toEnd},
		"this one's, now nobody's":           {lease("", 10, false), true, 0, toEnd},
	} {
		if got := judge(c.lease, me, c.had, c.silent); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A record says since when its process has it, and how often it was taken over.
func TestRecordIsALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := conflicting()
		l := sharding().part(0).newLock(faked(server))
		if mine, err := l.look(t.Context(), true); err != nil || !mine {
			t.Fatal(mine, err)
		}
		began := time.Now()
		check := func(l *checkpointLock, transitions int32, acquired time.Time) {
			t.Helper()
			have, err := server.CoordinationV1().Leases(RecordNamespace).Get(t.Context(), shardRecord(0), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s := have.Spec
			if *s.HolderIdentity != l.holder || *s.LeaseDurationSeconds != 10 || !s.AcquireTime.Equal(ptr.To(metav1.NewMicroTime(acquired))) ||
				!s.RenewTime.Equal(ptr.To(metav1.NowMicro())) || ptr.Deref(s.LeaseTransitions, 0) != transitions {
				t.Errorf("the Lease is %v", &s)
			}
		}
		check(l, 0, began)
		<-time.After(checkpointEvery)
		if err := l.note(t.Context(), true, false, time.Minute); err != nil {
			t.Fatal(err)
		}
		check(l, 0, began)
		<-time.After(time.Minute)
		other := sharding().part(0).newLock(faked(server))
		if mine, err := other.look(t.Context(), true); err != nil || mine {
			t.Fatal(mine, err)
		}
		if holder, err := other.takeOver(t.Context()); err != nil || holder != other.holder || other.now.At != "1m0s" {
			t.Fatal(holder, err, other.now)
		}
		check(other, 1, time.Now())
		if err := l.note(t.Context(), true, false, 2*time.Minute); !takenOver(err).resumes() {
			t.Errorf("the first process: %v, want that it was taken over", err)
		}
		check(other, 1, time.Now())
	})
}

// A process takes a shard that nobody has, then one whose process has died, with what it has noted; and none once all have ended.
func TestClaimShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := faked(conflicting())
		ctx, end := context.WithCancel(t.Context())
		defer end()
		first, second := <-claiming(ctx, kube), <-claiming(ctx, kube)
		for i, is := range []taken{first, second} {
			if is.err != nil || is.adopted || is.over || is.l.p.record != shardRecord(i) || len(is.l.p.file.Groups) != 1 || is.l.p.firstMachine != i*machineNumbers {
				t.Fatalf("process %d: %+v", i, is)
			}
		}
		go renew(ctx, first.l, false)
		dies, die := context.WithCancel(ctx)
		go renew(dies, second.l, true) // it has nothing more to do, and keeps its nodes for the other one
		third, fourth := claiming(ctx, kube), claiming(ctx, kube)
		<-time.After(time.Minute)
		synctest.Wait()
		if len(third)+len(fourth) > 0 {
			t.Fatal("a process has got a shard that another one runs")
		}
		die()
		var last taken
		select {
		case last = <-third:
		case last = <-fourth:
		}
		if last.err != nil || !last.adopted || last.l.p.record != shardRecord(1) || last.l.now.At != "1m0s" || !last.l.now.Begun {
			t.Fatalf("the shard of a process that has died: %+v", last)
		}
	})
}

// A server that answers each request slowly isn't one that was away: what a process that has died ran is taken over.
func TestSlowServerIsntAway(t *testing.T) {
	for answers, taken := range map[time.Duration]bool{1200 * time.Millisecond: true, 2*checkpointEvery + 1: false} {
		server, c := conflicting(), clocktesting.NewFakeClock(noon)
		for range 2 {
			if is := <-claiming(t.Context(), faked(server)); is.err != nil {
				t.Fatal(is.err)
			}
		}
		server.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			c.Step(answers)
			return false, nil, nil
		})
		p := sharding()
		p.clock = c
		s := &search{p: p, client: faked(server), joined: true, silent: map[string]silence{}}
		for range 10 {
			if l, err := s.look(t.Context()); l != nil || err != nil {
				t.Fatal(l, err)
			}
			c.Step(checkpointEvery)
		}
		if l, err := s.take(t.Context()); err != nil || (l != nil) != taken {
			t.Errorf("each answer takes %s: took over %v, %v, want one: %v", answers, l, err, taken)
		}
	}
}

// A run with shards and one without that begin in the same moment, so that none finds the other's record before it has its own: at most
// one of them goes on, and who is refused leaves no record.
func TestClaimShardBesideARunOfOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := faked(conflicting())
		whole := sharding()
		whole.shards = 0
		mine, adopted, err := whole.claim(t.Context(), kube)
		if err != nil || adopted {
			t.Fatalf("the run of one process: adopted %t, %v", adopted, err)
		}
		var other *OtherRunError
		if is := <-claiming(t.Context(), kube); !errors.As(is.err, &other) || !strings.Contains(other.Found, `with ["seed=0"] in place of`) {
			t.Errorf("the run with shards: %+v, want it refused", is)
		}
		if have, err := whole.readRecord(t.Context(), kube, shardRecord(0)); have != nil || err != nil {
			t.Errorf("who was refused left %v, %v", have, err)
		}
		if err := mine.alone(t.Context()); err != nil {
			t.Errorf("the run of one process, once it is alone: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // and the other way round
		kube := faked(conflicting())
		if is := <-claiming(t.Context(), kube); is.err != nil {
			t.Fatal(is.err)
		}
		whole := sharding()
		whole.shards = 0
		var other *OtherRunError
		if _, _, err := whole.claim(t.Context(), kube); !errors.As(err, &other) || !strings.Contains(other.Found, "shards=2") {
			t.Errorf("the run of one process: %v, want it refused", err)
		}
		if have, err := whole.readRecord(t.Context(), kube, RecordName); have != nil || err != nil {
			t.Errorf("who was refused left %v, %v", have, err)
		}
	})
}

// A process that comes while everything is removed waits, and begins anew then.
func TestClaimShardWhileItIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sharding().part(0).newLock(nil)
		l.now.Holder = cleaner
		server := conflicting(l.object())
		got := claiming(t.Context(), faked(server))
		<-time.After(time.Minute)
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("the process has got %+v", <-got)
		}
		if err := server.CoordinationV1().Leases(RecordNamespace).Delete(t.Context(), shardRecord(0), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if is := <-got; is.err != nil || is.adopted || is.over || is.l.p.record != shardRecord(0) {
			t.Errorf("once it is gone: %+v", is)
		}
	})
}

// The live run is over where all shards have ended, or their records are gone.
func TestStandbyEndsWithTheOthers(t *testing.T) {
	for name, gone := range map[string]bool{"ended": false, "gone": true} {
		synctest.Test(t, func(t *testing.T) {
			server := conflicting()
			kube := faked(server)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			var locks []*checkpointLock
			for range 2 {
				is := <-claiming(ctx, kube)
				if is.err != nil {
					t.Fatal(is.err)
				}
				locks = append(locks, is.l)
			}
			living, die := context.WithCancel(ctx)
			for _, l := range locks {
				go renew(living, l, false)
			}
			waits := claiming(ctx, kube)
			<-time.After(time.Minute)
			synctest.Wait()
			if len(waits) > 0 {
				t.Fatalf("%s: it has got %+v", name, <-waits)
			}
			die()
			synctest.Wait()
			for i, l := range locks {
				if gone {
					if err := server.CoordinationV1().Leases(RecordNamespace).Delete(ctx, shardRecord(i), metav1.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
					continue
				}
				go renew(ctx, l, true)
			}
			synctest.Wait()
			if is := <-waits; is.err != nil || !is.over || is.l != nil {
				t.Errorf("%s: %+v, want that the run is over", name, is)
			}
		})
	}
}

// The last of the processes that end removes what all have made; one with others that live doesn't, whatever a dead one has left.
func TestTheLastRemoves(t *testing.T) {
	for _, c := range []struct {
		name  string
		is    checkpoint
		lives bool
	}{
		{"lives", checkpoint{Holder: "other"}, true},
		{"has given it up", checkpoint{}, false},
		{"has died", checkpoint{Holder: "other"}, false},
		{"is removing", checkpoint{Holder: cleaner}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			mine, other := sharding().part(0).newLock(nil), sharding().part(1).newLock(nil)
			other.now.Holder = c.is.Holder
			server := conflicting(mine.object(), other.object())
			for i, l := range []*checkpointLock{mine, other} {
				var err error
				l.client = faked(server)
				if l.have, err = server.CoordinationV1().Leases(RecordNamespace).Get(ctx, shardRecord(i), metav1.GetOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if c.lives {
				go renew(ctx, other, false)
			}
			r := &run{Runner: mine.p, lock: mine, clients: &clients{kube: faked(server)}}
			last, err := r.leave(ctx)
			if err != nil || last == c.lives {
				t.Errorf("the other process %s: this one is the last: %t, %v", c.name, last, err)
			}
			list, err := server.CoordinationV1().Leases(RecordNamespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Items {
				if by := checkpointOf(&m).Holder; last && by != cleaner || !last && m.Name == shardRecord(0) && by != "" {
					t.Errorf("the other process %s: record %s is of %q", c.name, m.Name, by)
				}
			}
		})
	}
}

// A process that is killed while it removes everything leaves that to --cleanup, and one that was killed once all had ended to the next run.
func TestClaimShardOfDeadProcesses(t *testing.T) {
	for name, c := range map[string]struct {
		left checkpoint
		want string
	}{
		"removing": {checkpoint{Holder: cleaner}, "found a live run of scenario surge, which has been being removed for 2m0s: want it removed first: nodesim simulate surge --live --cleanup"},
		"ended":    {checkpoint{Holder: "other", Ended: true}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var left []runtime.Object
			for i := range 2 {
				l := sharding().part(i).newLock(nil)
				l.now.Holder, l.now.Ended = c.left.Holder, c.left.Ended
				left = append(left, l.object())
			}
			is := <-claiming(t.Context(), faked(conflicting(left...)))
			if c.want != "" && (is.err == nil || !strings.HasSuffix(is.err.Error(), c.want)) || c.want == "" && (is.err != nil || !is.adopted) {
				t.Errorf("%s: %+v, want %q", name, is, c.want)
			}
		})
	}
}

// A process that resumes a scenario keeps what its record says of that until it has begun itself: it may end before.
func TestRecordKeepsWhatWasResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sharding().part(0).newLock(nil)
		l.now.Begun, l.now.Rolled, l.now.At = true, true, "1h0m0s"
		server := conflicting(l.object())
		l.client = faked(server)
		for _, begun := range []bool{false, true} {
			var err error
			if l.have, err = server.CoordinationV1().Leases(RecordNamespace).Get(t.Context(), shardRecord(0), metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := l.note(t.Context(), begun, false, 2*time.Hour); err != nil {
				t.Fatal(err)
			}
			is := checkpointOf(l.have)
			if want := map[bool]string{false: "1h0m0s", true: "2h0m0s"}[begun]; !is.Begun || !is.Rolled || is.At != want {
				t.Errorf("begun anew %t: the record has %+v, want it begun, rolled and at %s", begun, is, want)
			}
		}
	})
}
