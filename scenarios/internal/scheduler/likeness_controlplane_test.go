//go:build controlplane

package scheduler_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

// oneWorld is for who looks into a difference: `-world 914` compares that one.
var oneWorld = flag.Int("world", -1, "compare the world of this seed alone")

// TestPlacesAsKubeScheduler: pods of generated worlds fit on the nodes on which kube-scheduler's own code has them fit, the
// nodes have the same scores but for what all have alike, and a pod that fits nowhere waits for the reasons that
// kube-scheduler names, or takes the place of the same others. The simulated scheduler follows kube-scheduler's choice, so
// that the two differ by one decision at a time. With NODESIM_SOAK there are 12,000 pods.
//
// What may differ is a line of testdata/differences.tsv, with its reason; one that explains nothing any more fails there.
func TestPlacesAsKubeScheduler(t *testing.T) {
	judge, known := startJudge(t), readDifferences(t)
	worlds, soak := uint64(30), os.Getenv("NODESIM_SOAK") != ""
	if soak {
		worlds = 1000
	}
	pods, found, scored, nowhere, preempt, failures := 0, 0, 0, 0, 0, 0
	for seed := range worlds {
		if *oneWorld >= 0 && seed != uint64(*oneWorld) {
			continue
		}
		w := generate(seed)
		verdicts, err := judge.of(w)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s := simulate(t, w)
		for i := range verdicts {
			v, p := &verdicts[i], s.pod(&w.Waiting[i])
			switch pods++; {
			case len(v.Totals) > 0:
				found++
				scored++
			case v.Node != "":
				found++
			case v.Nominated != "":
				preempt++
			default:
				nowhere++
			}
			if kind, difference := s.compare(p, v); difference != "" && !known.explain(kind, w, &w.Waiting[i]) {
				if failures++; failures <= 3 {
					small := shrink(t, judge, w.after(i, verdicts), kind)
					t.Errorf("seed %d, pod %s: %s\nthe world, made small:\n%s", seed, p.Name, difference, small)
				} else {
					t.Errorf("seed %d, pod %s, %s: %s", seed, p.Name, kind, difference)
				}
			}
			if err := s.follow(p, v); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	t.Logf("%d pods: %d came to a node, %d of them to the best of several, %d to none, %d took the place of others; %d differ for no known reason, %d for a known one",
		pods, found, scored, nowhere, preempt, failures, known.explained())
	if *oneWorld < 0 && (scored < pods/3 || nowhere < pods/20 || preempt < pods/100) {
		t.Error("want some of each")
	}
	if soak && *oneWorld < 0 {
		known.unused(t)
	}
}

// after is the world as kube-scheduler's verdicts have made it when a pod's turn comes, and that pod alone waits.
func (w *world) after(i int, verdicts []verdict) *world {
	next, gone := *w, map[string]bool{}
	next.Placed, next.Waiting = nil, w.Waiting[i:i+1]
	for k := range verdicts[:i] {
		for _, victim := range verdicts[k].Victims {
			gone[victim] = true
		}
	}
	for k := range w.Placed {
		if p := w.Placed[k]; !gone[p.Namespace+"/"+p.Name] {
			next.Placed = append(next.Placed, p)
		}
	}
	for k := range verdicts[:i] {
		if p := w.Waiting[k]; verdicts[k].Node != "" && !gone[p.Namespace+"/"+p.Name] {
			p.Spec.NodeName = verdicts[k].Node
			next.Placed = append(next.Placed, p)
		}
	}
	return &next
}

func (w *world) String() string {
	out, err := json.Marshal(w)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(out), `"creationTimestamp":null,`, "")
}
