package discovery

import (
	"encoding/json"
	"fmt"

	"github.com/nodesim/nodesim/timeline"
)

// A definition holds what discovery needs of a CustomResourceDefinition (apiextensions.k8s.io/v1).
type definition struct {
	Spec struct {
		Names    definedNames     `json:"names"`
		Versions []definedVersion `json:"versions"`
	} `json:"spec"`
	Status struct {
		AcceptedNames definedNames `json:"acceptedNames"`
	} `json:"status"`
}

type definedVersion struct {
	Name         string `json:"name"`
	Served       bool   `json:"served"`
	Storage      bool   `json:"storage"`
	Subresources *struct {
		Status json.RawMessage `json:"status"`
		Scale  json.RawMessage `json:"scale"`
	} `json:"subresources"`
}

type definedNames struct {
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
}

// readDefinition reads the definition of a resource; raw nil or empty is none.
func readDefinition(r timeline.Resource, raw []byte) (*definition, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := &definition{}
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("discovery: definition of %s: want a CustomResourceDefinition of apiextensions.k8s.io/v1 as JSON: %w", r, err)
	}
	return d, nil
}

// names are those that the server accepted; spec.names may ask for some that another definition has taken. A
// definition whose status was never written has only the latter.
func (d *definition) names() definedNames {
	if d.Status.AcceptedNames.Plural != "" {
		return d.Status.AcceptedNames
	}
	return d.Spec.Names
}

// subresources are those of one version, in the order in which the server lists them.
func (d *definition) subresources(version string) (names []string) {
	for _, v := range d.Spec.Versions {
		if v.Name != version || v.Subresources == nil {
			continue
		}
		if present(v.Subresources.Status) {
			names = append(names, "status")
		}
		if present(v.Subresources.Scale) {
			names = append(names, "scale")
		}
	}
	return names
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// stored is the version that is stored, "" if it isn't served too: the server gives no hash then.
func (d *definition) stored() string {
	for _, v := range d.Spec.Versions {
		if v.Storage && v.Served {
			return v.Name
		}
	}
	return ""
}
