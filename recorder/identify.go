package recorder

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster identifies the server.
type cluster struct {
	version string // gitVersion
	uid     string // of the namespace kube-system
}

// identify asks for the server's version and the cluster's identity. A server
// may forbid either: then the recording continues without, and says so, but for
// an identity that has to be known.
func (c *client) identify(ctx context.Context, needed bool, warn func(string)) (cluster, error) {
	var id cluster
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.getJSON(ctx, "/version", &version); err != nil {
		warn(fmt.Sprintf("server version: %v; the tape goes without", err))
	}
	id.version = version.GitVersion
	var ns metav1.PartialObjectMetadata
	err := c.getJSON(ctx, "/api/v1/namespaces/kube-system", &ns)
	switch id.uid = string(ns.UID); {
	case needed && id.uid == "":
		return id, &noClusterError{err}
	case err != nil:
		warn(fmt.Sprintf("identity of the cluster (UID of the namespace kube-system): %v; the tape goes without, and appending to it can't check the cluster", err))
	}
	return id, nil
}
