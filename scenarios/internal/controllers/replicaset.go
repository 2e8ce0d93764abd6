package controllers

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const (
	// burstReplicas bounds the number of pods that one sync creates or deletes (BurstReplicas of
	// pkg/controller/replicaset/replica_set.go).
	burstReplicas = 500
	// slowStart is the size of the first batch of a sync that creates pods; each batch is twice the one before
	// (slowStartBatch of the same file).
	slowStart = 1
)

// replicaSet keeps a ReplicaSet at its replicas, a Deployment's or one of its own. A pod that gets a
// deletionTimestamp or ends no longer counts, and is replaced: the controller
// doesn't wait until it is gone. Pods that have ended are left lying.
type replicaSet struct {
	*workload
	component string
	active    int // pods that count
	creating  int // pods that the running sync is still to create
}

func newReplicaSet(w *workload) *replicaSet {
	return &replicaSet{workload: w, component: "replicaset-controller"}
}

func (rs *replicaSet) changed(c kube.Change, old, p *kube.Pod) {
	if c != kube.Added && old.Active() {
		rs.active--
	}
	if c != kube.Deleted && p.Active() {
		rs.active++
	}
	if rs.begun && rs.active+rs.creating != rs.Replicas {
		rs.react(rs.sync)
	}
}

// scaled is the deployment controller's where there is one: it scales the
// ReplicaSet and says so.
func (rs *replicaSet) scaled(from int) {
	rs.env.After(rs.env.Draw(&rs.stream, rs.env.Timings.ControllerReact), func() {
		if from != rs.Replicas && rs.Kind == Deployment {
			rs.env.API.Record(kube.Source{Component: "deployment-controller"}, rs.aboutDeployment(), "Normal", "ScalingReplicaSet", rs.scalingMessage(from, rs.Replicas))
		}
		rs.react(rs.sync)
	})
}

func (rs *replicaSet) aboutDeployment() kube.Reference {
	r := rs.about()
	r.Kind, r.Name, r.UID = string(Deployment), rs.Name, rs.uid
	return r
}

// scalingMessage is that of pkg/controller/deployment/sync.go; until 1.30 it
// named the new size first, and no old one where that was none.
func (rs *replicaSet) scalingMessage(from, to int) string {
	verb := "up"
	if to < from {
		verb = "down"
	}
	switch {
	case rs.env.Version.Minor >= 31:
		return fmt.Sprintf("Scaled %s replica set %s from %d to %d", verb, rs.owner.Name, from, to)
	case from == 0:
		return fmt.Sprintf("Scaled %s replica set %s to %d", verb, rs.owner.Name, to)
	}
	return fmt.Sprintf("Scaled %s replica set %s to %d from %d", verb, rs.owner.Name, to, from)
}

// sync is manageReplicas of pkg/controller/replicaset/replica_set.go.
func (rs *replicaSet) sync() {
	switch missing := rs.Replicas - rs.active - rs.creating; {
	case missing > 0 && rs.creating == 0:
		rs.creating = min(missing, burstReplicas)
		rs.create(slowStart)
	case missing < 0:
		rs.remove(min(-missing, burstReplicas))
	}
}

// create creates a batch, and the rest a round trip later.
func (rs *replicaSet) create(batch int) {
	for range min(batch, rs.creating) {
		rs.creating--
		rs.one(rs.generated())
	}
	if rs.creating > 0 {
		rs.env.After(component.RoundTrip, func() { rs.create(2 * batch) })
	} else if rs.active != rs.Replicas {
		rs.react(rs.sync)
	}
}

// one creates a pod and says so.
func (rs *replicaSet) one(p *kube.Pod) {
	if err := rs.env.API.CreatePod(p); err != nil {
		rs.env.Fail(err)
		return
	}
	rs.env.API.Record(kube.Source{Component: rs.component}, rs.about(), "Normal", "SuccessfulCreate", "Created pod: "+p.Name)
}

// remove deletes the pods that can be spared best.
func (rs *replicaSet) remove(n int) {
	pods := rs.env.API.PodsOf(rs.owner.UID)
	spare := RankForDeletion(pods, pods, rs.env.API.Now())
	for _, p := range spare[:min(n, len(spare))] {
		if rs.env.API.DeletePod(p, kube.OwnGrace) {
			rs.env.API.Record(kube.Source{Component: rs.component}, rs.about(), "Normal", "SuccessfulDelete", "Deleted pod: "+p.Name)
		}
	}
	if rs.active+rs.creating > rs.Replicas {
		rs.react(rs.sync)
	}
}
