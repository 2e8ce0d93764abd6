package noderoll

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// instance is one pod of a roll of pods, and what is remembered of it.
type instance struct {
	key  podKey
	view PodView
	last Instance // as it was seen last
	gone bool

	wasReady   bool
	containers []containerState
	update     change
	resize     change
	stuckOn    string // why the update is stuck; empty while it isn't
	state      updateState
	raw        string // of the annotation

	noted    bool          // in the change set already
	updates  int           // that were triggered
	timed    int           // the one of them whose deadline is running, or is over
	deadline time.Duration // of that
	place    int           // 1 + index in the queue; 0 while not waiting
}

// change is an update of images, or a resize, of one pod.
type change struct {
	open bool
	back bool // it leads to what was before the change that it follows
}

// containerState holds what is remembered of one container.
type containerState struct {
	name, image string // of the spec
	before      string // the image that ran before the latest update
	updating    bool
	forbidden   string // the id that doesn't end the update; empty where any does
	id          string // of the status
	waiting     string // why it waits, of the status
	stale       string // what that was when the update began: nothing of this update

	resources Resources // of the spec
	were      Resources // before the latest resize
	resizing  bool

	expected string // the id that the latest update has left; empty where none has
	started  time.Time
}

func (p *instance) container(name string) *containerState {
	for i := range p.containers {
		if p.containers[i].name == name {
			return &p.containers[i]
		}
	}
	return nil
}

// observe takes in what the pod is now, and reports whether the roll has a new
// target.
func (p *instance) observe(r *podRoll, i *Instance, fresh bool) (retarget bool) {
	was := p.view.Phase
	p.view.UID = cmp.Or(i.UID, p.view.UID)
	p.view.Node, p.view.Ready = i.Node, i.Ready
	if raw := i.Annotations[r.scope.stateKey()]; raw != p.raw {
		p.raw, p.state = raw, stateOf(raw)
	}
	if fresh {
		retarget = p.firstLook(r, i)
	} else {
		retarget = p.specs(r, i)
	}
	if fresh {
		p.born(r, i)
	}
	p.images(r, i)
	p.resources(r, i)
	p.restarts(r, i)
	p.last = *i
	p.wasReady = p.wasReady || i.Ready
	p.view.Phase, p.view.Reason = p.phase(i)
	if !fresh {
		p.turned(r, was, i)
	}
	return retarget
}

// firstLook notes a pod that wasn't known. What the roll has to do with it can be
// seen only in part: an update that was triggered before is open if the updater
// has noted so and the container is still the one of then, or if the status
// names another image and is not that of a pod at rest.
func (p *instance) firstLook(r *podRoll, i *Instance) (retarget bool) {
	p.containers = make([]containerState, 0, len(i.Containers))
	for n := range i.Containers {
		c := &i.Containers[n]
		s := containerState{name: c.Name, image: c.Image, id: c.ID, resources: c.Resources, were: c.Resources, started: c.Started}
		last, replaced := p.state.Last[c.Name]
		switch {
		case p.state.inFlight() && replaced && c.ID != "" && last.ContainerID == c.ID:
			s.updating, s.forbidden = true, c.ID
		case p.state.inFlight() && replaced && !i.Ready:
			s.updating = true
		case c.runsOther() && (i.Behind || !i.Ready):
			s.updating, s.forbidden = true, c.ID
		}
		if s.updating {
			p.update.open = true
		}
		if i.Resize != "" && c.ActualKnown && c.Actual != c.Resources {
			s.resizing, s.were = true, c.Actual
			p.resize.open = true
		}
		p.containers = append(p.containers, s)
		retarget = r.target.learn(c.Name, c.Image, r.settled, !p.update.open) || retarget
	}
	return retarget
}

// specs compares what the containers are to be with what they were to be.
func (p *instance) specs(r *podRoll, i *Instance) (retarget bool) {
	var images, sizes []string
	imagesBack, sizesBack := true, true
	for n := range i.Containers {
		c := &i.Containers[n]
		s := p.container(c.Name)
		if s == nil {
			p.containers = append(p.containers, containerState{name: c.Name, image: c.Image, id: c.ID, resources: c.Resources, were: c.Resources})
			continue
		}
		if c.Image != s.image {
			images = append(images, i.named(c)+s.image+" to "+c.Image)
			back := s.before == c.Image && (s.updating || r.rolling)
			imagesBack = imagesBack && back
			if !back {
				retarget = r.target.learn(c.Name, c.Image, r.settled, false) || retarget
			}
			if back && s.updating && s.forbidden == s.id {
				s.forbidden = "" // not replaced yet: the old one will do
			} else {
				s.forbidden = s.id
			}
			if !s.updating {
				s.before = s.image
			}
			s.image, s.updating, s.expected, s.stale = c.Image, true, "", s.waiting
		}
		if c.Resources != s.resources {
			sizes = append(sizes, i.named(c)+cmp.Or(s.resources.String(), "none")+" to "+cmp.Or(c.Resources.String(), "none"))
			back := s.were == c.Resources && (s.resizing || r.rolling)
			sizesBack = sizesBack && back
			if !back {
				retarget = r.target.resize(c.Name, c.Resources) || retarget
			}
			if !s.resizing {
				s.were = s.resources
			}
			s.resources, s.resizing = c.Resources, true
		}
	}
	if len(images) > 0 {
		p.update, p.stuckOn, p.view.Restarts = change{true, imagesBack}, "", 0
		p.updates++
		r.tell(p, EvtUpdating, rollback(imagesBack), strings.Join(images, ", "))
	}
	if len(sizes) > 0 {
		p.resize = change{true, sizesBack}
		r.tell(p, EvtResizing, rollback(sizesBack), strings.Join(sizes, ", "))
	}
	return retarget
}

// named is the container's name and a space, where the pod has several.
func (i *Instance) named(c *Container) string {
	if len(i.Containers) == 1 {
		return ""
	}
	return c.Name + " "
}

func rollback(back bool) string {
	if back {
		return "Rollback"
	}
	return ""
}

// images looks how far an update is.
func (p *instance) images(r *podRoll, i *Instance) {
	waits := false
	for n := range i.Containers {
		c := &i.Containers[n]
		s := p.container(c.Name)
		s.id, s.started, s.waiting = cmp.Or(c.ID, s.id), c.Started, c.Waiting+" "+c.WaitingMessage
		if s.waiting != s.stale {
			s.stale = ""
		}
		if !s.updating {
			continue
		}
		waits = waits || !c.Running || !c.Ready || c.ID == "" || c.ID == s.forbidden
		if stuck[c.Waiting] && s.stale == "" {
			if p.stuckOn == "" {
				r.tell(p, EvtFailed, c.Waiting, c.WaitingMessage)
			}
			p.stuckOn = c.Waiting
		}
	}
	if !p.update.open || waits || !i.Ready || i.Deleting {
		return
	}
	for n := range p.containers {
		s := &p.containers[n]
		if s.updating {
			s.updating, s.expected, s.forbidden = false, s.id, ""
		}
	}
	kind := EvtUpdated
	if p.update.back {
		kind = EvtRolledBack
	}
	p.update, p.stuckOn = change{}, ""
	r.tell(p, kind, "", "")
}

// resources looks how far a resize is.
func (p *instance) resources(r *podRoll, i *Instance) {
	if !p.resize.open {
		return
	}
	if i.Resize != p.last.Resize {
		switch i.Resize {
		case "Deferred":
			r.tell(p, EvtDeferred, "", i.ResizeMessage)
		case "Infeasible":
			r.tell(p, EvtInfeasible, "", i.ResizeMessage)
		}
	}
	waits := i.Resize != "" || i.Behind || !i.Ready || i.Deleting
	for n := range i.Containers {
		c := &i.Containers[n]
		if p.container(c.Name).resizing {
			waits = waits || c.ActualKnown && c.Actual != c.Resources
		}
	}
	if waits {
		return
	}
	for n := range p.containers {
		p.containers[n].resizing = false
	}
	kind := EvtResized
	if p.resize.back {
		kind = EvtRolledBack
	}
	p.resize = change{}
	r.tell(p, kind, "", "")
}

// restarts finds containers that were replaced although no update or resize was
// to. Only those count that an update has left running: what this package has
// seen itself, or what the updater has noted.
func (p *instance) restarts(r *podRoll, i *Instance) {
	for n := range i.Containers {
		c := &i.Containers[n]
		s := p.container(c.Name)
		if stable := p.state.Stable[c.Name]; s.expected == "" && !s.updating && p.state.watched() {
			s.expected = stable.ContainerID
		}
		if s.expected == "" || s.updating || c.ID == "" || c.ID == s.expected {
			continue
		}
		s.expected = c.ID
		if p.resize.open && s.resizing {
			continue // as its resizePolicy has it
		}
		p.view.Restarts++
		r.tell(p, EvtRestarted, c.Ended, "container "+c.Name)
	}
}

// phase finds where the pod stands, and why.
func (p *instance) phase(i *Instance) (PodPhase, string) {
	switch {
	case i.Deleting:
		return PodTerminating, ""
	case p.update.open && p.stuckOn != "":
		return PodFailed, p.stuckOn
	case p.update.open:
		return PodUpdating, rollback(p.update.back)
	case p.resize.open:
		if i.Resize == resizeInProgress {
			return PodResizing, ""
		}
		return PodResizing, i.Resize
	case i.Ready && p.view.Restarts > 0:
		return PodRestarted, ""
	case i.Ready:
		return PodReady, ""
	case p.wasReady:
		return PodNotReady, i.waits()
	}
	return PodStarting, i.waits()
}

// waits is why the pod isn't Ready, as far as a container says.
func (i *Instance) waits() string {
	at := slices.IndexFunc(i.Containers, func(c Container) bool { return c.Waiting != "" })
	if at < 0 {
		return i.ReadyReason
	}
	return i.Containers[at].Waiting
}

// born tells of a pod that is new.
func (p *instance) born(r *podRoll, i *Instance) {
	if i.Ready {
		r.tell(p, EvtOnline, "", "")
	} else {
		r.tell(p, EvtJoining, "", "")
	}
}

// turned tells that a pod became Ready or isn't any more, where no update says
// that already.
func (p *instance) turned(r *podRoll, was PodPhase, i *Instance) {
	now := p.view.Phase
	switch {
	case now == PodNotReady && was != PodNotReady && was != PodStarting:
		r.tell(p, EvtNotReady, p.view.Reason, i.ReadyMessage)
	case p.view.settled() && (was == PodStarting || was == PodNotReady):
		r.tell(p, EvtOnline, "", "")
	}
}

// aim decides whether the pod is to be what the roll moves towards, and shows what
// it is to be.
func (p *instance) aim(r *podRoll) {
	p.view.OnTarget = r.target.met(p)
	images, resources := map[string]string{}, map[string]Resources{}
	for n := range p.containers {
		c := &p.containers[n]
		_, image := r.target.images[c.name]
		_, size := r.target.resources[c.name]
		if image || len(r.target.images)+len(r.target.resources) == 0 {
			images[c.name] = c.image
		}
		if size {
			resources[c.name] = c.resources
		}
	}
	p.view.Configuration = configuration(images, resources)
}
