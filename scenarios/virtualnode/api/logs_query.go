package api

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// ContainerLogOpts say which lines of a container's log are wanted. The zero value wants all that there are.
type ContainerLogOpts struct {
	// Tail is the number of lines wanted from the end of the log; 0 wants all, or, with NoTail, none.
	Tail int
	// LimitBytes is the number of bytes after which the answer ends, in the middle of a line if need be, timestamps
	// included; 0 is no limit. The handler cuts what is longer.
	LimitBytes int
	// Timestamps begins each line with its time, in RFC 3339 with nanoseconds, and a space.
	Timestamps bool
	// Follow continues with lines to come, until the container ends or the client goes.
	Follow bool
	// Previous wants the log of the container's life before this one.
	Previous bool
	// SinceSeconds leaves out lines that are older than so many seconds; 0 leaves out none.
	SinceSeconds int
	// SinceTime leaves out lines before that time; never set together with SinceSeconds.
	SinceTime time.Time
	// NoTail is true if zero lines were asked for from the end of the log: nothing that is there already, and with
	// Follow what is still to come.
	NoTail bool
}

// parseLogOptions reads the query of a request for logs, by the rules of ValidatePodLogOptions (k8s.io/kubernetes,
// pkg/apis/core/validation/validation.go). Of a parameter that is repeated the first counts; unknown ones are ignored.
func parseLogOptions(q url.Values) (ContainerLogOpts, error) {
	var o ContainerLogOpts
	for _, p := range []struct {
		name  string
		least int
		to    *int
	}{
		{"tailLines", 0, &o.Tail}, {"limitBytes", 1, &o.LimitBytes}, {"sinceSeconds", 1, &o.SinceSeconds},
	} {
		text := q.Get(p.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < p.least {
			return ContainerLogOpts{}, badRequest(fmt.Sprintf("query parameter %s: found %q, want a whole number of at least %d", p.name, text, p.least))
		}
		*p.to = n
	}
	o.NoTail = q.Get("tailLines") != "" && o.Tail == 0
	if text := q.Get("sinceTime"); text != "" {
		if o.SinceSeconds != 0 {
			return ContainerLogOpts{}, badRequest("query parameters sinceTime and sinceSeconds: found both, want at most one")
		}
		var err error
		if o.SinceTime, err = time.Parse(time.RFC3339, text); err != nil {
			return ContainerLogOpts{}, badRequest(fmt.Sprintf("query parameter sinceTime: found %q, want a time such as 2026-11-20T22:21:09Z", text))
		}
	}
	for _, p := range []struct {
		name string
		to   *bool
	}{{"follow", &o.Follow}, {"previous", &o.Previous}, {"timestamps", &o.Timestamps}} {
		text := q.Get(p.name)
		if text == "" {
			continue
		}
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return ContainerLogOpts{}, badRequest(fmt.Sprintf("query parameter %s: found %q, want true or false", p.name, text))
		}
		*p.to = yes
	}
	// A kubelet without the feature PodLogsQuerySplitStreams has both streams in one log, as we have.
	if text := q.Get("stream"); text != "" && text != "All" {
		return ContainerLogOpts{}, badRequest(fmt.Sprintf("query parameter stream: found %q, want All: both streams are one log here", text))
	}
	return o, nil
}
