package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// A ContainerLogsHandlerFunc opens a container's log. The handler reads it to its end or to opts.LimitBytes, and closes
// it once, at the end or, while a Read may be under way, when the client goes; Close must then end that Read.
type ContainerLogsHandlerFunc func(ctx context.Context, namespace, podName, containerName string, opts ContainerLogOpts) (io.ReadCloser, error)

// containerLogs streams a log, each read sent on at once.
func containerLogs(logs ContainerLogsHandlerFunc) http.Handler {
	if logs == nil {
		return notImplemented("container logs")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		opts, err := parseLogOptions(r.URL.Query())
		if err != nil {
			writeError(w, err)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		log, err := logs(ctx, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"), opts)
		if err != nil {
			writeError(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if log == nil {
			return
		}
		done := closeWith(ctx, log)
		defer done()
		if opts.NoTail && !opts.Follow {
			return
		}
		var text io.Reader = log
		if opts.LimitBytes > 0 {
			text = io.LimitReader(log, int64(opts.LimitBytes))
		}
		if opts.Follow { // the client waits for the headers of a log that is still empty
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		sent, err := io.Copy(flushing{w}, text)
		switch {
		case err == nil || ctx.Err() != nil:
		case sent == 0 && !opts.Follow:
			writeError(w, err)
		default: // as a kubelet does, which has sent its headers as well
			_, _ = io.WriteString(w, err.Error())
		}
	})
}

// closeWith closes something when the context ends, or when the function that it returns is called, whatever comes
// first, and once; that function returns when it is closed.
func closeWith(ctx context.Context, c io.Closer) (done func()) {
	var once sync.Once
	closed := func() { once.Do(func() { _ = c.Close() }) }
	stop := context.AfterFunc(ctx, closed)
	return func() {
		stop()
		closed()
	}
}

// flushing sends every write on at once.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		if err = http.NewResponseController(f.ResponseWriter).Flush(); errors.Is(err, http.ErrNotSupported) {
			err = nil // behind a middleware that can't: it comes when the server sends it
		}
	}
	return n, err
}
