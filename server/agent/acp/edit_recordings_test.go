package acp

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/policy"
)

// reportedNames are the names that the agents of testdata/edits report.
var reportedNames = map[string]string{
	"claude-agent-acp": "@agentclientprotocol/claude-agent-acp", "codex-acp": "@agentclientprotocol/codex-acp",
	"copilot": "Copilot", "gemini-cli": "gemini-cli", "opencode": "OpenCode", "qwen-code": "qwen-code",
	"zed-codex-acp": "codex-acp",
}

// A recordedEdit is what a real agent sent about an edit of a file in /w.
type recordedEdit struct {
	agent string
	lines []any // decoded
}

func recordedEdits(t *testing.T) map[string]recordedEdit {
	t.Helper()
	files, err := filepath.Glob("testdata/edits/*.jsonl")
	if err != nil || len(files) < 2*len(reportedNames) {
		t.Fatalf("recordings %q, %v", files, err)
	}
	all := map[string]recordedEdit{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		var e recordedEdit
		for agent, reported := range reportedNames {
			if strings.HasPrefix(name, agent+"-") {
				e.agent = reported
			}
		}
		for line := range strings.Lines(string(b)) {
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			e.lines = append(e.lines, v)
		}
		all[name] = e
	}
	return all
}

// request plays the messages up to the request of the edit, and returns the request of a session in
// dir for a file in its directory src.
func (e *recordedEdit) request(t *testing.T, dir string) protocol.Approval {
	t.Helper()
	if e.agent == "" || catalog.Reported(e.agent).Reports == "" {
		t.Fatalf("agent %q is not known", e.agent)
	}
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	tn := newTurn(t.Context(), "t", r, dir, catalog.Reported(e.agent))
	defer tn.finish()
	for _, line := range e.lines {
		raw := []byte(strings.ReplaceAll(string(protocol.MustEncode(line)), "/w/", dir+"/src/"))
		var m struct {
			Method string
			Params struct {
				Update json.RawMessage
			}
		}
		var p struct{ Params permissionParams }
		var u update
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if m.Method != "session/request_permission" {
			if err := decode(m.Params.Update, &u); err != nil || !tn.apply(&u) {
				t.Fatalf("%s: %v", raw, err)
			}
			continue
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		_ = tn.upsertTool(&p.Params.Tool, false)
		return tn.newApproval(&p.Params)
	}
	t.Fatal("no request")
	return protocol.Approval{}
}

// askedAbout classifies a request as a session does, and reports whether a user is asked although
// there are a rule for the files of rule, the policy auto-edit, or a policy file for src.
func askedAbout(t *testing.T, dir string, a protocol.Approval, rule string) (byRule, byPolicy, byFile bool) {
	t.Helper()
	k := policy.Classifier{Dir: dir}
	call, whole := k.Classify(&a)
	a.Options = []protocol.Option{{ID: "always", Kind: protocol.AllowAlways}}
	st := &protocol.State{Rules: []protocol.Rule{{ID: "r", Kind: protocol.ApprovePatch, Subject: rule}}}
	edits := policy.Decider{Choice: policy.Choice{Policy: policy.AutoEdit}}
	file, err := policy.ParseFile("ci.json", []byte(`{"allow":[{"path":"src/**"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, policyDecides := edits.Resolve("r", &call)
	byFileToo := policy.JudgeFile(file, &call).Action == policy.Allow
	return !whole || st.RuleFor(&a) == nil, !policyDecides, !byFileToo
}

func TestRecordedEditsNeedNoQuestion(t *testing.T) {
	for name, e := range recordedEdits(t) {
		dir := t.TempDir()
		a := e.request(t, dir)
		if rest, opaque := a.RestArguments(); a.Kind != protocol.ApprovePatch || rest != "" || opaque != "" ||
			a.Patch != "" || len(a.Content) != 1 || a.Content[0].New == "" {
			t.Errorf("%s: asked\n%s", name, protocol.MustEncode(a))
		}
		byRule, byPolicy, byFile := askedAbout(t, dir, a, a.Subject())
		if a.Subject() == "" || byRule || byPolicy || byFile {
			t.Errorf(
				"%s: asked in spite of a rule %t, of auto-edit %t, of a policy file %t", name, byRule, byPolicy,
				byFile,
			)
		}
	}
}

// A field of the arguments that says something else than the changes is shown, and asked about.
func TestHostileVariantsOfRecordedEditsAreShown(t *testing.T) {
	variants := 0
	for name, e := range recordedEdits(t) {
		dir := t.TempDir()
		original := e.request(t, dir)
		rule := original.Subject()
		for _, field := range e.argumentNames() {
			for what, spoil := range spoilers {
				for n := 0; ; n++ {
					hostile, spoiled := e.with(field, n, spoil)
					if !spoiled {
						break
					}
					variants++
					a := hostile.request(t, dir)
					rest, _ := a.RestArguments()
					files, _ := a.Files()
					shown := rest + strings.Join(a.Paths, " ") + strings.Join(files, " ")
					isShown := strings.Contains(shown, "evil")
					if what == "a switch" {
						isShown = strings.Contains(rest, field)
					}
					byRule, byPolicy, byFile := askedAbout(t, dir, a, rule)
					outside := rest != "" || what == "an outer path"
					if !isShown || !byRule || outside && !(byPolicy && byFile) {
						t.Errorf("%s: %s in %s (%d): shown %t, asked in spite of a rule %t, of auto-edit %t, of a policy file %t:\n%s",
							name, what, field, n, isShown, byRule, byPolicy, byFile, protocol.MustEncode(a))
					}
				}
			}
		}
	}
	if variants < 60 {
		t.Errorf("only %d variants", variants)
	}
}

// spoilers replace a text, a number, a switch, a null, or a name. ok is false for other values.
var spoilers = map[string]func(v any) (spoiled any, ok bool){
	"another text": func(v any) (any, bool) {
		switch v := v.(type) {
		case string:
			return v + "evil\n", true
		case float64, nil:
			return "evil", true
		}
		return v, false
	},
	"an outer path": func(v any) (any, bool) {
		s, ok := v.(string)
		return strings.ReplaceAll(s, "/w/", "/evil/"), ok && strings.Contains(s, "/w/")
	},
	"a switch": func(v any) (any, bool) {
		on, ok := v.(bool)
		return !on, ok
	},
	"another name": func(v any) (any, bool) {
		fields, ok := v.(map[string]any)
		other := map[string]any{}
		for name, value := range fields {
			other[name+"evil"] = value
		}
		return other, ok
	},
	"another field": func(v any) (any, bool) {
		fields, ok := v.(map[string]any)
		other := maps.Clone(fields)
		if ok {
			other["evil"] = 1
		}
		return other, ok
	},
}

// argumentNames returns the names of all arguments of the edit.
func (e *recordedEdit) argumentNames() []string {
	names := map[string]bool{}
	for _, args := range e.arguments() {
		for name := range args {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// arguments returns the arguments in all messages.
func (e *recordedEdit) arguments() (all []map[string]any) {
	for _, line := range e.lines {
		params := line.(map[string]any)["params"].(map[string]any)
		for _, name := range []string{"update", "toolCall"} {
			call, _ := params[name].(map[string]any)
			if args, ok := call["rawInput"].(map[string]any); ok {
				all = append(all, args)
			}
		}
	}
	return all
}

// with returns the edit with another value in place of the nth one of an argument that spoil
// accepts, and whether there is one.
func (e *recordedEdit) with(field string, n int, spoil func(any) (any, bool)) (other recordedEdit, spoiled bool) {
	other = recordedEdit{agent: e.agent}
	if err := json.Unmarshal(protocol.MustEncode(e.lines), &other.lines); err != nil {
		panic(err)
	}
	for _, args := range other.arguments() {
		if v, ok := args[field]; ok {
			left := n
			args[field] = spoilNth(v, &left, spoil)
			spoiled = spoiled || left < 0
		}
	}
	return other, spoiled
}

// spoilNth replaces the nth value that spoil accepts. Then n is negative.
func spoilNth(v any, n *int, spoil func(any) (any, bool)) any {
	if other, ok := spoil(v); ok {
		if *n--; *n < 0 {
			return other
		}
	}
	fields, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if *n >= 0 {
			fields[name] = spoilNth(fields[name], n, spoil)
		}
	}
	return v
}
