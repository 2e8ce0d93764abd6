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
	spec := rawjson.Get(ev.Object, "spec")
	f := facts{hostname: rawjson.Text(spec, "hostname"), subdomain: rawjson.Text(spec, "subdomain")}
	for _, list := range [...]string{"containers", "initContainers"} {
		for c := range rawjson.Elements(rawjson.Get(spec, list)) {
			if list == "initContainers" && rawjson.Text(c, "restartPolicy") != string(corev1.ContainerRestartPolicyAlways) {
				continue
			}
			for port := range rawjson.Elements(rawjson.Get(c, "ports")) {
				if rawjson.Get(port, "name") != nil {
					var one corev1.ContainerPort
					_ = json.Unmarshal(port, &one) // as the API server has it
					f.ports = append(f.ports, one)
				}
			}
		}
	}
	for v := range rawjson.Elements(rawjson.Get(spec, "volumes")) {
		if claim := rawjson.Text(v, "persistentVolumeClaim", "claimName"); claim != "" {
			f.claims = append(f.claims, claimOf{name: claim})
		} else if own := rawjson.Get(v, "ephemeral", "volumeClaimTemplate"); own != nil {
			one := claimOf{name: ev.Name + "-" + rawjson.Text(v, "name"), template: &corev1.PersistentVolumeClaimTemplate{}}
			_ = json.Unmarshal(own, one.template) // as the API server has it
			f.claims = append(f.claims, one)
		}
	}
	if f.hostname == "" && f.subdomain == "" && f.ports == nil && f.claims == nil {
		return nil
	}
	return &f
}
