package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// askAfter is how long the cache of pods may take before the controller asks the API server why it isn't full.
const askAfter = 3 * time.Second

// Run follows pods until the context ends, finishes what is under way, and returns nil. podSyncWorkers is how many keys
// each of the three queues works on at once; Run panics if it isn't positive. It returns an error if the context ends
// before the caches are full, if [PodControllerConfig].ErrorHandler returns one, and if it has run before. Pods and
// the provider stay as they are; no goroutine and no event handler is left behind.
func (pc *PodController) Run(ctx context.Context, podSyncWorkers int) (retErr error) {
	if podSyncWorkers <= 0 {
		panic(fmt.Sprintf("virtualnode: run a pod controller with %d workers: want at least 1", podSyncWorkers))
	}
	if !pc.ran.CompareAndSwap(false, true) {
		return errors.New("run pod controller: it has run before: make a new one")
	}
	defer func() {
		pc.err = retErr
		close(pc.done)
	}()
	ctx, stop := context.WithCancelCause(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop(nil)
	pc.trouble.stop = stop

	if notifier, ok := pc.cfg.Provider.(PodNotifier); ok {
		notifier.NotifyPods(ctx, pc.reporter(ctx))
	} else {
		poller := newPodPoller(pc)
		poller.NotifyPods(ctx, pc.reporter(ctx))
		pc.provider = poller
		working.Go(func() { poller.run(ctx) })
	}
	if err := pc.waitForCaches(ctx); err != nil {
		return err
	}
	handler, err := pc.cfg.PodInformer.Informer().AddEventHandler(pc.handler(ctx))
	if err != nil {
		return fmt.Errorf("run pod controller: follow pods: %w", err)
	}
	// Removing fails only for a handler that isn't there; nothing is left behind then either.
	defer func() { _ = pc.cfg.PodInformer.Informer().RemoveEventHandler(handler) }()
	if err := pc.wait(ctx, "pods", handler.HasSyncedChecker()); err != nil {
		return err
	}
	pc.early.replay(pc.report)
	pc.Relook(ctx)
	for _, q := range []*queue{pc.pods, pc.statuses, pc.removals} {
		working.Go(func() { q.run(ctx, podSyncWorkers) })
	}
	relooks := pc.clock.NewTicker(orDefault(pc.cfg.RelookInterval, DefaultRelookInterval))
	working.Go(func() { atEach(ctx, relooks, pc.Relook) })
	close(pc.ready)
	<-ctx.Done()
	return pc.trouble.ended()
}

// waitForCaches waits until the caches are full. A server that refuses the list of pods is spoken of.
func (pc *PodController) waitForCaches(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	var asked sync.WaitGroup
	asked.Go(func() { pc.askWhyEmpty(asking) })
	err := pc.wait(ctx, "pods", pc.cfg.PodInformer.Informer().HasSyncedChecker())
	stop()
	asked.Wait()
	if err != nil || pc.env == nil {
		return err
	}
	return errors.Join(
		pc.wait(ctx, "config maps", pc.cfg.ConfigMapInformer.Informer().HasSyncedChecker()),
		pc.wait(ctx, "secrets", pc.cfg.SecretInformer.Informer().HasSyncedChecker()),
		pc.wait(ctx, "services", pc.cfg.ServiceInformer.Informer().HasSyncedChecker()),
	)
}

// wait waits until a cache is full.
func (pc *PodController) wait(ctx context.Context, what string, cache cache.DoneChecker) error {
	select {
	case <-cache.Done():
		return nil
	case <-ctx.Done():
		if err := pc.trouble.ended(); err != nil {
			return err
		}
		return fmt.Errorf("run pod controller: wait for the cache of %s: %w", what, ctx.Err())
	}
}

// askWhyEmpty lists one pod when the cache takes long, since an informer keeps its errors to itself.
func (pc *PodController) askWhyEmpty(ctx context.Context) {
	timer := pc.clock.NewTimer(askAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C():
	}
	_, err := pc.client.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1})
	if ctx.Err() == nil {
		_ = pc.trouble.told(ctx, access{"list", "pods", metav1.NamespaceAll}, err) // the informer goes on trying
	}
}
