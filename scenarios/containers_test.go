package scenarios_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const withProxy = `
metadata: {name: meshed, title: pods with a proxy that crashes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
timeLimit: 1h
settle: 5m
workloads:
- name: web
  namespace: shop
  replicas: 6
  requests: {cpu: 100m, memory: 128Mi}
  stop: 5s
  containers:
  - {name: proxy, image: "registry.example/mesh:2.1.0", imageSize: 20Mi, requests: {cpu: 50m, memory: 64Mi}, stop: 20s, ready: 1s}
  - {name: logs, requests: {cpu: 10m, memory: 16Mi}, stop: never}
budgets: [{workload: web, maxUnavailable: 1}]
faults:
- {at: 10s, crash: {workload: web, container: proxy, pods: 2}}
- {at: 20s, imagePull: {image: "registry.example/logs:1.0.0", for: 6m}}
- {at: 30s, scale: {workload: web, replicas: 8}}
roll: {strategy: eks-default, at: 1m}
`

// asTable is what kubectl get asks for.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// columns are those of kubectl get pods -n shop at the end of a tape: READY, STATUS and RESTARTS, and how often each is.
func columns(t *testing.T, tape []byte) map[string]int {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tape.yaml")
	if err := os.WriteFile(name, tape, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(replay.File(name), replay.WithSpeed(replay.Max))
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close(); _ = p.Close() }() // it was only read
	if err := p.Seek(context.Background(), replay.End); err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.RESTConfig().Host+"/api/v1/namespaces/shop/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", asTable)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	count := map[string]int{}
	for _, row := range table.Rows {
		restarts, _, _ := strings.Cut(fmt.Sprint(row.Cells[3]), " ")
		count[fmt.Sprint(row.Cells[1], " ", row.Cells[2], " ", restarts)]++
	}
	return count
}

// Pods have the containers of the file: in their specs with their requests, in their statuses, Events and restarts, and in
// kubectl's columns; what happens to them obeys the invariants.
func TestPodsWithSeveralContainers(t *testing.T) {
	f := file(t, withProxy)
	tape := simulated(t, f)
	for _, v := range violations(t, tape) {
		t.Errorf("inspect --check: %s", v)
	}
	var pod corev1.Pod
	told, restarts, pulls := map[string]bool{}, 0, 0
	for _, ev := range events(t, f) {
		switch text := string(ev.Object) + string(ev.Patch); {
		case ev.Resource == "pods" && ev.Namespace == "shop" && ev.Type == timeline.Added && pod.Spec.Containers == nil:
			if err := json.Unmarshal(ev.Object, &pod); err != nil {
				t.Fatal(err)
			}
		case ev.Resource == "pods" && strings.Contains(text, `"restartCount":1`) && ev.At < time.Minute:
			restarts++
		case ev.Resource == "events":
			for _, one := range []string{"web", "proxy", "logs"} {
				for _, reason := range []string{"Started", "Killing"} {
					if strings.Contains(text, `"spec.containers{`+one+`}"`) && strings.Contains(text, `"reason":"`+reason+`"`) {
						told[one+" "+reason] = true
					}
				}
			}
			if strings.Contains(text, "ImagePullBackOff") && strings.Contains(text, "spec.containers{logs}") {
				pulls++
			}
		}
	}
	var specs []string
	for i, c := range pod.Spec.Containers {
		is := pod.Status.ContainerStatuses[i]
		specs = append(specs, fmt.Sprintf("%s %s %s %s; %s %t", c.Name, c.Image, c.Resources.Requests.Cpu(), c.Resources.Requests.Memory(), is.Name, is.Ready))
	}
	if diff := cmp.Diff([]string{
		"web registry.example/web:1.0.0 100m 128Mi; web true",
		"proxy registry.example/mesh:2.1.0 50m 64Mi; proxy true",
		"logs registry.example/logs:1.0.0 10m 16Mi; logs true",
	}, specs); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if len(told) != 6 || restarts == 0 || pulls == 0 {
		t.Errorf("found Events of %v, %d restarts and %d pulls held back; want two of each container, and some", told, restarts, pulls)
	}
	if diff := cmp.Diff(map[string]int{"3/3 Running 0": 8}, columns(t, tape)); diff != "" {
		t.Errorf("kubectl get pods (-want +got):\n%s", diff)
	}
}

// A container that crashes, and one whose image is missing, leave the others running.
func TestKubectlCountsContainers(t *testing.T) {
	base, _, _ := strings.Cut(withProxy, "faults:")
	for name, c := range map[string]struct {
		faults string
		want   map[string]int
	}{
		"crashed once": {"- {at: 10s, crash: {workload: web, container: proxy, pods: 2}}", map[string]int{"3/3 Running 0": 4, "3/3 Running 1": 2}},
		"spoilt": {
			"- {at: 10s, crash: {image: \"registry.example/mesh:2.1.0\"}}\n- {at: 20s, scale: {workload: web, replicas: 7}}",
			map[string]int{"3/3 Running 0": 6, "2/3 CrashLoopBackOff 5": 1},
		},
		"missing": {
			"- {at: 10s, imagePull: {image: \"registry.example/logs:1.0.0\", on: all}}\nroll: {strategy: eks-default}",
			map[string]int{"3/3 Running 0": 5, "2/3 ImagePullBackOff 0": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := columns(t, simulated(t, file(t, base+"faults:\n"+c.faults+"\n")))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("kubectl get pods (-want +got):\n%s", diff)
			}
		})
	}
}

// Pods that run when the tape begins have init containers that have completed, or go on as sidecars, and are moved like others.
func TestPodsThatRunHaveInitContainers(t *testing.T) {
	for provider, strategy := range map[string]string{"eks": "eks-default", "aks": "aks-reimage", "kops": "kops"} {
		tape := simulated(t, file(t, strings.NewReplacer("PROVIDER", provider, "STRATEGY", strategy).Replace(`
metadata: {name: inits, title: pods with init containers}
cluster: {provider: PROVIDER}
groups: [{name: workers, nodes: 3}]
timeLimit: 3h
workloads:
- name: web
  namespace: shop
  replicas: 3
  podSpec: {initContainers: [{name: migrate, image: "registry.example/migrate:1"}], containers: [{name: web, image: "registry.example/web:1"}]}
- name: mesh
  namespace: shop
  replicas: 3
  podSpec: {initContainers: [{name: proxy, image: "registry.example/proxy:1", restartPolicy: Always}], containers: [{name: web, image: "registry.example/web:1"}]}
- name: agent
  namespace: shop
  kind: DaemonSet
  podSpec: {initContainers: [{name: install, image: "registry.example/install:1"}], containers: [{name: agent, image: "registry.example/agent:1"}]}
roll: {strategy: STRATEGY, at: 1m}
`)))
		for _, v := range violations(t, tape) {
			t.Errorf("%s: inspect --check: %s", provider, v)
		}
		moved := bytes.Count(tape, []byte(`"type":"DELETED","resource":"pods","namespace":"shop"`))
		if ready := columns(t, tape); ready["1/1 Running 0"] < 6 || ready["2/2 Running 0"] != 3 || len(ready) != 2 || moved < 6 {
			t.Errorf("%s: kubectl get pods: %v, after %d were deleted; want all to run after each has moved", provider, ready, moved)
		}
	}
}
