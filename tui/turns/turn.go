package turns

import (
	"maps"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
)

// maxPrompt bounds the text that is kept of a message, in bytes.
const maxPrompt = 400

// Turn is a turn in brief.
type Turn struct {
	ID      string
	First   uint64 // seq of its first event
	Prompt  string // start of the user's message
	Started time.Time
	End     *protocol.TurnEndedData // nil: running, or its end is not known

	tools map[string]bool // ids of the tool calls
	waits protocol.Waits
}

// newTurn returns the brief of a turn without items.
func newTurn(t *protocol.Turn) *Turn {
	return &Turn{ID: t.Turn, First: t.First, Prompt: prompt(t.Message.Label()), Started: t.Started}
}

// Took returns how long a turn that ended worked, and how long it waited for people.
func (t *Turn) Took() (work, waited time.Duration) {
	return t.waits.Split(protocol.TurnPart{}, t.Started, t.Started.Add(format.Millis(t.End.DurationMS)))
}

// Tools returns the number of tool calls.
func (t *Turn) Tools() int { return len(t.tools) }

// addTool counts a tool call.
func (t *Turn) addTool(id string) {
	if t.tools == nil {
		t.tools = map[string]bool{}
	}
	t.tools[id] = true
}

// join adds the earlier events of the same turn.
func (t *Turn) join(before *Turn) {
	t.First, t.Started = before.First, before.Started
	t.waits.Join(&before.waits)
	if t.tools == nil {
		t.tools = before.tools
	} else {
		maps.Copy(t.tools, before.tools)
	}
	if t.Prompt == "" {
		t.Prompt = before.Prompt
	}
	if t.End == nil {
		t.End = before.End
	}
}

// prompt returns the start of a message in one line.
func prompt(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), maxPrompt)]), " ")
	return strings.ToValidUTF8(text, "") // the cut may be in a character
}
