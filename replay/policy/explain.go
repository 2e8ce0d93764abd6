package policy

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/nodesim/nodesim/internal/phrase"
)

// explain evaluates an expression that isn't true once more, and says which of its conditions isn't, what its parts came to, and
// which fields it names.
func (c *checker) explain(p *program) (found, wanted string, fields []string) {
	_, details, _ := p.traced.Eval(c.vars)
	failed := p.parts[0]
	value := func(int64) (ref.Val, bool) { return nil, false }
	if details != nil && details.State() != nil {
		value = details.State().Value
	}
	for _, one := range p.parts {
		if v, known := value(one.id); known && v == types.False {
			failed = one
			break
		}
	}
	var said []string
	for _, s := range failed.shown {
		if v, known := value(s.id); known && !types.IsUnknownOrError(v) {
			said = append(said, s.text+" is "+show(v))
		}
	}
	if len(said) == 0 {
		said = []string{"false"}
	}
	return phrase.Escaped(strings.Join(said, ", ")), phrase.Escaped(failed.text), failed.fields
}

const mostShown = 3 // values of a list

// show is a value for people.
func show(v ref.Val) string {
	switch v := v.(type) {
	case types.String:
		return fmt.Sprintf("%.200q", string(v))
	case types.Duration:
		return v.Duration.Round(time.Millisecond).String()
	case *object:
		return nameOf(v.value)
	case traits.Lister:
		var all []string
		for it := v.Iterator(); len(all) < mostShown && it.HasNext() == types.True; {
			all = append(all, show(it.Next()))
		}
		text := "[" + strings.Join(all, ", ")
		if n := int(v.Size().(types.Int)); n > mostShown {
			text += fmt.Sprintf(", and %d more", n-mostShown)
		}
		return text + "]"
	}
	if text, ok := v.ConvertToType(types.StringType).(types.String); ok {
		return string(text)
	}
	return reflect.TypeOf(v).String()
}
