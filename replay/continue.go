package replay

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/timeline"
)

// token is the continue token, in the API server's own form
// (k8s.io/apiserver/pkg/storage/continue.go). A negative version continues with
// what is there now; the start follows the prefix of the request's keys.
type token struct {
	Form    string      `json:"v"`
	Version json.Number `json:"rv"`
	Start   string      `json:"start"`
}

func (t token) encode() string {
	b, _ := json.Marshal(t) // digits and text: it can't fail
	return base64.RawURLEncoding.EncodeToString(b)
}

const tokenForm = "meta.k8s.io/v1"

// decodeToken is storage.DecodeContinue of k8s.io/apiserver, with its words.
func decodeToken(text string) (token, error) {
	var t token
	invalid := func(format string, args ...any) (token, error) {
		return t, apierrors.NewBadRequest("invalid continue token: continue key is not valid" + fmt.Sprintf(format, args...))
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return invalid(": %v", err)
	}
	var in continueToken
	if err := json.Unmarshal(b, &in); err != nil {
		return invalid(": %v", err)
	}
	switch {
	case in.Form != tokenForm:
		return invalid(": server does not recognize this encoded version %s", in.Form)
	case strings.Trim(in.Version.String(), "-0") == "":
		return invalid(": incorrect encoded start resourceVersion (version %s)", tokenForm)
	case in.Start == "":
		return invalid(": encoded start key empty (version %s)", tokenForm)
	}
	start := "/" + strings.TrimPrefix(in.Start, "/")
	if path.Clean(start) != start {
		return invalid(": %s", in.Start)
	}
	return token{in.Form, in.Version.Number, start[1:]}, nil
}

// continueToken describes how a token is decoded, with the name by which a server's errors call it.
type continueToken struct {
	Form    string  `json:"v"`
	Version integer `json:"rv"`
	Start   string  `json:"start"`
}

// integer is a number without a fraction.
type integer struct{ json.Number }

func (n *integer) UnmarshalJSON(b []byte) error {
	var small int64
	err := json.Unmarshal(b, &small)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if _, ok := parseVersion(string(b)); !ok { // only a rewind makes one beyond int64
			return fmt.Errorf("json: cannot unmarshal %s into Go struct field continueToken.rv of type int64", wrong.Value)
		}
	} else if err != nil {
		return err
	}
	n.Number = json.Number(b)
	return nil
}

// prefix returns what the keys of a request's objects begin with; a token continues after it.
func (q *request) prefix(r timeline.Resource) string {
	switch {
	case !r.Namespaced:
		return "/"
	case q.namespace != "":
		return q.namespace + "/"
	}
	return ""
}

// listOn answers with the page that a continue token asks for.
func (c *Cluster) listOn(k *kind, q *request) (*List, error) {
	t, err := decodeToken(q.opts.Continue)
	if err != nil {
		return nil, err
	}
	if rv := q.opts.ResourceVersion; rv != "" && rv != "0" {
		return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	start := q.prefix(k.resource) + t.Start
	if strings.HasPrefix(t.Version.String(), "-") {
		return page(k, q, k.inOrder(), k.version(c.base), start, q.opts.Limit)
	}
	version, _ := parseVersion(t.Version.String())
	if k.future(version, c.base) {
		return nil, k.tooLarge(version, k.version(c.base))
	}
	from, ok := k.log.after(version)
	if !ok {
		return nil, continueExpired(token{tokenForm, "-1", t.Start}.encode())
	}
	return page(k, q, k.past(from), version, start, q.opts.Limit)
}

// page picks at most limit objects from start on.
func page(k *kind, q *request, all []*Object, version, start string, limit int64) (*List, error) {
	l := &List{Resource: k.resource, ResourceVersion: version}
	i, _ := slices.BinarySearchFunc(all, start, func(o *Object, key string) int { return strings.Compare(o.key, key) })
	for ; i < len(all); i++ {
		if limit > 0 && int64(len(l.Items)) == limit {
			break
		}
		if q.matches(all[i]) {
			l.Items = append(l.Items, all[i])
		}
	}
	// What is left is counted whether it matches or not, as Cacher.GetList of k8s.io/apiserver does: the page after may
	// be empty. Only where one object can match nothing is looked for after it.
	left := int64(0)
	for ; i < len(all) && !q.single(k.resource); i++ {
		if q.namespace == "" || all[i].namespace == q.namespace {
			left++
		}
	}
	if left > 0 {
		last := strings.TrimPrefix(l.Items[len(l.Items)-1].key, q.prefix(k.resource))
		l.Continue = token{tokenForm, json.Number(version), last + "\x00"}.encode()
		if q.everything() {
			l.Remaining = &left
		}
	}
	return l, nil
}
