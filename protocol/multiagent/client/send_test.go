package client

import (
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// At a server other than agentctl's, a message counts as accepted when the server has answered a
// PING sent after it. Silence is no evidence.
func TestAMessageCountsWhenThePingAfterItIsAnswered(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Silent = true
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "one"})
	c.Advance() // errorTimeout
	c.Receive(multiagenttest.ChunkExample)
	if c.Answers[id] != nil || c.State.Turn == nil || c.State.Turn.Message.Text != "one" {
		t.Fatalf("answered %+v in turn %+v", c.Answers[id], c.State.Turn)
	}
	c.Receive(`{"type":"PONG"}`)
	if r := codectest.Result[protocol.SendResult](&c.Client, id); r == nil || r.Turn != c.State.Turn.Turn {
		t.Fatalf("%+v", c.Answers[id])
	}
	c.Receive(multiagenttest.CompleteExample)
	late := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "two"})
	c.Advance() // errorTimeout
	c.Advance() // sendTimeout
	if c.ErrorCode(late) != protocol.CodeTimeout {
		t.Errorf("without evidence: %+v", c.Answers[late])
	}
}

// A message that the server may have is not sent again over a reconnect: its sender gets an error.
func TestALostConnectionLeavesAMessageUnknown(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Silent = true
	c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	c.Connect()
	c.Frames = nil
	again := c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	if c.ErrorCode(again) != protocol.CodeTimeout || len(c.Frames) != 0 {
		t.Errorf("%+v, sent %s", c.Answers[again], c.Frames)
	}
}

// agentctl's server answers a message, so only the answer counts as evidence. The output of another
// turn is no evidence.
func TestAtAgentctlAMessageCountsWithItsAnswer(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.Subscribe()
	c.Silent = true
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "mine"})
	c.Receive(multiagenttest.ChunkExample, multiagenttest.CompleteExample)
	if c.Answers[id] != nil || c.State.Turns != 1 {
		t.Fatalf("answered %+v by another turn", c.Answers[id])
	}
	key := codecOf(c).sessionByID("uuid").requests.inFlight[0].key
	c.Receive(multiagenttest.AnswerTo(key, `{}`))
	if r := codectest.Result[protocol.SendResult](&c.Client, id); r == nil || c.State.Turn == nil || c.State.Turn.Message.Text != "mine" {
		t.Fatalf("%+v, turn %+v", c.Answers[id], c.State.Turn)
	}
	c.Receive(multiagenttest.CompleteExample)
	id = c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "more"})
	key = codecOf(c).sessionByID("uuid").requests.inFlight[0].key
	c.Receive(multiagenttest.AnswerTo(key, `{"error":{"code":"queue_full","message":"full"}}`))
	if c.ErrorCode(id) != protocol.CodeQueueFull || c.State.Turn != nil {
		t.Errorf("refused: %+v, turn %+v", c.Answers[id], c.State.Turn)
	}
}

// A message at agentctl's server begins its turn when the server reports it: earlier output belongs
// to another turn.
func TestAtAgentctlATurnBeginsWithItsSecondAnswer(t *testing.T) {
	for _, first := range []string{wire.TurnQueued, wire.TurnBegins} {
		c := newClientTestAt(t, true, nil)
		c.Subscribe()
		c.Silent = true
		id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "mine"})
		key := codecOf(c).sessionByID("uuid").requests.inFlight[0].key
		c.Receive(multiagenttest.ChunkExample, multiagenttest.AnswerTo(key, `{"turn":"`+first+`"}`), multiagenttest.CompleteExample)
		queued := c.Answers[id] != nil
		if queued != (first == wire.TurnQueued) || c.State.Turns != 1 || c.State.Turn != nil {
			t.Errorf("%s: answered %+v, %d turns", first, c.Answers[id], c.State.Turns)
		}
		c.Receive(multiagenttest.AnswerTo(key, `{"turn":"begun"}`))
		r := codectest.Result[protocol.SendResult](&c.Client, id)
		if r == nil || c.State.Turn == nil || c.State.Turn.Message.Text != "mine" {
			t.Fatalf("%s: answered %+v, turn %+v", first, c.Answers[id], c.State.Turn)
		}
		if (r.Status == protocol.SendQueued) != queued {
			t.Errorf("%s: answered %+v", first, r)
		}
	}
}

// After a reconnect to agentctl's server a message without an answer is sent again with its key,
// also one that waited in the queue.
func TestAtAgentctlAMessageIsSentAgainWithItsKey(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.Subscribe()
	c.Send("one")
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "queued"})
	c.Silent = true
	c.Receive(multiagenttest.CompleteExample)
	first := string(c.Frames[len(c.Frames)-1])
	if !strings.Contains(first, `"content":"queued"`) {
		t.Fatalf("sent %s", first)
	}
	c.Frames = nil
	c.Connect()
	c.WantSent(first)
	c.Connect()
	c.WantSent(first)
	c.Receive(multiagenttest.AnswerTo(codecOf(c).sessionByID("uuid").requests.inFlight[0].key, `{}`))
	c.Connect()
	c.WantSent()

	c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "direct"})
	first = string(c.Frames[len(c.Frames)-1])
	c.Frames = nil
	c.Connect()
	again := c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "direct"})
	c.WantSent(first)
	if c.Answers[again] != nil {
		t.Fatalf("answered %+v without evidence", c.Answers[again])
	}
	c.Receive(multiagenttest.AnswerTo(codecOf(c).sessionByID("uuid").requests.inFlight[0].key, `{"turn":"over"}`))
	if turn := codecOf(c).sessionByID("uuid").turns.current; codectest.Result[protocol.SendResult](&c.Client, again) == nil || turn != nil {
		t.Errorf("%+v; its turn is over, and is %+v", c.Answers[again], turn)
	}
}

// The server may accept the message sent again before its command is sent again, which then waits
// for the turn: it is not a second message.
func TestAtAgentctlACommandMayComeAfterTheServerAcceptedItsMessage(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.Subscribe()
	c.Silent = true
	c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "once"})
	first := string(c.Frames[len(c.Frames)-1])
	c.Frames = nil
	key := codecOf(c).sessionByID("uuid").requests.inFlight[0].key
	c.Connect()
	c.Receive(multiagenttest.AnswerTo(key, `{"turn":"`+wire.TurnBegins+`"}`))
	again := c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "once"})
	c.WantSent(first)
	if c.Answers[again] != nil {
		t.Fatalf("answered %+v before its turn began", c.Answers[again])
	}
	c.Receive(multiagenttest.AnswerTo(key, `{"turn":"begun"}`))
	if r := codectest.Result[protocol.SendResult](&c.Client, again); r == nil || r.Turn != codecOf(c).sessionByID("uuid").turns.id() {
		t.Errorf("%+v", c.Answers[again])
	}
}

// A turn that seemed another client's, because the message was not answered yet, belongs to the
// message if its output does: it is not shown twice.
func TestAtAgentctlAMessageFindsItsTurnByItsOutput(t *testing.T) {
	for output, want := range map[string]int{"m": 1, "another": 2} {
		c := newClientTestAt(t, true, nil)
		c.Subscribe()
		c.Silent = true
		c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "mine"})
		key := codecOf(c).sessionByID("uuid").requests.inFlight[0].key
		c.Connect()
		c.Receive(`{"type":"message_chunk","conversationId":"uuid","payload":{"messageId":"m","chunk":"hi","agentName":"a"}}`,
			`{"type":"message_complete","conversationId":"uuid","payload":{"messageId":"m","content":"hi"}}`)
		c.Connect()
		again := c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "mine"})
		c.Receive(multiagenttest.AnswerTo(key, `{"turn":"over","output":"`+output+`"}`))
		turns := codecOf(c).sessionByID("uuid").log.State.Turns
		if codectest.Result[protocol.SendResult](&c.Client, again) == nil || turns != want {
			t.Errorf("output %s: answered %+v, %d turns", output, c.Answers[again], turns)
		}
	}
}

// The first message of a new conversation is part of its creation.
func TestACreationIsAnsweredWithItsMessage(t *testing.T) {
	c := newClientTest(t, nil)
	c.Silent = true
	id := c.Command(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})
	c.Receive(`{"type":"conversation_started","payload":{"conversationId":"uuid","domainId":"d","activeAgent":"a"}}`)
	if c.Advance(); c.Answers[id] != nil {
		t.Fatalf("answered %+v without evidence of the message", c.Answers[id])
	}
	c.Receive(`{"type":"PONG"}`)
	if r := codectest.Result[protocol.CreateResult](&c.Client, id); r == nil || r.Session != "uuid" || r.Message == nil {
		t.Errorf("%+v", c.Answers[id])
	}
}
