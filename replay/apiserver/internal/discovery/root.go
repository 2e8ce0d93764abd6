package discovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rootPaths is /: everything that is served beside the resources themselves, sorted.
func rootPaths(all []*group, checks map[string][]check) metav1.RootPaths {
	paths := []string{"/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"}
	for _, g := range all {
		if g.name != "" {
			paths = append(paths, "/apis/"+g.name)
		}
		for _, v := range g.versions {
			if g.name == "" {
				paths = append(paths, "/api/"+v.version)
			} else {
				paths = append(paths, "/apis/"+v.apiVersion())
			}
		}
	}
	for endpoint, list := range checks {
		paths = append(paths, endpoint)
		for _, c := range list {
			paths = append(paths, endpoint+"/"+c.name)
		}
	}
	slices.Sort(paths)
	return metav1.RootPaths{Paths: paths}
}
