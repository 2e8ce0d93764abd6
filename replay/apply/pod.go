package apply

import (
	corev1 "k8s.io/api/core/v1"
)

// scheduler names the scheduler of pods that the tape shows unbound: none, so
// that they go to the node that the tape says, when it says so.
const scheduler = "nodesim-replay"

// pod makes a pod's spec one that an API server takes: without what admission
// computes, and with the least of what a redacted tape lacks.
func (w *want) pod(spec, original object) {
	if _, mirror := part(part(w.main, "metadata"), "annotations")[corev1.MirrorPodAnnotationKey]; mirror {
		// A mirror pod may not name one (k8s.io/kubernetes, plugin/pkg/admission/serviceaccount).
		delete(spec, "serviceAccountName")
	}
	delete(spec, "serviceAccount") // the older name of the same
	if spec["automountServiceAccountToken"] == nil {
		spec["automountServiceAccountToken"] = false // else every container would get a volume
	}
	// The priority admission computes both, and refuses others than its own.
	delete(spec, "priority")
	delete(spec, "preemptionPolicy")
	if text(spec, "nodeName") == "" && text(spec, "schedulerName") != scheduler {
		spec["schedulerName"] = scheduler
		w.note("spec.schedulerName is %s, so that no scheduler binds what the tape binds", scheduler)
	}
	if list := spec["ephemeralContainers"]; !empty(list) {
		delete(spec, "ephemeralContainers")
		original["ephemeralContainers"] = list
		w.note("spec.ephemeralContainers are left out: a pod can't be made with them")
	}
	if empty(spec["containers"]) {
		spec["containers"] = []any{object{"name": redacted}}
		w.note("spec.containers is empty on the tape: one is made up")
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range elements(spec[list]) {
			if text(c, "image") == "" {
				c["image"] = redacted
				w.note("spec.%s[].image is not on the tape: %q replaces it", list, redacted)
			}
		}
	}
	for _, v := range elements(spec["volumes"]) {
		w.volume(v)
	}
	// Computed at creation and immutable from then on (pkg/registry/core/pod, podStatusStrategy).
	if status, ok := w.main["status"].(object); ok {
		delete(status, "qosClass")
	}
}

const redacted = "redacted"

// needed holds what a volume's source can't be without
// (k8s.io/kubernetes, pkg/apis/core/validation, validateVolumeSource).
var needed = map[string]object{
	"configMap":             {"name": redacted},
	"secret":                {"secretName": redacted},
	"hostPath":              {"path": "/" + redacted},
	"persistentVolumeClaim": {"claimName": redacted},
	"csi":                   {"driver": redacted + ".nodesim.dev"},
	"nfs":                   {"server": redacted, "path": "/" + redacted},
	"iscsi":                 {"targetPortal": redacted, "iqn": "iqn.2026-01.dev.nodesim:" + redacted, "lun": 0},
	"awsElasticBlockStore":  {"volumeID": redacted},
	"gcePersistentDisk":     {"pdName": redacted},
	"azureDisk":             {"diskName": redacted, "diskURI": redacted},
	"azureFile":             {"secretName": redacted, "shareName": redacted},
	"cephfs":                {"monitors": []any{redacted}},
	"rbd":                   {"monitors": []any{redacted}, "image": redacted},
	"cinder":                {"volumeID": redacted},
	"glusterfs":             {"endpoints": redacted, "path": redacted},
	"flexVolume":            {"driver": "nodesim.dev/" + redacted},
	"image":                 {"reference": redacted},
}

// volume fills in what a volume lacks.
func (w *want) volume(v object) {
	for kind, least := range needed {
		source, ok := v[kind].(object)
		for field, value := range least {
			if ok && empty(source[field]) {
				source[field] = value
				w.note("spec.volumes[].%s.%s is not on the tape: a made-up value replaces it", kind, field)
			}
		}
	}
	if len(v) == 1 {
		v["emptyDir"] = object{}
		w.note("spec.volumes[] has no source on the tape: an emptyDir replaces it")
	}
}

// podPatch returns what can be changed of a pod that is there: metadata, images,
// tolerations, and a few fields more (pkg/apis/core/validation,
// ValidatePodUpdate). It is a strategic merge patch, which finds containers by
// name and leaves alone what the server has added to them. The rest is dropped
// and noted.
func (w *want) podPatch(change, was object) object {
	patch := object{}
	if meta, ok := change["metadata"]; ok {
		patch["metadata"] = meta
	}
	changed, ok := change["spec"].(object)
	if !ok {
		return patch
	}
	spec, now := object{}, part(w.main, "spec")
	for name, v := range changed {
		switch name {
		case "containers", "initContainers":
			images := map[string]string{}
			for _, c := range elements(at(was, "spec", name)) {
				images[text(c, "name")] = text(c, "image")
			}
			var list []any
			for _, c := range elements(now[name]) {
				if image, ok := images[text(c, "name")]; ok && image != text(c, "image") {
					list = append(list, object{"name": c["name"], "image": c["image"]})
				}
			}
			if len(list) > 0 {
				spec[name] = list
			}
		case "tolerations", "activeDeadlineSeconds", "schedulingGates":
			spec[name] = v
		case "nodeName", "schedulerName": // bound by itself; see Applier.bind
		default:
			w.note("spec.%s can't be changed on a pod that is there", name)
		}
	}
	if len(spec) > 0 {
		patch["spec"] = spec
	}
	return patch
}
