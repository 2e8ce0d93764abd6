package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// stalled is how long a server may send nothing, unless the Client says otherwise.
const stalled = 30 * time.Second

// transport has the bounds of http.DefaultTransport, and one for the wait for an answer. What it fetches is compressed or
// not by itself: nothing may be unpacked on the way, or a download couldn't go on in its middle.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

func (c *Client) web() *http.Client {
	t := c.Transport
	if t == nil {
		t = transport()
	}
	return &http.Client{Transport: t, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= 10:
			return final{errors.New("found more than 10 redirects")}
		case via[0].URL.Scheme == "https" && next.URL.Scheme != "https":
			return final{fmt.Errorf("found a redirect to %s://%s: want https", next.URL.Scheme, next.URL.Host)}
		}
		return nil
	}}
}

// attempt asks for what is missing in part, and appends it.
func (c *Client) attempt(ctx context.Context, web *http.Client, f File, part string) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return final{err}
	}
	defer func() {
		if failed := out.Close(); failed != nil && err == nil {
			err = final{failed}
		}
	}()
	patience := c.Stalled
	if patience == 0 {
		patience = stalled
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(patience, func() { cancel(fmt.Errorf("the server sent nothing for %s", patience)) })
	defer watch.Stop()

	at := size(part)
	response, err := ask(ctx, web, f.URL, at)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if at, err = begin(response, at); err != nil {
		if at == 0 {
			err = errors.Join(err, cut(out))
		}
		return err
	}
	if at == 0 {
		if err := cut(out); err != nil {
			return err
		}
	}
	total := int64(-1)
	if response.ContentLength >= 0 {
		total = at + response.ContentLength
	}
	if total > f.Limit {
		return final{fmt.Errorf("found a file of %d bytes, want at most %d", total, f.Limit)}
	}
	buffer := make([]byte, 256<<10)
	for {
		n, ended := response.Body.Read(buffer)
		watch.Reset(patience)
		if at+int64(n) > f.Limit {
			return final{fmt.Errorf("found a file of more than %d bytes, want at most that", f.Limit)}
		}
		if _, err := out.Write(buffer[:n]); err != nil {
			return final{errors.Join(err, os.Remove(part))} // a full disk isn't left full
		}
		at += int64(n)
		if c.Progress != nil && n > 0 {
			c.Progress(at, total)
		}
		switch {
		case errors.Is(ended, io.EOF):
			return nil
		case ended != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case ended != nil:
			return ended
		}
	}
}

func cut(out *os.File) error {
	if err := out.Truncate(0); err != nil {
		return final{err}
	}
	return nil
}

// ask requests a file from a byte on.
func ask(ctx context.Context, web *http.Client, address string, at int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, final{err}
	}
	if at > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
	}
	response, err := web.Do(request)
	if err == nil {
		return response, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err // without the address, which the caller names
	}
	var untrusted *tls.CertificateVerificationError
	var dial *net.OpError
	switch {
	case errors.As(err, &untrusted):
		return nil, final{err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return nil, err
}

// begin says at which byte of the file an answer begins. An error at byte 0 means that what is there is of no use.
func begin(r *http.Response, at int64) (int64, error) {
	switch r.StatusCode {
	case http.StatusOK:
		return 0, nil // all of it, whatever was asked for
	case http.StatusPartialContent:
		if from := r.Header.Get("Content-Range"); !strings.HasPrefix(from, fmt.Sprintf("bytes %d-", at)) {
			return 0, fmt.Errorf("found the range %q, want one from byte %d", from, at)
		}
		return at, nil
	case http.StatusRequestedRangeNotSatisfiable:
		return 0, fmt.Errorf("found %s for the bytes from %d on", r.Status, at)
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return at, busy{r.Status, retryAfter(r.Header, time.Now())}
	}
	if r.StatusCode >= 500 {
		return at, busy{r.Status, retryAfter(r.Header, time.Now())}
	}
	return at, final{fmt.Errorf("found %s, want 200 OK", r.Status)}
}
