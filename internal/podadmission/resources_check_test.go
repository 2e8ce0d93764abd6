package podadmission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What is wrong with what a container asks for, in the server's words. One that asked for less than nothing would make room on its
// node.
func TestResourcesOfContainersAreChecked(t *testing.T) {
	const (
		qualified = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
		container = `must be a standard resource for containers`
		unshared  = `r.limits: Required value: Limit must be set for non overcommitable resources`
	)
	invalid := func(field, value, why string) string { return field + `: Invalid value: "` + value + `": ` + why }
	long := "example.com/" + strings.Repeat("x", 63)
	domain := strings.Repeat("a", 245) + ".b"
	for _, one := range []struct {
		text string
		want []string
	}{
		{`{"limits":{"cpu":"1500m","ephemeral-storage":"1Gi","example.com/disk":"2"},"requests":{"cpu":"0","memory":"1"}}`, nil},
		{`{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}`, []string{invalid("r.requests", "2", "must be less than or equal to cpu limit of 1")}},
		{`{"requests":{"cpu":"-1"}}`, []string{invalid("r.requests[cpu]", "-1", "must be greater than or equal to 0")}},
		{`{"limits":{"memory":"-1Gi"}}`, []string{invalid("r.limits[memory]", "-1Gi", "must be greater than or equal to 0")}},

		{`{"requests":{"cp u":"1"}}`, []string{invalid("r.requests[cp u]", "cp u", qualified), invalid("r.requests[cp u]", "cp u", container)}},
		{`{"requests":{"gpu":"1"}}`, []string{
			invalid("r.requests[gpu]", "gpu", "must be a standard resource type or fully qualified"), invalid("r.requests[gpu]", "gpu", container),
		}},
		{`{"limits":{"storage":"1Gi"}}`, []string{invalid("r.limits[storage]", "storage", container)}},
		{`{"requests":{"pods":"1500m"}}`, []string{invalid("r.requests[pods]", "pods", container), invalid("r.requests[pods]", "1500m", "must be an integer")}},
		{`{"requests":{"requests.cpu":"1"}}`, []string{invalid("r.requests[requests.cpu]", "requests.cpu", container)}},

		{`{"requests":{"example.com/disk":"1"}}`, []string{unshared}},
		{`{"limits":{"example.com/disk":"2"},"requests":{"example.com/disk":"1"}}`, []string{invalid("r.requests", "1", "must be equal to example.com/disk limit of 2")}},
		{`{"limits":{"example.com/disk":"1500m"},"requests":{"example.com/disk":"1500m"}}`, []string{
			invalid("r.limits[example.com/disk]", "1500m", "must be an integer"), invalid("r.requests[example.com/disk]", "1500m", "must be an integer"),
		}},
		{`{"limits":{"kubernetes.io/own":"1500m"},"requests":{"kubernetes.io/own":"1"}}`, nil},
		{`{"limits":{"requests.example.com/disk":"1"}}`, []string{
			invalid("r.limits[requests.example.com/disk]", "requests.example.com/disk", "doesn't follow extended resource name standard"),
		}},
		{`{"limits":{"` + long + `":"1"}}`, nil},
		{`{"limits":{"` + domain + `/disk":"1500m"}}`, []string{ // "requests." and it are longer than a name may be
			invalid("r.limits["+domain+"/disk]", domain+"/disk", "doesn't follow extended resource name standard"),
		}},

		{`{"limits":{"cpu":"1","hugepages-2Mi":"4Mi"},"requests":{"hugepages-2Mi":"4Mi"}}`, nil},
		{`{"limits":{"hugepages-2Mi":"4Mi"}}`, []string{"r: Forbidden: HugePages require cpu or memory"}},
		{`{"limits":{"memory":"1Gi","hugepages-2Mi":"3Mi"}}`, []string{invalid("r.limits[hugepages-2Mi]", "3Mi", "3Mi is not positive integer multiple of hugepages-2Mi")}},
		{`{"limits":{"memory":"1Gi","hugepages-big":"1"}}`, []string{invalid("r.limits[hugepages-big]", "1", "1 is not positive integer multiple of hugepages-big")}},
		{`{"requests":{"memory":"1Gi","hugepages-2Mi":"2Mi"}}`, []string{unshared}},
		{`{"limits":{"memory":"1Gi","hugepages-2Mi":"4Mi"},"requests":{"hugepages-2Mi":"2Mi"}}`, []string{invalid("r.requests", "2Mi", "must be equal to hugepages-2Mi limit of 4Mi")}},
	} {
		var got []string
		for _, err := range CheckResources(parse[corev1.ResourceRequirements](t, one.text), field.NewPath("r")) {
			got = append(got, err.Error())
		}
		if strings.Join(got, "\n") != strings.Join(one.want, "\n") {
			t.Errorf("%s:\nfound %q\nwant  %q", one.text, got, one.want)
		}
	}
}
