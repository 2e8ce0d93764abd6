package snapshot

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A meta is the part of an object's metadata that is looked at.
type meta struct {
	Name              string                  `json:"name"`
	Namespace         string                  `json:"namespace"`
	UID               types.UID               `json:"uid"`
	CreationTimestamp metav1.Time             `json:"creationTimestamp"`
	DeletionTimestamp *metav1.Time            `json:"deletionTimestamp"`
	Labels            map[string]string       `json:"labels"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
	Finalizers        []string                `json:"finalizers"`
	Annotations       struct {
		DoNotDisrupt string `json:"karpenter.sh/do-not-disrupt"`
	} `json:"annotations"`
}

func (m *meta) key() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
}

// called is the object as errors name it.
func (m *meta) called() string { return strings.TrimPrefix(m.key().String(), "/") }

// controller is the reference to the object's controller, or nil.
func (m *meta) controller() *metav1.OwnerReference {
	for i := range m.OwnerReferences {
		if is := m.OwnerReferences[i].Controller; is != nil && *is {
			return &m.OwnerReferences[i]
		}
	}
	return nil
}

// A podSpec is the part of a pod's spec that is looked at.
type podSpec struct {
	NodeName                      string                            `json:"nodeName"`
	NodeSelector                  map[string]string                 `json:"nodeSelector"`
	Affinity                      *corev1.Affinity                  `json:"affinity"`
	TopologySpreadConstraints     []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	Tolerations                   []corev1.Toleration               `json:"tolerations"`
	Priority                      *int32                            `json:"priority"`
	PriorityClassName             string                            `json:"priorityClassName"`
	PreemptionPolicy              *corev1.PreemptionPolicy          `json:"preemptionPolicy"`
	SchedulerName                 string                            `json:"schedulerName"`
	SchedulingGates               []corev1.PodSchedulingGate        `json:"schedulingGates"`
	TerminationGracePeriodSeconds *int64                            `json:"terminationGracePeriodSeconds"`
	HostNetwork                   bool                              `json:"hostNetwork"`
	Overhead                      corev1.ResourceList               `json:"overhead"`
	RuntimeClassName              *string                           `json:"runtimeClassName"`
	ReadinessGates                []corev1.PodReadinessGate         `json:"readinessGates"`
	Resources                     *corev1.ResourceRequirements      `json:"resources"`
	InitContainers                []container                       `json:"initContainers"`
	Containers                    []container                       `json:"containers"`
	Volumes                       []volume                          `json:"volumes"`
	ResourceClaims                []struct{}                        `json:"resourceClaims"`
}

type container struct {
	Name          string                         `json:"name"`
	Image         string                         `json:"image"`
	Resources     corev1.ResourceRequirements    `json:"resources"`
	ResizePolicy  []corev1.ContainerResizePolicy `json:"resizePolicy"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Ports         []corev1.ContainerPort         `json:"ports"`
	Lifecycle     struct {
		PreStop *struct{} `json:"preStop"` // not what it does
	} `json:"lifecycle"`
}

// A volume of a pod; of most kinds it only says that it is there.
type volume struct {
	Name  string `json:"name"`
	Claim *struct {
		Name string `json:"claimName"`
	} `json:"persistentVolumeClaim"`
	Ephemeral *struct{} `json:"ephemeral"`
}

type podObject struct {
	meta   `json:"metadata"`
	Spec   podSpec `json:"spec"`
	Status struct {
		Phase      corev1.PodPhase       `json:"phase"`
		Conditions []corev1.PodCondition `json:"conditions"`
	} `json:"status"`
}

// A keeper is an object that keeps pods: a Deployment, a ReplicaSet, a StatefulSet, a DaemonSet, a Job or a
// ReplicationController.
type keeper struct {
	meta `json:"metadata"`
	Spec struct {
		Replicas        *int32 `json:"replicas"`
		MinReadySeconds int32  `json:"minReadySeconds"`
		PodManagement   string `json:"podManagementPolicy"`
		Template        *struct {
			meta `json:"metadata"`
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	kind string
}

type budget struct {
	meta `json:"metadata"`
	Spec struct {
		MinAvailable   *intstr.IntOrString   `json:"minAvailable"`
		MaxUnavailable *intstr.IntOrString   `json:"maxUnavailable"`
		Selector       *metav1.LabelSelector `json:"selector"`
		Unhealthy      string                `json:"unhealthyPodEvictionPolicy"`
	} `json:"spec"`
	beta bool // policy/v1beta1
}

type claim struct {
	meta `json:"metadata"`
	Spec struct {
		VolumeName  string                              `json:"volumeName"`
		AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes"`
		Resources   corev1.VolumeResourceRequirements   `json:"resources"`
	} `json:"spec"`
}

type persistentVolume struct {
	meta `json:"metadata"`
	Spec struct {
		Capacity     corev1.ResourceList                 `json:"capacity"`
		AccessModes  []corev1.PersistentVolumeAccessMode `json:"accessModes"`
		NodeAffinity *corev1.VolumeNodeAffinity          `json:"nodeAffinity"`
	} `json:"spec"`
}

// decode fills an object, remembers the newest time in it, and reports whether it has a name.
func (r *Reading) decode(kind string, raw []byte, into any, m *meta) (named bool, err error) {
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("%s %s: %w", kind, m.called(), err)
	}
	return r.named(kind, m.Name, m.CreationTimestamp.Time), nil
}

// named reports whether an object has a name. Those without one are counted.
func (r *Reading) named(kind, name string, created time.Time) bool {
	if name == "" {
		r.nameless[kind]++
		return false
	}
	r.saw(created)
	return true
}

// saw remembers a time that is in an object.
func (r *Reading) saw(t time.Time) {
	if !r.Now.IsZero() && t.After(r.Now.Add(clocksApart)) {
		r.future++
		if t.After(r.newestAhead) {
			r.newestAhead = t
		}
		return
	}
	if t.After(r.newest) {
		r.newest = t
	}
}

// clocksApart is by how much the clocks of a cluster and of who reads it may differ.
const clocksApart = time.Hour

// moment is when the objects were read, as far as they tell: the newest time in them. One that is ahead of the reader's clock counts
// only where all are, as in a cluster whose time is simulated.
func (r *Reading) moment() time.Time {
	if r.newest.IsZero() {
		return r.newestAhead
	}
	return r.newest
}

// groupOf is the API group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}
