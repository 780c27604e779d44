package main

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"agentctl/protocol"
)

// schema is a JSON Schema, with its keywords in the order of the file.
type schema struct {
	Schema      string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Const       string             `json:"const,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Format      string             `json:"format,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Encoding    string             `json:"contentEncoding,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Additional  *schema            `json:"additionalProperties,omitempty"`
	Unevaluated *bool              `json:"unevaluatedProperties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	AllOf       []*schema          `json:"allOf,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	OneOf       []*schema          `json:"oneOf,omitempty"`
	Defs        map[string]*schema `json:"$defs,omitempty"`
}

// deriver converts Go types to definitions, each type once.
type deriver struct {
	comments *comments
	defs     map[string]*schema
	refs     string // begins references to definitions
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	textType      = reflect.TypeFor[protocol.Text]()
	bytesType     = reflect.TypeFor[[]byte]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// of returns the schema of a type as encoding/json encodes it. Named types of the protocol become
// references.
func (d *deriver) of(t reflect.Type) *schema {
	if t.Kind() == reflect.Pointer {
		return d.of(t.Elem())
	}
	switch {
	case t == timeType:
		return &schema{Type: "string", Format: "date-time"}
	case t == rawType || t.Kind() == reflect.Interface:
		return &schema{}
	case t == bytesType:
		return &schema{Type: "string", Encoding: "base64"}
	case t == textType:
		return &schema{Type: "string"}
	case t.PkgPath() != "":
		return d.named(t)
	}
	return d.plain(t)
}

// named defines a type of the protocol under its name and returns a reference.
func (d *deriver) named(t reflect.Type) *schema {
	name := typeName(t)
	if _, seen := d.defs[name]; !seen {
		s := &schema{}
		d.defs[name] = s // before its fields: types may be recursive
		*s = *d.plain(t)
		s.Description = d.comments.types[name]
		if t.Kind() == reflect.String {
			s.Enum = d.comments.values[name]
		}
	}
	return d.ref(name)
}

// typeName returns the name of a type's definition. Names of package history begin with History,
// since the protocol has messages too.
func typeName(t reflect.Type) string {
	if strings.HasSuffix(t.PkgPath(), "/history") {
		return "History" + t.Name()
	}
	return t.Name()
}

func (d *deriver) plain(t reflect.Type) *schema {
	zero := 0
	switch t.Kind() {
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: &zero}
	case reflect.Slice, reflect.Array:
		return &schema{Type: "array", Items: d.of(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", Additional: d.of(t.Elem())}
	case reflect.Struct:
		if t.Implements(textMarshaler) {
			return &schema{Type: "string"}
		}
		return d.object(t)
	}
	panic("schema: no JSON form of " + t.String())
}

// object describes a struct. Fields without omitempty are required. Unknown fields are allowed:
// see strict.
func (d *deriver) object(t reflect.Type) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := d.of(f.Type)
		p.Description = d.comments.fields[owner(t, f)+"."+f.Name]
		s.Properties[name] = p
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// owner returns the name of the struct that declares a field: t or an embedded one.
func owner(t reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t.Name()
}
