package replay

import (
	"fmt"
	"strings"

	"agentctl/protocol"
)

// sandcastleScript returns an agent that does in each turn what the recorded one did.
func sandcastleScript(c *Conversation) string {
	lines := []string{`{"agent":"castle","settings":[{"id":"mode","value":"build",` +
		`"choices":[{"id":"build","label":"Build"},{"id":"plan","label":"Plan"}]}]}`}
	for i, t := range recordedTurns(c) {
		lines = append(lines, fmt.Sprintf(`{"turn":%d}`, i+1))
		lines = append(lines, t.script()...)
	}
	return strings.Join(lines, "\n")
}

// A recordedTurn is a turn of a recorded server.
type recordedTurn struct {
	began  int // in milliseconds
	reason string
	events []recordedEvent // as the connection saw them that saw most
}

// A recordedEvent is a chat event.
type recordedEvent struct {
	ms    int
	event any
}

// recordedTurns returns the turns of a conversation, in order.
func recordedTurns(c *Conversation) (order []*recordedTurn) {
	byID := map[string]*recordedTurn{}
	turn := func(id string, ms int) *recordedTurn {
		if byID[id] == nil {
			byID[id] = &recordedTurn{began: ms}
			order = append(order, byID[id])
		}
		return byID[id]
	}
	d := sandcastleDialect()
	seen := map[string][]recordedEvent{} // by turn and stream
	stream := ""
	add := func(id string, t *recordedTurn, ms int, event any) {
		if c.Scenario == d.AckTest {
			ms = t.began
		}
		key := id + " " + stream
		seen[key] = append(seen[key], recordedEvent{ms, event})
		if len(seen[key]) > len(t.events) {
			t.events = seen[key]
		}
	}
	caused := 0 // the time of what can start a turn
	d.Each(c, func(i int, _ []any, m Message) {
		s, id := c.Steps[i], textAt(m.Value, "turnId")
		switch {
		case s.Direction != ToClient:
			if strings.HasPrefix(m.Type, "Request/chat.") {
				caused = s.MS
			}
		case m.Type == "Chunk":
			stream = fmt.Sprint(s.Conn, " ", textAt(m.Value, "requestId"))
		case m.Type == "InitialState":
			buffer, _ := at(m.Value, "buffer").([]any)
			for _, e := range buffer {
				id := textAt(m.Value, "snapshot", "activeTurnId")
				t := turn(id, 0)
				add(id, t, t.began, e)
			}
		case m.Type == "SessionStarted":
			turn(id, caused)
		case m.Type == "StreamEvent" && id != "":
			add(id, turn(id, s.MS), s.MS, at(m.Value, "event"))
		case m.Type == "SessionStopped":
			turn(id, s.MS).reason = textAt(m.Value, "reason")
			caused = s.MS
		}
	})
	return order
}

// sandcastleSteps are the steps of a script by the type of a chat event: the verb, its value, and
// other fields. A tool call that awaits a decision is a request for one. $state is the call's
// tool-input-available, and $first the text so far.
var sandcastleSteps = map[string]query{
	"text-end":             `["say", $first]`,
	"reasoning-end":        `["think", $first]`,
	"metadata-update":      `["usage", ` + sandcastleUsage + `]`,
	"tool-input-available": `["tool", .toolName, {id: .toolCallId, parent: .parentToolCallId, input, open: true}]`,
	"tool-output-available": `["tool", $state.toolName, {id: .toolCallId, parent: .parentToolCallId, output: (.output
		| if type == "string" then . else ([arrays[] | .text? // "" | select(. != "")][0] // tojson) end)}]`,
	"tool-output-error": `["tool", $state.toolName,
		{id: .toolCallId, parent: .parentToolCallId, status: "failed", error: .errorText}]`,
	"finish": `["end", {stop: "completed", length: "max_tokens"}[.finishReason // ""] // "",
		{usage: (.metadata | ` + sandcastleUsage + `)}]`,
	"tool-approval-request": `$state.input | if (.plan // "") != "" then ["ask", "plan", {title: .plan}] else
		["ask", "question", {title: "Questions", questions: [.questions // [] | to_entries[] | {
			id: "q\(.key + 1)", text: .value.question, many: .value.multiSelect,
			choices: [.value.options // [] | .[] | {id: "c-\(.label)", label, about: .description}]}]}] end`,
}

const sandcastleUsage = `{input: .inputTokens, output: .outputTokens, cached: .cacheReadInputTokens, cost: .costUSD,
	currency: "USD", model}`

// script returns the steps of a turn.
func (t *recordedTurn) script() (steps []string) {
	asked, calls := map[string]bool{}, map[string]any{}
	for _, e := range t.events {
		call := textAt(e.event, "toolCallId")
		switch textAt(e.event, "type") {
		case "tool-approval-request":
			asked[call] = true
		case "tool-input-available":
			calls[call] = e.event
		}
	}
	text, last := "", t.began
	for _, e := range t.events {
		if e.ms > last {
			steps = append(steps, scriptStep("sleep", fmt.Sprintf("%dms", e.ms-last)))
			last = e.ms
		}
		typ, call := textAt(e.event, "type"), textAt(e.event, "toolCallId")
		switch {
		case strings.HasPrefix(typ, "tool-") && typ != "tool-approval-request" && asked[call]:
			continue
		case strings.HasSuffix(typ, "-start"):
			text = ""
		case typ == "text-delta", typ == "reasoning-delta":
			text += textAt(e.event, "delta")
		}
		if step := sandcastleSteps[typ]; step != "" {
			v, _ := step.run(e.event, facts{"$state": calls[call], "$first": text})
			steps = append(steps, scriptStep(v.([]any)...))
		}
	}
	switch t.reason {
	case "error":
		steps = append(steps, scriptStep("fail", "the model is gone"))
	case "interrupted":
		steps = append(steps, scriptStep("sleep", "1h"))
	}
	return steps
}

// scriptStep returns a line of a script: the verb with its value comes first, then other fields.
func scriptStep(step ...any) string {
	line := fmt.Sprintf(`{%q:%s`, step[0], protocol.MustEncode(step[1]))
	if len(step) > 2 {
		fields := step[2].(map[string]any)
		for name, v := range fields {
			if v == nil {
				delete(fields, name)
			}
		}
		return line + "," + string(protocol.MustEncode(fields)[1:])
	}
	return line + "}"
}
