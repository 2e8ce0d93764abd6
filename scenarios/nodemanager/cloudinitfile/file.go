// Package cloudinitfile makes the user data that instances boot with. In: a template and what differs from one boot to
// the next. Out: text. The package reads no file and talks to nobody.
//
// Its API may still change (docs/stability.md).
package cloudinitfile

import (
	"fmt"
	"strings"
	"text/template"
)

// Values are what a template may name, as {{.ItzoVersion}} and so on.
type Values struct {
	ItzoVersion string // of the node's agent
	ItzoURL     string // where the agent comes from
	Certificate string // PEM, empty where no certificates are made
	Key         string // PEM, of Certificate
}

// File is a template. It never changes, so it may be used from any goroutine. The zero value, like nil, is the empty
// template: nodes boot without user data.
type File struct{ template *template.Template }

// New parses a template in the notation of text/template. The error says where it is wrong.
func New(text string) (*File, error) {
	t, err := template.New("cloud-init").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse the user data of instances: %w", err)
	}
	return &File{t}, nil
}

// Contents fills the template in.
func (f *File) Contents(v Values) (string, error) {
	if f == nil || f.template == nil {
		return "", nil
	}
	var b strings.Builder
	if err := f.template.Execute(&b, v); err != nil {
		return "", fmt.Errorf("fill in the user data of instances: %w", err)
	}
	return b.String(), nil
}
