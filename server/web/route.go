package web

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"agentctl/protocol"
)

// A Route is a method and a path below /api/. A route with a Verb is that command: its data comes
// from the wildcards of the path, which have the names of fields, and from the query or the body.
type Route struct {
	Name    string // of the operation, for generated clients
	Method  string
	Path    string // of a http.ServeMux; {id} is the session
	Verb    protocol.Verb
	Summary string
	Query   bool              // the data of the command comes from the query; else from the body
	Fixed   map[string]string // fields of the data that the route sets: name → JSON
	Params  []Parameter       // of the query or header, in addition to the data
	Status  int               // of success; 0: 200
	Result  func() any        // returns a pointer to the type of the answer, or of a stream's named event
	Media   []string          // types of an answer that is not JSON
	handle  handler
}

// AnyMedia is the type of an answer whose type depends on its content.
const AnyMedia = "*/*"

// A Parameter is a value in the query or in a header.
type Parameter struct {
	Name    string
	Header  bool
	Type    string // of JSON Schema: string, integer, boolean
	Choices []string
	About   string
}

// Pattern returns the pattern of a http.ServeMux.
func (r *Route) Pattern() string { return r.Method + " " + r.Path }

// Changes reports whether the route changes state, and so takes a key.
func (r *Route) Changes() bool { return r.Verb != "" && protocol.CommandOf(r.Verb).Changes }

var wildcard = regexp.MustCompile(`\{([a-z_]+)\}`)

// Wildcards returns the names in the path.
func (r *Route) Wildcards() []string {
	var names []string
	for _, m := range wildcard.FindAllStringSubmatch(r.Path, -1) {
		names = append(names, m[1])
	}
	return names
}

// Data returns the type of the command's data.
func (r *Route) Data() reflect.Type {
	return reflect.TypeOf(protocol.CommandOf(r.Verb).Data()).Elem()
}

// Sets reports whether the path or the table sets a field of the data.
func (r *Route) Sets(field string) bool {
	_, fixed := r.Fixed[field]
	return fixed || slices.Contains(r.Wildcards(), field)
}

// Fields returns the fields of the data that a request sets, with their names.
func (r *Route) Fields() map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(r.Data()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && !r.Sets(name) {
			fields[name] = f
		}
	}
	return fields
}
