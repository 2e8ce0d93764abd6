package tables

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func controllerRevisions() *Printer {
	return typed(func(r *appsv1.ControllerRevision, now time.Time) []any {
		return []any{r.Name, controllerOf(r), r.Revision, since(r.CreationTimestamp, now)}
	},
		nameColumn(),
		text("Controller", "Controller of the object"),
		text("Revision", doc(appsv1.ControllerRevision{}, "revision")),
		ageColumn(),
	)
}

// controllerOf is the object's controller, as in daemonset.apps/proxy. The API server refuses the whole table for an
// owner whose version doesn't parse; here that is an unknown controller.
func controllerOf(object metav1.Object) string {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return none
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return unknown
	}
	kind := version.WithKind(owner.Kind).GroupKind()
	if kind.Empty() {
		return owner.Name
	}
	return strings.ToLower(kind.String()) + "/" + owner.Name
}
