package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/replay/analysis"
)

// Collector is what takes spans over OTLP/HTTP.
type Collector struct {
	// URL is where spans go; see TracesURL.
	URL string
	// Header is sent along, as collectors of providers want it.
	Header http.Header
	Client *http.Client
	Clock  clock.Clock
}

// TracesURL is where a collector with this endpoint takes spans: below it at v1/traces, unless it ends so already
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/, "Endpoint URLs for OTLP/HTTP").
func TracesURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("want the URL of a collector, such as http://localhost:4318")
	}
	if !strings.HasSuffix(u.Path, "/v1/traces") {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// Redacted is an endpoint for people: without the password or token that it may have.
func Redacted(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.User == nil {
		if i := strings.LastIndexByte(endpoint, '@'); i >= 0 { // whatever it is
			return "xxxxx" + endpoint[i:]
		}
		return mask.String(endpoint)
	}
	if _, has := u.User.Password(); !has {
		u.User = url.User("xxxxx") // a token
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.Redacted()
}

// Client is for a Collector. An answer takes at most 10 seconds, as OpenTelemetry's exporters have it by default
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter/, OTEL_EXPORTER_OTLP_TIMEOUT). A redirect is an answer like others: the
// headers of a Collector are secrets, and the host that it names needn't be the one that they are for.
func Client() *http.Client {
	return &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Headers reads OTEL_EXPORTER_OTLP_HEADERS: api-key=key,other=value, with values as in a URL.
func Headers(s string) (http.Header, error) {
	out := http.Header{}
	for pair := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, errors.New("want pairs such as api-key=key,other=value") // without the value: it may be a secret
		}
		out.Add(key, value)
	}
	return out, nil
}

const (
	tries      = 5
	mostWait   = time.Minute
	mostAnswer = 64 << 10
)

var between = retry.Doubling{First: time.Second, Most: 16 * time.Second}

// Send sends the spans of a tape, and returns how many there are. What a collector asks to be sent again is sent again.
func (c *Collector) Send(ctx context.Context, a *analysis.Analysis) (int, error) {
	all, err := spans(a)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(all, mostSpans) {
		body := otlpProto(a, some)
		for failures := 1; ; failures++ {
			wait, err := c.post(ctx, body)
			if err == nil {
				break
			}
			if wait < 0 || failures == tries {
				return 0, fmt.Errorf("send to %s: %w", Redacted(c.URL), err)
			}
			if err := retry.Pause(ctx, c.Clock, max(wait, between.After(failures))); err != nil {
				return 0, err
			}
		}
	}
	return len(all), nil
}

// post sends one request. wait is what a collector wants at least before the next try, and negative where there is to be none
// (https://github.com/open-telemetry/opentelemetry-proto, docs/specification.md, "OTLP/HTTP Response").
func (c *Collector) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	for key, values := range c.Header {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := c.Client.Do(req)
	if said := (*url.Error)(nil); errors.As(err, &said) {
		err = said.Err // without the URL, which has secrets
	}
	if err != nil {
		if ctx.Err() != nil {
			return -1, context.Cause(ctx)
		}
		return 0, err
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, err
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return -1, partial(answer)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			wait = min(time.Duration(min(s, 3600))*time.Second, mostWait)
		}
	default:
		wait = -1
	}
	if said := field(answer, 2); said != "" { // google/rpc/status.proto, Status.message
		return wait, fmt.Errorf("found status %s: %s", resp.Status, text(said))
	}
	return wait, fmt.Errorf("found status %s: want 200", resp.Status)
}

// partial returns what a collector refused of a request that it took.
func partial(answer []byte) error {
	// collector/trace/v1/trace_service.proto: ExportTraceServiceResponse.partial_success, and ExportTracePartialSuccess
	success := field(answer, 1)
	for rest := []byte(success); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return nil
		}
		rest = rest[n:]
		if number == 1 && kind == protowire.VarintType { // rejected_spans
			if rejected, n := protowire.ConsumeVarint(rest); n > 0 && rejected > 0 {
				return fmt.Errorf("it refused %d spans: %s", rejected, orElse(field([]byte(success), 2), "it doesn't say why"))
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, rest); n < 0 {
			return nil
		}
		rest = rest[n:]
	}
	return nil
}

// field is a string or message of a protobuf message; "" where it isn't there.
func field(m []byte, want protowire.Number) string {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return ""
		}
		m = m[n:]
		if number == want && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(m)
			return string(v)
		}
		if n = protowire.ConsumeFieldValue(number, kind, m); n < 0 {
			return ""
		}
		m = m[n:]
	}
	return ""
}
