package controllers

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// statefulSet keeps the pods of a StatefulSet, NAME-0 and up, with a claim of
// its own for each. A pod is created again only when the one of its name is
// gone, and, OrderedReady as it is, only while all before it are ready; surplus
// ones go from the last (pkg/controller/statefulset/stateful_set_control.go).
type statefulSet struct {
	*workload
	pods    []*kube.Pod // by ordinal; nil for none
	claimed int         // ordinals below have had their claims
}

// takenName is how long a StatefulSet waits until it looks again whether the name of its next pod is free. The real one
// backs off; what it meets here is rare.
const takenName = 10 * time.Second

var statefulSetController = kube.Source{Component: "statefulset-controller"}

func newStatefulSet(w *workload) *statefulSet { return &statefulSet{workload: w} }

func (ss *statefulSet) changed(c kube.Change, old, p *kube.Pod) {
	i := ss.ordinal(p.Name)
	if i < 0 {
		return
	}
	for len(ss.pods) <= i {
		ss.pods = append(ss.pods, nil)
	}
	switch {
	case c == kube.Added:
		ss.pods[i] = p
	case c == kube.Deleted && ss.pods[i] == p:
		ss.pods[i] = nil
	}
	// What a sync looks at: whether a pod is there, is ready, has ended.
	if ss.begun && (c != kube.Modified || old.Phase != p.Phase || old.Ready() != p.Ready() || old.Terminating() != p.Terminating()) {
		ss.react(ss.sync)
	}
}

func (ss *statefulSet) scaled(int) { ss.react(ss.sync) }

// ordinal reads the number at the end of a pod's name; -1 where there is none.
func (ss *statefulSet) ordinal(name string) int {
	if len(name) <= len(ss.Name)+1 {
		return -1
	}
	n, err := strconv.Atoi(name[len(ss.Name)+1:])
	if err != nil || n < 0 {
		return -1
	}
	return n
}

func (ss *statefulSet) sync() {
	for i := range ss.Replicas {
		var p *kube.Pod
		if i < len(ss.pods) {
			p = ss.pods[i]
		}
		switch {
		case p == nil:
			ss.create(i)
			return
		case p.Terminal() && !p.Terminating():
			ss.recreate(p)
			return
		case p.Terminating() || p.Phase != "Running" || !p.Ready():
			return
		}
	}
	for i := len(ss.pods) - 1; i >= ss.Replicas; i-- {
		if p := ss.pods[i]; p != nil {
			if !p.Terminating() && ss.env.API.DeletePod(p, kube.OwnGrace) {
				ss.record("delete", p.Name)
			}
			return
		}
	}
}

// create creates the pod of an ordinal, and the claim that it never had. The
// next one waits until this one is ready.
func (ss *statefulSet) create(i int) {
	p := ss.numbered(i)
	if ss.env.API.Pod(p.Namespace, p.Name) != nil { // somebody else's, which a client has made so
		ss.waiting = ss.env.Timer(takenName, ss.sync)
		return
	}
	if p.Claim != "" && i >= ss.claimed {
		ss.claimed = i + 1
		ss.env.API.Record(statefulSetController, ss.about(), "Normal", "SuccessfulCreate",
			fmt.Sprintf("%s Claim %s Pod %s in StatefulSet %s success", ss.verb("create"), p.Claim, p.Name, ss.Name))
	}
	if err := ss.env.API.CreatePod(p); err != nil {
		ss.env.Fail(err)
		return
	}
	ss.record("create", p.Name)
}

func (ss *statefulSet) numbered(i int) *kube.Pod {
	p := ss.pod(ss.Name + "-" + strconv.Itoa(i))
	p.Labels = p.Labels.With("statefulset.kubernetes.io/pod-name", p.Name)
	if ss.env.Version.Minor >= 28 { // the feature PodIndexLabel
		p.Labels = p.Labels.With("apps.kubernetes.io/pod-index", strconv.Itoa(i))
	}
	return p
}

// recreate deletes a pod that has ended, so that it can be created again. Until
// 1.29 an event said so (kubernetes/kubernetes#123809).
func (ss *statefulSet) recreate(p *kube.Pod) {
	if ss.env.Version.Minor < 30 {
		kind, reason, word := "Warning", "RecreatingFailedPod", "failed"
		if p.Phase == "Succeeded" {
			kind, reason, word = "Normal", "RecreatingTerminatedPod", "terminated"
		}
		ss.env.API.Record(statefulSetController, ss.about(), kind, reason,
			fmt.Sprintf("StatefulSet %s/%s is recreating %s Pod %s", ss.Namespace, ss.Name, word, p.Name))
	}
	if ss.env.API.DeletePod(p, kube.OwnGrace) {
		ss.record("delete", p.Name)
	}
}

func (ss *statefulSet) record(verb, pod string) {
	ss.env.API.Record(statefulSetController, ss.about(), "Normal", reasonOf(verb),
		fmt.Sprintf("%s Pod %s in StatefulSet %s successful", ss.verb(verb), pod, ss.Name))
}

func reasonOf(verb string) string {
	if verb == "delete" {
		return "SuccessfulDelete"
	}
	return "SuccessfulCreate"
}

// verb returns the first word of a message: with a capital letter in 1.36, see recordPodEvent of
// pkg/controller/statefulset/stateful_pod_control.go.
func (ss *statefulSet) verb(verb string) string {
	if ss.env.Version.Minor >= 36 {
		return string(verb[0]-'a'+'A') + verb[1:]
	}
	return verb
}
