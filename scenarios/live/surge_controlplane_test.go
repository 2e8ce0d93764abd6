//go:build controlplane

package live_test

import (
	"context"
	"testing"
	"time"
)

func TestSurge(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	report, err := performer(t, scenario(t, "surge", "nodes=3", "pods=6", "minAvailable=4")).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
}
