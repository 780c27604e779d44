package main

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/protocol"
	"agentctl/server/web"
)

// An openAPI is a document of OpenAPI 3.1, with its fields in the order of the file.
type openAPI struct {
	Version    string                           `json:"openapi"`
	Info       info                             `json:"info"`
	Servers    []serverURL                      `json:"servers"`
	Security   []map[string][]string            `json:"security"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components components                       `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

type serverURL struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type components struct {
	Schemas         map[string]*jsonschema.Schema `json:"schemas"`
	Responses       map[string]*response          `json:"responses"`
	SecuritySchemes map[string]map[string]string  `json:"securitySchemes"`
}

type operation struct {
	ID         string               `json:"operationId"`
	Summary    string               `json:"summary"`
	About      string               `json:"description,omitempty"`
	Tags       []string             `json:"tags"`
	Parameters []parameter          `json:"parameters,omitempty"`
	Body       *body                `json:"requestBody,omitempty"`
	Responses  map[string]*response `json:"responses"`
}

type parameter struct {
	Name     string             `json:"name"`
	In       string             `json:"in"`
	About    string             `json:"description,omitempty"`
	Required bool               `json:"required,omitempty"`
	Schema   *jsonschema.Schema `json:"schema"`
}

type body struct {
	Required bool             `json:"required"`
	Content  map[string]media `json:"content"`
}

type media struct {
	Schema *jsonschema.Schema `json:"schema"`
}

type response struct {
	Ref     string           `json:"$ref,omitempty"`
	About   string           `json:"description,omitempty"`
	Content map[string]media `json:"content,omitempty"`
}

const jsonMedia = "application/json"

// httpDocument returns the description of the routes of package web. The events of the streams are
// defined under the same names as in the schema of the protocol.
func httpDocument() (*openAPI, error) {
	d := newDefinitions("#/components/schemas/", true)
	d.events()
	paths := map[string]map[string]*operation{}
	for i := range web.Routes() {
		r := &web.Routes()[i]
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]*operation{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = d.operation(r)
	}
	failure := content(d.of(reflect.TypeFor[web.Failure]()), jsonMedia)
	return &openAPI{
		Version: "3.1.0",
		Info: info{
			Title: "agentctl", Version: protocol.Version,
			Description: "The HTTP interface of agentctl: the commands of the protocol " + protocol.Subprotocol +
				", reads, and events as server-sent events.",
		},
		Servers:  []serverURL{{"http://127.0.0.1:8787", "a server with --listen 127.0.0.1:8787"}},
		Security: []map[string][]string{{"token": {}}, {}},
		Paths:    paths,
		Components: components{
			Schemas:         d.defs,
			Responses:       map[string]*response{"Failure": {About: "An error.", Content: failure}},
			SecuritySchemes: map[string]map[string]string{"token": {"type": "http", "scheme": "bearer"}},
		},
	}, d.err
}

// operation describes a route.
func (d *definitions) operation(r *web.Route) *operation {
	o := &operation{ID: r.Name, Summary: r.Summary, Tags: []string{tag(r)}}
	for _, name := range r.Wildcards() {
		about := "The " + strings.ReplaceAll(strings.TrimSuffix(name, "_id"), "_", " ") + "."
		if name == "id" {
			about = "The session: its id, its exact name or a unique prefix of its id."
		}
		o.Parameters = append(o.Parameters, parameter{
			Name: name, In: "path", About: about, Required: true, Schema: &jsonschema.Schema{Type: "string"},
		})
	}
	for i := range r.Params {
		o.Parameters = append(o.Parameters, queryParameter(&r.Params[i]))
	}
	if r.Verb != "" {
		d.describeCommand(o, r)
	}
	status := max(r.Status, http.StatusOK)
	o.Responses = map[string]*response{
		strconv.Itoa(status): {About: http.StatusText(status) + ".", Content: d.answer(r)},
		"default":            {Ref: "#/components/responses/Failure"},
	}
	return o
}

// describeCommand adds the roles, the key and the data of a command.
func (d *definitions) describeCommand(o *operation, r *web.Route) {
	o.About = "The command " + string(r.Verb) + ", for the role " + string(protocol.CommandOf(r.Verb).Role) + "."
	if r.Changes() {
		o.Parameters = append(o.Parameters, parameter{
			Name: web.KeyHeader, In: "header", Schema: &jsonschema.Schema{Type: "string"},
			About: "Makes the request idempotent: at most 128 bytes, never used twice. Sent again with the same key " +
				"and content, it returns the first answer and does nothing.",
		})
	}
	data := *d.object(r.Data())
	whole := true
	for name := range data.Properties {
		if r.Sets(name) {
			delete(data.Properties, name)
			whole = false
		}
	}
	data.Required = remaining(data.Required, data.Properties)
	switch {
	case len(data.Properties) == 0:
	case r.Query:
		for _, name := range slices.Sorted(maps.Keys(data.Properties)) {
			s := *data.Properties[name]
			about := s.Description
			s.Description = ""
			o.Parameters = append(o.Parameters, parameter{
				Name: name, In: "query", About: about, Required: slices.Contains(data.Required, name), Schema: &s,
			})
		}
	case whole:
		o.Body = &body{len(data.Required) > 0, content(d.of(r.Data()), jsonMedia)}
	default:
		o.Body = &body{len(data.Required) > 0, content(&data, jsonMedia)}
	}
}

// answer returns the content of a successful response.
func (d *definitions) answer(r *web.Route) map[string]media {
	switch {
	case strings.HasSuffix(r.Path, "/events"): // of the data of each event
		result, failure := d.of(reflect.TypeOf(r.Result())), d.of(reflect.TypeFor[web.Failure]())
		return content(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{d.ref("event"), result, failure}}, r.Media...)
	case slices.Contains(r.Media, web.AnyMedia):
		return content(&jsonschema.Schema{Description: "The bytes, of the type in Content-Type."}, r.Media...)
	case r.Media != nil:
		return content(&jsonschema.Schema{Type: "string"}, r.Media...)
	case r.Result != nil:
		return content(d.of(reflect.TypeOf(r.Result())), jsonMedia)
	}
	return content(d.of(reflect.TypeOf(protocol.CommandOf(r.Verb).Result())), jsonMedia)
}

// content returns a body that has the schema in each of the media types.
func content(s *jsonschema.Schema, mediaTypes ...string) map[string]media {
	of := map[string]media{}
	for _, t := range mediaTypes {
		of[t] = media{s}
	}
	return of
}

func queryParameter(p *web.Parameter) parameter {
	in := "query"
	if p.Header {
		in = "header"
	}
	s := &jsonschema.Schema{Type: p.Type}
	for _, c := range p.Choices {
		s.Enum = append(s.Enum, c)
	}
	return parameter{Name: p.Name, In: in, About: p.About, Schema: s}
}

// tag returns the part of the interface that a route belongs to: the word after the session, or
// sessions.
func tag(r *web.Route) string {
	words := strings.Split(strings.TrimPrefix(r.Path, "/api/"), "/")
	if len(words) > 2 && words[1] == "{id}" {
		return words[2]
	}
	return words[0]
}

// remaining returns the names of the properties that are left.
func remaining(names []string, properties map[string]*jsonschema.Schema) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return properties[name] == nil })
}
