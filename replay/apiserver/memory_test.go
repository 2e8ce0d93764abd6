package apiserver_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// The names of the demo's nodes at its end.
var young = []string{"ip-10-0-1-44", "ip-10-0-2-77", "ip-10-0-3-05"}

// In a bubble a roll of half a minute takes no time, and an informer sees all of
// it.
func TestInformerInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := demo(t)
		stop := play(t, p)
		clients := kubernetes.NewForConfigOrDie(s.RESTConfig())
		factory := informers.NewSharedInformerFactory(clients, 0)
		nodes := factory.Core().V1().Nodes()
		var mu sync.Mutex
		gone := 0
		if _, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
			mu.Lock()
			gone++
			mu.Unlock()
		}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), nodes.Informer().HasSynced) {
			t.Fatal("it never synced")
		}
		<-time.After(time.Minute)
		synctest.Wait()
		var names []string
		for _, n := range nodes.Informer().GetStore().List() {
			names = append(names, n.(*corev1.Node).Name)
		}
		slices.Sort(names)
		mu.Lock()
		if !slices.Equal(names, young) || gone != 3 {
			t.Errorf("nodes %s, %d gone", names, gone)
		}
		mu.Unlock()
		stop()
		s.Close()
		cancel()
		factory.Shutdown()
	})
}

// controller-runtime's cache has clients of its own making.
func TestControllerRuntimesCacheInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := demo(t)
		stop := play(t, p)
		c, err := ctrlcache.New(s.RESTConfig(), ctrlcache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Start(ctx) }()
		if !c.WaitForCacheSync(ctx) {
			t.Fatal("it never synced")
		}
		var list corev1.NodeList
		if err := c.List(ctx, &list); err != nil || len(list.Items) != 3 {
			t.Fatalf("%d nodes, %v", len(list.Items), err)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if err := c.List(ctx, &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, n := range list.Items {
			names = append(names, n.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, young) {
			t.Errorf("nodes %s", names)
		}
		stop()
		s.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A Server that is closed ends what is open, of clients that read and of those that don't, and refuses what comes.
func TestCloseEndsWhatIsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := demo(t)
		clients := kubernetes.NewForConfigOrDie(s.RESTConfig())
		w, err := clients.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()                  // before anyone has read
		for range w.ResultChan() { // until it is closed
		}
		if _, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
			t.Error("it still answers")
		}
		s.Close()
		never, _ := demo(t)
		never.Close()
		if _, err := kubernetes.NewForConfigOrDie(never.RESTConfig()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
			t.Error("one that was closed before its first client answers")
		}
	})
}

// The connection of a request that is refused for its size stays half open for half a second, so that the client
// can read why.
func TestHeadersHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := demo(t)
		c, err := rest.HTTPClientFor(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		req := request(t, "http://localhost/version", "")
		req.Header.Set("X-Long", strings.Repeat("x", 2<<20))
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s, want 431", res.Status)
		}
	})
}
