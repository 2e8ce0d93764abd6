package assets

import (
	"fmt"
	"slices"
	"strings"
)

// The versions that test/controlplane builds for the tests. A test checks them against its go.mod files.
const (
	KubernetesVersion = "1.36.3"
	EtcdVersion       = "3.6.8"
	KwokVersion       = "0.8.0"
)

// KubernetesVersions are the versions that can be had, one of each minor, the oldest first. Each but KubernetesVersion
// has a module of its own below test/controlplane, with its minor as its name. etcd is the same for all of them.
func KubernetesVersions() []string { return []string{"1.34.3", "1.35.1", KubernetesVersion, "1.37.1"} }

// minorOf is the minor of a version: 1.36 of 1.36.3.
func minorOf(version string) string { return version[:strings.LastIndexByte(version, '.')] }

// Minors are those of KubernetesVersions.
func Minors() []string {
	var all []string
	for _, v := range KubernetesVersions() {
		all = append(all, minorOf(v))
	}
	return all
}

// ResolveKubernetes returns the version that a user means: a minor, such as 1.36, or a whole version, with or without a
// v before it. "" is KubernetesVersion.
func ResolveKubernetes(named string) (string, error) {
	if named == "" {
		return KubernetesVersion, nil
	}
	plain := strings.TrimPrefix(named, "v")
	at := slices.IndexFunc(KubernetesVersions(), func(v string) bool { return plain == v || plain == minorOf(v) })
	if at < 0 {
		return "", fmt.Errorf("version %q of Kubernetes: want one of %s, which are %s", named,
			strings.Join(Minors(), ", "), strings.Join(KubernetesVersions(), ", "))
	}
	return KubernetesVersions()[at], nil
}
