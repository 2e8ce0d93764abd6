package fakeclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/replay/internal/writes"
	"github.com/nodesim/nodesim/timeline"
)

// Client is a kubernetes.Interface that shows a replay. See the package comment.
// It is safe for concurrent use.
type Client struct {
	*fake.Clientset

	player       *replay.Player
	cluster      *replay.Cluster
	owned        bool // the player is the client's to close
	writes       Writes
	watchList    bool
	dynamic      *dynamicClient
	metadata     *metadataClient
	writeHandler *writes.Handler
	log          writes.Tail[recorded]
	reads        atomic.Int64
	refusals     atomic.Int64 // of the cluster, at the last Settle
	notes        notes
	unsubscribe  func()

	running sync.WaitGroup // watches, and the forgetting of actions
	ctx     context.Context
	cancel  context.CancelFunc
	// readable ends, with its cause, at the first object of a list or a watch that can't be decoded: an informer lists again and again.
	readable context.Context
	refuted  context.CancelCauseFunc

	mu      sync.Mutex
	streams map[*stream]struct{}
	given   map[request]given
	tracked []*tracked
	tracks  atomic.Bool // there is one
}

var (
	_ kubernetes.Interface = (*Client)(nil)
	_ testing.FakeClient   = (*Client)(nil)
)

// Option is one of this package, or one of a Player: replay.From, fault.Inject.
type Option = replay.Option

type settings struct {
	writes    Writes
	watchList bool
}

// WithWrites says what becomes of writes; without it they are refused.
func WithWrites(w Writes) Option {
	return option.New("fakeclient.WithWrites", func(s *settings) { s.writes = w })
}

// WithWatchList offers streamed lists (KEP-3157), as API servers do since
// Kubernetes 1.34, in place of a list and a watch from it. An informer then
// learns of the first objects in random order: client-go's reflector gathers
// them in a map before it hands them on (temporaryStore in
// tools/cache/reflector.go, as of v0.37). It keeps the order of a list.
func WithWatchList() Option {
	return option.New("fakeclient.WithWatchList", func(s *settings) { s.watchList = true })
}

// New makes a client that is at the beginning of a tape, its initial lists
// applied: informers can be started and will sync. Close it when done.
func New(src timeline.Source, opts ...Option) (*Client, error) {
	var s settings
	p, err := replay.NewPlayer(src, option.Apply(&s, opts)...)
	if err != nil {
		return nil, err
	}
	c, err := newClient(p, s)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	c.owned = true
	return c, nil
}

// ForPlayer makes a client that shows what another owner plays. It applies the
// initial lists if that hasn't happened, and doesn't close the Player.
func ForPlayer(p *replay.Player, opts ...Option) (*Client, error) {
	var s settings
	if err := option.Refuse("fakeclient.ForPlayer", option.Apply(&s, opts), "those of the Player where it is made"); err != nil {
		return nil, err
	}
	return newClient(p, s)
}

func newClient(p *replay.Player, s settings) (*Client, error) {
	if err := p.Open(); err != nil {
		return nil, err
	}
	c := &Client{
		Clientset: fake.NewSimpleClientset(), player: p, cluster: p.Cluster(),
		writes: s.writes, writeHandler: writes.New(p.Cluster(), p.Header(), nil), watchList: s.watchList, streams: map[*stream]struct{}{}, given: map[request]given{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.readable, c.refuted = context.WithCancelCause(context.Background())
	c.serve(&c.Clientset.Fake, typed{})
	c.dynamic = newDynamic(c)
	c.metadata = newMetadata(c)
	c.discover()
	c.notes.changed = map[string]struct{}{}
	c.unsubscribe = p.Subscribe(c.notes.tell)
	return c, nil
}

// Dynamic is the same replay for code that takes a dynamic.Interface.
func (c *Client) Dynamic() dynamic.Interface { return c.dynamic }

// Metadata is the same replay for code that takes a metadata.Interface.
func (c *Client) Metadata() metadata.Interface { return c.metadata }

// Player returns what moves the replay.
func (c *Client) Player() *replay.Player { return c.player }

// Run plays the tape at the Player's pace while informers follow as fast as
// they can. It returns when the tape has ended, not when every informer has
// caught up: Settle does.
func (c *Client) Run(ctx context.Context) error { return c.player.Run(ctx) }

// Close ends every watch and waits for what the client has started. Informers
// should be stopped before: they would try to watch again and be refused.
func (c *Client) Close() error {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.running.Wait()
	c.unsubscribe()
	if c.owned {
		return c.player.Close()
	}
	return nil
}

// start runs f on a goroutine that Close waits for; false after Close.
func (c *Client) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.running.Go(f)
	return true
}

// IsWatchListSemanticsUnSupported tells informers whether they may stream
// lists: see [WithWatchList].
func (c *Client) IsWatchListSemanticsUnSupported() bool { return !c.watchList }

// discover fills discovery from the tape.
func (c *Client) discover() {
	lists := resourceLists(c.cluster.Resources())
	for _, f := range []*testing.Fake{&c.Clientset.Fake, &c.dynamic.FakeDynamicClient.Fake, &c.metadata.FakeMetadataClient.Fake} {
		f.Resources = lists
	}
	if d, ok := c.Discovery().(*fakediscovery.FakeDiscovery); ok {
		if v := c.player.Header().Source.Server; v != "" {
			d.FakedServerVersion = serverVersion(v)
		}
	}
}

func serverVersion(v string) *version.Info {
	info := &version.Info{GitVersion: v}
	var major, minor int
	if n, _ := fmt.Sscanf(v, "v%d.%d", &major, &minor); n == 2 {
		info.Major, info.Minor = fmt.Sprint(major), fmt.Sprint(minor)
	}
	return info
}

func gvrOf(r timeline.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}
