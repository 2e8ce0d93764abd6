package tables

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/json"
)

// printerColumn is one of a CustomResourceDefinition's additionalPrinterColumns.
type printerColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
	JSONPath    string `json:"jsonPath"`
	// OlderJSONPath describes how apiextensions.k8s.io/v1beta1 spelt it.
	OlderJSONPath string `json:"JSONPath"`
}

func (c printerColumn) path() string { return cmp.Or(c.JSONPath, c.OlderJSONPath) }

// printerColumns are the columns that a CustomResourceDefinition defines for a version, or those that the API server
// adds to NAME where it defines none (k8s.io/apiextensions-apiserver, pkg/apiserver/helpers.go). In v1beta1 the
// definition could hold columns for all its versions.
func printerColumns(definition []byte, version string) []printerColumn {
	var crd struct {
		Spec struct {
			AdditionalPrinterColumns []printerColumn `json:"additionalPrinterColumns"`
			Versions                 []struct {
				Name                     string          `json:"name"`
				AdditionalPrinterColumns []printerColumn `json:"additionalPrinterColumns"`
			} `json:"versions"`
		} `json:"spec"`
	}
	age := []printerColumn{{
		Name: "Age", Type: "date", Description: builtin().common["Age"].Description, JSONPath: ".metadata.creationTimestamp",
	}}
	if len(definition) == 0 || json.Unmarshal(definition, &crd) != nil {
		return age
	}
	columns := crd.Spec.AdditionalPrinterColumns
	for _, v := range crd.Spec.Versions {
		if v.Name == version && len(v.AdditionalPrinterColumns) > 0 {
			columns = v.AdditionalPrinterColumns
		}
	}
	if len(columns) == 0 {
		return age
	}
	return columns
}
