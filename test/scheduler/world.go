package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// World is a cluster in which pods wait. Its fields are those of the generator's World, in the package of the simulated
// scheduler's tests.
type World struct {
	Namespaces  []corev1.Namespace             `json:"namespaces"`
	Nodes       []corev1.Node                  `json:"nodes"`
	CSINodes    []storagev1.CSINode            `json:"csiNodes"`
	Classes     []storagev1.StorageClass       `json:"classes"`
	Volumes     []corev1.PersistentVolume      `json:"volumes"`
	Claims      []corev1.PersistentVolumeClaim `json:"claims"`
	Budgets     []policyv1.PodDisruptionBudget `json:"budgets"`
	ReplicaSets []appsv1.ReplicaSet            `json:"replicaSets"`
	Services    []corev1.Service               `json:"services"`
	Placed      []corev1.Pod                   `json:"placed"`  // they have nodes
	Waiting     []corev1.Pod                   `json:"waiting"` // one is scheduled after the other
	// Free says that kube-scheduler's own choices stand, and that nobody asks for scores: of more than 100 nodes it compares a
	// share, and the best of these isn't the best of all (numFeasibleNodesToFind of pkg/scheduler/schedule_one.go).
	Free bool `json:"free"`
}

// objects are all that an API server would hold.
func (w *World) objects() (all []runtime.Object) {
	add := func(count int, at func(i int) runtime.Object) {
		for i := range count {
			all = append(all, at(i))
		}
	}
	add(len(w.Namespaces), func(i int) runtime.Object { return &w.Namespaces[i] })
	add(len(w.Nodes), func(i int) runtime.Object { return &w.Nodes[i] })
	add(len(w.CSINodes), func(i int) runtime.Object { return &w.CSINodes[i] })
	add(len(w.Classes), func(i int) runtime.Object { return &w.Classes[i] })
	add(len(w.Volumes), func(i int) runtime.Object { return &w.Volumes[i] })
	add(len(w.Claims), func(i int) runtime.Object { return &w.Claims[i] })
	add(len(w.Budgets), func(i int) runtime.Object { return &w.Budgets[i] })
	add(len(w.ReplicaSets), func(i int) runtime.Object { return &w.ReplicaSets[i] })
	add(len(w.Services), func(i int) runtime.Object { return &w.Services[i] })
	add(len(w.Placed), func(i int) runtime.Object { return &w.Placed[i] })
	add(len(w.Waiting), func(i int) runtime.Object { return &w.Waiting[i] })
	return all
}

// Answer is what becomes of the waiting pods of a world, in their order. A world that can't be judged has an error.
type Answer struct {
	Verdicts []Verdict `json:"verdicts"`
	Error    string    `json:"error"`
}

// Verdict is what becomes of a pod, which then runs where the verdict says; its victims are gone.
type Verdict struct {
	Gated    bool                        `json:"gated"`
	Feasible []string                    `json:"feasible"` // nodes, sorted; none in a free world, as of what follows
	Totals   map[string]int64            `json:"totals"`   // the scores of nodes, if there are two
	Scores   map[string]map[string]int64 `json:"scores"`   // by node and plugin, weighed
	Node     string                      `json:"node"`
	Found    int                         `json:"found"` // nodes that kube-scheduler has found feasible, and compared
	// A pod without a node has a message, and one that preempts others a node on which it will have their place.
	Message   string   `json:"message"`
	Nominated string   `json:"nominated"`
	Victims   []string `json:"victims"` // namespace/name, sorted
}
