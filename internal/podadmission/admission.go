// Package podadmission is what the admission plugins of kube-apiserver that are on by default make of a new pod: what it may have
// at most by the LimitRanges of its namespace, its service account, its priority, and how long it stays on a node that isn't ready;
// which StorageClass is the default; and what the quotas of a namespace charge for an object of any kind, as kube-controller-manager
// counts it too.
//
// In: a pod as a client or a controller wants it, and the objects that it names, or the quotas of a namespace and what is written or
// is there. Out: the pod as it is validated and stored, the quotas with what they have charged, or an error with the server's words.
// Of ResourceClaims quotas count the objects, not their devices.
package podadmission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster holds the objects that a pod names.
type Cluster interface {
	// Account returns a ServiceAccount, or nil.
	Account(namespace, name string) *corev1.ServiceAccount
	// Class returns a PriorityClass, or nil.
	Class(name string) *schedulingv1.PriorityClass
	// Classes returns all PriorityClasses.
	Classes() []*schedulingv1.PriorityClass
	// Ranges returns the LimitRanges of a namespace.
	Ranges(namespace string) []*corev1.LimitRange
}

// DefaultClass returns the PriorityClass of pods that name none, or nil: of those that are marked as default the least
// (getDefaultPriorityClass of plugin/pkg/admission/priority).
func DefaultClass(all []*schedulingv1.PriorityClass) (least *schedulingv1.PriorityClass) {
	for _, c := range all {
		if c.GlobalDefault && (least == nil || c.Value < least.Value) {
			least = c
		}
	}
	return least
}

// Admit completes a pod that is created. suffix ends the name of the volume with the account's token, which the server
// makes up: five letters or digits.
func Admit(pod *corev1.Pod, suffix string, c Cluster) error {
	name := pod.Name
	if name == "" {
		name = pod.GenerateName
	}
	forbidden := func(why error) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, why)
	}
	for _, r := range c.Ranges(pod.Namespace) {
		limit(pod, r)
	}
	if err := account(pod, suffix, c); err != nil {
		return forbidden(err)
	}
	if err := prioritize(&pod.Spec, c); err != nil {
		return forbidden(err)
	}
	Tolerate(&pod.Spec)
	return nil
}

// tokenPath is where a container has the token of its account.
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // G101: a path

// tokenVolume begins the name of the volume with it.
const tokenVolume = "kube-api-access-"

// account is plugin/pkg/admission/serviceaccount.
func account(pod *corev1.Pod, suffix string, c Cluster) error {
	spec := &pod.Spec
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		if spec.ServiceAccountName != "" {
			return fmt.Errorf("a mirror pod may not reference service accounts")
		}
		return nil
	}
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = "default"
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	of := c.Account(pod.Namespace, spec.ServiceAccountName)
	if of == nil {
		return fmt.Errorf("error looking up service account %s/%s: %w", pod.Namespace, spec.ServiceAccountName,
			apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, spec.ServiceAccountName))
	}
	if automounts(of, spec) {
		mount(spec, suffix)
	}
	if len(spec.ImagePullSecrets) == 0 {
		spec.ImagePullSecrets = slices.Clone(of.ImagePullSecrets)
	}
	return nil
}

func automounts(of *corev1.ServiceAccount, spec *corev1.PodSpec) bool {
	for _, says := range []*bool{spec.AutomountServiceAccountToken, of.AutomountServiceAccountToken} {
		if says != nil {
			return *says
		}
	}
	return true
}

// mount gives every container that has nothing there the token of the account.
func mount(spec *corev1.PodSpec, suffix string) {
	volume := tokenVolume + suffix
	has := false
	for _, v := range spec.Volumes {
		if has = strings.HasPrefix(v.Name, tokenVolume); has {
			volume = v.Name
			break
		}
	}
	needed := false
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == tokenPath }) {
				needed = true
				c.VolumeMounts = append(slices.Clip(c.VolumeMounts), corev1.VolumeMount{Name: volume, ReadOnly: true, MountPath: tokenPath})
			}
		}
	}
	if needed && !has {
		spec.Volumes = append(slices.Clip(spec.Volumes), corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Projected: tokenSource()}})
	}
}

// tokenSource is TokenVolumeSource of that plugin.
func tokenSource() *corev1.ProjectedVolumeSource {
	mode, expires := corev1.ProjectedVolumeSourceDefaultMode, int64(60*60+7) // WarnOnlyBoundTokenExpirationSeconds of pkg/serviceaccount
	return &corev1.ProjectedVolumeSource{
		DefaultMode: &mode,
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &expires}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}
}

// prioritize is plugin/pkg/admission/priority.
func prioritize(spec *corev1.PodSpec, c Cluster) error {
	preempt := corev1.PreemptLowerPriority
	var class *schedulingv1.PriorityClass
	if spec.PriorityClassName == "" {
		class = DefaultClass(c.Classes())
	} else if class = c.Class(spec.PriorityClassName); class == nil {
		return fmt.Errorf("no PriorityClass with name %v was found", spec.PriorityClassName)
	}
	priority, policy := int32(0), &preempt
	if class != nil {
		spec.PriorityClassName, priority, policy = class.Name, class.Value, class.PreemptionPolicy
	}
	if p := spec.Priority; p != nil && *p != priority {
		return fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *p, priority)
	}
	spec.Priority = &priority
	if policy == nil {
		return nil
	}
	if p := spec.PreemptionPolicy; p != nil && *p != *policy {
		return fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *p, *policy)
	}
	own := *policy
	spec.PreemptionPolicy = &own
	return nil
}

// Keep gives a changed pod the priority that it had, where the change says nothing of it.
func Keep(spec, was *corev1.PodSpec) {
	if spec.Priority == nil {
		spec.Priority = was.Priority
	}
	if spec.PreemptionPolicy == nil {
		spec.PreemptionPolicy = was.PreemptionPolicy
	}
}

// stay is how long a pod stays on a node that isn't ready (--default-not-ready-toleration-seconds).
const stay = 300

// Tolerate is plugin/pkg/admission/defaulttolerationseconds, which changed pods go through as well.
func Tolerate(spec *corev1.PodSpec) {
	own := slices.Clip(spec.Tolerations)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		said := slices.ContainsFunc(own, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !said {
			seconds := int64(stay)
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

// suffixes are the letters and digits of made-up names (k8s.io/apimachinery/pkg/util/rand).
const suffixes = "bcdfghjklmnpqrstvwxz2456789"

// Suffix makes five letters and digits of a number.
func Suffix(n uint64) string {
	var b [5]byte
	for i := range b {
		b[i] = suffixes[n%uint64(len(suffixes))]
		n /= uint64(len(suffixes))
	}
	return string(b[:])
}
