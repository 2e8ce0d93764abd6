package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/nodesim/nodesim/timeline"
)

func unreachable(c *client, err error) error {
	server := c.base.Scheme + "://" + c.base.Host
	var s *statusError
	if errors.As(err, &s) {
		switch s.Code {
		case http.StatusUnauthorized:
			return fmt.Errorf("API server %s: 401 Unauthorized: it doesn't accept the credentials; check the user of the kubeconfig's context", server)
		case http.StatusForbidden:
			return fmt.Errorf("API server %s: 403 Forbidden to ask what it offers (discovery): %w", server, err)
		}
	}
	return fmt.Errorf("API server %s: %w; want a cluster that answers: check the kubeconfig, its context and --server", server, shorter(err))
}

// refused explains a list or watch that the server doesn't allow.
func refused(verb string, r timeline.Resource, err error) error {
	var s *statusError
	if errors.As(err, &s) {
		switch s.Code {
		case http.StatusUnauthorized, http.StatusForbidden:
			all := ""
			if r.Namespaced {
				all = " --all-namespaces"
			}
			return fmt.Errorf("%s %s: %w; check with: kubectl auth can-i %s %s%s", verb, r, err, verb, r, all)
		}
	}
	return fmt.Errorf("%s %s: %w", verb, r, err)
}

// Temporary reports whether an error of [Recorder.Run] is of an API server that is away, busy or broken, so that the same
// may work later. What the server doesn't allow or doesn't know isn't.
func Temporary(err error) bool {
	var s *statusError
	if errors.As(err, &s) {
		return s.Code == http.StatusTooManyRequests || s.Code >= 500
	}
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, context.DeadlineExceeded)
}
