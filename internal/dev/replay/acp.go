package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// acpDialect describes the Agent Client Protocol, of which agentctl has the client's end alone. Its
// requests have numbers that differ from run to run, so ids are not compared.
func acpDialect() *Dialect {
	const (
		rawOnly  = "it is in the protocol log only"
		notAsked = "the client sends no such request"
	)
	return &Dialect{
		Dialect: codec.Dialect{Name: "acp"},
		Grammar: Grammar{
			Split: func() func(Direction, any) []Message { return acpGrammar{}.split },
			OpenKeys: func(path string) bool { // keys of a tool or of one agent
				return strings.Contains(path, ".rawInput") || strings.Contains(path, ".rawOutput") ||
					slices.ContainsFunc([]string{".data", ".toolResponse", ".changes"}, func(name string) bool {
						return strings.HasSuffix(path, name)
					})
			},
			TypeFields: []string{"method", "sessionUpdate", "type", "id", "jsonrpc"},
		},
		Play: PlayAgent,
		Commands: []Command{
			{Type: "session/prompt", Verb: protocol.DoSend, Data: `.prompt | {
				text: ([.[] | select(.type == "text").text] | add),
				parts: [.[] | select(.type == "image") | {type, url: "data:\(.mimeType);base64,\(.data)"}]}`},
			{Type: "session/cancel", Verb: protocol.DoInterrupt, Data: `{}`},
			{Type: "session/set_mode", Verb: protocol.DoConfigure, Data: `{setting: "mode", value: .modeId}`},
			{Type: "session/set_model", Verb: protocol.DoConfigure, Data: `{setting: "model", value: .modelId}`},
			{
				Type: "session/set_config_option", Verb: protocol.DoConfigure,
				Data: `{setting: .configId, value: (.value | tostring)}`,
			},
		},
		Silent: map[string]string{
			"_auth/status_update":             rawOnly,
			"craft/drainMidTurnQueue":         rawOnly,
			"fs/write_text_file":              rawOnly,
			"qwen/notify/session/mode-update": rawOnly,
			"no/such/method error":            notAsked,
			"session/close result":            notAsked,
			"session/list result":             notAsked,
			"session/set_mode error":          "the client checks a mode before it asks for it",
			"session/set_mode result":         "it is empty",
			"session/set_model result":        "it is empty",
		},
		Unasked: map[string]string{
			"session/load error": "agentctl's client loads a session only when a process starts",
		},
	}
}

// An acpGrammar has the methods of the requests of one process, by direction and id.
type acpGrammar map[string]string

// split returns the message of a line. The type of a request or notification is its method, of an
// update also its kind and its content's kind; the type of a response is the method of its
// request.
func (g acpGrammar) split(d Direction, v any) []Message {
	id, method, kind := fmt.Sprint(at(v, "id")), textAt(v, "method"), " result"
	switch {
	case method != "":
		if at(v, "id") != nil {
			g[string(d)+id] = method
		}
		return []Message{{method + updateType(at(v, "params")), v}}
	case at(v, "error") != nil:
		kind = " error"
	}
	if d == ToServer {
		return []Message{{g[string(ToClient)+id] + kind, v}}
	}
	return []Message{{g[string(ToServer)+id] + kind, v}}
}

// updateType returns the kinds of an update and of the content of its message or tool call.
func updateType(params any) string {
	kind, content := "", at(params, "toolCall", "content")
	if update := textAt(params, "update", "sessionUpdate"); update != "" {
		kind, content = " "+update, at(params, "update", "content")
	}
	if one := textAt(content, "type"); one != "" {
		return kind + " " + one
	}
	list, ok := content.([]any)
	if !ok {
		return kind
	}
	var kinds []string
	for _, c := range list {
		kinds = append(kinds, strings.TrimSuffix(textAt(c, "type")+"/"+textAt(c, "content", "type"), "/"))
	}
	slices.Sort(kinds)
	return kind + " [" + strings.Join(slices.Compact(kinds), " ") + "]"
}

// An rpcLine is a JSON-RPC message.
type rpcLine struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// parseLine parses a line. A line that is not a message has no method and no id.
func parseLine(line []byte) (m rpcLine) {
	_ = json.Unmarshal(line, &m)
	return m
}
