package recorder

import (
	"time"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// refused writes that the server refused to evict a pod, as a dump says it. With a scope,
// those of pods that aren't on the tape are left out.
func (l *sequencer) refused(at time.Duration, t *resourceState, said []byte) error {
	ns, name := rawjson.Text(said, "namespace"), rawjson.Text(said, "name")
	if o := t.names[ns+"/"+name]; l.scope != nil && (o == nil || !o.onTape) {
		t.stats.OutOfScope++
		return nil
	}
	ev := timeline.Event{At: at, Type: timeline.Refused, Resource: t.key, Namespace: ns, Name: name, Reason: rawjson.Text(said, "reason")}
	for _, member := range []string{"budget", "by"} {
		if s := rawjson.Text(said, member); s != "" {
			ev.Extra = append(ev.Extra, timeline.Member{Name: member, Value: rawjson.AppendString(nil, mask.String(s))})
		}
	}
	t.stats.Last = at
	return l.write(ev)
}
