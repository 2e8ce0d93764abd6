package download

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Attempts are given up after so many failures in a row that brought nothing; after fewer where no connection could be
// made at all, since a machine without a network should learn that soon; and after so many in all.
const (
	attemptsInARow     = 5
	attemptsToDial     = 2
	attemptsAltogether = 100
)

// Pauses between attempts double from the first to the longest, which is also the most that a server may ask for.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// final marks an error that another attempt wouldn't mend.
type final struct{ error }

// busy is the answer of a server that may have another one later.
type busy struct {
	status string
	after  time.Duration // what it asks for, 0 if nothing
}

func (b busy) Error() string { return "found " + b.status }

// complete downloads what is missing in part, in as many attempts as it takes.
func (c *Client) complete(ctx context.Context, f File, part string) error {
	web := c.web()
	defer web.CloseIdleConnections()
	var most int64
	failures := 0
	for n := 1; ; n++ {
		err := c.attempt(ctx, web, f, part)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.As(err, &final{}) {
			return err
		}
		failures++
		if now := size(part); now > most {
			most, failures = now, 1
		}
		limit := attemptsInARow
		if errors.Is(err, ErrUnreachable) {
			limit = attemptsToDial
		}
		if failures >= limit || n == attemptsAltogether {
			return fmt.Errorf("%w, at byte %d, after %d attempts", err, size(part), n)
		}
		if err := c.wait(ctx, pause(err, failures)); err != nil {
			return err
		}
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// pause is how long to wait after so many failures in a row.
func pause(err error, failures int) time.Duration {
	var b busy
	if errors.As(err, &b) && b.after > 0 {
		return min(b.after, longestPause)
	}
	return min(firstPause<<(failures-1), longestPause)
}

// retryAfter reads the header of that name: seconds, or a time (RFC 9110, section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
