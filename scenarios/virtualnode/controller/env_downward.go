package controller

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// leftToProvider says whether a field of a pod is known to what runs it alone.
func leftToProvider(path string) bool {
	switch path {
	case "status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs":
		return true
	}
	return false
}

// podField is the value of a field of the pod as the downward API gives it (k8s.io/kubernetes,
// pkg/fieldpath/fieldpath.go, ExtractFieldPathAsString).
func podField(pod *corev1.Pod, path string) (value string, found bool, err error) {
	switch path {
	case "metadata.name":
		return pod.Name, true, nil
	case "metadata.namespace":
		return pod.Namespace, true, nil
	case "metadata.uid":
		return string(pod.UID), true, nil
	case "metadata.labels":
		return lines(pod.Labels), true, nil
	case "metadata.annotations":
		return lines(pod.Annotations), true, nil
	case "spec.nodeName", "spec.host":
		return pod.Spec.NodeName, true, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, true, nil
	}
	if key, ok := subscript(path, "metadata.labels"); ok {
		return pod.Labels[key], true, nil
	}
	if key, ok := subscript(path, "metadata.annotations"); ok {
		return pod.Annotations[key], true, nil
	}
	return "", false, InvalidInputf("field %q can't be a variable: want metadata.name, metadata.namespace, metadata.uid, "+
		"metadata.labels['KEY'], metadata.annotations['KEY'], spec.nodeName, spec.serviceAccountName, status.hostIP, "+
		"status.hostIPs, status.podIP or status.podIPs", path)
}

// subscript is KEY in field['KEY'].
func subscript(path, field string) (key string, ok bool) {
	rest, ok := strings.CutPrefix(path, field+"['")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "']")
}

// lines is a map as lines key="value", by key.
func lines(m map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(all, "\n")
}

// resourceField is a container's request or limit in units of the divisor, rounded up (k8s.io/kubernetes,
// pkg/api/v1/resource/helpers.go, ExtractContainerResourceValue). found is false for a limit that the container doesn't
// set: it is the node's allocatable then, which the provider knows.
func resourceField(pod *corev1.Pod, own *corev1.Container, ref *corev1.ResourceFieldSelector) (value string, found bool, err error) {
	of := own
	if ref.ContainerName != "" && ref.ContainerName != own.Name {
		of = nil
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				if list[i].Name == ref.ContainerName {
					of = &list[i]
				}
			}
		}
		if of == nil {
			return "", false, NotFoundf("the pod has no container %q", ref.ContainerName)
		}
	}
	kind, name, ok := strings.Cut(ref.Resource, ".")
	var amount resource.Quantity
	switch {
	case ok && kind == "limits":
		if amount, found = of.Resources.Limits[corev1.ResourceName(name)]; !found || amount.IsZero() {
			return "", false, nil
		}
	case ok && kind == "requests":
		amount = of.Resources.Requests[corev1.ResourceName(name)]
	default:
		return "", false, InvalidInputf("resource %q: want requests.NAME or limits.NAME", ref.Resource)
	}
	value, err = inUnits(amount, ref.Divisor)
	return value, err == nil, err
}

// inUnits is amount / unit, rounded up; a unit of zero is one.
func inUnits(amount, unit resource.Quantity) (string, error) {
	if unit.IsZero() {
		unit = *resource.NewQuantity(1, resource.DecimalSI)
	}
	if unit.Sign() < 0 || amount.Sign() < 0 {
		return "", InvalidInputf("%s in units of %s: want amounts above zero", amount.String(), unit.String())
	}
	a, ok := new(big.Rat).SetString(amount.AsDec().String())
	u, also := new(big.Rat).SetString(unit.AsDec().String())
	if !ok || !also {
		return "", fmt.Errorf("%s in units of %s: not numbers", amount.String(), unit.String())
	}
	units := a.Quo(a, u)
	up := new(big.Int).Add(units.Num(), new(big.Int).Sub(units.Denom(), big.NewInt(1)))
	return up.Div(up, units.Denom()).String(), nil
}
