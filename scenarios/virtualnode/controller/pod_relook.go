package controller

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Relook looks at every pod in the cache and at every pod of the provider once more and asks for the work that is left:
// pods that the filter takes in by now, pods and statuses that were given up after failures or were missed while the
// filter kept them out, deleted pods whose time is over, and dangling pods, which the provider runs and the API doesn't
// know. It returns when all of that is queued. Run does the same at the start, where it ends dangling
// pods before it is ready, and calls it at every RelookInterval; call it after a
// filter has changed. It may be called from any goroutine, and does nothing before Run has filled the caches and after
// Run has ended.
func (pc *PodController) Relook(ctx context.Context) {
	select {
	case <-pc.done:
		return
	default:
	}
	if !pc.early.over() || ctx.Err() != nil {
		return
	}
	pc.relook(ctx)
	for _, name := range pc.dangling(ctx) {
		pc.pods.add(name)
	}
}

// relook asks for what is left to do for the pods that the API knows or knew.
func (pc *PodController) relook(ctx context.Context) {
	pods, err := pc.lister.List(labels.Everything())
	if err != nil {
		klog.FromContext(ctx).Error(err, "Pod controller can't list its cache")
		return
	}
	for _, pod := range pods {
		if pc.filter(ctx, pod) {
			pc.relookAt(pod)
		}
	}
	for _, name := range pc.store.names() {
		pc.pods.add(name)
	}
}

// relookAt asks for what is left to do for one pod.
func (pc *PodController) relookAt(pod *corev1.Pod) {
	fresh := pc.store.remember(pod)
	record := pc.store.read(nameOf(pod), pod.UID)
	if fresh || record.synced != podFingerprint(pod) {
		pc.pods.add(nameOf(pod))
	}
	if pc.statusDiffers(pod, &record) {
		pc.statuses.add(keyOf(pod))
	}
	if pod.DeletionTimestamp != nil && !record.removeAt.IsZero() {
		pc.removals.addAfter(keyOf(pod), record.removeAt.Sub(pc.clock.Now()))
	}
}

// dangling lists the names of the pods that the provider runs without the API's knowledge, each once; the book has them
// as gone. A provider that can't say what it runs is asked again at the next look.
func (pc *PodController) dangling(ctx context.Context) (names []string) {
	running, err := pc.provider.GetPods(ctx)
	if err != nil {
		if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Pod controller can't list the provider's pods")
		}
		return nil
	}
	listed := map[string]bool{}
	for _, pod := range running {
		if pod == nil {
			continue
		}
		known, err := pc.lister.Pods(pod.Namespace).Get(pod.Name)
		if err == nil && (pod.UID == "" || pod.UID == known.UID) {
			continue
		}
		name := nameOf(pod)
		pc.store.lost(name, pod.UID)
		if !listed[name] {
			listed[name] = true
			names = append(names, name)
		}
	}
	return names
}

// endDangling has the provider end dangling pods, workers of them at once, and returns when it was asked about each. It
// runs before the queues do. What fails is left to them, which try again.
func (pc *PodController) endDangling(ctx context.Context, names []string, workers int) {
	var working sync.WaitGroup
	defer working.Wait()
	free := make(chan struct{}, workers)
	for _, name := range names {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		working.Go(func() {
			defer func() { <-free }()
			end := func(ctx context.Context) error { return pc.syncPod(ctx, name) }
			if err := pc.cfg.Tracer.do(ctx, ofKey("SyncPod", name), end); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Pod controller can't end a pod that the API doesn't know", "pod", name)
				pc.pods.add(name)
			}
		})
	}
}

// atEach calls do at every tick until the context ends, and stops the ticker then.
func atEach(ctx context.Context, ticker clock.Ticker, do func(context.Context)) {
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			do(ctx)
		}
	}
}
