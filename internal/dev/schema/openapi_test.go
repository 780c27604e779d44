package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/protocol"
	"agentctl/server/web"
)

func readOpenAPI(t *testing.T) (doc openAPI, text []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, openAPIFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc, text
}

func TestOpenAPIDescribesEveryRouteOnce(t *testing.T) {
	doc, _ := readOpenAPI(t)
	ids := map[string]bool{}
	operations := 0
	for path, methods := range doc.Paths {
		for method, o := range methods {
			operations++
			if ids[o.ID] || o.ID == "" || o.Summary == "" {
				t.Errorf("%s %s: operation %q: missing or twice", method, path, o.ID)
			}
			ids[o.ID] = true
			var inPath []string
			seen := map[string]bool{}
			for _, p := range o.Parameters {
				if seen[p.In+p.Name] {
					t.Errorf("%s: %s is there twice", o.ID, p.Name)
				}
				seen[p.In+p.Name] = true
				if p.In == "path" {
					inPath = append(inPath, "{"+p.Name+"}")
					if !p.Required {
						t.Errorf("%s: %s is not required", o.ID, p.Name)
					}
				}
			}
			names := regexp.MustCompile(`\{[^}]+\}`).FindAllString(path, -1)
			if strings.Join(names, "") != strings.Join(inPath, "") {
				t.Errorf("%s: path %s has parameters %v", o.ID, path, inPath)
			}
			if o.Responses["default"] == nil || len(o.Responses) != 2 {
				t.Errorf("%s: responses %v", o.ID, o.Responses)
			}
			if o.Body != nil && (method == "get" || method == "delete") {
				t.Errorf("%s has a body", o.ID)
			}
		}
	}
	if operations != len(web.Routes()) {
		t.Errorf("%d operations, %d routes", operations, len(web.Routes()))
	}
}

// Each reference has its definition, and each schema compiles.
func TestOpenAPIHasEverySchemaThatItNames(t *testing.T) {
	doc, text := readOpenAPI(t)
	for _, m := range regexp.MustCompile(`"\$ref": "#/components/(\w+)/([^"]+)"`).FindAllSubmatch(text, -1) {
		section, name := string(m[1]), string(m[2])
		if section == "schemas" && doc.Components.Schemas[name] == nil ||
			section == "responses" && doc.Components.Responses[name] == nil {
			t.Errorf("there is no %s %s", section, name)
		}
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", v); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas {
		if !regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString(name) {
			t.Errorf("%q is not a name of a component", name)
		}
		if _, err := c.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range errorCodes(t) {
		if web.StatusOf(protocol.Code(code)) < 400 {
			t.Errorf("server/web: no status for code %s", code)
		}
	}
}

// onlyConnections are the commands that HTTP has no request for: commands of a connection, what the
// user of one looks and points at, and pieces of blobs, which HTTP serves complete.
var onlyConnections = map[protocol.Verb]bool{
	protocol.DoBlob: true, protocol.DoList: true,
}

func TestEveryCommandHasARoute(t *testing.T) {
	routes := map[protocol.Verb]bool{}
	for i := range web.Routes() {
		routes[web.Routes()[i].Verb] = true
	}
	for _, c := range protocol.Commands {
		if routes[c.Verb] == (c.Connection || onlyConnections[c.Verb]) {
			t.Errorf("%s: has a route: %v", c.Verb, routes[c.Verb])
		}
	}
}
