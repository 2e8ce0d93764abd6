package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
)

// Handler is the API below [Path]. It has no middle of its own: each request is
// answered in its own goroutine, and ends with its context.
func (c *Control) Handler() http.Handler { return http.HandlerFunc(c.serve) }

// verb holds what can be done by POST. It returns what is answered.
type verb func(ctx context.Context, c *Control, body []byte) (any, error)

var verbs = map[string]verb{
	"pause":  bare((*Control).Pause),
	"resume": bare((*Control).Resume),
	"step":   step,
	"seek":   seek,
	"speed":  speed,
	"mark":   mark,
	"fault":  faulty,
}

func (c *Control) serve(w http.ResponseWriter, r *http.Request) {
	word, below := strings.CutPrefix(r.URL.Path, Path)
	do, known := verbs[word]
	if word == "status" {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuse(w, word, http.MethodGet)
			return
		}
		answer(w, c.Status())
		return
	}
	switch {
	case !below || !known:
		fail(w, status(http.StatusNotFound, metav1.StatusReasonNotFound,
			"the server could not find the requested resource: want status, pause, resume, step, seek, speed, mark or fault below "+Path))
		return
	case r.Method != http.MethodPost:
		refuse(w, word, http.MethodPost)
		return
	}
	body, err := read(r)
	if err != nil {
		fail(w, err)
		return
	}
	// A step waits for its watches, whose server ends those that don't read: no
	// need to end this request as well.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	done, err := do(r.Context(), c, body)
	if err != nil {
		fail(w, c.explain(err))
		return
	}
	answer(w, done)
}

// mostBytes bounds how long a request may be.
const mostBytes = 64 << 10

func read(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBytes+1))
	if err != nil {
		return nil, apierrors.NewBadRequest("read the request: " + err.Error())
	}
	if len(body) > mostBytes {
		return nil, apierrors.NewRequestEntityTooLargeError("want at most 64 KiB")
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, status(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the body of the request was in an unknown format: want Content-Type application/json")
	}
	return body, nil
}

// decode reads one JSON document that has no field but those of into.
func decode(body []byte, into any) error {
	if body == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return apierrors.NewBadRequest("want one JSON document and nothing after it")
	}
	return nil
}

// bare is a verb without parameters.
func bare(do func(*Control)) verb {
	return func(_ context.Context, c *Control, body []byte) (any, error) {
		if err := decode(body, &struct{}{}); err != nil {
			return nil, err
		}
		do(c)
		return c.Status(), nil
	}
}

func step(ctx context.Context, c *Control, body []byte) (any, error) {
	var ask Steps
	if err := decode(body, &ask); err != nil {
		return nil, err
	}
	if err := c.Check(ask); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	s, err := c.Step(ctx, ask)
	return s, err
}

func seek(ctx context.Context, c *Control, body []byte) (any, error) {
	var ask Seek
	if err := decode(body, &ask); err != nil {
		return nil, err
	}
	to, err := ParseTarget(ask.To)
	if err != nil {
		return nil, apierrors.NewBadRequest("to: " + err.Error())
	}
	note, err := c.SeekTo(ctx, to)
	if err != nil {
		return nil, err
	}
	s := c.Status()
	s.Note = note
	return s, nil
}

func speed(_ context.Context, c *Control, body []byte) (any, error) {
	var ask Speed
	if err := decode(body, &ask); err != nil {
		return nil, err
	}
	s, err := replay.ParseSpeed(ask.Speed)
	if err != nil {
		return nil, apierrors.NewBadRequest("speed: " + err.Error())
	}
	c.SetSpeed(s)
	return c.Status(), nil
}

func mark(_ context.Context, c *Control, body []byte) (any, error) {
	var ask Mark
	if err := decode(body, &ask); err != nil {
		return nil, err
	}
	if err := c.Mark(ask.Name); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return c.Status(), nil
}

func faulty(_ context.Context, c *Control, body []byte) (any, error) {
	var ask Do
	if err := decode(body, &ask); err != nil {
		return nil, err
	}
	if err := c.sources.Do(ask.Fault); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return c.Status(), nil
}

// explain finds the answer to an error: the client's own, the tape's, or that the
// tape can't be moved so.
func (c *Control) explain(err error) error {
	switch {
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError("the request ended on the way: "+err.Error(), 1)
	case c.player.Status().Err != nil:
		return apierrors.NewInternalError(err)
	}
	return status(http.StatusConflict, metav1.StatusReasonConflict, err.Error())
}

func status(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

// refuse answers a method that a path doesn't know.
func refuse(w http.ResponseWriter, word, want string) {
	w.Header().Set("Allow", want)
	fail(w, status(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		Path+word+": the method isn't allowed: want "+want))
}

func fail(w http.ResponseWriter, err error) {
	s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		s = known.Status()
	}
	s.Kind, s.APIVersion = "Status", "v1"
	write(w, int(s.Code), s)
}

func answer(w http.ResponseWriter, what any) { write(w, http.StatusOK, what) }

func write(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(code)
	// Where the client has gone there is no reader of the error.
	_ = json.NewEncoder(w).Encode(what)
}
