package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/protocol"
)

// definitions makes the schemas of Go types, as encoding/json encodes their values. A named type of
// this module becomes a definition, to which the schemas of other types refer. Not safe for
// concurrent use.
type definitions struct {
	refs     string // begins references
	open     bool   // objects may have unknown fields
	comments comments
	known    map[reflect.Type]*jsonschema.Schema // what stands for a type: a reference or its JSON form
	defs     map[string]*jsonschema.Schema       // by name
	err      error                               // the first error
}

// positionPattern is the form of a position as text.
const positionPattern = "^([0-9a-z]{1,64}:)?[0-9]+$"

func newDefinitions(refs string, open bool) *definitions {
	d := &definitions{refs: refs, open: open, comments: comments{}, defs: map[string]*jsonschema.Schema{}}
	position := reflect.TypeFor[protocol.Position]()
	d.known = map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[json.RawMessage](): {Description: "Any JSON value."}, // generators of clients drop true
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[protocol.Text]():   {Type: "string"},
		position:                           d.ref(position.Name()),
	}
	d.defs[position.Name()] = &jsonschema.Schema{
		Description: d.comment(position), Type: "string", Pattern: positionPattern,
	}
	return d
}

// of returns the schema of a type; for a named type of this module, a reference.
func (d *definitions) of(t reflect.Type) *jsonschema.Schema {
	d.define(t)
	return d.infer(t, d.known)
}

// define defines the named types of this module in t.
func (d *definitions) define(t reflect.Type) {
	switch {
	case d.known[t] != nil:
	case !strings.HasPrefix(t.PkgPath(), module):
		d.defineParts(t)
	case marshals(t):
		d.fail(fmt.Errorf("%s encodes itself: its JSON form is unknown", t))
	default:
		d.known[t] = d.ref(typeName(t)) // before its fields, which may refer to it
		d.defs[typeName(t)] = d.object(t)
	}
}

// defineParts defines the named types of t's elements or fields.
func (d *definitions) defineParts(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		d.define(t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if !f.Anonymous && jsonName(f) != "" {
				d.define(f.Type)
			}
		}
	}
}

// object returns the schema of a named type itself.
func (d *definitions) object(t reflect.Type) *jsonschema.Schema {
	d.defineParts(t)
	known := maps.Clone(d.known)
	delete(known, t)
	if t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous { // its fields are t's
				delete(known, f.Type)
			}
		}
	}
	s := d.infer(t, known)
	s.Description = d.comment(t)
	values, err := d.comments.values(t)
	d.fail(err)
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	d.fail(d.comments.describe(s, t, func(_, comment string) string { return comment }))
	return s
}

// infer returns the schema of a type, with those that stand for known types.
func (d *definitions) infer(t reflect.Type, known map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		d.fail(err)
		return &jsonschema.Schema{}
	}
	walk(s, notNull)
	if d.open {
		walk(s, func(s *jsonschema.Schema) {
			if a := s.AdditionalProperties; a != nil && a.Not != nil { // the schema that accepts nothing
				s.AdditionalProperties = nil
			}
		})
	}
	return s
}

func (d *definitions) comment(t reflect.Type) string {
	comment, err := d.comments.ofType(t)
	d.fail(err)
	return comment
}

// ref returns a reference to a definition.
func (d *definitions) ref(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: d.refs + name}
}

func (d *definitions) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// typeName returns the name of a type's definition. Names of package history begin with History,
// since the protocol has messages too.
func typeName(t reflect.Type) string {
	if strings.HasSuffix(t.PkgPath(), "/history") {
		return "History" + t.Name()
	}
	return t.Name()
}

// marshals reports whether a type defines its own JSON form.
func marshals(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// walk calls f with a schema and the schemas of its items, values and properties.
func walk(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	f(s)
	walk(s.Items, f)
	walk(s.AdditionalProperties, f)
	for _, p := range s.Properties {
		walk(p, f)
	}
}

// notNull removes null, which agentctl neither writes nor needs, from the types of a schema.
func notNull(s *jsonschema.Schema) {
	for _, t := range s.Types {
		if t != "null" {
			s.Type = t
		}
	}
	s.Types = nil
}
