package client

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// MA-14: a result that agentctl's server made from text becomes text. Any other result is kept.
func TestAResultOfTextIsText(t *testing.T) {
	for given, want := range map[string]string{
		`{"output":"done\n","exitCode":3}`: `text "done\n" code 3 output `,
		`{"output":"done","more":1}`:       `text "" code 0 output {"output":"done","more":1}`,
		`"done"`:                           `text "" code 0 output "done"`,
	} {
		c := newClientTest(t, nil)
		c.Subscribe()
		c.Send("x")
		c.Receive(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"k","toolName":"rm","result":` + given + `,"success":true}}`)
		tool := c.Transcript.Turns[0].Items[0]
		code := 0
		if tool.Tool.End.ExitCode != nil {
			code = *tool.Tool.End.ExitCode
		}
		if got := fmt.Sprintf("text %q code %d output %s", tool.Text.String(), code,
			tool.Tool.End.Output); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

// MA-15: an error that ends a turn is also recorded, with the server's code.
func TestAnErrorThatEndsATurnIsRecorded(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Receive(multiagenttest.ErrorMessage(wire.CodeStreamError))
	var raised protocol.ErrorData
	for _, e := range c.Events {
		if e.Type == protocol.ErrorRaised {
			_ = e.Decode(&raised)
		}
	}
	if raised.Message != "because" || raised.Details["code"] != wire.CodeStreamError || raised.Code != c.State.Last.Code {
		t.Errorf("error %+v, ended %+v", raised, c.State.Last)
	}
}

// MA-7: conversations are started in the order of the commands.
func TestConversationsAreStartedInTheirOrder(t *testing.T) {
	c := newClientTest(t, nil)
	first, second := c.Command(protocol.DoCreate, "", protocol.CreateData{Agent: "a"}), c.Command(protocol.DoCreate, "",
		protocol.CreateData{Agent: "b"})
	for i, id := range []string{first, second} {
		c.Receive(fmt.Sprintf(`{"type":"conversation_started","payload":{"conversationId":"c%d","domainId":"d","activeAgent":"x"}}`, i))
		if r := codectest.Result[protocol.CreateResult](&c.Client, id); r == nil || r.Session != fmt.Sprint("c", i) {
			t.Errorf("%d: %+v", i, c.Answers[id])
		}
	}
}

// MA-10: the complete message adds what the chunks omitted or contradict, without repetition.
func TestAWholeMessageCompletesItsChunks(t *testing.T) {
	chunk := func(text string) string {
		return `{"type":"message_chunk","conversationId":"uuid","payload":{"messageId":"m","chunk":"` + text +
			`","agentName":"A"}}`
	}
	for _, c := range []struct {
		chunks []string
		whole  string
		want   string // parts
	}{
		{[]string{"one ", "two"}, "one two", "one two"},
		{[]string{"one "}, "one two", "one two"},
		{nil, "one two", "one two"},
		{[]string{"one ", "two"}, "", "one two"},
		{[]string{"two"}, "one two", "two|one two"},
	} {
		g := newClientTest(t, nil)
		g.Subscribe()
		g.Send("x")
		for _, text := range c.chunks {
			g.Receive(chunk(text))
		}
		g.Receive(`{"type":"message_complete","conversationId":"uuid","payload":{"messageId":"m","content":"` +
			c.whole + `","agentName":"A","metadata":{"tokenCount":150,"durationMs":2500}}}`)
		var parts []string
		for _, it := range g.Transcript.Turns[0].Items {
			parts = append(parts, it.Text.String())
		}
		if got := strings.Join(parts, "|"); got != c.want {
			t.Errorf("%q, then %q: %s, want %s", c.chunks, c.whole, got, c.want)
		}
		if end := g.Transcript.Turns[0].End; end == nil || end.Usage.Output != 150 || end.DurationMS != 2500 {
			t.Errorf("%q: ended %+v", c.whole, end)
		}
	}
}

// The queue is bounded, and a message beyond it fails.
func TestAFullQueueRefusesMessages(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	for range maxRequests {
		c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "y"})
	}
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "y"})
	if c.ErrorCode(id) != protocol.CodeQueueFull {
		t.Errorf("one more: %+v", c.Answers[id])
	}
}

// startedTurns returns turns with the turn of a user message, and the state after it.
func startedTurns(t *testing.T, text string) (*turns, *protocol.State) {
	t.Helper()
	ts := &turns{newID: func(prefix string) string { return prefix + "1" }}
	st := new(protocol.State)
	applyEvents(t, st, ts.start(codectest.Start, protocol.Message{MessageID: "m", Text: text}))
	return ts, st
}

// applyEvents applies events to a state, and returns their types.
func applyEvents(t *testing.T, st *protocol.State, events []codec.Entry) (types string) {
	t.Helper()
	for _, e := range events {
		event := protocol.Event{
			Seq: st.Seq + 1, Turn: e.Turn, Type: e.Type, Time: codectest.Start, Data: protocol.MustEncode(e.Data),
		}
		if err := st.Apply(&event); err != nil {
			t.Fatal(err)
		}
		types += " " + string(e.Type)
	}
	return strings.TrimSpace(types)
}

// The end of a turn ends its part, its requests and its tools first.
func TestTheEndOfATurnEndsWhatIsOpen(t *testing.T) {
	ts, st := startedTurns(t, "x")
	ask := wire.Message{"requestId": []byte(`"r"`), "toolName": []byte(`"rm"`), "toolArgs": []byte(`{}`)}
	if got := applyEvents(t, st, ts.ask(codectest.Start, ask)); got != "tool.started approval.requested" {
		t.Errorf("a request: %s", got)
	}
	if got := applyEvents(t, st, ts.appendText("o1", "", "half")); got != "text.start text.delta" {
		t.Errorf("text: %s", got)
	}
	ended := applyEvents(t, st, ts.end(codectest.Start, st, protocol.TurnEndedData{Reason: protocol.ReasonError}))
	if ended != "text.end approval.resolved tool.ended turn.ended" || st.Turn != nil || ts.current != nil {
		t.Errorf("the end: %s, %+v", ended, st.Turn)
	}
	if start := ts.findEnded("o1"); start == nil || start.turn != "t1" || start.seq != 1 {
		t.Errorf("its output belongs to %+v", start)
	}
}

// A denied tool is the end of a tool request, and of no other turn.
func TestADeniedToolEndsOnlyAToolRequest(t *testing.T) {
	for text, want := range map[string]string{
		"/tool rm": "tool.started tool.ended turn.ended",
		"remove":   "tool.started tool.ended",
	} {
		ts, st := startedTurns(t, text)
		ts.resolve(st, nil, protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Denied})
		denied := wire.Message{"success": []byte("false"), "errorMessage": []byte(`"no"`)}
		if got := applyEvents(t, st, ts.endTool(codectest.Start, st, "r", denied)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
