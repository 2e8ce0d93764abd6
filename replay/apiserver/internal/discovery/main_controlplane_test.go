//go:build controlplane

package discovery_test

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// TestMain serves every API that kube-apiserver has, alpha ones included.
func TestMain(m *testing.M) {
	testcluster.Main(m, testcluster.Options{APIServer: map[string]string{
		"runtime-config": "api/all=true",
		"feature-gates":  "ClusterTrustBundle=true,DRADeviceTaintRules=true,DRAResourcePoolStatus=true,GenericWorkload=true,PodCertificateRequest=true,StorageVersionAPI=true,StorageVersionMigrator=true",
	}})
}
