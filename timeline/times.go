package timeline

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// MoveTimes returns an object in which the times of known fields are as move
// changes them. Fields are known by their path, from the Go types of
// k8s.io/api, and never by what their text looks like. In objects of any
// resource, custom ones included, they are those of metadata and of
// status.conditions. A time keeps its zone and its digits after the second,
// so a Time stays whole seconds (rounded down) and a MicroTime has six.
// Nulls, and what is no RFC 3339 time, stay as they are, and so does a time
// that would leave the years 1 to 9999.
func MoveTimes(r Resource, object []byte, move func(time.Time) time.Time) ([]byte, error) {
	raw, err := rawjson.Compact(make([]byte, 0, len(object)), object)
	if err != nil {
		return nil, err
	}
	out := everyTimes.move(make([]byte, 0, len(raw)), raw, move)
	if own := ownTimes[r.Group+"/"+r.Resource]; own != nil {
		out = own.move(raw[:0], out, move)
	}
	return out, nil
}

// timeFields are the members of an object that hold times, themselves (nil)
// or further inside. "[]" means the elements of an array, "*" for every
// member.
type timeFields map[string]timeFields

func (f timeFields) move(dst, raw []byte, move func(time.Time) time.Time) []byte {
	switch {
	case f == nil:
		return appendMoved(dst, raw, move)
	case rawjson.IsObject(raw):
		dst = append(dst, '{')
		first := len(dst)
		for c := rawjson.Object(raw); ; {
			name, value, ok := c.Next()
			if !ok {
				return append(dst, '}')
			}
			inner, ok := f[string(name)]
			if !ok {
				inner, ok = f["*"]
			}
			if !ok {
				dst = appendMember(dst, first, name, value)
				continue
			}
			dst = appendMember(dst, first, name, nil)
			dst = inner.move(dst, value, move)
		}
	case len(raw) > 0 && raw[0] == '[':
		inner, ok := f["[]"]
		if !ok {
			return append(dst, raw...)
		}
		dst = append(dst, '[')
		first := len(dst)
		for e := range rawjson.Elements(raw) {
			if len(dst) > first {
				dst = append(dst, ',')
			}
			dst = inner.move(dst, e, move)
		}
		return append(dst, ']')
	}
	return append(dst, raw...)
}

func appendMoved(dst, raw []byte, move func(time.Time) time.Time) []byte {
	s, ok := rawjson.Unquote(raw)
	if !ok {
		return append(dst, raw...)
	}
	t, err := time.Parse(time.RFC3339, s) // takes digits after the second too
	if err != nil {
		return append(dst, raw...)
	}
	// Not t's own Location: Parse makes it the machine's where offsets agree.
	_, offset := t.Zone()
	moved := move(t).In(time.FixedZone("", offset))
	if y := moved.Year(); y < 1 || y > 9999 {
		return append(dst, raw...)
	}
	layout := "2006-01-02T15:04:05Z07:00"
	if _, frac, ok := strings.Cut(s, "."); ok {
		n := 0
		for n < len(frac) && frac[n] >= '0' && frac[n] <= '9' {
			n++
		}
		layout = "2006-01-02T15:04:05." + strings.Repeat("0", min(n, 9)) + "Z07:00"
	}
	return rawjson.AppendString(dst, moved.Format(layout))
}

// fields makes timeFields of paths such as "status.conditions[].lastProbeTime".
func fields(paths ...string) timeFields {
	root := timeFields{}
	for _, p := range paths {
		f := root
		steps := strings.Split(strings.ReplaceAll(p, "[]", ".[]"), ".")
		for i, step := range steps {
			if i == len(steps)-1 {
				f[step] = nil
				break
			}
			if f[step] == nil {
				f[step] = timeFields{}
			}
			f = f[step]
		}
	}
	return root
}

// everyTimes holds for all resources: meta/v1 ObjectMeta and Condition, and
// what the older condition types of core, apps, batch and certificates have.
var everyTimes = fields(
	"metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.managedFields[].time",
	"status.conditions[].lastTransitionTime", "status.conditions[].lastHeartbeatTime",
	"status.conditions[].lastProbeTime", "status.conditions[].lastUpdateTime",
)

// ownTimes holds what a resource has besides, by group and plural.
var ownTimes = map[string]timeFields{
	"/nodes": fields("spec.taints[].timeAdded"),
	"/pods": fields(append(append(append([]string{"status.startTime"},
		containerTimes("containerStatuses")...),
		containerTimes("initContainerStatuses")...),
		containerTimes("ephemeralContainerStatuses")...)...),
	"/events":            fields("firstTimestamp", "lastTimestamp", "eventTime", "series.lastObservedTime"),
	"/persistentvolumes": fields("status.lastPhaseTransitionTime"),
	"events.k8s.io/events": fields("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime",
		"series.lastObservedTime"),
	"coordination.k8s.io/leases":           fields("spec.acquireTime", "spec.renewTime"),
	"policy/poddisruptionbudgets":          fields("status.disruptedPods.*"),
	"batch/jobs":                           fields("status.startTime", "status.completionTime"),
	"batch/cronjobs":                       fields("status.lastScheduleTime", "status.lastSuccessfulTime"),
	"autoscaling/horizontalpodautoscalers": fields("status.lastScaleTime"),
	"storage.k8s.io/volumeattachments":     fields("status.attachError.time", "status.detachError.time"),
}

func containerTimes(statuses string) []string {
	var out []string
	for _, state := range []string{"state", "lastState"} {
		for _, field := range []string{"running.startedAt", "terminated.startedAt", "terminated.finishedAt"} {
			out = append(out, "status."+statuses+"[]."+state+"."+field)
		}
	}
	return out
}
