package scenarios_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
)

// TestInvariantsHoldOfPodSpecs rolls small clusters of each provider, whose pods have whatever a PodSpec may say, as those of clusters that were
// read do: 100 by default, thousands with NODESIM_SOAK.
func TestInvariantsHoldOfPodSpecs(t *testing.T) {
	for n := range 50 * *seeds {
		text := randomSpecs(rand.New(rand.NewPCG(uint64(n), 7)))
		d, err := scenarios.Parse("random.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f, err := d.Resolve(nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i, v := range violations(t, simulated(t, f)) {
			if i == 0 {
				t.Errorf("%s", text)
			}
			if i < 5 {
				t.Errorf("%d: %s", n, v)
			}
		}
	}
}

type object = map[string]any

// randomSpecs is a scenario file: one to four workloads with pods of any kind, and budgets, on a few nodes that are rolled.
func randomSpecs(r *rand.Rand) []byte {
	likely := func(percent int) bool { return r.IntN(100) < percent }
	strategies := [][2]string{
		{"eks", "eks-default"}, {"eks", "eks-minimal"}, {"eks", "plain"}, {"karpenter", "karpenter-drift"}, {"gke", "gke-surge"}, {"gke", "gke-blue-green"},
		{"aks", "aks-reimage"}, {"capi", "capi"}, {"kops", "kops"},
	}
	of := strategies[r.IntN(len(strategies))]
	var workloads, budgets []object
	for i := range 1 + r.IntN(4) {
		kind := []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod"}[r.IntN(6)]
		name := fmt.Sprint("w", i)
		alike := object{"matchLabels": object{"app": name}}
		main := object{"name": "main", "image": "registry.example/" + name + ":1"}
		if likely(50) {
			main["resources"] = object{"requests": object{"cpu": "100m", "memory": "64Mi"}, "limits": object{"memory": "128Mi"}}
		}
		if likely(20) {
			main["ports"] = []object{{"containerPort": 80, "hostPort": 8000 + i}}
		}
		containers := []object{main}
		if likely(40) {
			containers = append(containers, object{"name": "beside", "image": "registry.example/beside:1"})
		}
		spec := object{"containers": containers}
		if likely(60) {
			var init []object
			for k := range 1 + r.IntN(3) {
				one := object{"name": fmt.Sprint("init-", k), "image": "registry.example/init:1"}
				if likely(40) {
					one["restartPolicy"] = "Always"
				}
				init = append(init, one)
			}
			spec["initContainers"] = init
		}
		switch {
		case kind == "Job":
			spec["restartPolicy"] = []string{"Never", "OnFailure"}[r.IntN(2)]
		case kind == "Pod" && likely(50):
			spec["restartPolicy"] = []string{"Never", "OnFailure", "Always"}[r.IntN(3)]
		}
		if likely(20) {
			spec["readinessGates"] = []object{{"conditionType": "example.com/attached"}}
		}
		if likely(20) {
			spec["hostNetwork"] = true
		}
		if likely(30) {
			spec["terminationGracePeriodSeconds"] = []int{0, 5, 120}[r.IntN(3)]
		}
		if likely(30) {
			spec["topologySpreadConstraints"] = []object{{
				"maxSkew": 1, "topologyKey": []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}[r.IntN(2)],
				"whenUnsatisfiable": []string{"DoNotSchedule", "ScheduleAnyway"}[r.IntN(2)], "labelSelector": alike,
			}}
		}
		if likely(20) {
			spec["affinity"] = object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{{"topologyKey": "kubernetes.io/hostname", "labelSelector": alike}}}}
		}
		if likely(10) {
			spec["schedulingGates"] = []object{{"name": "example.com/gate"}}
		}
		if likely(20) {
			spec["priorityClassName"] = "system-cluster-critical"
		}
		w := object{"name": name, "namespace": "shop", "kind": kind, "podSpec": spec}
		if kind != "DaemonSet" {
			w["replicas"] = 1 + r.IntN(4)
		}
		if kind == "StatefulSet" && likely(30) {
			w["volume"] = "1Gi"
		}
		if likely(10) {
			w["finalizer"], w["finalizerHeld"] = "example.com/hold", "2m"
		}
		workloads = append(workloads, w)
		if likely(40) {
			budgets = append(budgets, object{"name": name, "namespace": "shop", "selector": alike, []string{"minAvailable", "maxUnavailable"}[r.IntN(2)]: []any{0, 1, "50%"}[r.IntN(3)]})
		}
	}
	f := object{
		"apiVersion": "nodesim.dev/v1", "kind": "Scenario", "metadata": object{"name": "random", "title": "pods of any kind"}, "timeLimit": "3h",
		"cluster": object{"provider": of[0], "kubernetesVersion": []string{"1.30", "1.33", "1.36"}[r.IntN(3)], "events": likely(50)},
		"groups":  []object{{"name": "workers", "nodes": 1 + r.IntN(4)}}, "workloads": workloads, "roll": object{"strategy": of[1], "at": "1m"},
	}
	if budgets != nil {
		f["budgets"] = budgets
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // of maps, texts and numbers
	}
	return text
}
