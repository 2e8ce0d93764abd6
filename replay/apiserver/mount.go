package apiserver

import (
	"net/http"
	"strings"

	"github.com/nodesim/nodesim/replay/internal/option"
)

// mounted is a handler that answers what is below a path.
type mounted struct {
	path    string
	handler http.Handler
}

// Mount has a handler answer every path that begins with path, which ends in a
// slash. It follows the token, as everything does.
func Mount(path string, h http.Handler) Option {
	return option.New("apiserver.Mount", func(s *settings) { s.mounts = append(s.mounts, mounted{path, h}) })
}

// mountedAt finds the handler of a path; nil where there is none.
func (s *settings) mountedAt(path string) http.Handler {
	for _, m := range s.mounts {
		if strings.HasPrefix(path, m.path) {
			return m.handler
		}
	}
	return nil
}
