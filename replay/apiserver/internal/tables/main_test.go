//go:build !controlplane

package tables

import (
	"testing"

	"github.com/nodesim/nodesim/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }
