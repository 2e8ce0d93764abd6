package record

import (
	"context"

	"github.com/nodesim/nodesim/recorder"
)

// Follow is Status.follow, for tests.
func Follow(ctx context.Context, s *Status, stats func() recorder.Stats) { s.follow(ctx, stats) }
