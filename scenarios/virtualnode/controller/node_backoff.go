package controller

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	backoffFirst = 200 * time.Millisecond
	backoffMost  = 7 * time.Second

	// requestTimeout bounds one request. A kubelet's heartbeats have a client of their own with the interval of its
	// status updates as timeout, 10 s (k8s.io/kubernetes, cmd/kubelet/app/server.go, HeartbeatClient).
	requestTimeout = 10 * time.Second
)

// backoff is the pause after so many failures in a row, from 200 ms doubling to 7 s, longer by up to a half by chance:
// the loops of many nodes fail together, and should not come again together.
func (n *NodeController) backoff(failures int) time.Duration {
	d := backoffMost
	if failures <= 5 {
		d = min(backoffFirst<<(max(failures, 1)-1), backoffMost)
	}
	if n.fraction == 0 {
		return d
	}
	return d + n.chance(d/2)
}

// passing reports whether an error may go away by itself: the network's, and what the API server says of its own state.
// What it says of the request itself stays true.
func passing(err error) bool {
	var ill *notReadyError
	if errors.As(err, &ill) {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusTooManyRequests || code >= 500 && code != http.StatusNotImplemented
	}
	var network *url.Error
	return errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) || utilnet.IsConnectionRefused(err) ||
		utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}
