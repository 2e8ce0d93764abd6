package spec

// A Parameter is a value of a file that --set may change.
type Parameter struct {
	// Name by which $(name) and --set refer to it: letters and digits, a small letter first.
	Name string `yaml:"name" need:"true" form:"parameter"`
	// Type of its values.
	Type ParameterType `yaml:"type" need:"true"`
	// Default is the value of a parameter that isn't set.
	Default Scalar `yaml:"default" need:"true"`
	// Min is the least value, for int, duration, percent and quantity.
	Min Scalar `yaml:"min"`
	// Max is the greatest value, for int, duration, percent and quantity.
	Max Scalar `yaml:"max"`
	// Values are all that there are, for enum.
	Values []string `yaml:"values" form:"line"`
	// Doc says in a line what it changes.
	Doc string `yaml:"doc" need:"true" form:"line"`
}

// A Scalar is the text of a parameter's value, as in the file.
type Scalar string

// A ParameterType is the type of a parameter's values.
type ParameterType string

// The types.
const (
	TypeInt      ParameterType = "int"      // 12
	TypeBool     ParameterType = "bool"     // true or false
	TypeString   ParameterType = "string"   // a line of text
	TypeEnum     ParameterType = "enum"     // one of Values
	TypeDuration ParameterType = "duration" // 90s, 1h30m
	TypePercent  ParameterType = "percent"  // 33%
	TypeQuantity ParameterType = "quantity" // 100m, 128Mi
)

func (ParameterType) values() []string {
	return []string{"int", "bool", "string", "enum", "duration", "percent", "quantity"}
}

// A Setting gives a parameter a value: name=value of --set.
type Setting struct {
	Name, Value string
}
