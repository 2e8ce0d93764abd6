package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// statusError is a refusal of the API server: what a Status object said, in a
// response or in an ERROR event of a watch.
type statusError struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
	after time.Duration
}

func parseStatus(body []byte) *statusError {
	s := new(statusError)
	if json.Unmarshal(body, s) != nil {
		s = new(statusError)
	}
	if s.Message == "" {
		text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		s.Message = clip(text, 200)
	}
	s.after = time.Duration(min(max(s.Details.RetryAfterSeconds, 0), 3600)) * time.Second
	return s
}

func (s *statusError) Error() string {
	reason := s.Reason
	if reason == "" || reason == "Unknown" {
		reason = http.StatusText(s.Code)
	}
	return strings.TrimSuffix(strings.TrimSpace(fmt.Sprintf("%d %s: %s", s.Code, reason, s.Message)), ":")
}

// expired reports whether the server has forgotten the version asked for: the
// one failure of a watch that needs a new list.
func expired(err error) bool {
	var s *statusError
	return errors.As(err, &s) && (s.Code == http.StatusGone || s.Reason == "Expired" || s.Reason == "Gone")
}

// retryAfter returns what the server asked for, or 0.
func retryAfter(err error) time.Duration {
	var s *statusError
	if errors.As(err, &s) {
		return s.after
	}
	return 0
}

// shorter drops the method and address that net/http puts before an error:
// the caller that reports it says what was asked for.
func shorter(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// clip shortens a text to n bytes, for messages.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
