package place

import (
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Define creates CustomResourceDefinitions and waits until they are served. The client's scheme has their kind.
func (p *Place) Define(c client.Client, all []*apiextensionsv1.CustomResourceDefinition) {
	p.Helper()
	for _, crd := range all {
		p.Must(c.Create(p.Context(), crd.DeepCopy()))
	}
	for _, crd := range all {
		p.Eventually(time.Minute, crd.Name+" to be established", func() (bool, string) {
			var found apiextensionsv1.CustomResourceDefinition
			p.Must(c.Get(p.Context(), client.ObjectKeyFromObject(crd), &found))
			for _, is := range found.Status.Conditions {
				if is.Type == apiextensionsv1.Established && is.Status == apiextensionsv1.ConditionTrue {
					return true, ""
				}
			}
			return false, fmt.Sprint(found.Status.Conditions)
		})
	}
}
