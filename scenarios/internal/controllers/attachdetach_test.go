package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const volumeKey = "shop/data-db-0"

// moving is a pod with a volume on one of two nodes.
type moving struct {
	*control
	was, will *cloud.Instance
	pod       *kube.Pod
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	c := newControl(t, "1.34")
	controllers.NewAttachDetach(c.Env)
	m := &moving{control: c, was: c.Cloud.Seed(c.group, "a"), will: c.Cloud.Seed(c.group, "a")}
	c.node(m.was.Name, "a")
	c.node(m.will.Name, "a")
	m.pod = c.pod(t, "db-0", m.was.Name, claim)
	return m
}

func claim(p *kube.Pod) { p.Claim = "data-db-0" }

// successor creates the pod again and binds it to the other node.
func (m *moving) successor(t *testing.T, name string) *kube.Pod {
	t.Helper()
	p := m.control.pod(t, name, "", claim, func(p *kube.Pod) { p.Phase = "Pending" })
	m.API.UpdatePod(p, func(p *kube.Pod) { p.NodeName = m.will.Name })
	return p
}

func withoutNames(lines []string) []string {
	for i, l := range lines {
		if before, after, ok := strings.Cut(l, `"pvc-`); ok {
			_, after, _ = strings.Cut(after, `"`)
			lines[i] = before + "V" + after
		}
	}
	return lines
}

func TestAVolumeFollowsItsPod(t *testing.T) {
	m := newMoving(t)
	m.to(t, time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.was.ID || len(m.said(0)) != 0 {
		t.Fatalf("on %q, events %v: want the seeded one in its place", m.Cloud.Volumes.On(volumeKey), m.said(0))
	}
	m.API.DeletePod(m.pod, 0)
	m.successor(t, "db-0")
	m.to(t, 3*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.will.ID {
		t.Errorf("on %q", m.Cloud.Volumes.On(volumeKey))
	}
	same(t, "events", withoutNames(m.said(0)), []string{
		"Warning FailedAttachVolume db-0: Multi-Attach error for volume V Volume is already exclusively attached to one node and can't be attached to another [attachdetach-controller]",
		"Normal SuccessfulAttachVolume db-0: AttachVolume.Attach succeeded for volume V  [attachdetach-controller]",
	})
	n := m.API.Node(m.will.Name)
	if len(n.Attached) != 1 || !strings.HasPrefix(n.Attached[0].Name, "kubernetes.io/csi/ebs.csi.aws.com^vol-0") {
		t.Errorf("volumesAttached %+v", n.Attached)
	}
	between(t, "the attachment", m.first(0, "SuccessfulAttachVolume"), 65*time.Second, 2*time.Minute)
}

func TestTwoPodsWantOneVolume(t *testing.T) {
	m := newMoving(t)
	m.to(t, time.Minute)
	second := m.successor(t, "db-1")
	m.to(t, 2*time.Minute)
	same(t, "events", withoutNames(m.said(0)), []string{
		"Warning FailedAttachVolume db-1: Multi-Attach error for volume V Volume is already used by pod(s) db-0 [attachdetach-controller]",
	})
	m.API.UpdatePod(m.pod, func(p *kube.Pod) { p.Phase = "Failed" }) // what has ended needs no volume
	m.to(t, 4*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.will.ID || second.Gone() {
		t.Errorf("on %q: want it with the second pod", m.Cloud.Volumes.On(volumeKey))
	}
}

// TestADeadNodesVolumeIsTakenByForce: six minutes after the pod's end, and only
// while the node isn't Ready.
func TestADeadNodesVolumeIsTakenByForce(t *testing.T) {
	m := newMoving(t)
	m.Cloud.Kill(m.was, true)
	m.to(t, time.Minute)
	m.API.DeletePod(m.pod, 0)
	m.successor(t, "db-0")
	m.to(t, 10*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.was.ID {
		t.Fatal("a volume is taken from a node that is called Ready")
	}
	m.post(m.API.Node(m.was.Name), "Unknown")
	m.to(t, 12*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.will.ID {
		t.Errorf("on %q: want it taken by force", m.Cloud.Volumes.On(volumeKey))
	}

	m = newMoving(t)
	m.Cloud.Kill(m.was, false)
	m.to(t, time.Minute)
	m.API.DeleteNode(m.API.Node(m.was.Name))
	m.to(t, 2*time.Minute)
	m.API.DeletePod(m.pod, 0)
	m.successor(t, "db-0")
	m.to(t, 10*time.Minute)
	between(t, "the attachment", m.first(0, "SuccessfulAttachVolume"), 8*time.Minute, 9*time.Minute+30*time.Second)
}

func TestANodeOutOfServiceLetsGo(t *testing.T) {
	m := newMoving(t)
	m.Cloud.Kill(m.was, true)
	m.API.DeletePod(m.pod, 0)
	m.successor(t, "db-0")
	m.to(t, time.Minute)
	n := m.API.Node(m.was.Name)
	m.API.UpdateNode(n, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: "node.kubernetes.io/out-of-service", Effect: "NoExecute"})
	})
	m.to(t, 3*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.will.ID {
		t.Errorf("on %q", m.Cloud.Volumes.On(volumeKey))
	}
}

func TestAStuckVolumeIsTriedAgain(t *testing.T) {
	m := newMoving(t)
	m.to(t, time.Minute)
	end := m.Cloud.Volumes.Stick(nil)
	m.API.DeletePod(m.pod, 0)
	m.successor(t, "db-0")
	m.to(t, 20*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.was.ID {
		t.Fatal("a stuck volume has moved")
	}
	end()
	m.to(t, 25*time.Minute)
	if m.Cloud.Volumes.On(volumeKey) != m.will.ID {
		t.Errorf("on %q: want it moved when nothing holds it", m.Cloud.Volumes.On(volumeKey))
	}
}

func TestAPodThatIsGoneBeforeItsVolumeCame(t *testing.T) {
	m := newMoving(t)
	m.to(t, time.Minute)
	m.API.DeletePod(m.pod, 0)
	p := m.successor(t, "db-0")
	m.to(t, 100*time.Second)
	m.API.DeletePod(p, 0)
	m.to(t, 10*time.Minute)
	if on := m.Cloud.Volumes.On(volumeKey); on != "" {
		t.Errorf("on %q: want it free", on)
	}
	for _, n := range m.API.Nodes() {
		if len(n.Attached) != 0 {
			t.Errorf("%s: volumesAttached %+v", n.Name, n.Attached)
		}
	}
}

// A pod whose machine is gone doesn't keep a volume from the next one.
func TestAVolumePassesOverAPodOnAMachineThatIsGone(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewAttachDetach(c.Env)
	will := c.Cloud.Seed(c.group, "a")
	c.node(will.Name, "a")
	for i, node := range []string{"gone", will.Name} {
		p := c.pod(t, []string{"db-0", "db-1"}[i], "", claim, func(p *kube.Pod) { p.Phase = "Pending" })
		c.API.UpdatePod(p, func(p *kube.Pod) { p.NodeName = node })
	}
	c.to(t, time.Minute)
	if c.Cloud.Volumes.On(volumeKey) != will.ID {
		t.Errorf("on %q, want %q", c.Cloud.Volumes.On(volumeKey), will.ID)
	}
}
