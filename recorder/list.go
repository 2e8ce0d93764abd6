package recorder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// pageSize is the limit that kubectl and client-go's pager ask for at once.
const pageSize = 500

// pageTimeout ends a page that doesn't come to an end.
const pageTimeout = 2 * time.Minute

// list reads all objects of a resource, page by page, and hands each one as
// compact JSON with its kind and apiVersion, which servers leave out inside
// of lists, to item; the bytes are good until item returns. It returns the
// version that the list was taken at. Where the server forgets a page's
// continuation, restart is called and everything is read again in one piece.
func (c *client) list(ctx context.Context, r timeline.Resource, restart func(), item func([]byte) error) (string, error) {
	l := lister{client: c, res: r, item: item}
	version, err := l.pages(ctx, pageSize)
	if expired(err) {
		restart()
		version, err = l.pages(ctx, 0)
	}
	return version, err
}

// first reads the first page only, and reports whether that was all.
func (c *client) first(ctx context.Context, r timeline.Resource, item func([]byte) error) (version string, all bool, err error) {
	l := lister{client: c, res: r, item: item}
	next, err := l.page(ctx, url.Values{"limit": {strconv.Itoa(pageSize)}}, &version)
	return version, next == "", err
}

// lister keeps the buffers of one list.
type lister struct {
	client  *client
	res     timeline.Resource
	item    func([]byte) error
	buf     []byte // of a splitter
	compact []byte
	object  []byte
}

func (l *lister) pages(ctx context.Context, limit int) (version string, err error) {
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	for {
		next, err := l.page(ctx, query, &version)
		if err != nil {
			return "", err
		}
		if next == "" {
			return version, nil
		}
		query.Set("continue", next)
	}
}

// page hands out the items of one page. It sets the version of the list where
// that is not known yet, and returns what continues it.
func (l *lister) page(ctx context.Context, query url.Values, version *string) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	resp, err := l.client.get(ctx, path(l.res), query, http.Header{})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if l.buf == nil {
		l.buf = make([]byte, 64<<10)
	}
	split := &splitter{r: resp.Body, buf: l.buf}
	defer func() { l.buf = split.buf }()
	found := false
	err = split.members(func(name string) error {
		if name == "items" {
			if b, err := split.peek(); err != nil || b == '[' {
				return errors.Join(err, split.elements(func() error { return l.element(split) }))
			}
		}
		raw, err := split.value()
		if err != nil || name != "metadata" {
			return err
		}
		meta, err := rawjson.Compact(nil, raw)
		if found = rawjson.IsObject(meta); found {
			next = rawjson.Text(meta, "continue")
			if *version == "" {
				*version = rawjson.Text(meta, "resourceVersion")
			}
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("found no metadata, want a list of %s", l.res.Kind)
	}
	if err != nil {
		return "", fmt.Errorf("read the list: %w", shorter(err))
	}
	return next, nil
}

// element hands out one item.
func (l *lister) element(split *splitter) error {
	raw, err := split.value()
	if err != nil {
		return err
	}
	if l.compact, err = rawjson.Compact(l.compact[:0], raw); err != nil {
		return err
	}
	return l.item(l.named(l.compact))
}

// named puts kind and apiVersion into an object that has none.
func (l *lister) named(item []byte) []byte {
	if rawjson.Get(item, "kind") != nil || len(item) < 3 {
		return item
	}
	l.object = appendNamed(l.object[:0], item, l.res.Kind, l.res.APIVersion())
	return l.object
}

func appendNamed(dst, item []byte, kind, apiVersion string) []byte {
	dst = rawjson.AppendString(append(dst, `{"kind":`...), kind)
	dst = rawjson.AppendString(append(dst, `,"apiVersion":`...), apiVersion)
	return append(append(dst, ','), item[1:]...)
}
