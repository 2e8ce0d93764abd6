package scenarios_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

// newPod is a pod of a client, changed by a merge patch.
func (c *cluster) newPod(name, patch string) {
	c.t.Helper()
	c.put(timeline.Added, "pods", []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`+name+`","namespace":"default","uid":"u-`+name+`","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},`+
		`"spec":{"containers":[{"name":"c","image":"busybox:1","resources":{}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","enableServiceLinks":true,"priority":0,"preemptionPolicy":"PreemptLowerPriority"},`+
		`"status":{"phase":"Pending","qosClass":"BestEffort"}}`), patch)
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.t.Helper()
	return decode[corev1.Pod](c.t, c.get("pods", "default", name))
}

// A pod that a client creates is scheduled, runs, and ends as its command says.
func TestAClientsPodRunsToCompletion(t *testing.T) {
	c := act(t, shop)
	c.newPod("once", `{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox:1","command":["sh","-c","sleep 20; exit 4"]}],"initContainers":[{"name":"i","image":"busybox:1","command":["true"]}]}}`)
	c.newPod("said", `{"metadata":{"annotations":{"nodesim.dev/exit":"30s"}},"spec":{"restartPolicy":"OnFailure"}}`)
	c.newPod("stays", `{}`)
	c.pass(2 * time.Minute)
	c.check()
	once, said, stays := c.pod("once"), c.pod("said"), c.pod("stays")
	if s := once.Status; s.Phase != corev1.PodFailed || s.ContainerStatuses[0].State.Terminated.ExitCode != 4 || s.InitContainerStatuses[0].State.Terminated.Reason != "Completed" || once.Spec.NodeName == "" || len(once.Spec.InitContainers) != 1 {
		t.Errorf("%+v", s)
	}
	if s := said.Status; s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].State.Terminated.FinishedAt.Sub(s.ContainerStatuses[0].State.Terminated.StartedAt.Time) != 30*time.Second {
		t.Errorf("%+v", s)
	}
	if s := stays.Status; s.Phase != corev1.PodRunning || !s.ContainerStatuses[0].Ready {
		t.Errorf("%+v", s)
	}
}

// A Job's pods end after five seconds, and so does the Job.
func TestAClientsJobCompletes(t *testing.T) {
	c := act(t, shop)
	c.put(timeline.Added, "jobs", []byte(strings.ReplaceAll(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"sum","namespace":"default","uid":"u-sum","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},
"spec":{"parallelism":1,"completions":1,"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"perl:5","command":["perl","-e","1"]}]}}}}`, "\n", "")))
	c.pass(2 * time.Minute)
	c.check()
	done := c.pods(func(p *corev1.Pod) bool { return strings.HasPrefix(p.Name, "sum-") })
	if len(done) != 1 || done[0].Status.Phase != corev1.PodSucceeded || done[0].Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		t.Errorf("%+v", done)
	}
}
