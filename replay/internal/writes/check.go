package writes

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/podadmission"
	"github.com/nodesim/nodesim/replay/internal/crd"
)

// The rules of kinds that tapes hold, as far as apimachinery and the types
// carry them. What each kind's own validation says beyond is not said here: see
// the package comment.

// check finds what is wrong with a new object.
func (k kind) check(u unstructured.Unstructured) field.ErrorList {
	switch k.kinded() {
	case "nodes":
		return typedRule(u, newNode)
	case "pods":
		return typedRule(u, newPod)
	case "poddisruptionbudgets.policy":
		return typedRule(u, budget)
	case "configmaps", "secrets":
		return keys(u)
	case "resourcequotas":
		return typedRule(u, podadmission.CheckQuota)
	case "limitranges":
		return typedRule(u, podadmission.CheckRange)
	case "deployments.apps":
		return typedRule(u, deployment)
	case "replicasets.apps":
		return typedRule(u, replicaSet)
	case "statefulsets.apps":
		return typedRule(u, statefulSet)
	case "daemonsets.apps":
		return typedRule(u, daemonSet)
	case "jobs.batch":
		return typedRule(u, job)
	case "cronjobs.batch":
		return typedRule(u, cronJob)
	case "customresourcedefinitions.apiextensions.k8s.io":
		return typedRule(u, crd.Check)
	}
	return k.version.Validate(u.Object)
}

// checkUpdate finds what is wrong with a change.
func (k kind) checkUpdate(u unstructured.Unstructured, live *object) field.ErrorList {
	if k.isDefinition() {
		return changeRule(u, live, crd.CheckUpdate)
	}
	switch k.kinded() {
	case "nodes":
		return changeRule(u, live, func(obj, old *corev1.Node) field.ErrorList { return append(newNode(obj), changedNode(obj, old)...) })
	case "pods":
		return changeRule(u, live, func(obj, old *corev1.Pod) field.ErrorList { return append(newPod(obj), changedPod(obj, old)...) })
	}
	errs := k.check(u)
	switch k.kinded() {
	case "statefulsets.apps":
		return append(errs, changeRule(u, live, changedStatefulSet)...)
	case "jobs.batch":
		return append(errs, changeRule(u, live, changedJob)...)
	case "deployments.apps", "replicasets.apps", "daemonsets.apps":
		return append(errs, sameSelector(u, live)...)
	case "configmaps", "secrets":
		return append(errs, sameData(u, live)...)
	case "resourcequotas":
		return append(errs, changeRule(u, live, podadmission.CheckQuotaUpdate)...)
	case "priorityclasses.scheduling.k8s.io":
		return append(errs, sameClass(u, live)...)
	}
	return errs
}

// kinded is the resource and group of a kind whose rules are known; of another version than v1 it is "".
func (k kind) kinded() string {
	if k.Version != "v1" {
		return ""
	}
	return k.groupResource().String()
}

// sameSelector says that a workload's selector can't change
// (kubernetes/pkg/registry/apps, ValidateUpdate of the strategies).
func sameSelector(u unstructured.Unstructured, live *object) field.ErrorList {
	is, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "selector")
	was, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "selector")
	return apivalidation.ValidateImmutableField(is, was, field.NewPath("spec", "selector"))
}

// neededKeys are those that a Secret of a type has.
var neededKeys = map[corev1.SecretType][]string{
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
}

// keys says what is wrong with those of a ConfigMap or Secret (ValidateConfigMap and ValidateSecret of
// kubernetes/pkg/apis/core/validation/validation.go).
func keys(u unstructured.Unstructured) (errs field.ErrorList) {
	there := map[string]bool{}
	for _, name := range []string{"data", "binaryData"} {
		data, _ := u.Object[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			there[key] = true
			for _, wrong := range validation.IsConfigMapKey(key) {
				errs = append(errs, field.Invalid(field.NewPath(name).Key(key), key, wrong))
			}
		}
	}
	kind, _ := u.Object["type"].(string)
	for _, key := range neededKeys[corev1.SecretType(kind)] {
		if !there[key] {
			errs = append(errs, field.Required(field.NewPath("data").Key(key), ""))
		}
	}
	name, password := corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey
	if kind == string(corev1.SecretTypeBasicAuth) && !there[name] && !there[password] {
		errs = append(errs, field.Required(field.NewPath("data").Key(name), ""), field.Required(field.NewPath("data").Key(password), ""))
	}
	return errs
}

// sameData says that an immutable ConfigMap or Secret can't change (ValidateConfigMapUpdate and ValidateSecretUpdate of
// kubernetes/pkg/apis/core/validation/validation.go).
func sameData(u unstructured.Unstructured, live *object) (errs field.ErrorList) {
	if live.Object["immutable"] != true {
		return nil
	}
	for _, name := range []string{"immutable", "data", "binaryData"} {
		if !equality.Semantic.DeepEqual(u.Object[name], live.Object[name]) {
			errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
		}
	}
	return errs
}

// sameClass says what of a PriorityClass can't change (ValidatePriorityClassUpdate of
// kubernetes/pkg/apis/scheduling/validation/validation.go).
func sameClass(u unstructured.Unstructured, live *object) (errs field.ErrorList) {
	if !equality.Semantic.DeepEqual(u.Object["value"], live.Object["value"]) {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(u.Object["preemptionPolicy"], live.Object["preemptionPolicy"], field.NewPath("preemptionPolicy"))...)
}

// checkStatus finds what is wrong with a change of a status.
func (k kind) checkStatus(u unstructured.Unstructured, live *object) field.ErrorList {
	switch {
	case k.isNode():
		return changeRule(u, live, changedNode)
	case k.isPod():
		return changeRule(u, live, changedPodStatus)
	case k.isBudget() && k.Version == "v1":
		return typedRule(u, budgetStatus)
	}
	return k.version.ValidateStatus(u.Object)
}

// ruled are the types of kinds with rules.
type ruled interface {
	corev1.Node | corev1.Pod | policyv1.PodDisruptionBudget | appsv1.Deployment | appsv1.ReplicaSet | appsv1.StatefulSet | appsv1.DaemonSet | batchv1.Job | batchv1.CronJob | corev1.ResourceQuota | corev1.LimitRange | apiextensionsv1.CustomResourceDefinition
}

func typedRule[T ruled](u unstructured.Unstructured, rule func(*T) field.ErrorList) field.ErrorList {
	obj, err := as[T](u)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return rule(obj)
}

func changeRule[T ruled](u unstructured.Unstructured, live *object, rule func(obj, old *T) field.ErrorList) field.ErrorList {
	old, err := as[T](live.Unstructured)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return typedRule(u, func(obj *T) field.ErrorList { return rule(obj, old) })
}
