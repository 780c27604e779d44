//go:build interop

package interop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A judge checks the messages to one side, agent or client, with the JSON Schema of a version of the
// protocol, which the reference SDK has.
type judge struct {
	methods map[string]*jsonschema.Schema // of parameters for the side, by method
	results map[string]*jsonschema.Schema // of results for the side, by method
	fields  map[string]map[string]bool    // the known parameters by method
	errors  *jsonschema.Schema
}

var (
	judgesMu sync.Mutex
	judges   = map[judgeKey]*judge{}
)

// A judgeKey names a judge: the version, and the direction of the messages.
type judgeKey struct {
	version int
	dir     string
}

func judgeOf(t *testing.T, key judgeKey) *judge {
	t.Helper()
	judgesMu.Lock()
	defer judgesMu.Unlock()
	if j := judges[key]; j != nil {
		return j
	}
	version, side, peer := key.version, "agent", "client"
	if key.dir == toClient {
		side, peer = peer, side
	}
	file, err := filepath.Abs(fmt.Sprintf("node_modules/@agentclientprotocol/sdk/schema/v%d/schema.json", version))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	var document struct {
		Defs map[string]struct {
			Method     string                     `json:"x-method"`
			Side       string                     `json:"x-side"`
			Properties map[string]json.RawMessage `json:"properties"`
			AnyOf      []json.RawMessage          `json:"anyOf"`
		} `json:"$defs"`
	}
	if err == nil {
		err = json.Unmarshal(b, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{
		methods: map[string]*jsonschema.Schema{}, results: map[string]*jsonschema.Schema{}, fields: map[string]map[string]bool{},
	}
	compiler := jsonschema.NewCompiler()
	define := func(file, name string) *jsonschema.Schema {
		t.Helper()
		s, err := compiler.Compile("file://" + file + "#/$defs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	unstable := strings.TrimSuffix(file, "schema.json") + "schema.unstable.json"
	j.errors = define(file, "Error")
	if side == "agent" {
		j.methods["session/fork"] = define(unstable, "ForkSessionRequest")
	} else {
		j.results["session/fork"] = define(unstable, "ForkSessionResponse")
	}
	for name, d := range document.Defs {
		if d.Method == "" {
			continue
		}
		s := define(file, name)
		response := strings.HasSuffix(name, "Response")
		switch {
		case !response && (d.Side == side || d.Side == "protocol"):
			j.methods[d.Method] = s
			if len(d.AnyOf) == 0 {
				j.fields[d.Method] = map[string]bool{}
				for field := range d.Properties {
					j.fields[d.Method][field] = true
				}
			}
		case response && d.Side == peer:
			j.results[d.Method] = s
		}
	}
	if len(j.methods)+len(j.results) < 12 || len(j.methods) < 4 || len(j.results) < 2 {
		t.Fatalf("the schema of version %d has %d methods and %d results", version, len(j.methods), len(j.results))
	}
	judges[key] = j
	return j
}

// judgeFrames checks all messages in one direction. An extension, whose method begins with "_", has
// parameters of any form.
func judgeFrames(t *testing.T, frames []frame, version int, dir string) {
	t.Helper()
	j := judgeOf(t, judgeKey{cmp.Or(version, 1), dir})
	asked := map[string]string{} // methods by id of the peer's requests
	judged := 0
	for _, f := range frames {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		err := json.Unmarshal([]byte(f.Line), &m)
		if f.Dir != dir {
			if err == nil && m.Method != "" && len(m.ID) > 0 {
				asked[string(m.ID)] = m.Method
			}
			continue
		}
		judged++
		what, s, raw := m.Method, j.methods[m.Method], m.Params
		if m.Method == "" {
			method := asked[string(m.ID)]
			what, s, raw = "result of "+method, j.results[method], m.Result
			switch {
			case m.Error != nil:
				what, s, raw = "error of "+method, j.errors, m.Error
			case s == nil: // an extension of the agent has a result of any form
				continue
			}
		}
		switch {
		case err != nil || m.Version != "2.0":
			t.Errorf("sent %s: %v", f.Line, err)
		case s == nil && !strings.HasPrefix(m.Method, "_"):
			t.Errorf("version %d has no %s: sent %s", version, what, f.Line)
		case s != nil:
			if err := validate(s, raw); err != nil {
				t.Errorf("%s: %v\nsent %s", what, err, f.Line)
			}
			var fields map[string]json.RawMessage
			_ = json.Unmarshal(raw, &fields)
			for name := range fields {
				if known := j.fields[m.Method]; known != nil && !known[name] {
					t.Errorf("%s has no parameter %s: sent %s", what, name, f.Line)
				}
			}
		}
	}
	if len(frames) > 0 && judged == 0 {
		t.Error("nothing was sent")
	}
}

func validate(s *jsonschema.Schema, raw json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestWrongFramesAreJudged(t *testing.T) {
	for name, test := range map[string]struct {
		version int
		line    string
		wrong   bool
	}{
		"version 1": {
			1, `"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}`, false,
		},
		"an extension": {1, `"method":"_session/steering","params":{"x":1}`, false},
		"no session":   {1, `"method":"session/prompt","params":{"prompt":[]}`, true},
		"another parameter": {
			1, `"method":"session/prompt","params":{"sessionId":"s","prompt":[],"session":"s"}`, true,
		},
		"another method": {2, `"method":"session/set_mode","params":{"sessionId":"s","modeId":"m"}`, true},
		"version 1 as 2": {
			2, `"method":"initialize","params":{"protocolVersion":2,"clientInfo":{"name":"a","version":"1"}}`, true,
		},
		"an invalid command": {
			2, `"method":"session/new","params":{"cwd":"/w","mcpServers":[{"type":"stdio","name":"n"}]}`, true,
		},
	} {
		inner := &testing.T{}
		done := make(chan struct{})
		go func() { // an error of another test
			defer close(done)
			judgeFrames(inner, []frame{{toAgent, `{"jsonrpc":"2.0","id":1,` + test.line + `}`}}, test.version, toAgent)
		}()
		<-done
		if inner.Failed() != test.wrong {
			t.Errorf("%s: wrong %t", name, inner.Failed())
		}
	}
}
