package localcluster

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd/api"
)

// extension is the name under which a kubeconfig says of its cluster what a client
// of that can't ask for. kubectl passes extensions on as they are (k8s.io/client-go,
// tools/clientcmd/api, type Cluster).
const extension = "nodesim.dev/control-plane"

// about holds what it says.
type about struct {
	Speed float64 `json:"speed"`
}

// extensions are those of a control plane of a speed.
func extensions(speed float64) (map[string]runtime.Object, error) {
	text, err := json.Marshal(about{speed})
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: speed %v: %w", speed, err)
	}
	return map[string]runtime.Object{extension: &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON}}, nil
}

// SpeedOf returns the speed of the control plane that a kubeconfig's cluster is, and
// false of one that Start hasn't started, whose speed is unknown.
func SpeedOf(cluster *api.Cluster) (speed float64, known bool) {
	if cluster == nil {
		return 0, false
	}
	raw, is := cluster.Extensions[extension].(*runtime.Unknown)
	if !is {
		return 0, false
	}
	var a about
	if json.Unmarshal(raw.Raw, &a) != nil || !(a.Speed >= slowest && a.Speed <= fastest) {
		return 0, false
	}
	return a.Speed, true
}
