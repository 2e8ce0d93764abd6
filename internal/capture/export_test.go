package capture

import (
	"context"

	"github.com/nodesim/nodesim/recorder"
)

// Follow is Status.follow, for tests.
func Follow(s *Status, ctx context.Context, stats func() recorder.Stats) { s.follow(ctx, stats) }
