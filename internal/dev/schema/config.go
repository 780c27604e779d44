package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/internal/agents"
	"agentctl/internal/config"
	"agentctl/server/agent/pipeline"
)

// settings returns the schema of the configuration file, with its fields in the order of the type. A
// description ends with the default, if there is one.
func settings() (*jsonschema.Schema, error) {
	duration := &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`}
	t := reflect.TypeFor[config.Server]()
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[config.Duration]():   duration,
		reflect.TypeFor[agents.Timeout]():    duration,
		reflect.TypeFor[pipeline.Duration](): duration,
	}})
	if err != nil {
		return nil, err
	}
	walk(s, func(s *jsonschema.Schema) {
		notNull(s)
		s.Required = nil
	})
	return s, comments{}.describe(s, t, func(field, comment string) string {
		return strings.TrimSuffix(strings.TrimPrefix(comment, field+" "), ".")
	})
}

// configSchema returns the JSON Schema of the file.
func configSchema(settings *jsonschema.Schema) ([]byte, error) {
	s := settings.CloneSchemas()
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "urn:agentctl:config"
	s.Title = "Configuration file of an agentctl server"
	s.Properties["$schema"] = &jsonschema.Schema{Type: "string", Description: "address of this schema, for editors"}
	return encode(s)
}

// exampleFile has a value for every setting.
const exampleFile = "server.json"

const manualHead = `# Configuration of a server

` + "`agentctl serve --config FILE`" + ` reads a JSON file. Without the flag, and if it was started in the background, a server reads
` + "`~/.config/agentctl/server.json`" + ` (or that in the system's directory for configuration), if there is one. Every key is optional. An unknown key, a key that is there twice and an
invalid value are refused, with the line. [server.json](server.json) has an example of every key, and
[config.schema.json](config.schema.json) is the JSON Schema of the file: with ` + "`\"$schema\"`" + ` an editor checks it
while you write. Relative paths are relative to the directory of the file. A duration is written as ` + "`90s`, `5m` or `168h`" + `.

SIGHUP reads the file again, for agents, sessions, connections and notifications that begin later; the log names the changes
that need a restart. [Models](models.md) explains ` + "`agents`, `providers` and `mcp`" + `. The file needs no key of a provider: ` +
	"`key_env`" + `
names a variable, and ` + "`key_command`" + ` a program that prints the key, for instance from the keyring of the system.

This page is generated from the types: ` + "`go generate ./internal/dev/schema`" + `.
`

// configManual returns the manual of the file. example is the content of exampleFile.
func configManual(settings *jsonschema.Schema, example []byte) ([]byte, error) {
	var values any
	if err := json.Unmarshal(example, &values); err != nil {
		return nil, fmt.Errorf("%s: %w", exampleFile, err)
	}
	var b bytes.Buffer
	b.WriteString(manualHead)
	writeSection(&b, "", settings, values)
	return b.Bytes(), nil
}

// writeSection writes the properties of an object as a table, then the properties of the objects in
// it.
func writeSection(b *bytes.Buffer, path string, object *jsonschema.Schema, values any) {
	title := path
	if title == "" {
		title = "The file"
	}
	fmt.Fprintf(b, "\n## %s\n\n| key | type | default | meaning | example |\n|---|---|---|---|---|\n", title)
	for _, key := range object.PropertyOrder {
		s := object.Properties[key]
		about, standard, _ := strings.Cut(s.Description, "; default ")
		about = strings.ReplaceAll(about, "|", "\\|")
		switch {
		case standard == "" && s.Type == "boolean":
			standard = "false"
		case standard == "":
			standard = "none"
		}
		example := ""
		if innermost(s).Properties == nil {
			example = "`" + compact(valueOf(values, key)) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", key, typeWords(s), standard, about, example)
	}
	for _, key := range object.PropertyOrder {
		s := object.Properties[key]
		if innermost(s).Properties == nil {
			continue
		}
		below, next := valueOf(values, key), strings.TrimPrefix(path+"."+key, ".")
		if s.Properties == nil { // objects by name
			below, next = mergeAll(below), next+".NAME"
		}
		writeSection(b, next, innermost(s), below)
	}
}

// innermost returns the schema of what a list or a map holds in the end.
func innermost(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Items != nil:
		return innermost(s.Items)
	case s.Properties == nil && s.AdditionalProperties != nil:
		return innermost(s.AdditionalProperties)
	}
	return s
}

// typeWords names the type of a setting for users.
func typeWords(s *jsonschema.Schema) string {
	switch {
	case s.Items != nil:
		return "list of " + typeWords(s.Items) + "s"
	case s.Properties == nil && s.AdditionalProperties != nil:
		return typeWords(s.AdditionalProperties) + "s by name"
	case s.Pattern != "":
		return "duration"
	}
	return map[string]string{
		"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number", "object": "object",
	}[s.Type]
}

func valueOf(of any, key string) any {
	m, _ := of.(map[string]any)
	return m[key]
}

// mergeAll returns the fields that any of the objects by name has; the first by name wins.
func mergeAll(of any) any {
	m, _ := of.(map[string]any)
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		object, _ := m[name].(map[string]any)
		for key, v := range object {
			before, both := all[key].(map[string]any)
			next, objects := v.(map[string]any)
			switch {
			case both && objects:
				for k, x := range next {
					if before[k] == nil {
						before[k] = x
					}
				}
			case all[key] == nil:
				all[key] = v
			}
		}
	}
	return all
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // it was decoded from JSON
		return ""
	}
	return strings.TrimSpace(b.String())
}

// configFiles returns the schema and the manual, by name of the file. dir has the example.
func configFiles(dir string) (map[string][]byte, error) {
	list, err := settings()
	if err != nil {
		return nil, err
	}
	example, err := os.ReadFile(filepath.Join(dir, exampleFile))
	if err != nil {
		return nil, err
	}
	schema, err := configSchema(list)
	if err != nil {
		return nil, err
	}
	manual, err := configManual(list, example)
	return map[string][]byte{"config.schema.json": schema, "config.md": manual}, err
}
