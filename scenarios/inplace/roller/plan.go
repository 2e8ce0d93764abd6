package roller

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Plan says what is to be done about the pods at now. The pods are all those that the roll is about, in any order; none
// is changed. The error is Roll.Check's.
func Plan(roll Roll, pods []corev1.Pod, state State, now time.Time) (Decision, error) {
	if err := roll.Check(); err != nil {
		return Decision{}, err
	}
	p := planner{roll: roll, change: roll.change(), views: roll.look(pods, now), now: now}
	p.count()
	p.await()
	switch halted := p.decision.Counts.Failures > roll.FailureBudget || p.forsaken; {
	case !halted:
		p.trigger()
	case roll.OnFailure == RollbackAll:
		p.forsake()
	}
	p.report(state)
	p.setStanding()
	return p.decision, nil
}

// planner makes one decision.
type planner struct {
	roll     Roll
	change   change
	views    []view
	now      time.Time
	decision Decision
	// flying are the pods that are being changed, begun ones included; opened those that this plan begins.
	flying, opened int
	// forsaken says that the roll was given up before.
	forsaken bool
}

func (p *planner) count() {
	c := &p.decision.Counts
	present := 0
	for _, v := range p.views {
		switch v.stage {
		case gone:
			c.Gone++
			continue
		case broken:
			c.Broken++
			p.block(v.pod, v.err.Error())
		case outdated:
			c.Outdated++
		case updating:
			c.Updating++
		case updated:
			c.Updated++
		case goingBack:
			c.GoingBack++
		case givenUp:
			c.GivenUp++
		}
		present++
		if !v.available {
			c.Unavailable++
		}
		if v.record.inFlight() {
			p.flying++
		}
		if v.stage == goingBack || v.stage == givenUp {
			p.forsaken = p.forsaken || v.record.forsaken
			if !v.record.forsaken && !v.forgotten {
				c.Failures++
			}
		}
	}
	c.Unavailable += max(0, p.roll.Replicas-present)
}

// await ends what is in flight, and begins again what was cut short.
func (p *planner) await() {
	for _, v := range p.views {
		if v.stage != updating && v.stage != goingBack {
			continue
		}
		switch {
		case v.progress.State == podupdate.Done && p.settled(v.pod):
			p.act(on(Mark, v.pod), podupdate.Progress{})
		case v.progress.State == podupdate.Failed && v.stage == goingBack:
			p.act(on(Fail, v.pod), v.progress)
		case v.progress.State == podupdate.Failed:
			p.decision.Counts.Failures++
			kind := TakeBack
			if p.roll.OnFailure == "" || p.roll.OnFailure == Stop || !v.record.origin {
				kind = Fail
			}
			p.act(on(kind, v.pod), v.progress)
		case v.progress.Reason == podupdate.ReasonSpecDiffers && len(p.roll.Resources) > 0:
			kind := Trigger
			if v.stage == goingBack {
				kind = TakeBack
			}
			p.act(on(kind, v.pod), v.progress)
		}
	}
}

// settled says whether a pod has been ready for MinReady.
func (p *planner) settled(pod *corev1.Pod) bool {
	if p.roll.MinReady == 0 {
		return true
	}
	c := podupdate.Ready(pod)
	return c != nil && !c.LastTransitionTime.Add(p.roll.MinReady).After(p.now)
}

// open says whether the bounds let one more pod be changed, and takes the place. One that isn't available costs nothing
// but the place.
func (p *planner) open(v view) bool {
	flying, unavailable := p.flying+p.opened, p.decision.Counts.Unavailable
	if v.record.inFlight() {
		return true
	}
	if flying >= p.roll.most() || v.available && unavailable >= p.roll.most() {
		return false
	}
	p.opened++
	if v.available {
		p.decision.Counts.Unavailable++
	}
	return true
}

// trigger begins to change outdated pods: first those that aren't available.
func (p *planner) trigger() {
	for _, available := range []bool{false, true} {
		for _, v := range p.views {
			if v.stage != outdated || v.available != available {
				continue
			}
			if p.open(v) {
				p.act(on(Trigger, v.pod), podupdate.Progress{Message: p.change.String()})
			} else {
				p.block(v.pod, fmt.Sprintf("%d unavailable and %d being changed: want fewer than %d",
					p.decision.Counts.Unavailable, p.flying+p.opened, p.roll.most()))
			}
		}
	}
}

// forsake takes back what the roll has changed, failed ones first.
func (p *planner) forsake() {
	for _, stage := range []stage{givenUp, updated} {
		for _, v := range p.views {
			if v.stage != stage || v.record.rollback || v.record.phase == "" {
				continue
			}
			switch {
			case !v.record.origin:
				p.block(v.pod, "what it was before isn't recorded")
			case p.open(v):
				p.act(on(TakeBack, v.pod), podupdate.Progress{Reason: ReasonForsaken, Message: "the roll was given up"})
			}
		}
	}
}

// report tells of restarts that were not told yet.
func (p *planner) report(before State) {
	reported := map[Restart]bool{}
	for _, v := range p.views {
		if v.stage == gone {
			continue
		}
		name, is := p.roll.Keys.UnexpectedRestart(v.pod)
		if !is {
			continue
		}
		r := Restart{UID: v.pod.UID, Namespace: v.pod.Namespace, Pod: v.pod.Name, Container: name, ContainerID: containerID(v.pod, name)}
		reported[r] = true
		if !before.Reported[r] {
			p.act(on(Report, v.pod), podupdate.Progress{Container: name, Reason: "UnexpectedRestart", Message: lastReason(v.pod, name)})
		}
	}
	if len(reported) > 0 {
		p.decision.State.Reported = reported
	}
}

// setStanding says how the roll stands.
func (p *planner) setStanding() {
	d := &p.decision
	c := d.Counts
	busy := p.flying > 0 || c.Updating+c.GoingBack > 0
	for _, a := range d.Actions {
		busy = busy || a.Kind != Report
	}
	waits := 0
	for _, v := range p.views {
		if v.stage == updated && !v.available {
			waits++
			if !busy {
				p.block(v.pod, "it is at the target and not ready")
			}
		}
	}
	halted := c.Failures > p.roll.FailureBudget || p.forsaken
	switch {
	case busy:
		d.Standing = Rolling
	case halted && p.roll.OnFailure == RollbackAll:
		d.Standing = RolledBack
	case halted:
		d.Standing = Stopped
	case c.pods() == 0 && c.Gone == 0:
		d.Standing = Stuck
		d.Blockers = append(d.Blockers, Blocker{Reason: "there is no pod to roll"})
	case c.Outdated == 0 && c.Broken == 0 && waits == 0 && c.pods() >= p.roll.Replicas && c.pods() > 0:
		d.Standing = Finished
	default:
		d.Standing = Stuck
		if missing := p.roll.Replicas - c.pods(); missing > 0 {
			d.Blockers = append(d.Blockers, Blocker{Reason: fmt.Sprintf("%d pods are missing: want %d", missing, p.roll.Replicas)})
		}
	}
}

func (p *planner) act(a Action, why podupdate.Progress) {
	a.Container, a.Reason, a.Message = why.Container, why.Reason, why.Message
	p.decision.Actions = append(p.decision.Actions, a)
}

func (p *planner) block(pod *corev1.Pod, reason string) {
	p.decision.Blockers = append(p.decision.Blockers, Blocker{Pod: pod.Namespace + "/" + pod.Name, Reason: reason})
}

func containerID(pod *corev1.Pod, name string) string {
	if s := podupdate.ContainerStatus(pod, name); s != nil {
		return s.ContainerID
	}
	return ""
}

// lastReason is why a container ended the last time, if the kubelet says so.
func lastReason(pod *corev1.Pod, name string) string {
	if s := podupdate.ContainerStatus(pod, name); s != nil && s.LastTerminationState.Terminated != nil {
		return s.LastTerminationState.Terminated.Reason
	}
	return ""
}
