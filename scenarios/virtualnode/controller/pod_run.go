package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// askAfter bounds the sync of the pods' cache, after which the controller asks the API server why it isn't full.
	askAfter = 3 * time.Second
	// sayAfter bounds the sync of any cache, after which the controller says that it waits.
	sayAfter = 10 * time.Second
)

// Run follows pods until the context ends, finishes what is under way, and returns nil. podSyncWorkers is the number
// of keys that each of the three queues works on at once; Run panics if it isn't positive. It returns an error if the
// context ends before the caches are full, if [PodControllerConfig].ErrorHandler returns one, and if it has run
// before. Pods and the provider stay as they are; no goroutine and no event handler stays.
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
	// Removing fails only for a handler that isn't there; nothing stays then either.
	defer func() { _ = pc.cfg.PodInformer.Informer().RemoveEventHandler(handler) }()
	if err := pc.wait(ctx, filling{"pods", handler.HasSynced}); err != nil {
		return err
	}
	pc.early.replay(pc.report)
	pc.relook(ctx)
	pc.endDangling(ctx, pc.dangling(ctx), podSyncWorkers)
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
	err := pc.wait(ctx, filling{"pods", pc.cfg.PodInformer.Informer().HasSynced})
	stop()
	asked.Wait()
	if err != nil || pc.env == nil {
		return err
	}
	return pc.wait(ctx,
		filling{"config maps", pc.cfg.ConfigMapInformer.Informer().HasSynced},
		filling{"secrets", pc.cfg.SecretInformer.Informer().HasSynced},
		filling{"services", pc.cfg.ServiceInformer.Informer().HasSynced},
	)
}

// filling is a cache and what is in it.
type filling struct {
	what string
	full func() bool
}

// askFull is how often a cache is asked. One that tells by itself (HasSyncedChecker) is new in client-go 0.36.
const askFull = 10 * time.Millisecond

// wait waits until all caches are full. It says which aren't when that takes long: an informer that was never started
// never fills.
func (pc *PodController) wait(ctx context.Context, caches ...filling) error {
	long := pc.clock.NewTimer(sayAfter)
	defer long.Stop()
	again := time.NewTicker(askFull)
	defer again.Stop()
	for missing := empty(caches); missing != ""; missing = empty(caches) {
		select {
		case <-again.C:
			continue
		case <-ctx.Done():
		case <-long.C():
			pc.trouble.say(ctx, fmt.Errorf("pod controller: nothing is done for pods, since after %s these caches aren't full: %s:"+
				" start their informers (a factory starts those that it made before) and allow them to list and watch", sayAfter, missing))
			continue
		}
		if err := pc.trouble.ended(); err != nil {
			return err
		}
		return fmt.Errorf("run pod controller: wait for the cache of %s: %w", missing, ctx.Err())
	}
	return nil
}

// empty names the caches that aren't full.
func empty(caches []filling) string {
	var names []string
	for _, c := range caches {
		if !c.full() {
			names = append(names, c.what)
		}
	}
	return strings.Join(names, ", ")
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
		_ = pc.trouble.report(ctx, access{"list", "pods", metav1.NamespaceAll}, err) // the informer keeps trying
	}
}
