package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
)

// serveSandcastle starts the server with an agent that does in each turn what the recorded one
// did, and the session of the conversation. Its name is the recorded id: a client may send that in
// a frame that is cut in two.
func serveSandcastle(p *ServerPlayer) {
	lines := []string{`{"agent":"castle","settings":[{"id":"mode","value":"build",` +
		`"choices":[{"id":"build","label":"Build"},{"id":"plan","label":"Plan"}]}]}`}
	for i, t := range recordedTurns(p.Conversation) {
		lines = append(lines, fmt.Sprintf(`{"turn":%d}`, i+1))
		lines = append(lines, t.script()...)
	}
	p.Start(strings.Join(lines, "\n"))
	for _, r := range sandcastleRequests(p.Conversation) {
		if id := r.Payload.SessionID; id != "" && id != "nope" && !p.IDs.Known(id) {
			p.IDs.Set(id, p.Create(protocol.CreateData{Name: id}))
		}
	}
}

// beforeSandcastle deletes or renames the session, or sends a message, where the recorded server
// did for a request that is not part of a session, or for a tool.
func beforeSandcastle(p *ServerPlayer, _ Step, m Message) {
	if m.Type == "StreamEvent/session-renamed" {
		var e struct{ SessionID, Title string }
		_ = json.Unmarshal(protocol.MustEncode(m.Value), &e)
		p.Do(protocol.DoRename, p.IDs.Get(e.SessionID), protocol.RenameData{Title: &e.Title})
		return
	}
	var r sandcastleRequest
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &r)
	id := p.IDs.Get(r.Payload.ID)
	switch {
	case m.Type == "Request/chat.createPR":
		p.Do(protocol.DoSend, p.IDs.Get(r.Payload.SessionID), protocol.SendData{Text: "make a pull request"})
	case !p.IDs.Known(r.Payload.ID):
	case m.Type == "Request/session.delete":
		p.Do(protocol.DoClose, id, protocol.CloseData{Delete: true})
	case m.Type == "Request/session.update":
		p.Do(protocol.DoRename, id, protocol.RenameData{Title: &r.Payload.Input.Title})
	}
}

// A recordedTurn is a turn of a recorded server.
type recordedTurn struct {
	id     string
	began  int // in milliseconds
	reason string
	events []recordedEvent // as the connection saw them that saw most
}

// A recordedEvent is a chat event.
type recordedEvent struct {
	ms int
	chatEvent
}

type chatEvent struct {
	Type             string
	Delta            string
	ToolCallID       string
	ToolName         string
	ParentToolCallID string
	Input            json.RawMessage
	Output           json.RawMessage
	ErrorText        string
	FinishReason     string
	Metadata         chatUsage
	chatUsage
}

type chatUsage struct {
	Model                string
	CostUSD              float64
	InputTokens          int64
	OutputTokens         int64
	CacheReadInputTokens int64
}

// recordedTurns returns the turns of a conversation, in order.
func recordedTurns(c *Conversation) []*recordedTurn {
	byID := map[string]*recordedTurn{}
	var order []*recordedTurn
	turn := func(id string, ms int) *recordedTurn {
		if byID[id] == nil {
			byID[id] = &recordedTurn{id: id, began: ms}
			order = append(order, byID[id])
		}
		return byID[id]
	}
	seen := map[string][]recordedEvent{} // by turn and stream
	d := sandcastleDialect()
	stream := ""
	caused := 0 // the time of what can start a turn
	d.Each(c, func(s Step, m Message) {
		if s.Direction != ToClient {
			if strings.HasPrefix(m.Type, "Request/chat.") {
				caused = s.MS
			}
			return
		}
		var v struct {
			RequestID string
			TurnID    string
			Reason    string
			Event     chatEvent
			Buffer    []chatEvent
			Snapshot  struct{ ActiveTurnID string }
		}
		_ = json.Unmarshal(protocol.MustEncode(m.Value), &v)
		add := func(id string, ms int, e chatEvent) {
			t := turn(id, ms)
			if lateAcks(c) {
				ms = t.began
			}
			key := id + " " + stream
			seen[key] = append(seen[key], recordedEvent{ms, e})
			if len(seen[key]) > len(t.events) {
				t.events = seen[key]
			}
		}
		switch m.Type {
		case "Chunk":
			stream = fmt.Sprint(s.Conn, " ", v.RequestID)
		case "InitialState":
			for _, e := range v.Buffer {
				add(v.Snapshot.ActiveTurnID, turn(v.Snapshot.ActiveTurnID, 0).began, e)
			}
		case "SessionStarted":
			turn(v.TurnID, caused)
		case "StreamEvent":
			if v.TurnID != "" {
				add(v.TurnID, s.MS, v.Event)
			}
		case "SessionStopped":
			turn(v.TurnID, s.MS).reason = v.Reason
			caused = s.MS
		}
	})
	return order
}

// script returns the steps of a turn. A tool call that awaits a decision is a request for one.
func (t *recordedTurn) script() (steps []string) {
	asked := map[string]bool{}
	for _, e := range t.events {
		if e.Type == "tool-approval-request" {
			asked[e.ToolCallID] = true
		}
	}
	calls := map[string]*chatEvent{}
	text, last := "", t.began
	for _, e := range t.events {
		if e.ms > last {
			steps = append(steps, scriptStep("sleep", fmt.Sprintf("%dms", e.ms-last), nil))
			last = e.ms
		}
		if strings.HasPrefix(e.Type, "tool-") && asked[e.ToolCallID] {
			switch e.Type {
			case "tool-input-available":
				calls[e.ToolCallID] = &e.chatEvent
			case "tool-approval-request":
				steps = append(steps, calls[e.ToolCallID].ask())
			}
			continue
		}
		switch e.Type {
		case "text-start", "reasoning-start":
			text = ""
		case "text-delta", "reasoning-delta":
			text += e.Delta
		case "text-end":
			steps = append(steps, scriptStep("say", text, nil))
		case "reasoning-end":
			steps = append(steps, scriptStep("think", text, nil))
		case "metadata-update":
			steps = append(steps, scriptStep("usage", e.chatUsage.native(), nil))
		case "tool-input-available":
			calls[e.ToolCallID] = &e.chatEvent
			steps = append(steps, e.tool(map[string]any{"input": e.Input, "open": true}))
		case "tool-output-available":
			steps = append(steps, calls[e.ToolCallID].tool(map[string]any{"output": outputText(e.Output)}))
		case "tool-output-error":
			steps = append(steps, calls[e.ToolCallID].tool(map[string]any{"status": "failed", "error": e.ErrorText}))
		case "finish":
			reasons := map[string]string{"stop": "completed", "length": "max_tokens"}
			used := map[string]any{"usage": e.Metadata.native()}
			steps = append(steps, scriptStep("end", reasons[e.FinishReason], used))
		}
	}
	switch t.reason {
	case "error":
		steps = append(steps, scriptStep("fail", "the model is gone", nil))
	case "interrupted":
		steps = append(steps, scriptStep("sleep", "1h", nil))
	}
	return steps
}

// scriptStep returns a line of a script: the verb comes first.
func scriptStep(verb string, value any, options map[string]any) string {
	line := fmt.Sprintf(`{%q:%s`, verb, protocol.MustEncode(value))
	if len(options) > 0 {
		line += "," + string(protocol.MustEncode(options)[1:])
		return line
	}
	return line + "}"
}

// tool returns a step of the tool call.
func (e *chatEvent) tool(options map[string]any) string {
	options["id"] = e.ToolCallID
	if e.ParentToolCallID != "" {
		options["parent"] = e.ParentToolCallID
	}
	return scriptStep("tool", e.ToolName, options)
}

// ask returns the request for a decision on the call.
func (e *chatEvent) ask() string {
	var in struct {
		Plan      string
		Questions []struct {
			Question    string
			MultiSelect bool
			Options     []struct{ Label, Description string }
		}
	}
	_ = json.Unmarshal(e.Input, &in)
	if in.Plan != "" {
		return scriptStep("ask", "plan", map[string]any{"title": in.Plan})
	}
	var questions []protocol.Question
	for i, q := range in.Questions {
		question := protocol.Question{ID: fmt.Sprintf("q%d", i+1), Text: q.Question, Many: q.MultiSelect}
		for _, o := range q.Options {
			question.Choices = append(question.Choices, protocol.Choice{
				ID: "c-" + o.Label, Label: o.Label, About: o.Description,
			})
		}
		questions = append(questions, question)
	}
	return scriptStep("ask", "question", map[string]any{"title": "Questions", "questions": questions})
}

func (u *chatUsage) native() protocol.Usage {
	return protocol.Usage{
		Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CacheReadInputTokens, Cost: u.CostUSD, Currency: "USD",
		Model: u.Model,
	}
}

// outputText returns the output of a tool as a text.
func outputText(raw json.RawMessage) string {
	var text string
	var blocks []struct{ Text string }
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	_ = json.Unmarshal(raw, &blocks)
	i := slices.IndexFunc(blocks, func(b struct{ Text string }) bool { return b.Text != "" })
	if i < 0 {
		return string(raw)
	}
	return blocks[i].Text
}
