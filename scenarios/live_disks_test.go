package scenarios_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// The volumes of a StatefulSet's pods are made once, and follow them from node to
// node: a pod runs where its node lists its volume, and one that its provider
// doesn't let go says so.
func TestLiveVolumes(t *testing.T) {
	w, wall := runLive(t, "volume-detach", scenarios.Setting{Name: "stuck", Value: "10m"})
	begin(t, w)
	if n := len(w.shelf.attachments); n != 3 {
		t.Errorf("%d volumes are attached at 0s, want 3", n)
	}
	for name, n := range w.nodes {
		if len(n.Status.VolumesInUse) != len(n.Status.VolumesAttached) {
			t.Errorf("%s at 0s: in use %v, attached %v", name, n.Status.VolumesInUse, n.Status.VolumesAttached)
		}
		want := []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", NodeID: n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:], TopologyKeys: []string{corev1.LabelTopologyZone}}}
		if csi := w.shelf.drivers[name]; csi == nil {
			t.Errorf("%s has no CSINode", name)
		} else if d := cmp.Diff(want, csi.Spec.Drivers); d != "" {
			t.Errorf("%s: drivers (-want +found):\n%s", name, d)
		}
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	if n := count(w.log, "provision data-db-"); n != 3 {
		t.Errorf("%d volumes were made, want one for each of three claims", n)
	}
	if n := count(w.log, "attached csi-"); n < 6 {
		t.Errorf("%d attachments, want three at 0s and three that follow", n)
	}
	if count(w.log, "not detached") == 0 {
		t.Error("no detachment failed, although the provider's did for ten minutes")
	}
	if count(w.log, "not attached") == 0 {
		t.Error("no attachment was refused, although the volume was elsewhere")
	}
	if n := count(w.log, "twice"); n > 0 {
		t.Errorf("%d attachments of a volume that another node has", n)
	}
	if n := count(w.log, "unattached"); n > 0 {
		t.Errorf("%d posts of pods that run without their volume", n)
	}
}

// What is created in the course of a live run isn't there at its beginning, and is known before. A pod without a controller is a Job.
func TestLaterObjects(t *testing.T) {
	w, _ := runTextLive(t, "surge", "budgets:\n", "- {name: late, namespace: shop, kind: Job, replicas: 1, createAt: 5m}\n- {name: fix, namespace: shop, kind: Pod}\nbudgets:\n")
	jobs := func(objects []runtime.Object) (n int) {
		for _, o := range objects {
			if o.GetObjectKind().GroupVersionKind().Kind == "Job" {
				n++
			}
		}
		return n
	}
	if now, later := jobs(w.p.Objects()), jobs(w.p.Later()); now != 1 || later != 1 || len(w.p.Later()) != 1 {
		t.Errorf("found %d Jobs at the beginning and %d later, want one each", now, later)
	}
}

// Volumes that are stuck may be those of one workload, in a simulation and in a live run.
func TestStuckVolumesOfAWorkload(t *testing.T) {
	const cache = "- {name: cache, namespace: shop, kind: StatefulSet, replicas: 1, volume: 1Gi}\nbudgets:\n"
	for workload, sticks := range map[string]bool{"db": true, "cache": false} {
		replace := []string{"default: 6m", "default: 30m", "budgets:\n", cache, "volumeStuck: {", "volumeStuck: {workload: " + workload + ", "}
		w, wall := runTextLive(t, "volume-detach", replace...)
		begin(t, w)
		play(t, w, wall, func() bool { return false })
		stuck := slices.ContainsFunc(w.log, func(line string) bool {
			return strings.Contains(line, "not detached ") && strings.Contains(line, " of data-db-")
		})
		if stuck != sticks {
			t.Errorf("live, volumes of %s stick: %t of db's", workload, stuck)
		}
		file := textOf(t, "volume-detach", replace...)
		refused := 0
		s, err := file.Simulate(func(ev timeline.Event) error {
			if strings.Contains(string(ev.Object), `"reason":"FailedAttachVolume"`) && strings.Contains(string(ev.Object), `"name":"db-`) {
				refused++
			}
			return nil
		})
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			t.Fatal(err)
		}
		if (refused > 0) != sticks {
			t.Errorf("volumes of %s: %d attachments of db's failed", workload, refused)
		}
	}
}

// A pod of a Deployment has a volume of its own, which goes with it.
func TestLiveVolumesOfDeployments(t *testing.T) {
	w, wall := runTextLive(t, "volume-detach", "kind: StatefulSet, ", "")
	begin(t, w)
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	made, gone := count(w.log, "provision db-"), count(w.log, "delete volume of db-")
	if made < 6 || gone != made-3 || len(w.shelf.volumes) != 3 {
		t.Errorf("%d volumes made, %d deleted, %d there: want those of three pods to stay", made, gone, len(w.shelf.volumes))
	}
	if n := count(w.log, "unattached"); n > 0 {
		t.Errorf("%d posts of pods that run without their volume", n)
	}
}

// A node that dies with a volume mounted keeps it until it is taken by force.
func TestLiveVolumeOfADeadNode(t *testing.T) {
	w, wall := runTextLive(t, "volume-detach",
		"roll: {strategy: eks-default}\n", "",
		"- {when: {nodes: draining, count: $(nodes), group: workers}, volumeStuck: {for: $(stuck)}}", "- {at: 1m, vanish: {nodes: 3}}\n- {at: 2m, volumeStuck: {for: $(stuck)}}",
		"settle: 2m", "settle: 20m")
	begin(t, w)
	play(t, w, wall, func() bool { return false })
	first := slices.IndexFunc(w.log, func(s string) bool { return strings.HasPrefix(s, "detached") })
	if first < 0 {
		t.Fatal("no volume was taken from a dead node")
	}
	if count(w.log, "not detached") > 0 {
		t.Error("a detachment by force failed")
	}
}

// Another process that takes over knows which volumes are where.
func TestLiveAdoptsVolumes(t *testing.T) {
	w, wall := runLive(t, "volume-detach")
	begin(t, w)
	play(t, w, wall, func() bool { return count(w.log, "attached") == 4 })
	w.goOn(t, "volume-detach")
	for _, a := range w.shelf.attachments {
		w.attachmentNews("ADDED", a)
	}
	for _, pv := range w.shelf.volumes {
		w.volumeNews("ADDED", pv)
	}
	for _, c := range w.shelf.claims {
		w.claimNews("ADDED", c)
	}
	w.settle()
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	if n := count(w.log, "provision"); n > 0 {
		t.Errorf("%d volumes were made anew", n)
	}
	if n := count(w.log, "attached"); n < 2 {
		t.Errorf("%d attachments, want those of the pods that were still to move", n)
	}
}

// The objects of a scenario with volumes have their class, each provider's disks
// their driver; without volumes there is none.
func TestLiveClasses(t *testing.T) {
	for _, one := range []struct{ provider, driver string }{
		{"eks", "ebs.csi.aws.com"}, {"gke", "pd.csi.storage.gke.io"}, {"aks", "disk.csi.azure.com"}, {"kops", "ebs.csi.aws.com"},
	} {
		w, _ := runTextLive(t, "volume-detach", "provider: eks", "provider: "+one.provider, "roll: {strategy: eks-default}\n", "",
			"count: $(nodes), group: workers", "count: 1")
		found := ""
		for _, o := range w.p.Objects() {
			if class, is := o.(*storagev1.StorageClass); is {
				found = class.Provisioner
			}
		}
		if found != one.driver {
			t.Errorf("%s: provisioner %q, want %q", one.provider, found, one.driver)
		}
	}
	w, _ := runLive(t, "surge")
	if slices.ContainsFunc(w.p.Objects(), func(o runtime.Object) bool { _, is := o.(*storagev1.StorageClass); return is }) {
		t.Error("surge has a StorageClass, and no volumes")
	}
}

// runTextLive has a shipped scenario run live in which texts are replaced.
func runTextLive(t *testing.T, name string, replace ...string) (*fakeControlPlane, *time.Time) {
	t.Helper()
	file := textOf(t, name, replace...)
	wall := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	w := newPlane(func() time.Time { return wall })
	var err error
	if w.p, err = file.SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10}); err != nil {
		t.Fatal(err)
	}
	return w, &wall
}

// textOf is a shipped scenario with parts of its text replaced.
func textOf(t *testing.T, name string, replace ...string) *scenarios.File {
	t.Helper()
	found, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := scenarios.Parse(name+".yaml", []byte(strings.NewReplacer(replace...).Replace(found.Document.Text())))
	if err != nil {
		t.Fatal(err)
	}
	file, err := document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Pods that name classes of their cluster have them, or need them no longer.
func TestLivePriorities(t *testing.T) {
	const gold = `- {name: gold, namespace: shop, replicas: 1, podSpec: {priorityClassName: gold, priority: 1000, preemptionPolicy: Never, overhead: {cpu: 50m}, ` +
		`containers: [{name: c, image: "registry.example/c:1", resources: {requests: {cpu: 100m}}}]}}` + "\nbudgets:\n"
	w, _ := runTextLive(t, "surge", "budgets:\n", gold)
	found := map[string]bool{}
	for _, o := range w.p.Objects() {
		switch o := o.(type) {
		case *schedulingv1.PriorityClass:
			found["class"] = true
			if o.Name != "gold" || o.Value != 1000 || o.PreemptionPolicy == nil || *o.PreemptionPolicy != corev1.PreemptNever {
				t.Errorf("found the class %+v", o)
			}
		case *appsv1.Deployment:
			if o.Name != "gold" {
				continue
			}
			found["pods"] = true
			s := o.Spec.Template.Spec
			if cpu := s.Containers[0].Resources.Requests.Cpu().String(); s.PriorityClassName != "gold" || s.Priority != nil || s.PreemptionPolicy != nil || s.Overhead != nil || cpu != "150m" {
				t.Errorf("found %+v, %s of CPU, want the class's name alone, and 150m", s, cpu)
			}
		}
	}
	if len(found) != 2 {
		t.Errorf("found %v, want a PriorityClass and its pods", found)
	}
}
