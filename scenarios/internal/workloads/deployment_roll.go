package workloads

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits are how many pods there may be more than wanted during a rollout, and how many may be unavailable (MaxSurge,
// MaxUnavailable and ResolveFenceposts of pkg/controller/deployment/util). Validation has refused what can't be read.
func limits(d *appsv1.Deployment) (surge, unavailable int32) {
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return 0, 0
	}
	want, u := int(*d.Spec.Replicas), d.Spec.Strategy.RollingUpdate
	up, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, want, true)
	down, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, want, false)
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(min(down, want))
}

// roll is one step of a rolling update (rolloutRolling of pkg/controller/deployment/rolling.go).
func (r *rollout) roll() time.Duration {
	r.revise(true)
	if r.next == nil {
		return 0 // the name was taken, and another is tried
	}
	if r.grow() || r.shrink() {
		return r.progress()
	}
	if rolledOut(r.deployment(), &r.deployment().Status) {
		r.cleanUp()
	}
	return r.progress()
}

// grow sizes the new ReplicaSet (reconcileNewReplicaSet).
func (r *rollout) grow() bool {
	return r.scaleSet(r.next, min(r.newReplicas(), *r.deployment().Spec.Replicas), false)
}

// newReplicas are those that the new ReplicaSet may have now (NewRSNewReplicas).
func (r *rollout) newReplicas() int32 {
	d := r.deployment()
	want, has := *d.Spec.Replicas, int32(0)
	if r.next != nil {
		has = *set(r.next).Spec.Replicas
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return want
	}
	surge, _ := limits(d)
	if room := want + surge - sum(r.all(), wanted); room > 0 {
		return has + min(room, want-has)
	}
	return has
}

// shrink takes pods off the old ReplicaSets, first those that aren't available, as far as enough stay available
// (reconcileOldReplicaSets).
func (r *rollout) shrink() (any bool) {
	olds := running(r.olds)
	if len(olds) == 0 {
		return false
	}
	_, unavailable := limits(r.deployment())
	least := *r.deployment().Spec.Replicas - unavailable
	next := set(r.next)
	spare := sum(r.all(), wanted) - least - (*next.Spec.Replicas - next.Status.AvailableReplicas)
	if spare <= 0 {
		return false
	}
	take := func(o *object, n int32) {
		if n > 0 {
			r.scaleSet(o, *set(o).Spec.Replicas-n, false)
			any = true
		}
	}
	for _, o := range olds {
		n := min(spare, *set(o).Spec.Replicas-set(o).Status.AvailableReplicas)
		if spare > 0 && n < 0 {
			return false // it was scaled down, and its status doesn't say so yet
		}
		take(o, n)
		spare -= max(n, 0)
	}
	spare = sum(append(olds, r.next), func(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas }) - least
	for _, o := range olds {
		n := min(spare, *set(o).Spec.Replicas)
		take(o, n)
		spare -= max(n, 0)
	}
	return any
}

// recreate has the old pods go before new ones are created (rolloutRecreate of pkg/controller/deployment/recreate.go).
func (r *rollout) recreate() time.Duration {
	r.revise(false)
	scaled := false
	for _, o := range running(r.olds) {
		scaled = r.scaleSet(o, 0, false) || scaled
	}
	if scaled || r.oldsRun() {
		return r.progress()
	}
	r.revise(true)
	if r.next == nil {
		return 0
	}
	r.scaleSet(r.next, *r.deployment().Spec.Replicas, false)
	if rolledOut(r.deployment(), &r.deployment().Status) {
		r.cleanUp()
	}
	return r.progress()
}

// oldsRun reports whether pods of the old ReplicaSets haven't ended (oldPodsRunning).
func (r *rollout) oldsRun() bool {
	for _, o := range r.olds {
		if set(o).Status.Replicas > 0 {
			return true
		}
		for _, p := range r.env.API.PodsOf(o.doc.UID) {
			if !p.Terminal() {
				return true
			}
		}
	}
	return false
}

// resize sizes the ReplicaSets for other replicas, without a rollout (sync and scale of
// pkg/controller/deployment/sync.go).
func (r *rollout) resize() {
	r.revise(false)
	r.spread()
	if r.deployment().Spec.Paused && !r.rollsBack() {
		r.cleanUp()
	}
	r.report(nil)
}

func (r *rollout) spread() {
	d := r.deployment()
	want := *d.Spec.Replicas
	sets := running(r.all())
	if len(sets) <= 1 {
		one := r.next
		if len(sets) == 1 {
			one = sets[0]
		} else if one == nil && len(r.olds) > 0 {
			one = r.olds[len(r.olds)-1]
		}
		if one != nil {
			r.scaleSet(one, want, false)
		}
		return
	}
	if r.saturated() {
		for _, o := range running(r.olds) {
			r.scaleSet(o, 0, false)
		}
		return
	}
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return
	}
	room := int32(0)
	if surge, _ := limits(d); want > 0 {
		room = want + surge
	}
	add := room - sum(sets, wanted)
	// The largest first; of those of one size, what is to grow begins with the newest, what is to shrink with the oldest.
	slices.SortStableFunc(sets, func(a, b *object) int {
		age := byAge(a, b)
		if add > 0 {
			age = byAge(b, a)
		}
		return cmp.Or(-cmp.Compare(wanted(set(a)), wanted(set(b))), age)
	})
	sizes, added := make([]int32, len(sets)), int32(0)
	for i, o := range sets {
		sizes[i] = wanted(set(o))
		if add != 0 {
			n := share(d, set(o), add, added)
			sizes[i] += n
			added += n
		}
	}
	if add != 0 {
		sizes[0] = max(sizes[0]+add-added, 0)
	}
	for i, o := range sets {
		r.scaleSet(o, sizes[i], true)
	}
}

// saturated reports whether the new ReplicaSet has all pods that are wanted, available, and knows it (IsSaturated).
func (r *rollout) saturated() bool {
	if r.next == nil {
		return false
	}
	want, rs := *r.deployment().Spec.Replicas, set(r.next)
	n, err := strconv.Atoi(rs.Annotations[desiredReplicas])
	return err == nil && int32(n) == want && *rs.Spec.Replicas == want && rs.Status.AvailableReplicas == want
}

// share is how many of the pods that are to be added to all ReplicaSets, or taken off them, are one's
// (GetReplicaSetProportion). added are those of the ones before.
func share(d *appsv1.Deployment, rs *appsv1.ReplicaSet, add, added int32) int32 {
	has := *rs.Spec.Replicas
	if has == 0 || add == added {
		return 0
	}
	n := -has
	if *d.Spec.Replicas > 0 {
		n = fraction(d, rs)
	}
	if add > 0 {
		return min(n, add-added)
	}
	return max(n, add-added)
}

// fraction is by how much a ReplicaSet changes with its Deployment (getReplicaSetFraction).
func fraction(d *appsv1.Deployment, rs *appsv1.ReplicaSet) int32 {
	surge, _ := limits(d)
	before := d.Status.Replicas
	if n, err := strconv.ParseUint(rs.Annotations[maxReplicas], 10, 31); err == nil && n > 0 {
		before = int32(n)
	}
	if before == 0 {
		return 0
	}
	has := *rs.Spec.Replicas
	return round(float64(has*(*d.Spec.Replicas+surge))/float64(before)) - has
}

func round(f float64) int32 {
	if f < 0 {
		return int32(f - 0.5)
	}
	return int32(f + 0.5)
}
