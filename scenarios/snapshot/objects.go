package snapshot

import (
	"encoding/json"
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
	Annotations       struct {
		DoNotDisrupt string `json:"karpenter.sh/do-not-disrupt"`
	} `json:"annotations"`
}

func (m *meta) key() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
}

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
		Phase corev1.PodPhase `json:"phase"`
	} `json:"status"`
}

// A keeper is an object that keeps pods: a Deployment, a ReplicaSet, a StatefulSet, a DaemonSet, a Job or a
// ReplicationController.
type keeper struct {
	meta `json:"metadata"`
	Spec struct {
		Replicas        *int32 `json:"replicas"`
		MinReadySeconds int32  `json:"minReadySeconds"`
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

// decode fills an object, and remembers the newest time in it.
func (r *Reading) decode(raw []byte, into any, m *meta) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return err
	}
	r.saw(m.CreationTimestamp.Time)
	return nil
}

func (r *Reading) saw(t time.Time) {
	if t.After(r.newest) {
		r.newest = t
	}
}

// groupOf is the API group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}
