package snapshot

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// supports reports whether a node may have a kubelet of a version in this cluster.
func (d *draft) supports(version string) bool {
	oldest, newest, err := d.kubelets()
	if err != nil {
		return false
	}
	v, ok := kubeletVersion(version)
	return ok && v.Minor >= oldest.Minor && v.Minor <= newest.Minor
}

// unsupported is the remark about a node whose kubelet's version supports refuses: what was found, and what is wanted.
func (d *draft) unsupported(version string) (what, why string) {
	what = "nodes with a kubelet version that isn't like v1.34.2"
	if v, ok := kubeletVersion(version); ok {
		what = "nodes with a kubelet of version " + v.Short()
	}
	why = "they have the version of their group here"
	if oldest, newest, err := d.kubelets(); err == nil {
		why = fmt.Sprintf("want %s to %s, as Kubernetes %s allows; %s", oldest.Short(), newest.Short(), newest.Short(), why)
	}
	return what, why
}

// kubelets are the minor versions that a kubelet may have in this cluster (https://kubernetes.io/releases/version-skew-policy).
func (d *draft) kubelets() (oldest, newest model.Version, err error) {
	newest, err = model.ParseVersion(d.file.Cluster.KubernetesVersion)
	skew := uint16(3)
	if newest.Minor < 28 {
		skew = 2
	}
	return model.Version{Minor: newest.Minor - min(skew, newest.Minor)}, newest, err
}

// kubeletVersion reads what a kubelet reports, such as v1.34.2-eks-ecaa3a6.
func kubeletVersion(text string) (_ model.Version, ok bool) {
	v, err := model.ParseVersion(text)
	return v, err == nil && strings.HasPrefix(text, "v1.") && strings.Count(text, ".") > 1
}
