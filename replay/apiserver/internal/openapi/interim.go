// This file stands in until the real package is merged: whoever merges it deletes this file and adapts the callers in replay/apiserver.

package openapi

import (
	"github.com/nodesim/nodesim/timeline"
	"net/http"
)

type Options struct {
	Resources     []timeline.Resource
	Definitions   func(timeline.Resource) []byte
	ServerVersion string
}

func New(Options) http.Handler { return http.NotFoundHandler() }
