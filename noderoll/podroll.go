package noderoll

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// PodScope makes a roll one of pods: the pods it names are the instances, and
// the images and resources of their containers are the configuration, which is
// exchanged while they live on. The zero PodScope makes none.
//
// The actor that changes the pods doesn't matter: what happens is derived from what every
// API server and kubelet write. A changed spec.containers[*].image begins an
// update, and a container of another id that runs, in a pod that is Ready, ends
// it; likewise spec.containers[*].resources, the conditions PodResizePending and
// PodResizeInProgress, and status.containerStatuses[*].resources.
type PodScope struct {
	// Namespace of the pods; "" means all.
	Namespace string
	// Selector must match the labels of a pod. A pod that it has matched once
	// stays an instance: an update may change labels.
	Selector labels.Selector
	// StateAnnotation is the key of the annotation in which an updater may note
	// what pods don't say: by which ids their containers were started. "" stands
	// for DefaultStateAnnotation.
	StateAnnotation string
}

// On reports whether the scope names pods.
func (s *PodScope) On() bool { return s.Selector != nil }

// Has reports whether a pod is an instance by its namespace and labels.
func (s *PodScope) Has(p *Pod) bool {
	return s.On() && (s.Namespace == "" || s.Namespace == p.Namespace) && s.Selector.Matches(labels.Set(p.Labels))
}

func (s *PodScope) stateKey() string { return cmp.Or(s.StateAnnotation, DefaultStateAnnotation) }

// String is the scope for people: "shop/app=web".
func (s *PodScope) String() string {
	switch {
	case !s.On():
		return ""
	case s.Namespace == "":
		return s.Selector.String()
	}
	return s.Namespace + "/" + s.Selector.String()
}

// PodPhase is where a pod is in a roll of pods.
type PodPhase string

// The phases. Of several that fit, the first in this order holds.
const (
	// PodTerminating is a pod on its way out.
	PodTerminating PodPhase = "Terminating"
	// PodFailed is a pod whose update is stuck; the reason says on what. It is
	// over when the update is done after all, or another one begins.
	PodFailed PodPhase = "Failed"
	// PodUpdating is a pod whose containers are not all of the images that its
	// spec asks for, running, and Ready.
	PodUpdating PodPhase = "Updating"
	// PodResizing is a pod that doesn't run with the resources yet that its spec
	// asks for. The reason says what it waits for: Deferred, Infeasible, Error.
	PodResizing PodPhase = "Resizing"
	// PodStarting is a pod that is not Ready and has not been, as this UID.
	PodStarting PodPhase = "Starting"
	// PodNotReady is a pod that was Ready, and isn't.
	PodNotReady PodPhase = "NotReady"
	// PodRestarted is a Ready pod of which a container was replaced since its
	// update by something that was no update.
	PodRestarted PodPhase = "Restarted"
	// PodReady is a Ready pod: updated, or waiting on the old configuration.
	PodReady PodPhase = "Ready"
)

// PodView is one pod's observed state in a roll of pods.
type PodView struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Node      string   `json:"node,omitempty"`
	OnTarget  bool     `json:"onTarget"` // is to be, by its spec, what the roll moves towards
	Ready     bool     `json:"ready"`    // condition Ready is True
	Phase     PodPhase `json:"phase"`
	// Reason is why the pod is Failed or NotReady, or what a resize waits for; as
	// found in the cluster.
	Reason string `json:"reason,omitempty"`
	// Configuration is the display form of what the pod's spec asks for: the image, or
	// the resources, of the containers that the roll is about.
	Configuration string `json:"configuration,omitempty"`
	// Restarts counts the containers that were replaced since the latest update
	// by something that was no update.
	Restarts int    `json:"restarts,omitempty"`
	UID      string `json:"uid,omitempty"`
}

// settled reports whether the pod is as its spec asks.
func (v *PodView) settled() bool { return v.Phase == PodReady || v.Phase == PodRestarted }

// PodCounts are the aggregates of a roll of pods.
type PodCounts struct {
	Total     int `json:"total"`
	OffTarget int `json:"offTarget"`
	Updated   int `json:"updated"` // on target, Ready or Restarted
	Waiting   int `json:"waiting"` // the same, not on target

	Starting    int `json:"starting,omitempty"`
	Updating    int `json:"updating,omitempty"`
	Resizing    int `json:"resizing,omitempty"`
	Failed      int `json:"failed,omitempty"`
	NotReady    int `json:"notReady,omitempty"`
	Restarted   int `json:"restarted,omitempty"` // counted in Updated or Waiting as well
	Terminating int `json:"terminating,omitempty"`
}

// Add counts one view in (by 1) or out (by -1).
func (c *PodCounts) Add(v *PodView, by int) {
	c.Total += by
	if !v.OnTarget {
		c.OffTarget += by
	}
	switch v.Phase {
	case PodReady, PodRestarted:
		if v.Phase == PodRestarted {
			c.Restarted += by
		}
		if v.OnTarget {
			c.Updated += by
		} else {
			c.Waiting += by
		}
	case PodStarting:
		c.Starting += by
	case PodUpdating:
		c.Updating += by
	case PodResizing:
		c.Resizing += by
	case PodFailed:
		c.Failed += by
	case PodNotReady:
		c.NotReady += by
	case PodTerminating:
		c.Terminating += by
	}
}

// Complete reports whether nothing is left to update: there are pods, and all
// are on target and Ready.
func (c *PodCounts) Complete() bool { return c.Total > 0 && c.Updated == c.Total }

func byPod(a, b *PodView) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// DefaultStateAnnotation is the key under which updaters of agentbox pools note
// an update. Its value has the shape of updateState.
const DefaultStateAnnotation = "agentbox.navix.sh/inplace-update-state"

// updateState is the part of the annotation that pods don't say themselves. It
// is here, and not in a package of updaters, since this package imports
// nothing of ours: what it knows of an update it knows as any reader of pods.
type updateState struct {
	Phase        string            `json:"phase"`
	TargetImages map[string]string `json:"targetImages"`
	Updated      time.Time         `json:"updateTimestamp"`
	// Last are the containers that an update in flight replaces.
	Last map[string]struct {
		ContainerID string `json:"containerID"`
	} `json:"lastContainerStatuses"`
	// Stable are the containers that an update has left running.
	Stable map[string]struct {
		ContainerID string `json:"containerID"`
	} `json:"stableContainerStatuses"`
	TargetPhase string `json:"targetPodPhase"`
}

// stateOf reads the annotation. What can't be read says nothing: what pods show
// themselves is enough for a roll.
func stateOf(raw string) (s updateState) {
	if raw == "" || json.Unmarshal([]byte(raw), &s) != nil {
		return updateState{}
	}
	return s
}

// inFlight reports whether an update is going on.
func (s *updateState) inFlight() bool { return s.Phase == "starting" || s.Phase == "stopping" }

// watched reports whether containers are to be the ones that the update has left:
// only a pod that was put to use is watched for restarts.
func (s *updateState) watched() bool { return s.Phase == "completed" && s.TargetPhase == "running" }

// sameImage compares two references as people mean them: the registry, the
// repository "library" and the tag that a runtime adds to short names don't
// count (github.com/distribution/reference, ParseNormalizedNamed).
func sameImage(a, b string) bool { return a == b || familiar(a) == familiar(b) }

func familiar(image string) string {
	for _, host := range []string{"docker.io/", "index.docker.io/"} {
		if rest, ok := strings.CutPrefix(image, host); ok {
			image = strings.TrimPrefix(rest, "library/")
			break
		}
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if !strings.ContainsAny(name, ":@") {
		image += ":latest"
	}
	return image
}

// runsOther reports whether a status plainly names another image than the spec.
// A runtime may name an image by its digest, or by another of its tags, so a
// difference alone proves nothing: see podRec.firstLook.
func (c *Container) runsOther() bool {
	if c.StatusImage == "" || strings.HasPrefix(c.StatusImage, "sha256:") || strings.Contains(c.Image+c.StatusImage, "@") {
		return false
	}
	return !sameImage(c.Image, c.StatusImage)
}

// stuck are the reasons for waiting with which an update goes nowhere by itself.
// ErrImagePull is not among them: the first pull that fails is tried again, and
// only then the kubelet says ImagePullBackOff (pkg/kubelet/images/types.go and
// pkg/kubelet/kuberuntime of Kubernetes).
var stuck = map[string]bool{
	"ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CrashLoopBackOff": true, "CreateContainerConfigError": true, "CreateContainerError": true,
}
