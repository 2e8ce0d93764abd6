package tables

import "fmt"

// doc is the description of an API type's field, in the words of Kubernetes 1.36.
func doc(of documented, field string) string {
	if description, ok := reworded[fmt.Sprintf("%T.%s", of, field)]; ok {
		return description
	}
	return of.SwaggerDoc()[field]
}

// reworded holds the descriptions that Kubernetes 1.36 words otherwise than the k8s.io/api which this module requires,
// or whose types aren't in there any more, by Go type and JSON field.
var reworded = map[string]string{}
