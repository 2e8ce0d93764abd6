package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// imageID numbers the images of the simulation.
type imageID int32

// images are those that any pod has asked for.
type images struct {
	byName  map[string]imageID
	names   []string
	digests []string
	nodes   map[string][]kube.Image // what a node's status lists, by what it boots
}

func (im *images) of(name string) imageID {
	id, ok := im.byName[name]
	if !ok {
		if im.byName == nil {
			im.byName = map[string]imageID{}
		}
		id = imageID(len(im.names))
		im.byName[name] = id
		im.names = append(im.names, name)
		chance := model.NewStream(0, "digest", name)
		im.digests = append(im.digests, repository(name)+"@sha256:"+chance.Hex(64))
	}
	return id
}

// digest is the image as status.containerStatuses[].imageID has it.
func (im *images) digest(id imageID) string { return im.digests[id] }

// repository is an image's name without its tag or digest.
func repository(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		return name[:colon]
	}
	return name
}

// system are the images that a ready node lists: those of its agents.
func (im *images) system(shape model.Shape) []kube.Image {
	key := string(shape.Provider) + "/" + shape.Region + "/" + shape.Image.Kubelet + "/" + shape.Version.String()
	if list, ok := im.nodes[key]; ok {
		return list
	}
	var list []kube.Image
	for _, c := range shape.SystemImages() {
		list = append(list, kube.Image{Names: c.Names, Bytes: c.Bytes})
	}
	if im.nodes == nil {
		im.nodes = map[string][]kube.Image{}
	}
	im.nodes[key] = list
	return list
}

// keep notes that the machine has an image.
func (m *machine) keep(id imageID) {
	if !slices.Contains(m.has, id) {
		m.has = append(m.has, id)
	}
}

// pull is one that is under way.
type pull struct {
	image imageID
	until kube.Instant
}

// fetch gets the next container's image: it is there, or is pulled, or the
// registry refuses (EnsureImageExists of pkg/kubelet/images/image_manager.go).
// Pulls run side by side; two of one image end together, since containerd loads
// each layer once.
func (l *podWorker) fetch() {
	m := l.m
	spec := &l.p.Template.Containers[l.at]
	l.image, l.syncing = spec.Image, true
	bytes := imageBytes(l.traits, l.at)
	switch takes, why := l.obtain(spec.Name, spec.Image, bytes); {
	case why != "":
		l.next(l.draw(m.t.ImagePullFail), func() { l.refused(why) })
	case takes == 0:
		l.create()
	default:
		l.next(takes, func() { l.pulled(m.k.images.of(spec.Image), takes, bytes) })
	}
}

// obtain says how long the pull of a container's image takes, 0 where the machine has it, or why the registry refuses.
func (l *podWorker) obtain(container, image string, bytes int64) (takes time.Duration, why string) {
	m := l.m
	id := m.k.images.of(image)
	if slices.Contains(m.has, id) {
		present := "Container image \"" + image + "\" already present on machine"
		if m.v.Minor >= 35 {
			// KubeletEnsureSecretPulledImages is on by default since 1.35.
			present += " and can be accessed by the pod"
		}
		l.tell("Normal", "Pulled", container, present)
		return 0, ""
	}
	l.tell("Normal", "Pulling", container, "Pulling image \""+image+"\"")
	if why := m.k.env.Cloud.Registry.Pull(m.i, image); why != "" {
		return 0, why
	}
	now := m.now()
	takes = l.draw(m.t.ImagePull) + m.factor.Of(model.PullTransfer(bytes))
	if l.traits != nil && l.traits.NetworkPlugin {
		takes = m.pluginPull(takes)
	}
	m.pulls = slices.DeleteFunc(m.pulls, func(p pull) bool { return p.until <= now })
	if i := slices.IndexFunc(m.pulls, func(p pull) bool { return p.image == id }); i >= 0 {
		takes = m.pulls[i].until.Sub(now) + 50*time.Millisecond
	} else {
		m.pulls = append(m.pulls, pull{id, now.Add(takes)})
	}
	return max(takes, 1), ""
}

func (l *podWorker) pulled(id imageID, took time.Duration, bytes int64) {
	l.m.keep(id)
	l.failures = 0
	l.tellPulled(l.cs[l.at].Name, l.image, took, bytes)
	l.create()
}

func (l *podWorker) tellPulled(container, image string, took time.Duration, bytes int64) {
	took = took.Truncate(time.Millisecond)
	l.tell("Normal", "Pulled", container,
		fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", image, took, took, bytes))
}

// refused is a pull that failed: the pod shows it, backs off for 10 s, 20 s and
// so on up to 5 min, shows that, and tries again.
func (l *podWorker) refused(why string) {
	c := &l.cs[l.at]
	failure := pullError(l.image, why)
	l.tell("Warning", "Failed", c.Name, "Failed to pull image \""+l.image+"\": "+failure)
	l.tell("Warning", "Failed", c.Name, "Error: ErrImagePull")
	l.syncing = false
	if c.State.Kind == "terminated" {
		c.Last = c.State
		if l.replaced {
			l.owed = true
		} else {
			c.Restarts++
		}
	}
	l.failures++
	c.State = l.waits(model.ContainerPullError, failure, 0)
	l.show()
	until := l.m.now().Add(model.PullBackOff(l.failures))
	sync := podResync
	if !sameContainers(l.seen, l.p.Template) {
		l.next(l.draw(seePod), l.sync)
		return
	}
	if l.elsewhere(failure, until) {
		return
	}
	if l.failures == 1 && (!l.again || l.replaced) {
		// The sandbox that has just been made, or the container that has just ended,
		// brings the pod up for another sync.
		sync = relist
	}
	l.next(l.draw(sync), func() { l.backOff(failure, until) })
}

// relist is the interval at which the kubelet looks at the states of its containers (genericPlegRelistPeriod of
// pkg/kubelet/kubelet.go).
var relist = model.Uniform(200*time.Millisecond, 1200*time.Millisecond)

// podResync is when a pod whose sync has failed is looked at again
// (backOffPeriod of pkg/kubelet/kubelet.go, jittered in pod_workers.go).
var podResync = model.Uniform(10*time.Second, 15*time.Second)

// backOff is a look at a pod whose image may be not to be pulled yet.
func (l *podWorker) backOff(failure string, until kube.Instant) {
	if l.m.now() >= until {
		l.fetch()
		return
	}
	l.tellBackOff()
	l.cs[l.at].State = l.waits(model.ContainerPullBackOff, failure, 0)
	l.show()
	l.next(l.draw(podResync), func() { l.backOff(failure, until) })
}

// tellBackOff says that the container's image is to be pulled later.
func (l *podWorker) tellBackOff() {
	name := l.cs[l.at].Name
	l.tell("Normal", "BackOff", name, "Back-off pulling image \""+l.image+"\"")
	l.tell("Warning", "Failed", name, "Error: ImagePullBackOff")
}

// waits is the state of the container that is being started; crashes counts those in a row.
func (l *podWorker) waits(is model.ContainerState, failure string, crashes int) kube.ContainerState {
	reason, message := is.Waiting(l.m.v, model.Whose{
		Container: l.cs[l.at].Name, Image: l.image, Pod: l.p.Name, Namespace: l.p.Namespace, UID: l.p.UID,
		PullError: failure, Crashes: crashes,
	})
	return kube.ContainerState{Kind: "waiting", Reason: reason, Message: message}
}

// pullError returns containerd's message about a failed pull.
func pullError(image, why string) string {
	code := "Unknown"
	end := why
	if why == "not found" {
		code, end = "NotFound", image+": not found"
	}
	return fmt.Sprintf("rpc error: code = %s desc = failed to pull and unpack image %q: failed to resolve reference %q: %s", code, image, image, end)
}
