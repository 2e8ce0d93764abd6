package render

import "github.com/nodesim/nodesim/noderoll"

// podRows is the section of the pods, for a roll that is one of pods: what nodes is
// for others.
func (p *painter) podRows(rows int) []row {
	out := []row{append(p.heading("pods", p.podCounts.Total), p.podTally(p.podCounts, "   ")...)}
	if len(p.frame.Snapshot.Pods) == 0 {
		return append(out, row{{inkDim, "  no pod that the roll is about"}})
	}
	shown, rest := p.pickPods(rows)
	c := p.podColumns(shown)
	for _, v := range shown {
		out = append(out, p.pod(v, c))
	}
	if rest.Total > 0 && len(shown) < rows {
		r := row{{inkDim, p.ellipsis + " " + number(rest.Total) + " more"}}
		out = append(out, append(r, p.podTally(rest, "   ")...))
	}
	return out
}

// podTally is tally for pods. Restarted ones stand among the updated and waiting
// ones as well.
func (p *painter) podTally(c noderoll.PodCounts, between string) row {
	var r row
	add := func(n int, ink ink, glyph, word string) {
		if n > 0 {
			r = append(r, span{inkText, between}, span{ink, glyph}, span{inkText, " " + number(n)}, span{inkDim, " " + word})
		}
	}
	waiting := "waiting"
	if p.frame.Snapshot.PodTarget == "" {
		waiting = "ready" // there is nothing to wait for
	}
	add(c.Failed, inkAlarm, p.notReady, "failed")
	add(c.NotReady, inkAlarm, p.notReady, "not ready")
	add(c.Restarted, inkAlarm, p.warn, "restarted")
	add(c.Updating, inkDrain, p.draining, "updating")
	add(c.Resizing, inkDrain, p.draining, "resizing")
	add(c.Starting, inkJoining, p.joining, "starting")
	add(c.Terminating, inkDim, p.other, "terminating")
	add(c.Updated, inkReady, p.ready, "updated")
	add(c.Waiting, inkDim, p.ready, waiting)
	return r
}

// podSign returns how a pod looks.
func (p *painter) podSign(v *noderoll.PodView) sign {
	switch v.Phase {
	case noderoll.PodReady:
		switch {
		case v.OnTarget:
			return sign{p.ready, "updated", inkReady}
		case p.frame.Snapshot.PodTarget == "":
			return sign{p.ready, "ready", inkDim}
		}
		return sign{p.ready, "waiting", inkDim}
	case noderoll.PodUpdating:
		if v.Reason != "" {
			return sign{p.draining, "rolling back", inkDrain}
		}
		return sign{p.draining, "updating", inkDrain}
	case noderoll.PodResizing:
		switch v.Reason {
		case "Deferred":
			return sign{p.joining, "resize deferred", inkDrain}
		case "Infeasible":
			return sign{p.notReady, "resize infeasible", inkAlarm}
		}
		return sign{p.draining, "resizing", inkDrain}
	case noderoll.PodFailed:
		return sign{p.notReady, "update failed", inkAlarm}
	case noderoll.PodRestarted:
		return sign{p.warn, "restarted", inkAlarm}
	case noderoll.PodNotReady:
		return sign{p.notReady, "not ready", inkAlarm}
	case noderoll.PodStarting:
		return sign{p.joining, "starting", inkJoining}
	case noderoll.PodTerminating:
		return sign{p.other, "terminating", inkDim}
	}
	return sign{p.other, "unknown phase", inkDim}
}

// podRank is the rank of attention among those of nodes.
func podRank(v *noderoll.PodView, changed bool) int {
	switch v.Phase {
	case noderoll.PodFailed:
		return rankNotReady
	case noderoll.PodNotReady, noderoll.PodRestarted:
		return rankBlocked
	case noderoll.PodUpdating, noderoll.PodResizing, noderoll.PodTerminating:
		return rankDraining
	case noderoll.PodStarting:
		return rankJoining
	case noderoll.PodReady:
	default:
		return rankUnknown
	}
	if changed {
		return rankChanged
	}
	return rankResting
}

// pickPods is pick for pods, which come sorted.
func (p *painter) pickPods(rows int) (shown []*noderoll.PodView, rest noderoll.PodCounts) {
	all := p.frame.Snapshot.Pods
	if len(all) <= rows {
		for i := range all {
			shown = append(shown, &all[i])
		}
		return shown, rest
	}
	if rows > 1 {
		rows-- // for the line that counts the rest
	}
	changed := p.changed(rows, p.podOf)
	var ranks [rankCount][]*noderoll.PodView
	for i := range all {
		v := &all[i]
		if r := podRank(v, len(changed) > 0 && changed[p.podName(v.Namespace, v.Name)]); len(ranks[r]) < rows {
			ranks[r] = append(ranks[r], v)
		}
	}
	for _, pods := range ranks {
		shown = append(shown, pods[:min(len(pods), rows-len(shown))]...)
	}
	rest = p.podCounts
	for _, v := range shown {
		rest.Add(v, -1)
	}
	return shown, rest
}

// podOf is the pod that an entry is about, or "".
func (p *painter) podOf(e *noderoll.Entry) string {
	if subject, _ := p.subject(e); subject != e.Node {
		return subject
	}
	return ""
}

// podName is a pod's name, with its namespace where the pods are of several.
func (p *painter) podName(namespace, name string) string {
	pods := p.frame.Snapshot.Pods
	if len(pods) > 0 && pods[0].Namespace == namespace && pods[len(pods)-1].Namespace == namespace {
		return name
	}
	return namespace + "/" + name
}
