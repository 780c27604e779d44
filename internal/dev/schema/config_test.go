package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/internal/config"
)

const docs = "../../../docs"

func TestConfigurationSchemaAndManualAreWhatTheTypesSay(t *testing.T) {
	files, err := configFiles(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/%s is stale: run go generate ./internal/dev/schema", name)
		}
	}
	if strings.Contains(string(files["config.md"]), "`null`") {
		t.Error("docs/server.json lacks an example: see null in docs/config.md")
	}
}

func TestEverySettingHasAComment(t *testing.T) {
	all, err := settings()
	if err != nil {
		t.Fatal(err)
	}
	walk(all, func(object *jsonschema.Schema) {
		for name, s := range object.Properties {
			if s.Description == "" {
				t.Errorf("%s: the field has no comment", name)
			}
		}
	})
}

// configSchemaFile returns the compiled schema of the configuration.
func configSchemaFile(t *testing.T) *validator.Schema {
	t.Helper()
	f, err := os.Open(filepath.Join(docs, "config.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := validator.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkConfig returns the errors of a text by the schema and by the server.
func checkConfig(t *testing.T, s *validator.Schema, text string) (bySchema, byServer error) {
	t.Helper()
	v, err := validator.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	file := filepath.Join(t.TempDir(), "server.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, byServer = config.ReadServer(file)
	return s.Validate(v), byServer
}

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

func TestTheExamplesOfConfigurationsAreValid(t *testing.T) {
	s := configSchemaFile(t)
	example, err := os.ReadFile(filepath.Join(docs, exampleFile))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(example)}
	models, err := os.ReadFile(filepath.Join(docs, "models.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range jsonBlock.FindAllStringSubmatch(string(models), -1) {
		texts = append(texts, m[1])
	}
	if len(texts) < 4 {
		t.Errorf("%d examples", len(texts))
	}
	for _, text := range texts {
		if !strings.Contains(text, `"coder": {`) && strings.Contains(text, `"coder"`) { // names an agent
			text = strings.TrimSuffix(strings.TrimSpace(text), "}") + `, "agents": {"coder": {"model": "o3"}}}`
		}
		if bySchema, byServer := checkConfig(t, s, text); bySchema != nil || byServer != nil {
			t.Errorf("%s: %v, %v", text, bySchema, byServer)
		}
	}
}

func TestConfigurationSchemaRefusesWhatTheServerRefuses(t *testing.T) {
	s := configSchemaFile(t)
	for _, text := range []string{
		`{"agent": {}}`, `{"agents": []}`, `{"agents": {"a": {"model": "o3", "efort": "low"}}}`, `{"window": "x"}`,
		`{"edit_hold": "soon"}`, `{"edit_hold": "-1s"}`, `{"limits": {"rate": 1.5}}`, `{"mcp": {"x": {"cmd": "y"}}}`,
		`{"mcp": {"x": {"command": "y", "trust_read_only": "yes"}}}`, `{"tls": {"cart": "x"}}`, `[]`,
	} {
		if bySchema, byServer := checkConfig(t, s, text); bySchema == nil || byServer == nil {
			t.Errorf("%s: %v, %v", text, bySchema, byServer)
		}
	}
}
