// Package strategic applies the patches of other people's recordings: strategic merge
// patches of the kinds that a roll is made of, and merge patches (RFC 7386) of all others.
//
// What goes in: an object and a patch, as JSON. What comes out: the patched object, as
// compact JSON. It never guesses: a patch with directives for a kind whose lists it doesn't
// know is an error.
package strategic

import (
	"fmt"
	"regexp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// kinds are those whose types say how their lists merge.
var kinds = map[string]any{
	"v1/Node":                       corev1.Node{},
	"v1/Pod":                        corev1.Pod{},
	"v1/Event":                      corev1.Event{},
	"policy/v1/PodDisruptionBudget": policyv1.PodDisruptionBudget{},
	"apps/v1/Deployment":            appsv1.Deployment{},
	"apps/v1/ReplicaSet":            appsv1.ReplicaSet{},
	"apps/v1/StatefulSet":           appsv1.StatefulSet{},
	"apps/v1/DaemonSet":             appsv1.DaemonSet{},
}

// directive finds a directive of a strategic merge patch (k8s.io/apimachinery, pkg/util/strategicpatch/patch.go) in compact
// JSON. Other members and values may begin with a dollar too: $(VAR) in an argument of a container.
var directive = regexp.MustCompile(`"(\$patch|\$retainKeys|\$setElementOrder/[^"]*|\$deleteFromPrimitiveList/[^"]*)":`)

// Apply returns the object with the patch on it. Both must be JSON objects.
func Apply(object, patch []byte) ([]byte, error) {
	compact, err := rawjson.Compact(nil, patch)
	if err != nil || !rawjson.IsObject(compact) {
		return nil, fmt.Errorf("patch: found %.40q, want a JSON object", patch)
	}
	kind := rawjson.Text(object, "apiVersion") + "/" + rawjson.Text(object, "kind")
	schema, known := kinds[kind]
	if !known {
		if directive.Match(compact) {
			return nil, fmt.Errorf("patch of a %s: found directives of a strategic merge patch, want none for this kind", kind)
		}
		return rawjson.Apply(nil, object, compact), nil
	}
	out, err := strategicpatch.StrategicMergePatch(object, compact, schema)
	if err != nil {
		return nil, fmt.Errorf("patch of a %s: %w", kind, err)
	}
	return rawjson.Compact(nil, out)
}
