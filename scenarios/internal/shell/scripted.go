package shell

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// Pods are the pods to answer for, as a PodLifecycleHandler has them. GetPod returns an error of kind NotFound, or nil
// and no error, for a pod that it doesn't know. What they return is only read.
type Pods interface {
	GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	GetPods(context.Context) ([]*corev1.Pod, error)
}

// Scripted plays the containers. Its methods are safe for concurrent use once its fields are set.
type Scripted struct {
	// Pods is required.
	Pods Pods
	// Nodes are the nodes of these pods, for what they use; nil has none.
	Nodes func(context.Context) ([]*corev1.Node, error)
	// Clock is the time of logs, of sleep and of what is used; nil is the wall's.
	Clock clock.WithTicker
	// Heartbeat is the time between two lines of a log; 0 is 15 s.
	Heartbeat time.Duration
}

const (
	defaultHeartbeat = 15 * time.Second
	// lookAgain is the interval at which a followed log, and a running command, check whether their container still
	// runs.
	lookAgain = time.Second
)

// Config has a function for every route, and no limits of streams.
func (s *Scripted) Config() api.PodHandlerConfig {
	return api.PodHandlerConfig{
		RunInContainer: s.Exec, AttachToContainer: s.Attach, PortForward: s.Forward, GetContainerLogs: s.Logs,
		GetPods: s.Pods.GetPods, GetPodsFromKubernetes: s.Pods.GetPods,
		GetStatsSummary: s.Summary, CheckContainer: s.Check,
	}
}

func (s *Scripted) clock() clock.WithTicker {
	if s.Clock == nil {
		return clock.RealClock{}
	}
	return s.Clock
}

func (s *Scripted) heartbeat() time.Duration {
	if s.Heartbeat <= 0 {
		return defaultHeartbeat
	}
	return s.Heartbeat
}

// notFound and badRequest are errors that package api answers with 404 and 400.
type (
	notFound   string
	badRequest string
)

func (e notFound) Error() string      { return string(e) }
func (notFound) NotFound() bool       { return true }
func (e badRequest) Error() string    { return string(e) }
func (badRequest) InvalidInput() bool { return true }

// pod finds a pod. The words of the error are a kubelet's (k8s.io/kubernetes, pkg/kubelet/server/server.go).
func (s *Scripted) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := s.Pods.GetPod(ctx, namespace, name)
	kind := interface{ NotFound() bool }(nil)
	switch {
	case errors.As(err, &kind) && kind.NotFound(), apierrors.IsNotFound(err), err == nil && pod == nil:
		return nil, notFound(fmt.Sprintf("pod %q does not exist", name))
	case err != nil:
		return nil, fmt.Errorf("pod %s/%s: %w", namespace, name, err)
	}
	return pod, nil
}

// status finds what is known of a container of any kind.
func status(pod *corev1.Pod, container string) (corev1.ContainerStatus, bool) {
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for _, c := range list {
			if c.Name == container {
				return c, true
			}
		}
	}
	return corev1.ContainerStatus{}, false
}

// Check is an error, in a kubelet's words, unless a container runs, or any of its pod's for the empty name.
func (s *Scripted) Check(ctx context.Context, namespace, name, container string) error {
	pod, err := s.pod(ctx, namespace, name)
	if err != nil {
		return err
	}
	return running(pod, container)
}

func running(pod *corev1.Pod, container string) error {
	if container != "" {
		if c, ok := status(pod, container); !ok || c.State.Running == nil {
			return fmt.Errorf("container not found (%q)", container)
		}
		return nil
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil {
			return nil
		}
	}
	return fmt.Errorf("pod not found (%q)", pod.Name+"_"+pod.Namespace)
}

// errGone is why the context of a command ends when its container does.
var errGone = errors.New("the container has ended")

// while returns a context that also ends when a container has ended, for whatever cause, and a function that stops
// looking and waits for the goroutine that looks.
func (s *Scripted) while(ctx context.Context, pod *corev1.Pod, container string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := s.clock().NewTicker(lookAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C():
			}
			now, err := s.pod(ctx, pod.Namespace, pod.Name)
			missing := notFound("")
			if errors.As(err, &missing) || err == nil && (now.UID != pod.UID || running(now, container) != nil) {
				cancel(errGone)
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
