//go:build controlplane

package apiserver_test

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	playRole()
	testcluster.Main(m, testcluster.Options{})
}
