package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/protocol"
)

func TestSchemaFileIsWhatTheTypesSay(t *testing.T) {
	files, err := protocolFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./...", name)
		}
	}
}

func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	schemas := compile(t)
	for _, tt := range []struct{ name, def, line string }{
		{"unknown field of an event", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.delta","shard":1,"data":{"part":"p","text":"x"}}`},
		{"unknown field of its data", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.delta","data":{"part":"p","text":"x","tone":"dry"}}`},
		{"wrong type of a field", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.delta","data":{"part":1,"text":"x"}}`},
		{"missing field", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.delta","data":{"text":"x"}}`},
		{"unknown field below", "result.list", `{"sessions":[{"session":"s","tone":"dry","epoch":"e","seq":1,"status":"idle","agent":"a","created":"2026-01-02T03:04:05.000Z","updated":"2026-01-02T03:04:05.000Z","turns":0,"queue":0,"approvals":0,"clients":0}]}`},
		{"unknown field of a command", "command", `{"id":"1","command":"ping","loud":true}`},
		{"unknown event type", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.dance","data":{}}`},
		{"durable event without seq", "event", `{"session":"s","time":"2026-01-02T03:04:05.000Z","type":"text.delta","data":{"part":"p","text":"x"}}`},
		{"data of another type", "event", `{"session":"s","seq":1,"time":"2026-01-02T03:04:05.000Z","type":"text.delta","data":{"tool":"x"}}`},
		{"time that is none", "event", `{"session":"s","seq":1,"time":"now","type":"text.delta","data":{"part":"p","text":"x"}}`},
		{"negative seq", "command", `{"command":"ack","session":"s","data":{"seq":-1}}`},
		{"unknown command", "command", `{"command":"dance"}`},
		{"command without its session", "command", `{"command":"interrupt","data":{}}`},
		{"malformed position", "command", `{"command":"subscribe","session":"s","data":{"position":"x:y"}}`},
		{"unknown decision", "command", `{"command":"approve","session":"s","data":{"decision":"maybe"}}`},
		{"answer with nothing", "answer", `{"id":"1"}`},
		{"unknown error code", "answer", `{"id":"1","error":{"code":"oops","message":"m"}}`},
	} {
		if schemas.check(tt.def, []byte(tt.line)) == nil {
			t.Errorf("%s: accepted %s", tt.name, tt.line)
		}
	}
}

func TestSchemaDescribesEveryEventAndCommand(t *testing.T) {
	schemas := compile(t)
	for _, et := range protocol.EventTypes {
		schemas.get("event." + string(et.Type))
	}
	for _, ct := range protocol.Commands {
		schemas.get("command." + string(ct.Verb))
		schemas.get("result." + string(ct.Verb))
	}
}

// compiled is the schema file, compiled for validation.
type compiled struct {
	t        *testing.T
	compiler *jsonschema.Compiler
}

func compile(t *testing.T) *compiled {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, schemaFile))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return &compiled{t, c}
}

// get returns one definition, "" for the whole schema.
func (c *compiled) get(def string) *jsonschema.Schema {
	c.t.Helper()
	at := "schema.json"
	if def != "" {
		at += "#/$defs/" + def
	}
	s, err := c.compiler.Compile(at)
	if err != nil {
		c.t.Fatalf("compile %s: %v", def, err)
	}
	return s
}

func (c *compiled) check(def string, line []byte) error {
	c.t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return c.get(def).Validate(v)
}
