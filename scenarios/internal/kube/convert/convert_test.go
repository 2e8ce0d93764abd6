package convert_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	corev1 "k8s.io/api/core/v1"
)

var (
	start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	// even is a clock at which scenario and wall are the same.
	even = convert.Clock{Scenario: kube.InstantOf(start), Wall: start, Speed: 1}
)

func node() *kube.Node {
	at := kube.InstantOf(start)
	n := &kube.Node{
		ProviderID: "aws:///eu-central-1a/i-0f1e2d3c4b5a69788", Unschedulable: true, KubeletPort: 10250,
		Taints:     []kube.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "c", Effect: "NoExecute", Added: at}},
		Conditions: kube.Conditions{{Type: "Extra", Status: "True", Reason: "R", Message: "m", Heartbeat: at, Transition: at}, {Type: "Ready", Status: "True", Heartbeat: at, Transition: at}},
		Addresses:  []kube.Address{{Type: "InternalIP", Address: "10.0.0.4"}, {Type: "Hostname", Address: "n"}},
		Capacity:   kube.PairsOf(kube.Pair{Key: "cpu", Value: "2"}, kube.Pair{Key: "memory", Value: "7850Mi"}),
		Info:       kube.NodeInfo{MachineID: "m", BootID: "b", KubeletVersion: "v1.34.2", OS: "linux", Architecture: "amd64"},
		Images:     []kube.Image{{Names: []string{"a@sha256:1", "a:1"}, Bytes: 12}},
		Handlers:   []kube.Handler{{Name: "runc", RecursiveReadOnlyMounts: true}},
		Attached:   []kube.Attached{{Name: "kubernetes.io/csi/x", Device: "/dev/x"}},
		InUse:      []string{"kubernetes.io/csi/x"},
	}
	n.Name, n.UID, n.Labels = "n", "u-1", kube.PairsOf(kube.Pair{Key: "k", Value: "v"})
	n.Finalizers = []string{"karpenter.sh/termination"}
	return n
}

func pod() *kube.Pod {
	at := kube.InstantOf(start)
	p := &kube.Pod{
		NodeName: "n", Claim: "data-web-0", Phase: "Running", HostIP: "10.0.0.4", PodIP: "100.64.0.7", Started: at, ObservedGeneration: 2,
		Template: &kube.Template{
			GenerateName: "web-", GraceSeconds: 45, SchedulerName: "default-scheduler", RestartPolicy: "Always", Volume: "data", Priority: 7,
			Containers:  []kube.ContainerSpec{{Name: "web", Image: "web:1", CPU: 250, Memory: 64 << 20, MemoryLimit: 128 << 20, CPUPolicy: "NotRequired", MemoryPolicy: "RestartContainer"}},
			Tolerations: []kube.Toleration{{Key: "k", Operator: "Exists", Effect: "NoExecute", Seconds: 300}, {Operator: "Exists", Seconds: -1}},
			Spread:      []kube.Spread{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "ScheduleAnyway", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}},
		},
		Conditions: kube.Conditions{{Type: "Ready", Status: "True", Transition: at, Observed: 2}, {Type: "PodScheduled", Status: "True", Transition: at}},
		Containers: []kube.Container{{
			Name: "web", Image: "web:1", ImageID: "web@sha256:1", ContainerID: "containerd://1", Ready: true, Started: true, Restarts: 1,
			State: kube.ContainerState{Kind: "running", StartedAt: at},
			Given: &kube.Given{Allocated: kube.Resources{CPU: 250, Memory: 64 << 20}, Actual: kube.Resources{CPU: 250, Memory: 64 << 20, MemoryLimit: 128 << 20}},
			Last:  kube.ContainerState{Kind: "terminated", Reason: "Error", ExitCode: 137, StartedAt: at, Finished: at, ContainerID: "containerd://0"},
		}},
	}
	p.Namespace, p.Name, p.UID, p.Generation = "shop", "web-0", "u-2", 2
	p.Owner = &kube.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "u-3"}
	return p
}

// What goes out and comes in again is the same, to the last field of the tape.
func TestRoundTrip(t *testing.T) {
	n := node()
	out, err := convert.NodeToAPI(n, even)
	if err != nil {
		t.Fatal(err)
	}
	var back kube.Node
	convert.NodeOfEarlierRun(&back, out, even)
	if d := cmp.Diff(string(n.JSON()), string(back.JSON())); d != "" {
		t.Errorf("node (-out +in):\n%s", d)
	}
	p := pod()
	pod, err := convert.PodToAPI(p, even)
	if err != nil {
		t.Fatal(err)
	}
	var ts convert.Templates
	var again kube.Pod
	ts.PodFromAPI(&again, pod, even, true)
	if d := cmp.Diff(string(p.JSON()), string(again.JSON())); d != "" {
		t.Errorf("pod (-out +in):\n%s", d)
	}
}

// A generic ephemeral volume has a claim of the pod's name.
func TestEphemeralVolume(t *testing.T) {
	in, err := convert.PodToAPI(pod(), even)
	if err != nil {
		t.Fatal(err)
	}
	in.Spec.Volumes = []corev1.Volume{
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
	}
	var ts convert.Templates
	var p kube.Pod
	ts.PodFromAPI(&p, in, even, true)
	if p.Claim != "web-0-data" || p.Template.Volume != "data" {
		t.Errorf("claim %q of volume %q, want web-0-data of data", p.Claim, p.Template.Volume)
	}
}

// A kubelet knows its own status better than the server, unless it isn't heard.
func TestWhoOwnsWhat(t *testing.T) {
	n := node()
	in, err := convert.NodeToAPI(n, even)
	if err != nil {
		t.Fatal(err)
	}
	in.Status.Conditions[1].Status, in.Status.Conditions[1].Reason = "Unknown", "NodeStatusUnknown"
	in.Status.Conditions[0].Status = "False"
	in.Spec.Unschedulable, in.Labels["k"] = false, "w"
	convert.NodeFromAPI(n, in, even, false)
	if !n.Ready() || n.Conditions[0].Status != "False" || n.Unschedulable || n.Labels.Get("k") != "w" {
		t.Errorf("heard: %s", n.JSON())
	}
	convert.NodeFromAPI(n, in, even, true)
	if n.Ready() {
		t.Error("silent, and still Ready")
	}

	p := pod()
	was, err := convert.PodToAPI(p, even)
	if err != nil {
		t.Fatal(err)
	}
	was.Status.Phase, was.Status.Conditions[0].Status = "Pending", "False"
	was.Labels = map[string]string{"new": "label"}
	var ts convert.Templates
	ts.PodFromAPI(p, was, even, false)
	if p.Phase != "Running" || !p.Ready() || p.Labels.Get("new") != "label" {
		t.Errorf("%s", p.JSON())
	}
	ts.PodFromAPI(p, was, even, true)
	if p.Phase != "Pending" || p.Ready() {
		t.Errorf("whole: %s", p.JSON())
	}
}

// Pods of one owner that are alike share their template.
func TestTemplatesAreShared(t *testing.T) {
	in, err := convert.PodToAPI(pod(), even)
	if err != nil {
		t.Fatal(err)
	}
	var ts convert.Templates
	var one, two, three kube.Pod
	ts.PodFromAPI(&one, in, even, true)
	ts.PodFromAPI(&two, in, even, true)
	in.Spec.Containers[0].Image = "web:2"
	ts.PodFromAPI(&three, in, even, true)
	if one.Template != two.Template || one.Template == three.Template {
		t.Error("templates are shared wrongly")
	}
}

// Pods with the same labels share these, whosever they are; a hundred sets of them, one
// after the other, stay apart.
func TestLabelsAreShared(t *testing.T) {
	in, err := convert.PodToAPI(pod(), even)
	if err != nil {
		t.Fatal(err)
	}
	var ts convert.Templates
	for i := range 100 {
		in.Labels = map[string]string{"app": "web", "set": strconv.Itoa(i)}
		var one, two kube.Pod
		ts.PodFromAPI(&one, in, even, true)
		in.OwnerReferences = nil
		ts.PodFromAPI(&two, in, even, true)
		want := kube.PairsOf(kube.Pair{Key: "app", Value: "web"}, kube.Pair{Key: "set", Value: strconv.Itoa(i)})
		if diff := cmp.Diff(want, one.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if &one.Labels[0] != &two.Labels[0] {
			t.Errorf("labels of set %d are held twice", i)
		}
	}
}

// A moment is the same wall time there and back, at any speed.
func TestClock(t *testing.T) {
	for _, c := range []convert.Clock{
		{Scenario: kube.InstantOf(start), Wall: start.Add(time.Hour), Speed: 20},
		{Scenario: kube.InstantOf(start), Wall: start.Add(time.Hour), Speed: 0.5},
		{Scenario: kube.InstantOf(start), Wall: start},
	} {
		for _, d := range []time.Duration{-90 * time.Minute, 0, time.Second, 17 * time.Minute} {
			i := c.Scenario.Add(d)
			if back := c.Instant(c.Time(i)); back.Sub(i).Abs() > time.Microsecond {
				t.Errorf("speed %v: %s behind the beginning comes back %s off", c.Speed, d, back.Sub(i))
			}
		}
		if got := c.Time(c.Scenario.Add(-time.Hour)); !got.Equal(c.Wall.Add(-time.Hour)) {
			t.Errorf("an hour before is %s, want an hour before at any speed", got)
		}
	}
}

// What a real controller keeps isn't written: it would be written back, for ever.
func TestAnnotationsOfRealControllersAreLeftToThem(t *testing.T) {
	n := node()
	n.Annotations = kube.PairsOf(kube.Pair{Key: "node.alpha.kubernetes.io/ttl", Value: "0"}, kube.Pair{Key: "volumes.kubernetes.io/controller-managed-attach-detach", Value: "true"})
	out, err := convert.NodeToAPI(n, even)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}, out.Annotations); d != "" {
		t.Errorf("annotations (-want +got):\n%s", d)
	}
}

// What a kubelet posts is what is in the text of the pod.
func TestPostedPod(t *testing.T) {
	at := kube.InstantOf(start)
	later := convert.Clock{Scenario: at, Wall: start.Add(time.Hour), Speed: 20}
	waiting, bare, leaving := pod(), pod(), pod()
	waiting.Containers[0].State = kube.ContainerState{Kind: "waiting", Reason: "ContainerCreating", Message: "m"}
	waiting.Containers[0].ContainerID, waiting.Containers[0].Given, waiting.Started = "", nil, 0
	bare.Containers, bare.Conditions, bare.HostIP, bare.PodIP = nil, nil, "", ""
	bare.Reason, bare.Message, bare.Nominated = "r", "m", "other"
	leaving.Deleting = at.Add(90*time.Second + 300*time.Millisecond)
	leaving.Conditions[0].Transition = at.Add(61700 * time.Millisecond)
	for name, p := range map[string]*kube.Pod{"running": pod(), "waiting": waiting, "bare": bare, "leaving": leaving} {
		for _, clock := range []convert.Clock{even, later} {
			want, err := convert.PodToAPI(p, clock)
			if err != nil {
				t.Fatal(err)
			}
			got := convert.PostedPod(p, clock)
			want.Status.QOSClass = "" // the API server's
			if d := cmp.Diff(want.Status, got.Status); d != "" {
				t.Errorf("%s: status (-text +posted):\n%s", name, d)
			}
			if got.UID != want.UID || got.Name != want.Name || got.Namespace != want.Namespace || got.Spec.NodeName != want.Spec.NodeName ||
				!got.DeletionTimestamp.Equal(want.DeletionTimestamp) {
				t.Errorf("%s: posted for %+v on %s: want %+v on %s", name, got.ObjectMeta, got.Spec.NodeName, want.ObjectMeta, want.Spec.NodeName)
			}
		}
	}
}
