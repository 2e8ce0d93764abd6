package informer

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// Set runs informers together. The zero value is ready to use; its methods are to be called one after the other.
type Set struct {
	informers []cache.SharedIndexInformer
	running   sync.WaitGroup
}

// Add takes an informer in, before Start.
func (s *Set) Add(informers ...cache.SharedIndexInformer) {
	s.informers = append(s.informers, informers...)
}

// Start runs the informers until ctx ends.
func (s *Set) Start(ctx context.Context) {
	for _, informer := range s.informers {
		s.running.Go(func() { informer.RunWithContext(ctx) })
	}
}

// Wait returns when every informer that was started has ended.
func (s *Set) Wait() { s.running.Wait() }
