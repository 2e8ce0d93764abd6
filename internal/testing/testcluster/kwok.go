package testcluster

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
)

//go:embed stages.yaml
var stages string

// KwokStages is a configuration for kwok, which benchmarks run beside nodesim: nodes become Ready and pods run and leave after the NodeStart, PodStart and
// PodStop of the options, at once where these are zero. The program has no stages of its own.
func KwokStages(o Options) ([]byte, error) {
	form, err := template.New("stages.yaml").Delims("<<", ">>").Parse(stages)
	if err != nil {
		return nil, fmt.Errorf("stages of kwok: %w", err)
	}
	var text bytes.Buffer
	if err := form.Execute(&text, o); err != nil {
		return nil, fmt.Errorf("stages of kwok: %w", err)
	}
	return text.Bytes(), nil
}
