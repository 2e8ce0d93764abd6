package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

// ownedPods are the pods of one controller, in the order of the tape.
type ownedPods struct {
	owner *metav1.OwnerReference
	pods  []*corev1.Pod
}

// infer makes up the objects of workloads that the tape doesn't have and whose pods it has: as many replicas as there
// are pods that aren't on their way out, with the template of the youngest.
func (t *taking) infer() error {
	var owners []*ownedPods
	byUID := map[types.UID]*ownedPods{}
	for _, raw := range t.objectsOf(pods) {
		pod := &corev1.Pod{}
		if err := json.Unmarshal(raw, pod); err != nil {
			return fmt.Errorf("pod %s: %w", rawjson.Text(raw, "metadata", "name"), err)
		}
		ref := metav1.GetControllerOf(pod)
		if ref == nil || t.workloads.OwnerOf(string(ref.UID)) != nil {
			continue
		}
		o := byUID[ref.UID]
		if o == nil {
			o = &ownedPods{owner: ref}
			byUID[ref.UID] = o
			owners = append(owners, o)
		}
		o.pods = append(o.pods, pod)
	}
	deployments := map[types.NamespacedName]*appsv1.Deployment{}
	for _, o := range owners {
		slices.SortStableFunc(o.pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	}
	// Of the ReplicaSets of a Deployment the one with the youngest pods is the newest.
	slices.SortStableFunc(owners, func(a, b *ownedPods) int { return a.born().Compare(b.born().Time) })
	for _, o := range owners {
		self := t.ownerOf(o, deployments)
		if self == nil {
			continue
		}
		if err := t.makeUp(self, o.born()); err != nil {
			return err
		}
	}
	for _, o := range owners {
		name, _ := o.deployment()
		if d := deployments[name]; d != nil {
			delete(deployments, name)
			if err := t.makeUp(d, o.born()); err != nil {
				return err
			}
		}
	}
	return nil
}

// born is when the first of the pods was created.
func (o *ownedPods) born() metav1.Time { return o.pods[0].CreationTimestamp }

// makeUp has a workload be there since it was born.
func (t *taking) makeUp(o runtime.Object, born metav1.Time) error {
	if err := kubedefaults.FillObject(o.GetObjectKind().GroupVersionKind(), o); err != nil {
		return err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	resource := strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind) + "s"
	return t.workloads.AddExisting(resource, raw, kube.InstantOf(born.Time))
}

// deployment is the name of the Deployment of a ReplicaSet's pods, where it has one: it is that of the ReplicaSet
// without the hash of its template.
func (o *ownedPods) deployment() (name types.NamespacedName, is bool) {
	last := o.pods[len(o.pods)-1]
	own, is := strings.CutSuffix(o.owner.Name, "-"+last.Labels[appsv1.DefaultDeploymentUniqueLabelKey])
	return types.NamespacedName{Namespace: last.Namespace, Name: own}, is && o.owner.Kind == string(controllers.ReplicaSet)
}

// ownerOf makes up the object of a controller, nil where it is of no kind that is kept. A ReplicaSet's Deployment has
// the template of its youngest pod.
func (t *taking) ownerOf(o *ownedPods, deployments map[types.NamespacedName]*appsv1.Deployment) runtime.Object {
	last := o.pods[len(o.pods)-1]
	w := controllers.Workload{Kind: controllers.WorkloadKind(o.owner.Kind), Namespace: last.Namespace, Name: o.owner.Name}
	for _, p := range o.pods {
		if w.Kind == controllers.Job && p.Status.Phase == corev1.PodSucceeded && slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) {
			w.Replicas++ // that is still to be counted
		}
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			w.Replicas++
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(p.Name, o.owner.Name+"-")); err == nil && w.Kind == controllers.StatefulSet {
			w.Replicas = max(w.Replicas, n+1)
		}
	}
	switch w.Kind {
	case controllers.ReplicaSet, controllers.StatefulSet, controllers.DaemonSet:
		if !strings.HasPrefix(o.owner.APIVersion, appsv1.GroupName+"/") {
			return nil
		}
	case controllers.Job:
		if w.Replicas == 0 || !strings.HasPrefix(o.owner.APIVersion, batchv1.GroupName+"/") {
			return nil // it is done, and would begin anew
		}
	default:
		return nil
	}
	self := objectOf(w)
	template := convert.PodTemplateToAPI(self)
	*template = templateOf(last)
	meta := self.(metav1.Object)
	meta.SetUID(o.owner.UID)
	begun(self)
	selector := metav1.LabelSelector{MatchLabels: template.Labels}
	switch s := self.(type) {
	case *appsv1.StatefulSet:
		s.Spec.Selector, s.Spec.VolumeClaimTemplates = &selector, claimsOf(last)
	case *appsv1.DaemonSet:
		s.Spec.Selector = &selector
	case *batchv1.Job:
		for _, label := range [...]string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
			template.Labels = withLabel(template.Labels, label, last.Labels[label])
		}
	case *appsv1.ReplicaSet:
		s.Spec.Selector = &selector
		name, is := o.deployment()
		if !is {
			break
		}
		d := deployments[name]
		if d == nil {
			d = t.madeDeployment(name, template)
			deployments[name] = d
		}
		partOf(d, s)
		hash := last.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		s.Labels = withLabel(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
		s.Spec.Template.Labels = s.Labels
		s.Spec.Selector = &metav1.LabelSelector{MatchLabels: s.Labels}
	}
	return self
}

// madeDeployment makes up the Deployment of a ReplicaSet's pods.
func (t *taking) madeDeployment(name types.NamespacedName, template *corev1.PodTemplateSpec) *appsv1.Deployment {
	chance := t.sim.env.Stream("workload", name.Namespace, name.Name)
	none := int32(0)
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: string(controllers.Deployment)},
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: types.UID(chance.UUID()), Labels: template.Labels},
		Spec:       appsv1.DeploymentSpec{Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: *template},
	}
	begun(d)
	d.Annotations[revisionAnnotation] = "0"
	return d
}

// partOf has a ReplicaSet be its Deployment's newest.
func partOf(d *appsv1.Deployment, s *appsv1.ReplicaSet) {
	yes := true
	s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: string(controllers.Deployment), Name: d.Name, UID: d.UID, Controller: &yes, BlockOwnerDeletion: &yes}}
	n, _ := strconv.Atoi(d.Annotations[revisionAnnotation])
	d.Annotations[revisionAnnotation] = strconv.Itoa(n + 1)
	s.Annotations = map[string]string{revisionAnnotation: strconv.Itoa(n + 1)}
	*d.Spec.Replicas += *s.Spec.Replicas
	d.Spec.Template = *s.Spec.Template.DeepCopy()
}

func withLabel(labels map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range labels {
		out[k] = v
	}
	return out
}

const revisionAnnotation = "deployment.kubernetes.io/revision"

// perPod are labels that controllers and the scheduler give pods, and no template has.
var perPod = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, "pod-template-generation",
	appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name", batchv1.JobCompletionIndexAnnotation,
}

// templateOf is the template of a pod: the pod without what its controller, admission and the scheduler have added.
func templateOf(p *corev1.Pod) corev1.PodTemplateSpec {
	p = p.DeepCopy()
	out := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations}, Spec: p.Spec}
	for _, label := range perPod {
		delete(out.Labels, label)
	}
	s := &out.Spec
	s.NodeName, s.Hostname, s.Subdomain = "", "", ""
	s.Tolerations = slices.DeleteFunc(s.Tolerations, func(o corev1.Toleration) bool {
		return strings.HasPrefix(o.Key, "node.kubernetes.io/") && o.Operator == corev1.TolerationOpExists
	})
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil && s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		pinned := slices.ContainsFunc(s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
			func(term corev1.NodeSelectorTerm) bool { return len(term.MatchFields) > 0 })
		if pinned { // by the DaemonSet's controller
			s.Affinity.NodeAffinity = nil
		}
	}
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool {
		return strings.HasPrefix(v.Name, "kube-api-access-") || v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == v.Name+"-"+p.Name
	})
	return out
}

// claimsOf are the templates of the claims that a StatefulSet's pod has by its name.
func claimsOf(p *corev1.Pod) (out []corev1.PersistentVolumeClaim) {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == v.Name+"-"+p.Name {
			out = append(out, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: v.Name}})
		}
	}
	return out
}
