package arguments

import (
	"encoding/json"
	"reflect"
	"strings"

	"agentctl/protocol"
)

// A Schema is the JSON Schema of arguments, or of a value in them.
type Schema struct {
	AdditionalProperties *bool              `json:"additionalProperties,omitempty"`
	Description          string             `json:"description,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Items                *Schema            `json:"items,omitempty"`
	Minimum              int                `json:"minimum,omitempty"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitzero"`
	Type                 string             `json:"type"`
}

// For returns the schema of a struct of arguments. Its fields are strings, ints from 1, bools, structs, and slices
// of these. A field without omitempty is required. The tag about describes it to the model, and the tag enum
// lists the values of a string. Of another type it panics.
func For[In any]() *Schema { return schemaOf(reflect.TypeFor[In]()) }

func schemaOf(t reflect.Type) *Schema {
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Int:
		return &Schema{Type: "integer", Minimum: 1}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Slice:
		return &Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Struct:
	default:
		panic("arguments: unsupported type " + t.String())
	}
	s := &Schema{
		Type: "object", Properties: map[string]*Schema{}, Required: []string{}, AdditionalProperties: new(false),
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := schemaOf(f.Type)
		field.Description = f.Tag.Get("about")
		if values := f.Tag.Get("enum"); values != "" {
			field.Enum = strings.Split(values, ",")
		}
		s.Properties[name] = field
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// JSON returns the schema as JSON.
func (s *Schema) JSON() json.RawMessage { return protocol.MustEncode(s) }
