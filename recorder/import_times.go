package recorder

import (
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// past are the members whose value is a time at which something had already
// happened. Others (a certificate's end, a deletion's deadline) may lie ahead.
var past = map[string]bool{
	"creationTimestamp": true, "time": true, "lastTransitionTime": true, "lastHeartbeatTime": true,
	"lastProbeTime": true, "lastUpdateTime": true, "startTime": true, "startedAt": true, "finishedAt": true,
	"completionTime": true, "firstTimestamp": true, "lastTimestamp": true, "eventTime": true,
	"lastObservedTime": true, "renewTime": true, "acquireTime": true, "timeAdded": true,
}

// newestTime returns the newest time in an object that tells when something
// happened: the object can't have been sent before. Managed fields count as
// well: they carry the time of each manager's last write. A deletion's
// deadline counts less its grace period.
func newestTime(obj []byte) (newest time.Time) {
	scanTimes(obj, &newest)
	meta := rawjson.Get(obj, "metadata")
	if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(meta, "deletionTimestamp")); err == nil {
		if grace, err := time.ParseDuration(string(rawjson.Get(meta, "deletionGracePeriodSeconds")) + "s"); err == nil {
			t = t.Add(-grace)
			if t.After(newest) {
				newest = t
			}
		}
	}
	return newest
}

func scanTimes(v []byte, newest *time.Time) {
	if len(v) == 0 {
		return
	}
	switch v[0] {
	case '{':
		for name, value := range rawjson.Members(v) {
			if len(value) > 0 && value[0] == '"' {
				if past[string(name)] {
					if t, err := time.Parse(time.RFC3339Nano, string(bare(value))); err == nil && t.After(*newest) {
						*newest = t
					}
				}
				continue
			}
			scanTimes(value, newest)
		}
	case '[':
		for e := range rawjson.Elements(v) {
			scanTimes(e, newest)
		}
	}
}
