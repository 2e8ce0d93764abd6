package controllers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

var webApp = kube.PairsOf(kube.Pair{Key: "app", Value: "web"})

// seedBudget puts a budget of three Ready pods there.
func (c *control) seedBudget(t *testing.T, min, max string) (*kube.Budget, []*kube.Pod) {
	t.Helper()
	d := controllers.NewDisruption(c.Env)
	c.API.SetScale("rs-web", 3)
	var pods []*kube.Pod
	for i := range 3 {
		pods = append(pods, c.pod(t, fmt.Sprintf("web-%d", i), "node-0"))
	}
	b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "web", Created: c.API.Now().Add(-24 * time.Hour)}, MinAvailable: min, MaxUnavailable: max, Selector: webApp}
	if err := d.Seed(b); err != nil {
		t.Fatal(err)
	}
	return b, pods
}

func TestASeededBudgetIsAtRest(t *testing.T) {
	c := newControl(t, "1.34")
	b, _ := c.seedBudget(t, "2", "")
	c.to(t, time.Hour)
	lines := c.wrote(0, "poddisruptionbudgets", "web")
	if len(lines) != 1 || lines[0].verb != "ADDED" || len(c.said(0)) != 0 {
		t.Fatalf("%+v, events %v: want one ADDED", lines, c.said(0))
	}
	for _, part := range []string{
		`"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3,`,
		`{"type":"DisruptionAllowed","status":"True","observedGeneration":1,"lastTransitionTime":"2026-11-19T22:00:00Z","reason":"SufficientPods","message":""}`,
	} {
		if !strings.Contains(lines[0].json, part) {
			t.Errorf("%s: want %s", lines[0].json, part)
		}
	}
	if err := controllers.NewDisruption(c.Env).Seed(&kube.Budget{Meta: kube.Meta{Namespace: b.Namespace, Name: b.Name}}); err == nil {
		t.Error("a second budget of the name is seeded")
	}
}

// TestAnEvictionIsThreeWrites follows one eviction to the end of its budget's
// accounts.
func TestAnEvictionIsThreeWrites(t *testing.T) {
	c := newControl(t, "1.34")
	b, pods := c.seedBudget(t, "2", "")
	from := len(c.lines)
	c.to(t, time.Second)
	if no := c.API.Evict(pods[0]); no != nil {
		t.Fatal(no)
	}
	var order []string
	for _, l := range c.lines[from:] {
		order = append(order, l.verb+" "+l.resource+" "+l.json)
	}
	same(t, "writes of the eviction", order, []string{
		`MODIFIED poddisruptionbudgets {"status":{"disruptedPods":{"web-0":"2026-11-20T22:00:01Z"},"disruptionsAllowed":0,"conditions":[{"type":"DisruptionAllowed","status":"False","observedGeneration":1,"lastTransitionTime":"2026-11-20T22:00:01Z","reason":"InsufficientPods","message":""}]}}`,
		`MODIFIED pods {"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":null},{"type":"DisruptionTarget","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:00:01Z","reason":"EvictionByEvictionAPI","message":"Eviction API: evicting"}]}}`,
		`MODIFIED pods {"metadata":{"deletionTimestamp":"2026-11-20T22:00:31Z","deletionGracePeriodSeconds":30}}`,
	})
	no := c.API.Evict(pods[1])
	if no == nil || no.Code != 429 || no.RetryAfter != 0 || no.Cause != "The disruption budget web does not allow evicting pods currently" {
		t.Errorf("before the controller: %+v", no)
	}
	from = len(c.lines)
	c.to(t, 3*time.Second)
	if got := c.wrote(from, "poddisruptionbudgets", "web"); len(got) != 1 || got[0].json != `{"status":{"disruptedPods":null,"currentHealthy":2}}` {
		t.Errorf("the controller's answer: %+v", got)
	}
	no = c.API.Evict(pods[1])
	if no == nil || no.Cause != "The disruption budget web needs 2 healthy pods and has 2 currently" || no.Message != "Cannot evict pod as it would violate the pod's disruption budget." {
		t.Errorf("behind the controller: %+v", no)
	}
	c.API.DeletePod(pods[0], 0)
	c.to(t, 5*time.Second)
	if b.ExpectedPods != 2 || b.CurrentHealthy != 2 || b.DisruptionsAllowed != 0 {
		t.Errorf("the pod is gone: %+v", b)
	}
}

func TestEvictionsWithoutABudgetsLeave(t *testing.T) {
	c := newControl(t, "1.34")
	b, pods := c.seedBudget(t, "3", "")
	unready := pods[0]
	for _, one := range []struct {
		what string
		set  func()
		code int // 0 is granted
	}{
		{"no disruption left", func() {}, 429},
		{"not Ready, and the others are enough", func() { c.ready(unready, "False"); b.CurrentHealthy, b.DesiredHealthy = 3, 3 }, 0},
		{"not Ready, and the others are too few", func() { c.ready(unready, "False"); b.CurrentHealthy, b.DesiredHealthy = 2, 3 }, 429},
		{"not Ready, and nothing is desired", func() { c.ready(unready, "False"); b.CurrentHealthy, b.DesiredHealthy = 0, 0 }, 429},
		{"not Ready, and always allowed", func() { c.ready(unready, "False"); b.UnhealthyPodEvictionPolicy = "AlwaysAllow" }, 0},
		{"Ready, and always allowed", func() { b.UnhealthyPodEvictionPolicy = "AlwaysAllow" }, 429},
		{"pending", func() { c.API.UpdatePod(unready, func(p *kube.Pod) { p.Phase = "Pending" }) }, 0},
		{"ended", func() { c.API.UpdatePod(unready, func(p *kube.Pod) { p.Phase = "Failed" }) }, 0},
		{"the status is old", func() { b.ObservedGeneration, b.DisruptionsAllowed = 0, 3 }, 429},
	} {
		c = newControl(t, "1.34")
		b, pods = c.seedBudget(t, "3", "")
		unready = pods[0]
		one.set()
		no := c.API.Evict(unready)
		switch {
		case one.code == 0 && (no != nil || !unready.Terminating() && !unready.Gone()):
			t.Errorf("%s: %v: want the pod gone", one.what, no)
		case one.code != 0 && (no == nil || no.Code != one.code || unready.Terminating()):
			t.Errorf("%s: %v: want %d and the pod untouched", one.what, no, one.code)
		}
		if one.what == "the status is old" && (no == nil || no.RetryAfter != 10*time.Second || no.Cause != "The disruption budget web is still being processed by the server.") {
			t.Errorf("%s: %+v", one.what, no)
		}
	}
}

func TestTwoBudgetsAreAnErrorOfTheServer(t *testing.T) {
	c := newControl(t, "1.34")
	_, pods := c.seedBudget(t, "1", "")
	if err := c.API.CreateBudget(&kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "all"}, MinAvailable: "0"}); err != nil {
		t.Fatal(err)
	}
	c.to(t, 2*time.Second)
	no := c.API.Evict(pods[0])
	if no == nil || no.Code != 500 || no.Message != "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support." {
		t.Errorf("%+v", no)
	}
	c.ready(pods[0], "False")
	c.to(t, 3*time.Second)
	got := c.said(0)
	if len(got) != 1 || !strings.HasPrefix(got[0], `Warning MultiplePodDisruptionBudgets web-0: Pod "shop"/"web-0" matches multiple PodDisruptionBudgets.  Chose "`) {
		t.Errorf("%q", got)
	}
}

// TestAPodThatIsNotDeletedCountsAgain has evictions that were granted and come
// to nothing: the budget forgets them after two minutes, and so does the pod.
func TestAPodThatIsNotDeletedCountsAgain(t *testing.T) {
	c := newControl(t, "1.34")
	b, pods := c.seedBudget(t, "2", "")
	c.to(t, 500*time.Millisecond)
	c.API.UpdateBudget(b, func(b *kube.Budget) {
		b.DisruptionsAllowed, b.DisruptedPods = 0, []kube.Disrupted{{Pod: "web-1", At: c.API.Now().Second()}}
	})
	c.API.UpdatePod(pods[1], func(p *kube.Pod) {
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI", Transition: c.API.Now().Second()})
	})
	c.to(t, 10*time.Second)
	if b.CurrentHealthy != 2 || b.DisruptionsAllowed != 0 {
		t.Errorf("while it is awaited: %+v", b)
	}
	c.to(t, 3*time.Minute)
	if b.CurrentHealthy != 3 || b.DisruptionsAllowed != 1 || len(b.DisruptedPods) != 0 {
		t.Errorf("two minutes later: %+v", b)
	}
	same(t, "events", c.said(0), []string{"Warning NotDeleted web-1: Pod was expected by PDB shop/shop to be deleted but it wasn't [controllermanager]"})
	between(t, "NotDeleted", c.first(0, "NotDeleted"), 2*time.Minute, 2*time.Minute+time.Second)
	target := pods[1].Conditions.Get("DisruptionTarget")
	if target.Status != "False" || target.Reason != "" {
		t.Errorf("%+v: want the condition taken back", target)
	}
	between(t, "the condition", c.first(0, "MODIFIED pods web-1", `"DisruptionTarget","status":"False"`), 2*time.Minute, 2*time.Minute)
}

// TestAStatusIsNeverLate stretches how controllers react: one that makes pods
// takes its time then, and the status of a budget still follows within a second.
func TestAStatusIsNeverLate(t *testing.T) {
	c := newControl(t, "1.34")
	c.Env.Jitter = 1000
	b, pods := c.seedBudget(t, "1", "")
	for n, p := range pods {
		at := time.Duration(n+1) * time.Minute
		c.to(t, at)
		c.API.UpdatePod(p, func(p *kube.Pod) {
			next := *p.Conditions.Get("Ready")
			next.Status, next.Transition = "False", c.API.Now().Second()
			p.Conditions = p.Conditions.Set(next)
		})
		c.to(t, at+time.Second)
		if want := 2 - n; b.CurrentHealthy != want {
			t.Errorf("%v: currentHealthy %d a second after the change, want %d", at, b.CurrentHealthy, want)
		}
	}
}

func TestABudgetWithoutPodsSaysSo(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewDisruption(c.Env)
	b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "web"}, MinAvailable: "50%", Selector: webApp}
	if err := c.API.CreateBudget(b); err != nil {
		t.Fatal(err)
	}
	c.to(t, 5*time.Second)
	same(t, "events", c.said(0), []string{"Normal NoPods web: No matching pods found [controllermanager]"})
	c.pod(t, "web-0", "node-0")
	c.to(t, 10*time.Second)
	if cond := b.Conditions.Get("DisruptionAllowed"); cond.Reason != "SyncFailed" || cond.Message != `found no controllers for pod "web-0"` {
		t.Errorf("%+v: want a failed sync, since nobody knows the controller", cond)
	}
	if no := c.API.Evict(c.API.Pod("shop", "web-0")); no == nil || no.Cause != `The disruption budget web does not allow evicting pods currently because it failed sync: found no controllers for pod "web-0"` {
		t.Errorf("%+v", no)
	}
}

// TestTheStatusIsARecount holds the controller's running counts against a twin
// that counts all pods again, once it is quiet.
func TestTheStatusIsARecount(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 2))
		c := newControl(t, "1.34")
		controllers.NewDisruption(c.Env)
		limits := []string{"2", "50%", "0", "100%", "33%"}
		for i := range 4 {
			b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: fmt.Sprint("b", i)}, Selector: kube.PairsOf(kube.Pair{Key: "app", Value: fmt.Sprint("app", i%3)})}
			if rng.IntN(2) == 0 {
				b.MinAvailable = limits[rng.IntN(len(limits))]
			} else {
				b.MaxUnavailable = limits[rng.IntN(len(limits))]
			}
			if err := c.API.CreateBudget(b); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 6 {
			c.API.SetScale(fmt.Sprint("rs-", i), rng.IntN(8))
		}
		for step := range 150 {
			pods := c.API.Pods()
			switch n := rng.IntN(9); {
			case len(pods) == 0 || n < 3:
				app, rs := rng.IntN(3), rng.IntN(2)
				c.pod(t, fmt.Sprint("p", step), "node-0", func(p *kube.Pod) {
					p.Labels = kube.PairsOf(kube.Pair{Key: "app", Value: fmt.Sprint("app", app)})
					p.Owner = &kube.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", UID: fmt.Sprint("rs-", 2*app+rs)}
					if rng.IntN(8) == 0 {
						p.Owner = nil
					}
				})
			case n == 3:
				c.ready(pods[rng.IntN(len(pods))], []string{"True", "False"}[rng.IntN(2)])
			case n == 4:
				c.API.DeletePod(pods[rng.IntN(len(pods))], []int64{0, kube.OwnGrace}[rng.IntN(2)])
			case n == 5:
				_ = c.API.Evict(pods[rng.IntN(len(pods))])
			case n == 6:
				c.API.UpdatePod(pods[rng.IntN(len(pods))], func(p *kube.Pod) { p.Labels = p.Labels.With("app", fmt.Sprint("app", rng.IntN(3))) })
			case n == 7:
				b := c.API.Budgets()[rng.IntN(len(c.API.Budgets()))]
				c.API.UpdateBudget(b, func(b *kube.Budget) {
					b.Selector = kube.PairsOf(kube.Pair{Key: "app", Value: fmt.Sprint("app", rng.IntN(3))})
				})
			default:
				c.to(t, c.Now()+time.Duration(rng.Int64N(int64(90*time.Second))))
			}
		}
		c.to(t, c.Now()+10*time.Minute)
		for _, b := range c.API.Budgets() {
			if got, want := status(b), recount(c, b); got != want {
				t.Fatalf("seed %d, budget %s (min %s, max %s): %s, a recount has %s", seed, b.Name, b.MinAvailable, b.MaxUnavailable, got, want)
			}
			if cond := b.Conditions.Get("DisruptionAllowed"); b.ObservedGeneration != b.Generation || (cond.Status == "True") != (b.DisruptionsAllowed > 0) {
				t.Fatalf("seed %d, budget %s: generation %d of %d, condition %+v", seed, b.Name, b.ObservedGeneration, b.Generation, cond)
			}
		}
	}
}

func status(b *kube.Budget) string {
	return fmt.Sprintf("expected %d, desired %d, current %d, allowed %d, disrupted %d", b.ExpectedPods, b.DesiredHealthy, b.CurrentHealthy, b.DisruptionsAllowed, len(b.DisruptedPods))
}

// recount is trySync of pkg/controller/disruption the plain way, with nothing
// granted any more.
func recount(c *control, b *kube.Budget) string {
	expected, current := 0, 0
	scales, pods := map[string]int{}, 0
	for _, p := range c.API.Pods() {
		if !b.Covers(p) {
			continue
		}
		pods++
		if p.Owner != nil {
			scales[p.Owner.UID], _ = c.API.Scale(p.Owner.UID)
		}
		if p.Ready() && !p.Terminating() {
			current++
		}
	}
	for _, n := range scales {
		expected += n
	}
	percent := func(v string) int {
		n := 0
		if _, err := fmt.Sscanf(v, "%d", &n); err != nil {
			return -1
		}
		if strings.HasSuffix(v, "%") {
			return -(-n * expected / 100) + min(1, n*expected%100)
		}
		return n
	}
	var desired int
	switch {
	case b.MaxUnavailable != "":
		desired = max(0, expected-percent(b.MaxUnavailable))
	case strings.HasSuffix(b.MinAvailable, "%"):
		desired = percent(b.MinAvailable)
	default:
		desired, expected = percent(b.MinAvailable), pods
	}
	allowed := max(0, current-desired)
	if expected == 0 {
		allowed = 0
	}
	return fmt.Sprintf("expected %d, desired %d, current %d, allowed %d, disrupted 0", expected, desired, current, allowed)
}

// A budget that says nothing of how many allows nothing (getExpectedPodCount).
func TestABudgetWithoutANumberAllowsNothing(t *testing.T) {
	c := newControl(t, "1.34")
	b, pods := c.seedBudget(t, "", "")
	c.to(t, time.Second)
	if b.DisruptionsAllowed != 0 || b.ExpectedPods != 0 || c.API.Evict(pods[0]) == nil {
		t.Errorf("allows %d of %d, and an eviction: want nothing", b.DisruptionsAllowed, b.ExpectedPods)
	}
}

// The pods of one owner may differ in what budgets select by: its template has changed.
func TestAnOwnersPodsMayDifferInLabels(t *testing.T) {
	c := newControl(t, "1.34")
	b, _ := c.seedBudget(t, "1", "")
	both := kube.PairsOf(kube.Pair{Key: "app", Value: "web"}, kube.Pair{Key: "tier", Value: "prod"})
	prod := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "prod"}, MinAvailable: "1", Selector: both}
	if err := c.API.CreateBudget(prod); err != nil {
		t.Fatal(err)
	}
	c.pod(t, "web-3", "node-0")
	c.to(t, time.Minute)
	if b.CurrentHealthy != 4 || prod.CurrentHealthy != 0 {
		t.Fatalf("healthy %d and %d, want 4 and 0", b.CurrentHealthy, prod.CurrentHealthy)
	}
	c.pod(t, "web-4", "node-0", func(p *kube.Pod) { p.Labels = both })
	c.pod(t, "web-5", "node-0")
	c.pod(t, "web-6", "node-0", func(p *kube.Pod) { p.Labels = both })
	c.to(t, 2*time.Minute)
	if b.CurrentHealthy != 7 || prod.CurrentHealthy != 2 || prod.ExpectedPods != 2 {
		t.Errorf("healthy %d and %d of %d, want 7 and 2 of 2", b.CurrentHealthy, prod.CurrentHealthy, prod.ExpectedPods)
	}
}

// A Job has no scale: a budget that depends on that of its pods' controllers allows nothing, one of a number counts pods.
func TestABudgetThatCoversAJob(t *testing.T) {
	c := placing.New(t, "1.36", false)
	controllers.NewDisruption(c.Env)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Deployment, "web", 3, placing.App("web", 100))
	c.Deploy(t, controllers.Job, "fix", 1, placing.App("web", 100))
	b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "web"}, MaxUnavailable: "1", Selector: webApp}
	if err := c.API.CreateBudget(b); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, time.Minute)
	cond := b.Conditions.Get("DisruptionAllowed")
	if b.DisruptionsAllowed != 0 || cond == nil || cond.Reason != "SyncFailed" || cond.Message != "jobs.batch does not implement the scale subresource" {
		t.Errorf("allows %d, %+v: want none, since its sync fails", b.DisruptionsAllowed, cond)
	}
	if no := c.API.Evict(c.Pods("web")[0]); no == nil || no.Code != 429 {
		t.Errorf("an eviction: %+v, want 429", no)
	}
	c.API.UpdateBudget(b, func(b *kube.Budget) { b.MinAvailable, b.MaxUnavailable = "2", "" })
	c.RunTo(t, 2*time.Minute)
	if b.DisruptionsAllowed != 2 || b.CurrentHealthy != 4 {
		t.Errorf("allows %d with %d healthy pods, want 2 with 4", b.DisruptionsAllowed, b.CurrentHealthy)
	}
}

// A pod without a controller is healthy, and isn't expected but by a budget of a number (getExpectedPodCount, getExpectedScale,
// countHealthyPods and updatePdbStatus of pkg/controller/disruption/disruption.go).
func TestABudgetThatCoversABarePod(t *testing.T) {
	c := placing.New(t, "1.36", true)
	controllers.NewDisruption(c.Env)
	c.Node("n1", "a")
	c.Deploy(t, controllers.Deployment, "web", 3, placing.App("web", 100))
	c.Deploy(t, controllers.Pod, "fix", 1, placing.App("web", 100))
	c.Deploy(t, controllers.Pod, "lone", 1, placing.App("lone", 100))
	b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "web"}, MaxUnavailable: "1", Selector: webApp}
	lone := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "lone"}, MaxUnavailable: "1", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "lone"})}
	for _, one := range []*kube.Budget{b, lone} {
		if err := c.API.CreateBudget(one); err != nil {
			t.Fatal(err)
		}
	}
	c.RunTo(t, time.Minute)
	if got, want := status(b), "expected 3, desired 2, current 4, allowed 2, disrupted 0"; got != want {
		t.Errorf("maxUnavailable: %s, want %s", got, want)
	}
	if got, want := status(lone), "expected 0, desired 0, current 1, allowed 0, disrupted 0"; got != want {
		t.Errorf("maxUnavailable of a bare pod alone: %s, want %s", got, want)
	}
	if len(c.Reports("UnmanagedPods")) == 0 {
		t.Errorf("told %v, want UnmanagedPods", c.Told)
	}
	c.API.UpdateBudget(b, func(b *kube.Budget) { b.MinAvailable, b.MaxUnavailable = "3", "" })
	c.RunTo(t, 2*time.Minute)
	if got, want := status(b), "expected 4, desired 3, current 4, allowed 1, disrupted 0"; got != want {
		t.Errorf("minAvailable: %s, want %s", got, want)
	}
}
