package objects

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// facts are what Services and volumes ask of a pod and no actor does.
type facts struct {
	hostname, subdomain string
	ports               []corev1.ContainerPort // that have names
	claims              []claimOf
}

// claimOf is a claim that a pod names, with the template of one of its own.
type claimOf struct {
	name     string
	template *corev1.PersistentVolumeClaimTemplate
}

// factsOf reads them; nil where there are none.
func factsOf(ev *timeline.Event) *facts {
	var f facts
	for name, value := range rawjson.Members(rawjson.Get(ev.Object, "spec")) {
		switch string(name) {
		case "hostname":
			f.hostname, _ = rawjson.Unquote(value)
		case "subdomain":
			f.subdomain, _ = rawjson.Unquote(value)
		case "containers", "initContainers":
			for c := range rawjson.Elements(value) {
				f.readPorts(c, string(name) == "initContainers")
			}
		case "volumes":
			for v := range rawjson.Elements(value) {
				f.readClaim(ev.Name, v)
			}
		}
	}
	if f.hostname == "" && f.subdomain == "" && f.ports == nil && f.claims == nil {
		return nil
	}
	return &f
}

// readPorts reads the ports of a container. One that only begins a pod has none.
func (f *facts) readPorts(container []byte, first bool) {
	ports := rawjson.Get(container, "ports")
	if ports == nil || first && rawjson.Text(container, "restartPolicy") != string(corev1.ContainerRestartPolicyAlways) {
		return
	}
	for port := range rawjson.Elements(ports) {
		if rawjson.Get(port, "name") != nil {
			var one corev1.ContainerPort
			_ = json.Unmarshal(port, &one) // as the API server has it
			f.ports = append(f.ports, one)
		}
	}
}

// readClaim reads the claim of a volume, where it has one.
func (f *facts) readClaim(pod string, volume []byte) {
	if claim := rawjson.Text(volume, "persistentVolumeClaim", "claimName"); claim != "" {
		f.claims = append(f.claims, claimOf{name: claim})
	} else if own := rawjson.Get(volume, "ephemeral", "volumeClaimTemplate"); own != nil {
		one := claimOf{name: pod + "-" + rawjson.Text(volume, "name"), template: &corev1.PersistentVolumeClaimTemplate{}}
		_ = json.Unmarshal(own, one.template) // as the API server has it
		f.claims = append(f.claims, one)
	}
}
