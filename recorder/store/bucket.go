package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Bucket is what a store keeps its objects in. Its methods may be called from several goroutines. An object that isn't there is an
// error that is fs.ErrNotExist. Where a right or room lacks, the error says what is wanted: only the bucket knows.
type Bucket interface {
	// List hands out the keys that begin with a prefix, in any order, until take returns an error, which it returns.
	List(ctx context.Context, prefix string, take func(key string) error) error
	// Read opens an object.
	Read(ctx context.Context, key string) (io.ReadCloser, error)
	// Write makes an object, or replaces it, in one step: what a failure leaves is what was there.
	Write(ctx context.Context, key string, from io.Reader) error
	// Delete removes an object.
	Delete(ctx context.Context, key string) error
	// Close gives up what the bucket holds.
	Close() error
}

// Opener opens the bucket of a URL.
type Opener func(ctx context.Context, address *url.URL) (Bucket, error)

var (
	mu      sync.Mutex
	openers = map[string]Opener{"file": openFolder}
)

// Register makes the buckets of a scheme of URLs known, such as s3. A program registers them before it opens any.
func Register(scheme string, open Opener) {
	mu.Lock()
	defer mu.Unlock()
	openers[scheme] = open
}

// elsewhere are schemes that programs with more linked know.
var elsewhere = []string{"azblob", "gs", "s3"}

// Make is Open of a store that is written to: a folder that isn't there is made. Buckets of clouds have to be there.
func Make(ctx context.Context, address string) (*Store, error) {
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		if err := makeFolder(u); err != nil {
			return nil, fmt.Errorf("store %s: %w", u.Redacted(), err)
		}
	}
	return Open(ctx, address)
}

// Open opens the store of a URL: file:///var/lib/tapes, a folder that is there, and those that are registered.
func Open(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, fmt.Errorf("store %.200q: want a URL, such as file:///var/lib/tapes", address)
	}
	mu.Lock()
	open, known := openers[u.Scheme]
	schemes := strings.Join(slices.Sorted(maps.Keys(openers)), ", ")
	mu.Unlock()
	switch {
	case !known && slices.Contains(elsewhere, u.Scheme):
		return nil, fmt.Errorf("store %s: this build of nodesim has no %s, but %s: want nodesim-cloud: an archive of each release, or make cloud", u.Redacted(), u.Scheme, schemes)
	case !known:
		return nil, fmt.Errorf("store %s: found the scheme %s, want %s", u.Redacted(), u.Scheme, schemes)
	}
	b, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", u.Redacted(), err)
	}
	return &Store{Bucket: b, Address: u.Redacted()}, nil
}

// missing reports whether an error says that an object isn't there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
