package recorder

import (
	"time"

	"github.com/nodesim/nodesim/internal/retry"
)

// How long a watch waits before it tries again: a fifth of a second after the
// first failure, twice as long after each further one, ten seconds at most.
// An API server that restarts is back in seconds, and what it keeps for a
// watch that comes back shrinks with every second.
const (
	backoffFirst = 200 * time.Millisecond
	backoffMost  = 10 * time.Second
)

// backoff returns the pause after the given number of failures in a row
// (1 is the first). Jitter is in [0, 1) and moves the pause between half and
// the whole of it, so that many watches don't return at once. What the server
// asks for (Retry-After) is a lower bound.
func backoff(failures int, jitter float64, asked time.Duration) time.Duration {
	pause := retry.Doubling{First: backoffFirst, Most: backoffMost}.After(failures)
	pause = pause/2 + time.Duration(jitter*float64(pause/2))
	return max(pause, asked)
}
