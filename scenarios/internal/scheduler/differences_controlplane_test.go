//go:build controlplane

package scheduler_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// differences are what is known to differ from kube-scheduler: lines of testdata/differences.tsv.
type differences []*differs

// differs is one: a kind of difference, in pods that have something, and why. It counts what it has explained.
type differs struct {
	kind, has, why string
	times          int
}

// traits are what a pod may have that explains a difference, by its name in the file.
var traits = map[string]func(*world, *corev1.Pod) bool{
	"missing-claim": func(w *world, p *corev1.Pod) bool {
		return anyClaim(w, p, func(c *corev1.PersistentVolumeClaim) bool { return c == nil })
	},
	"claim-of-one-pod": func(w *world, p *corev1.Pod) bool {
		return anyClaim(w, p, func(c *corev1.PersistentVolumeClaim) bool {
			return c != nil && slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod)
		})
	},
	"image-volume": func(_ *world, p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil })
	},
	"service-alone": func(w *world, p *corev1.Pod) bool {
		return len(p.OwnerReferences) == 0 && slices.ContainsFunc(w.Services, func(s corev1.Service) bool {
			return s.Namespace == p.Namespace && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels))
		})
	},
}

// anyClaim reports whether a claim of a pod is like that; nil is one that isn't there.
func anyClaim(w *world, p *corev1.Pod, is func(*corev1.PersistentVolumeClaim) bool) bool {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		i := slices.IndexFunc(w.Claims, func(c corev1.PersistentVolumeClaim) bool {
			return c.Namespace == p.Namespace && c.Name == v.PersistentVolumeClaim.ClaimName
		})
		if i < 0 && is(nil) || i >= 0 && is(&w.Claims[i]) {
			return true
		}
	}
	return false
}

func readDifferences(t *testing.T) (all differences) {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || traits[fields[1]] == nil || fields[2] == "" {
			t.Fatalf("testdata/differences.tsv: line %d: found %q, want a kind, a trait of pods and a reason, with tabs between", i+1, line)
		}
		all = append(all, &differs{kind: fields[0], has: fields[1], why: fields[2]})
	}
	return all
}

// explain reports whether a difference of a kind is known of such a pod.
func (all differences) explain(kind string, w *world, p *corev1.Pod) bool {
	for _, d := range all {
		if d.kind == kind && traits[d.has](w, p) {
			d.times++
			return true
		}
	}
	return false
}

func (all differences) explained() (times int) {
	for _, d := range all {
		times += d.times
	}
	return times
}

// unused fails for what differs no longer.
func (all differences) unused(t *testing.T) {
	t.Helper()
	for _, d := range all {
		if d.times == 0 {
			t.Errorf("testdata/differences.tsv: %s of pods with %s don't differ any more (%s): take the line out", d.kind, d.has, d.why)
		}
	}
}
