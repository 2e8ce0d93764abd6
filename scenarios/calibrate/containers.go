package calibrate

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
	corev1 "k8s.io/api/core/v1"
)

// A container is one of a pod, as far as samples need it.
type container struct {
	name           string
	running, ready bool // as the pod's status says
	pulling        mark
	pull           pull
	apart          bool // another pod had begun the pull of the image, or its node wasn't ready
	pulled         mark // its image is there
	started        mark
	stopping       mark // it was asked to stop
}

// A pull is one of an image on a node.
type pull struct{ node, image string }

func (c *container) pulls(r *reading, what pull, when mark) {
	c.pulling, c.pull = when, what
	c.apart = r.pulls[what] != nil || !r.serves(what.node)
	if r.pulls[what] == nil {
		r.pulls[what] = c
	}
}

// pullEnds forgets a pull, however it ended.
func (c *container) pullEnds(r *reading) {
	if r.pulls[c.pull] == c {
		delete(r.pulls, c.pull)
	}
	c.pulling = mark{}
}

// hasPulled takes the end of a pull, or an image that the node has. What the kubelet says of a pull is exact. A node that isn't
// ready yet pulls much at once, and a pull that another one had begun is no pull of its own.
func (c *container) hasPulled(r *reading, message string, when mark) {
	if took, bytes, ok := pulledIn(message); ok {
		adds := model.PullTransfer(bytes)
		r.sizes[quoted(message)] = adds
		if c.pulling.is && !c.apart {
			r.addExact("imagePull", max(took-adds, 0), c.pulling.before(-adds), when)
		}
	}
	c.pullEnds(r)
	c.pulled = when
}

func (c *container) starts(r *reading, when mark) {
	if c.pulled.is {
		r.add("containerStart", c.pulled, when)
	}
	c.pulled, c.started = mark{}, when
}

// stops is the kubelet's Event that it asks the container to stop.
func (c *container) stops(r *reading, p *pod, when mark) {
	if !p.stopping {
		p.stopping = true
		r.add("killDelay", p.deleted, when)
	}
	c.stopping = when
}

// is takes what the pod's status says of the container. One that is ready in the status that first shows it running counts as one
// without a probe: a tape doesn't have probes.
func (c *container) is(r *reading, p *pod, s *corev1.ContainerStatus) {
	if s.Ready && !c.ready && c.started.is {
		if c.running {
			r.add("containerReady", c.started, r.here().before(r.usual("statusPost").Median))
		}
		c.started = mark{}
	}
	if t := s.State.Terminated; t != nil {
		c.started = mark{}
		if c.stopping.is && t.Reason != "ContainerStatusUnknown" {
			c.exits(r, p)
		}
		c.stopping = mark{}
	}
	c.running, c.ready = s.State.Running != nil, s.Ready
}

// exits is the end of a container that was asked to stop. One that took its whole grace was killed: it would have taken longer.
func (c *container) exits(r *reading, p *pod) {
	exited := r.here().before(r.usual("terminalStatus").Median)
	if exited.at-c.stopping.at >= p.grace-time.Second {
		r.leave("appStop", c.stopping, c.killed(p))
		return
	}
	r.add("appStop", c.stopping, exited)
}

// killed is when the container's grace is over.
func (c *container) killed(p *pod) mark { return c.stopping.before(-p.grace) }

// close takes what had not ended when the tape did. A pull counts less what the image's size adds, as one that has ended does, and so
// not at all where no pull on the tape tells the size.
func (c *container) close(r *reading, p *pod) {
	if adds, known := r.sizes[c.pull.image]; known && c.pulling.is && !c.apart {
		r.leave("imagePull", c.pulling.before(-adds), r.here())
	}
	if c.started.is && c.running {
		r.leave("containerReady", c.started, r.here())
	}
	if c.stopping.is {
		by := c.killed(p)
		if r.now < by.at {
			by = r.here()
		}
		r.leave("appStop", c.stopping, by)
	}
}
