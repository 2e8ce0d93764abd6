package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

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
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && !object.IsDir {
			err = take(object.Key)
		}
		if err != nil {
			return err
		}
	}
}

// Read implements store.Bucket.
func (b bucket) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := b.NewReader(ctx, key, nil)
	if err != nil {
		return nil, missing(key, err)
	}
	return r, nil
}

// Write implements store.Bucket. A writer whose context ends before it is closed leaves no object.
func (b bucket) Write(ctx context.Context, key string, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel()
		_ = w.Close() // the first error is the one to tell
		return err
	}
	return w.Close()
}

// Delete implements store.Bucket.
func (b bucket) Delete(ctx context.Context, key string) error {
	return missing(key, b.Bucket.Delete(ctx, key))
}

// missing says of an object that isn't there what the store looks for. gocloud.dev also takes a right that lacks at GCS
// (gcsblob, ErrorCode) and a host that isn't known at Azure (azureblob, ErrorCode) for that.
func missing(key string, err error) error {
	var refused *googleapi.Error
	var unknown *net.DNSError
	if gcerrors.Code(err) == gcerrors.NotFound && !(errors.As(err, &refused) && refused.Code == http.StatusForbidden) && !errors.As(err, &unknown) {
		return fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return err
}
