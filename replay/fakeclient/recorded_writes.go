package fakeclient

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/replay/internal/writes"
)

// Write is a write that was recorded.
type Write struct {
	// At is the tape's position when it came.
	At          time.Duration
	Verb        string // create, update, patch, delete or deletecollection
	Resource    schema.GroupVersionResource
	Subresource string // "status", "eviction", "binding", …
	Namespace   string
	Name        string // "" for deletecollection
	// Object holds what was sent with a create or update. It must not be changed.
	Object runtime.Object
	// PatchType and Body are those of a patch.
	PatchType types.PatchType
	Body      []byte
	// Selector is that of a deletecollection, labels before fields.
	Selector string
	// DryRun says that it was only tried.
	DryRun bool
}

// String returns the write on one line, for golden files: the verb, the
// resource, its name, then the subresource, and of a patch its type and body as
// compact JSON; a dry run says so. There is nothing in it that differs from run
// to run.
//
//	patch nodes ip-10-0-1-10 strategic {"spec":{"unschedulable":true}}
//	create pods default/web-1 eviction
//	deletecollection pods default app=web
func (w Write) String() string {
	name := w.Name
	if w.Namespace != "" {
		name = strings.TrimSuffix(w.Namespace+"/"+name, "/")
	}
	out := []string{w.Verb, w.Resource.GroupResource().String(), name, w.Subresource, writes.PatchName(w.PatchType), w.Selector}
	if w.PatchType != "" {
		var body bytes.Buffer
		if json.Compact(&body, w.Body) != nil {
			body.Reset()
			body.Write(bytes.TrimSpace(w.Body)) // YAML
		}
		out = append(out, body.String())
	}
	if w.DryRun {
		out = append(out, "(dry run)")
	}
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), " ")
}

// recorded is a write with the action that a test finds in Actions.
type recorded struct {
	write  Write
	action testing.Action
}

// Writes returns the writes recorded so far, of all three clients, in the
// order in which they came; of very many the last 65,536 at least.
func (c *Client) Writes() []Write {
	var all []Write
	for _, r := range c.log.All() {
		all = append(all, r.write)
	}
	return all
}

// WriteLog returns the writes as text, one line each, for a golden file.
func (c *Client) WriteLog() string {
	var b strings.Builder
	for _, w := range c.Writes() {
		b.WriteString(w.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Actions returns the recorded writes as client-go's fakes would. Reads aren't
// in it: a long run would pile them up.
func (c *Client) Actions() []testing.Action {
	var all []testing.Action
	for _, r := range c.log.All() {
		all = append(all, r.action)
	}
	return all
}

// ClearActions forgets the recorded writes.
func (c *Client) ClearActions() {
	c.log.Clear()
	for _, f := range []*testing.Fake{&c.Fake, &c.dynamic.Fake, &c.metadata.Fake} {
		f.ClearActions()
	}
}
