package sandcastle

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// The losses between agentctl's own ends. Each matches a line of the table in
// docs/dialects/sandcastle.md. Everything else must arrive.

// A mapping is a JSON object.
type mapping map[string]any

func (m mapping) drop(keys ...string) {
	for _, k := range keys {
		delete(m, k)
	}
}

func (m mapping) of(key string) mapping {
	v, _ := m[key].(map[string]any)
	return v
}

func (m mapping) each(key string) (list []mapping) {
	all, _ := m[key].([]any)
	for _, v := range all {
		if o, ok := v.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}

func toMapping(v any) (m mapping) {
	_ = json.Unmarshal(protocol.MustEncode(v), &m)
	return m
}

func indented(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// lossy returns a turn after the documented losses. finished means that it ended before the client
// came and so comes from history.
func lossy(t *protocol.Turn, finished bool) mapping {
	m := toMapping(t)
	m.drop("first", "last", "started", "ended") // positions and times are the client's own
	m.of("message").drop("by", "queued_at", "work")
	items, joined := []mapping{}, []mapping{}
	for i, it := range m.each("items") {
		it.drop("seq", "started")
		switch t.Items[i].Kind {
		case protocol.ItemText, protocol.ItemReasoning:
			if finished { // history has no part ids, speakers or open parts
				it.drop("id", "agent", "task", "parent", "open")
				if len(t.Items[i].Text) == 0 {
					it.drop("text")
				}
			}
		case protocol.ItemTool:
			lossyTool(it, t.Items[i], finished)
		case protocol.ItemSteered:
			if s := t.Items[i].Steered; finished && s.Outcome != protocol.SteerRefused {
				joined = append(joined, lossySteered(it)) // history has them before the answer
			}
			if !finished {
				it.of("steered").of("message").drop("queued_at")
			}
		case protocol.ItemApproval:
			lossyApproval(it.of("approval"))
		case protocol.ItemEvent:
			if t.Items[i].Type == protocol.UsageUpdated {
				lossyUsage(it.of("data"))
			}
		}
		if k := t.Items[i].Kind; !finished || k == protocol.ItemText || k == protocol.ItemReasoning ||
			k == protocol.ItemTool {
			items = append(items, it)
		}
	}
	m["items"] = append(joined, items...)
	return m
}

// lossySteered drops the author and the outcome of a message that joined a finished turn.
func lossySteered(it mapping) mapping {
	it.drop("by", "task", "parent", "open")
	s := it.of("steered")
	s.drop("reason")
	s["outcome"] = string(protocol.SteerTakenIn)
	s.of("message").drop("by", "queued_at")
	return it
}

func lossyTool(it mapping, item *protocol.Item, finished bool) {
	it.drop("task")
	tool := it.of("tool")
	tool["name"] = nameOf(item.Tool.Name, item.Tool.Kind)
	tool.drop("kind", "locations", "session")
	end := item.Tool.End
	tool.of("end").drop("exit_code", "duration_ms")
	if end != nil && end.Status != protocol.ToolFailed {
		tool.of("end").drop("error")
	}
	if end != nil && end.Status != protocol.ToolCompleted {
		tool.of("end").drop("output")
	}
	if end != nil && !finished && end.Status == protocol.ToolFailed && end.Error == "" && len(item.Text) > 0 {
		tool.of("end")["error"] = item.Text.String() // an empty error becomes the output
	}
	if !finished {
		return
	}
	it.drop("open", "text") // history has the result only
	if item.Tool.Input == nil {
		tool["input"] = item.Tool.InputText.String()
	}
	tool.drop("input_text", "content")
	switch {
	case end == nil:
	case end.Status == protocol.ToolFailed && end.Error == "":
		tool.of("end")["error"] = string(protocol.ToolFailed)
	case end.Status == protocol.ToolCompleted && end.Output == nil && len(item.Tool.Content) > 0:
		tool.of("end")["output"] = map[string]any(toMapping(wire.ToolOutput{Text: item.Text.String(), Content: item.Tool.Content}))
	case end.Status == protocol.ToolCompleted && end.Output == nil && len(item.Text) > 0:
		it["text"] = item.Text.String()
	}
}

func nameOf(name, kind string) string {
	if name == "" {
		name = kind
	}
	if name == "" {
		name = "tool"
	}
	return name
}

// lossyApproval drops the options that the protocol does not carry.
func lossyApproval(a mapping) {
	delete(a, "editable")
	kept := []any{}
	for _, o := range a.each("options") {
		if k := o["kind"]; k == string(protocol.AllowOnce) || k == string(protocol.Deny) {
			kept = append(kept, o)
		}
	}
	a["options"] = kept
}

func lossyUsage(u mapping) {
	u.drop("reasoning", "currency")
}

// lossyState returns a state after the documented losses.
func lossyState(s *protocol.State) mapping {
	m := toMapping(s)
	m.drop("seq", "created", "agent", "name", "labels", "cwd", "holds", "scheduled", "closed")
	m.of("history").drop("last_message_at")
	m.of("last").drop("ended", "started")
	for _, q := range m.each("queue") {
		q.drop("by", "not_before")
	}
	for _, a := range m.each("approvals") {
		lossyApproval(a)
	}
	lossyUsage(m.of("usage"))
	if t := m.of("turn"); t != nil {
		t.drop("first", "started")
		t.of("message").drop("by", "queued_at", "not_before", "work")
		for i, tool := range t.each("tools") {
			tool["name"] = nameOf(s.Turn.Tools[i].Name, s.Turn.Tools[i].Kind)
			tool.drop("kind", "task", "started")
		}
	}
	return m
}

// visibleSession returns the session as a client sees it that came before event number joined:
// finished turns from history, if the server has it; between turns the queue, and titles from then
// on.
func visibleSession(events []protocol.Event, joined int, history bool) (*protocol.State, []mapping) {
	whole, visible := &protocol.State{}, &protocol.State{}
	over := 0 // events of finished turns
	for i := range events[:joined] {
		if events[i].Type == protocol.TurnEnded {
			over = i + 1
		}
	}
	var past, now protocol.Transcript
	for i := range events {
		e := events[i]
		_ = whole.Apply(&e)
		tr := &now
		if i < over {
			tr = &past
		}
		_, _ = tr.Apply(&e)
		frame := e.Type == protocol.MessageUser || e.Type == protocol.TurnStarted || e.Type == protocol.TurnEnded
		switch {
		case i < over && !(frame && history), e.Turn == "" && !(e.Type == protocol.SessionUpdated && i >= joined):
		default:
			visible.Seq = e.Seq - 1
			_ = visible.Apply(&e)
		}
	}
	whole.Plan, whole.Context, whole.Rules = visible.Plan, visible.Context, visible.Rules
	whole.Options, whole.Usage, whole.Limits = visible.Options, visible.Usage, visible.Limits
	whole.Title, whole.Last, whole.Turns = visible.Title, visible.Last, visible.Turns
	var turns []mapping
	for _, t := range past.Turns {
		if history {
			turns = append(turns, lossy(t, true))
		}
	}
	for _, t := range now.Turns {
		turns = append(turns, lossy(t, false))
	}
	return whole, turns
}

// compare fails unless the native client, which came before event number joined, saw everything
// that is preserved.
func (l *codecPair) compare(past []json.RawMessage, joined int, history bool) {
	l.T.Helper()
	s, tr := l.clientView(past)
	want, wantTurns := visibleSession(l.Events, joined, history)
	finished := l.StateAt(uint64(joined)).Turns
	var turns []mapping
	for i, t := range tr.Turns {
		turns = append(turns, lossy(t, history && i < finished))
	}
	if got, want := indented(turns), indented(wantTurns); got != want {
		l.T.Fatalf("%s", diffContext(got, want))
	}
	if got, want := indented(lossyState(s)), indented(lossyState(want)); got != want {
		l.T.Fatalf("%s", diffContext(got, want))
	}
}

// A client over the dialect sees the same as a native client, except for documented losses,
// whenever it came and however the events arrived. SC-14, SC-22, SC-25, SC-30.
func TestAnyHistoryArrives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tags := rapid.SampledFrom([]string{"", "chat", "document"}).Draw(rt, "tags")
		l := newCodecPair(rt, map[string]string{"tags": tags})
		l.noHTTPHistory = rapid.Bool().Draw(rt, "no endpoint")
		g := newSessionGenerator(rt, l.NativeServer)
		for range rapid.SampledFrom([]int{0, 3, 10, 40}).Draw(rt, "before") {
			g.step()
		}
		joined := len(l.Events)
		l.command(protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Name: "ada", Acks: true})
		past := l.subscribe()
		for range rapid.SampledFrom([]int{0, 3, 10, 40}).Draw(rt, "live") {
			g.step()
			if rapid.Bool().Draw(rt, "now") {
				l.emit()
			}
		}
		l.emit()
		l.compare(past, joined, tags != "document" || !l.noHTTPHistory)
	})
}
