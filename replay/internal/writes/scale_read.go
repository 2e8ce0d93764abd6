package writes

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Scale returns what a get of a workload's subresource scale shows, as JSON.
func Scale(workload []byte) ([]byte, error) {
	var u unstructured.Unstructured
	if err := utiljson.Unmarshal(workload, &u.Object); err != nil {
		return nil, err
	}
	scale, err := scaleOf(u)
	if err != nil {
		return nil, err
	}
	return json.Marshal(scale.Object)
}
