package kubedefaults

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// codes are what no line of the table can say, by the name that the table has
// for it.
var codes = map[string]func(map[string]any){
	"imagePullPolicy": imagePullPolicy, "requests": requests, "hostPort": hostPort, "targetPort": targetPort, "emptyDir": emptyDir,
	"limits": limits, "namespaceName": namespaceName,
}

// imagePullPolicy is SetDefaults_Container.
func imagePullPolicy(container map[string]any) { pullPolicy(container, "image", "imagePullPolicy") }

// pullPolicy is Always where the image has the tag latest, or neither a tag nor a
// digest (ParseImageName of pkg/util/parsers).
func pullPolicy(of map[string]any, image, policy string) {
	if v := of[policy]; v != nil && v != "" {
		return
	}
	reference, _ := of[image].(string)
	name, _, digested := strings.Cut(reference, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	is := corev1.PullIfNotPresent
	if name != "" && (tag == "latest" || !tagged && !digested) {
		is = corev1.PullAlways
	}
	of[policy] = string(is)
}

// requests gives a pod's container requests where it has only limits
// (SetDefaults_Pod).
func requests(container map[string]any) {
	r, _ := container["resources"].(map[string]any)
	limits, _ := r["limits"].(map[string]any)
	if len(limits) == 0 {
		return
	}
	has, _ := r["requests"].(map[string]any)
	if has == nil {
		has = map[string]any{}
		r["requests"] = has
	}
	for name, v := range limits {
		if _, is := has[name]; !is {
			has[name] = v
		}
	}
}

// hostPort is defaultHostNetworkPorts.
func hostPort(port map[string]any) {
	if v := port["hostPort"]; v == nil || v == int64(0) {
		port["hostPort"] = port["containerPort"]
	}
}

// targetPort is a Service's port where it says no other (SetDefaults_Service).
func targetPort(port map[string]any) {
	if v := port["targetPort"]; v == nil || v == int64(0) || v == "" {
		port["targetPort"] = port["port"]
	}
}

// emptyDir is what a volume is that doesn't say (SetDefaults_Volume).
func emptyDir(volume map[string]any) {
	if len(volume) == 1 && volume["name"] != nil {
		volume["emptyDir"] = map[string]any{}
	}
	if image, is := volume["image"].(map[string]any); is {
		pullPolicy(image, "reference", "pullPolicy")
	}
}

// namespaceName is the label that a namespace has of its name (SetDefaults_Namespace).
func namespaceName(metadata map[string]any) {
	name, _ := metadata["name"].(string)
	if name == "" {
		return
	}
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	labels[corev1.LabelMetadataName] = name
}

// limits gives containers a limit of the most that they may have, and requests of
// their limits, or of the least that they must have (SetDefaults_LimitRangeItem).
func limits(item map[string]any) {
	if item["type"] != string(corev1.LimitTypeContainer) {
		return
	}
	for _, c := range [][2]string{{"default", "max"}, {"defaultRequest", "default"}, {"defaultRequest", "min"}} {
		to, _ := item[c[0]].(map[string]any)
		from, _ := item[c[1]].(map[string]any)
		if to == nil && len(from) > 0 {
			to = map[string]any{}
			item[c[0]] = to
		}
		for name, v := range from {
			if _, has := to[name]; !has {
				to[name] = v
			}
		}
	}
}
