package replay

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// token is the continue token, in the API server's own form
// (k8s.io/apiserver/pkg/storage/continue.go). A version of -1 goes on with
// what is there now.
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

// listOn answers with the page that a continue token asks for.
func (c *Cluster) listOn(k *kind, q *request) (*List, error) {
	if rv := q.opts.ResourceVersion; rv != "" && rv != "0" {
		return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	var t token
	b, err := base64.RawURLEncoding.DecodeString(q.opts.Continue)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil || t.Form != tokenForm || t.Start == "" {
		return nil, apierrors.NewBadRequest("continue key is not valid: want the token of a list's metadata.continue")
	}
	if t.Version == "-1" {
		return page(k, q, k.inOrder(), k.version(c.base), t.Start, q.opts.Limit)
	}
	version, ok := parseVersion(t.Version.String())
	if !ok || k.future(version, c.base) {
		return nil, apierrors.NewBadRequest("continue key is not valid: incorrect encoded start resourceVersion (version " + tokenForm + ")")
	}
	from, ok := k.log.after(version)
	if !ok {
		return nil, continueExpired(token{tokenForm, "-1", t.Start}.encode())
	}
	return page(k, q, k.past(from), version, t.Start, q.opts.Limit)
}

// page picks at most limit objects from start on.
func page(k *kind, q *request, all []*Object, version, start string, limit int64) (*List, error) {
	l := &List{Resource: k.resource, ResourceVersion: version}
	i, _ := slices.BinarySearchFunc(all, start, func(o *Object, key string) int { return strings.Compare(o.key, key) })
	for ; i < len(all); i++ {
		if !q.matches(all[i]) {
			continue
		}
		if limit > 0 && int64(len(l.Items)) == limit {
			break
		}
		l.Items = append(l.Items, all[i])
	}
	if i < len(all) {
		// There is a match behind: etcd would look for it as well.
		l.Continue = token{tokenForm, json.Number(version), l.Items[len(l.Items)-1].key + "\x00"}.encode()
		if q.everything() {
			l.Remaining = new(int64)
			for _, o := range all[i:] {
				if q.matches(o) {
					*l.Remaining++
				}
			}
		}
	}
	return l, nil
}
