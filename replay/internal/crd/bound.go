package crd

import "fmt"

// MostRead is how many bytes reading a definition may cost. Where a schema is within
// another's items or additionalProperties, encoding/json hands it on as text, which is
// read again: by the definition's types (JSONSchemaPropsOrArray and
// JSONSchemaPropsOrBool of k8s.io/apiextensions-apiserver, whose UnmarshalJSON decode
// anew). So levels of a big schema multiply. A definition of 1 MB whose schemas are
// eight lists deep costs less than half of it.
const MostRead = 16 << 20

// Bound returns an error where reading a definition costs too much. A server reads it
// all the same, for as long as it takes.
func Bound(definition map[string]any) error {
	if _, read := weigh(definition); read > MostRead {
		return fmt.Errorf("its schemas are nested so deeply that reading them takes %d MB: at most %d MB are read", read>>20, MostRead>>20)
	}
	return nil
}

// weigh returns about how many bytes of JSON a value has, and how many are read for
// it beyond those.
func weigh(value any) (size, read int) {
	switch v := value.(type) {
	case map[string]any:
		for name, of := range v {
			s, r := weigh(of)
			if name == "items" || name == "additionalProperties" {
				r += s
			}
			size, read = size+len(name)+s+4, read+r
		}
		return size + 2, read
	case []any:
		for _, of := range v {
			s, r := weigh(of)
			size, read = size+s+1, read+r
		}
		return size + 2, read
	case string:
		return len(v) + 2, 0
	}
	return 4, 0
}
