package main

import (
	"context"
	"io"
	"net/url"

	"gocloud.dev/blob"

	"github.com/nodesim/nodesim/recorder/store"
)

// bucket is one of a cloud as a store has it.
type bucket struct{ *blob.Bucket }

// open opens the bucket of a URL. Whether it can be reached shows when something is asked of it.
func open(ctx context.Context, u *url.URL) (store.Bucket, error) {
	b, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, err
	}
	return bucket{b}, nil
}

// List implements store.Bucket.
func (b bucket) List(ctx context.Context, prefix string, take func(string) error) error {
	all := b.Bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := all.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a connection that ends early is an error that wraps io.EOF, and not the end of the list
			return nil
		}
		if err != nil {
			return explain(err, listing)
		}
		if object.IsDir {
			continue
		}
		if err := take(object.Key); err != nil {
			return err
		}
	}
}

// Read implements store.Bucket.
func (b bucket) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := b.NewReader(ctx, key, nil)
	if err != nil {
		return nil, missing(key, explain(err, reading))
	}
	return r, nil
}

// Write implements store.Bucket. A writer whose context ends before it is closed leaves no object.
func (b bucket) Write(ctx context.Context, key string, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return explain(err, writing)
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel()
		_ = w.Close() // the first error is the one to tell
		return explain(err, writing)
	}
	return explain(w.Close(), writing)
}

// Delete implements store.Bucket.
func (b bucket) Delete(ctx context.Context, key string) error {
	return missing(key, explain(b.Bucket.Delete(ctx, key), deleting))
}
