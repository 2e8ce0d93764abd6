package faultspec

import "strings"

// short are the short names that kubectl knows of resources that tapes hold
// (pkg/registry/*/storage, ShortNames, in Kubernetes).
var short = map[string]string{
	"no": "nodes", "po": "pods", "ev": "events", "pdb": "poddisruptionbudgets", "ns": "namespaces",
	"svc": "services", "ep": "endpoints", "cm": "configmaps", "sa": "serviceaccounts", "rc": "replicationcontrollers",
	"pv": "persistentvolumes", "pvc": "persistentvolumeclaims", "deploy": "deployments", "ds": "daemonsets",
	"rs": "replicasets", "sts": "statefulsets", "cj": "cronjobs", "hpa": "horizontalpodautoscalers",
	"ing": "ingresses", "netpol": "networkpolicies", "pc": "priorityclasses", "sc": "storageclasses",
	"crd": "customresourcedefinitions", "csr": "certificatesigningrequests", "quota": "resourcequotas", "limits": "limitranges",
}

// Names reports whether a fault is about a resource: it says nothing, or the
// plural, with or without its group, the singular, the kind or a short name.
func (s Spec) Names(plural, group, kind string) bool {
	word := strings.ToLower(s.Resource)
	if long, ok := short[word]; ok {
		word = long
	}
	return word == "" || word == plural || word == strings.ToLower(kind) || group != "" && word == plural+"."+group
}
