package replay

import (
	"encoding/json"
	"slices"
	"strings"
)

// The directions of lines of the Agent Client Protocol.
const (
	ToAgent   Direction = "c2a"
	FromAgent Direction = "a2c"
)

// An ACPConversation is what a client and an agent of the Agent Client Protocol sent each other, in
// order.
type ACPConversation struct {
	Name string // of the file, without its extension
	ACPHeader
	Steps []ACPStep
}

// An ACPHeader is the first line of a conversation's file.
type ACPHeader struct {
	Header
	Env map[string]string `json:"env"` // of the agent
}

// An ACPStep is a line, or the begin or end of the agent's process.
type ACPStep struct {
	MS        int       `json:"ms"` // since the begin
	Direction Direction `json:"dir"`
	Line      *string   `json:"line"`
	Start     bool      `json:"start"`
	Exit      *int      `json:"exit"` // status
}

// LoadACP reads the conversations of a directory, by name. A directory that does not exist has
// none.
func LoadACP(dir string) ([]*ACPConversation, error) {
	return readAll(dir, func(name string, data []byte) (*ACPConversation, error) {
		c := &ACPConversation{Name: name}
		var err error
		c.Steps, err = decodeLines[ACPStep](data, &c.ACPHeader)
		return c, err
	})
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
func parseLine(line string) (m rpcLine) {
	_ = json.Unmarshal([]byte(line), &m)
	return m
}

// An acpGrammar tells the types of the messages of one process. The type of a request or
// notification is its method, of an update also its kind and that of its content; the type of a
// response is the method of its request.
type acpGrammar struct {
	requests map[string]string // methods by direction and id
}

func newACPGrammar() *acpGrammar { return &acpGrammar{map[string]string{}} }

// message returns the message of a line.
func (g *acpGrammar) message(d Direction, line string) (Message, bool) {
	values := decode(line)
	if len(values) != 1 {
		return Message{}, false
	}
	m := parseLine(line)
	switch {
	case m.Method != "":
		if m.ID != nil {
			g.requests[string(d)+string(m.ID)] = m.Method
		}
		return Message{m.Method + updateType(m.Params), values[0]}, true
	case m.Error != nil:
		return Message{g.requests[string(opposite(d))+string(m.ID)] + " error", values[0]}, true
	}
	return Message{g.requests[string(opposite(d))+string(m.ID)] + " result", values[0]}, true
}

func opposite(d Direction) Direction {
	if d == ToAgent {
		return FromAgent
	}
	return ToAgent
}

// updateType returns the kinds of an update and of the content of its message or tool call.
func updateType(params json.RawMessage) string {
	type content struct {
		Type    string
		Content struct{ Type string }
	}
	type update struct {
		Kind    string `json:"sessionUpdate"`
		Content json.RawMessage
	}
	var p struct {
		Update   update
		ToolCall update
	}
	_ = json.Unmarshal(params, &p)
	text, raw := "", p.ToolCall.Content
	if p.Update.Kind != "" {
		text, raw = " "+p.Update.Kind, p.Update.Content
	}
	var one content
	var list []content
	switch {
	case json.Unmarshal(raw, &one) == nil && one.Type != "":
		return text + " " + one.Type
	case json.Unmarshal(raw, &list) != nil:
		return text
	}
	var kinds []string
	for _, c := range list {
		kinds = append(kinds, strings.TrimSuffix(c.Type+"/"+c.Content.Type, "/"))
	}
	slices.Sort(kinds)
	return text + " [" + strings.Join(slices.Compact(kinds), " ") + "]"
}

// Each calls f with every message of the conversation.
func (c *ACPConversation) Each(f func(step int, m Message)) {
	g := newACPGrammar()
	for i, s := range c.Steps {
		if s.Start {
			g = newACPGrammar()
		}
		if s.Line == nil {
			continue
		}
		if m, ok := g.message(s.Direction, *s.Line); ok {
			f(i, m)
		}
	}
}

// LearnACP returns the shapes of the messages of conversations.
func LearnACP(list []*ACPConversation) *Shapes {
	s := NewShapes(acpOpenKeys)
	for _, c := range list {
		c.Each(func(i int, m Message) { s.Learn(c.Steps[i].Direction, m) })
	}
	return s
}

// acpOpenKeys reports whether the keys of an object are those of a tool or of one agent.
func acpOpenKeys(_, path string) bool {
	for _, name := range []string{".rawInput", ".rawOutput", ".data", ".toolResponse", ".changes"} {
		if strings.HasSuffix(path, name) {
			return true
		}
	}
	return strings.Contains(path, ".rawInput") || strings.Contains(path, ".rawOutput")
}
