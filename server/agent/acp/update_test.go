package acp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// newTestClient returns a client without a program, ready for a turn.
func newTestClient(r *recorder) *client {
	c := &client{
		wire:   wireV1{},
		config: Config{Name: "Fake"}, host: r, session: "s",
		replayed: make(chan struct{}, 1), unknown: map[string]bool{},
	}
	c.updateSettings(func(s *settings) { s.ready = true })
	return c
}

// changingHost changes the options while the first ones are emitted, as the agent may.
type changingHost struct {
	*recorder
	change func()
}

func (h *changingHost) Emit(e agent.Event) error {
	if change := h.change; change != nil {
		h.change = nil
		change()
	}
	return h.recorder.Emit(e)
}

func TestTheNewestOptionsAreEmittedLast(t *testing.T) {
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	c := newTestClient(r)
	c.host = &changingHost{r, func() {
		c.updateSettings(func(s *settings) { s.options.Commands = []protocol.SlashCommand{{Name: "weed"}} })
	}}
	c.updateSettings(func(s *settings) { s.options.Name = "Gardener" })
	all := r.data(protocol.AgentOptions)
	if len(all) != 2 || len(all[1].(protocol.Options).Commands) != 1 {
		t.Errorf("emitted %+v", all)
	}
}

func updateParamsJSON(t interface{ Fatal(...any) }, u any) json.RawMessage {
	b, err := json.Marshal(map[string]any{"sessionId": "s", "update": u})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// toolOutputs returns the output of each tool as a client computes it.
func toolOutputs(events []agent.Event) map[string]string {
	text := map[string]string{}
	for _, e := range events {
		if d, ok := e.Data.(protocol.ToolOutputData); ok {
			if d.Replace {
				text[d.Tool] = ""
			}
			text[d.Tool] += d.Text
			for _, c := range d.Content {
				text[d.Tool] += c.Type + ":" + c.Text + c.New
			}
		}
	}
	return text
}

func TestOutputIsTheLastOutputOfTheAgent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
		c := newTestClient(r)
		tn := newTurn(t.Context(), "t", r, "/", catalog.Agent{})
		c.lane.setTurn(tn)
		want := map[string]string{}
		text := map[string]string{}
		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id")
			var content []any
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0: // appended text
				text[id] += rapid.StringMatching(`[a-zé\n]{0,5}`).Draw(t, "more")
				content = []any{map[string]any{
					"type":    "content",
					"content": map[string]any{"type": "text", "text": text[id]},
				}}
				want["t/"+id] = text[id]
			case 1: // other text
				text[id] = rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "text")
				content = []any{map[string]any{
					"type":    "content",
					"content": map[string]any{"type": "text", "text": text[id]},
				}}
				want["t/"+id] = text[id]
			case 2: // a diff
				text[id] = ""
				s := rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "new")
				content = []any{map[string]any{"type": "diff", "path": "/x", "newText": s}}
				want["t/"+id] = "diff:" + s
			case 3: // empty
				text[id], content, want["t/"+id] = "", []any{}, ""
			}
			c.HandleNotification("session/update", updateParamsJSON(t,
				map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "content": content}))
		}
		c.endTurn(tn)
		got := toolOutputs(r.events)
		for tool, w := range want {
			if got[tool] != w {
				t.Fatalf("output of %s is %q, want %q; events\n%s", tool, got[tool], w, r.eventLines())
			}
		}
	})
}

func TestTextIsWholeAndEveryPartIsOpenWhenItGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
		c := newTestClient(r)
		tn := newTurn(t.Context(), "t", r, "/", catalog.Agent{})
		c.lane.setTurn(tn)
		var want strings.Builder
		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				s := rapid.String().Draw(t, "text")
				want.WriteString(strings.ToValidUTF8(s, "\uFFFD"))
				id := rapid.SampledFrom([]string{"", "m1", "m2"}).Draw(t, "message")
				c.HandleNotification("session/update",
					updateParamsJSON(t, map[string]any{
						"sessionUpdate": "agent_message_chunk", "messageId": id,
						"content": map[string]any{"type": "text", "text": s},
					}))
			case 1:
				c.HandleNotification("session/update",
					updateParamsJSON(t, map[string]any{
						"sessionUpdate": "agent_thought_chunk",
						"content":       map[string]any{"type": "text", "text": "hm"},
					}))
			case 2:
				id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool")
				c.HandleNotification("session/update",
					updateParamsJSON(t, map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": id}))
			}
		}
		c.endTurn(tn)
		if got := r.text(); got != want.String() {
			t.Fatalf("text %q, want %q", got, want.String())
		}
		open := ""
		for _, e := range r.events {
			switch d := e.Data.(type) {
			case protocol.PartStartData:
				if open != "" {
					t.Fatalf("%s begins while %s is open", d.Part, open)
				}
				open = d.Part
			case protocol.PartDeltaData:
				if d.Part != open {
					t.Fatalf("%s grows while %q is open", d.Part, open)
				}
			case protocol.PartEndData:
				if d.Part != open {
					t.Fatalf("%s ends while %q is open", d.Part, open)
				}
				open = ""
			case protocol.ToolStartedData:
				if open != "" {
					t.Fatalf("a tool begins while %s is open", open)
				}
			}
		}
	})
}

func FuzzNotify(f *testing.F) {
	for _, u := range []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}`,
		`{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"image","data":"AA"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"u","blob":"AA"}}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"u","size":-1}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"edit","status":"completed","content":[{"type":"diff","path":"/a","oldText":null,"newText":"b"},{"type":"terminal","terminalId":"t"}],"locations":[{"path":"/a","line":-4}],"rawInput":{"command":["a","b c"]},"rawOutput":{"stdout":"o","exitCode":3}}`,
		`{"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"}]}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","input":{"hint":"h"}}]}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"id":"m","category":"mode","type":"select","currentValue":"a","options":[{"group":"g","options":[{"value":"a"}]}]}]}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"x"}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":1,"currency":"USD"}}`,
		`{"sessionUpdate":7,"content":[]}`,
	} {
		f.Add([]byte(u))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !utf8.Valid(raw) || !json.Valid(raw) {
			return // rpc.Conn passes valid JSON only
		}
		r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
		c := newTestClient(r)
		tn := newTurn(t.Context(), "t", r, "/", catalog.Agent{})
		c.lane.setTurn(tn)
		c.HandleNotification("session/update", updateParamsJSON(t, json.RawMessage(raw)))
		c.HandleNotification("session/update", json.RawMessage(raw))
		var p permissionParams
		if decode(json.RawMessage(raw), &p) == nil {
			a := tn.newApproval(&p)
			if _, err := protocol.Encode(a); err != nil {
				t.Errorf("approval %+v: %v", a, err)
			}
			chooseOption(agent.Verdict{Outcome: protocol.Allowed}, p.Options)
		}
		c.endTurn(tn)
		for _, e := range r.events {
			if b, err := protocol.Encode(e.Data); err != nil || !utf8.Valid(b) {
				t.Errorf("%s %+v: %v", e.Type, e.Data, err)
			}
		}
		for _, line := range r.logs {
			if !strings.Contains(line, "without an equivalent") {
				t.Errorf("logged an error: %s", line)
			}
		}
	})
}
