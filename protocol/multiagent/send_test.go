package multiagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// At a server other than agentctl's, a message counts as accepted when the server has answered a
// PING sent after it. Silence is no evidence.
func TestAMessageCountsWhenThePingAfterItIsAnswered(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.silent = true
	id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "one"})
	c.advance() // errorTimeout
	c.receive(chunkExample)
	if c.answers[id] != nil || c.state.Turn == nil || c.state.Turn.Message.Text != "one" {
		t.Fatalf("answered %+v in turn %+v", c.answers[id], c.state.Turn)
	}
	c.receive(`{"type":"PONG"}`)
	if r := result[protocol.SendResult](c, id); r == nil || r.Turn != c.state.Turn.Turn {
		t.Fatalf("%+v", c.answers[id])
	}
	c.receive(completeExample)
	late := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "two"})
	c.advance() // errorTimeout
	c.advance() // sendTimeout
	if c.errorCode(late) != protocol.CodeTimeout {
		t.Errorf("without evidence: %+v", c.answers[late])
	}
}

// A message that the server may have is not sent again over a reconnect: its sender gets an error.
func TestALostConnectionLeavesAMessageUnknown(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.silent = true
	c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	c.connect()
	c.frames = nil
	again := c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	if c.errorCode(again) != protocol.CodeTimeout || len(c.frames) != 0 {
		t.Errorf("%+v, sent %s", c.answers[again], c.frames)
	}
}

// agentctl's server answers a message, which therefore counts by its answer alone. The output of
// another turn is no evidence.
func TestAtAgentctlAMessageCountsWithItsAnswer(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.subscribe()
	c.silent = true
	id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "mine"})
	c.receive(chunkExample, completeExample)
	if c.answers[id] != nil || c.state.Turns != 1 {
		t.Fatalf("answered %+v by another turn", c.answers[id])
	}
	key := c.codec.sessionByID("uuid").requests[0].key
	c.receive(answerTo(key, `{}`))
	if r := result[protocol.SendResult](c, id); r == nil || c.state.Turn == nil || c.state.Turn.Message.Text != "mine" {
		t.Fatalf("%+v, turn %+v", c.answers[id], c.state.Turn)
	}
	c.receive(completeExample)
	id = c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "more"})
	key = c.codec.sessionByID("uuid").requests[0].key
	c.receive(answerTo(key, `{"error":{"code":"queue_full","message":"full"}}`))
	if c.errorCode(id) != protocol.CodeQueueFull || c.state.Turn != nil {
		t.Errorf("refused: %+v, turn %+v", c.answers[id], c.state.Turn)
	}
}

// A message at agentctl's server begins its turn when the server says so: the output until then is
// of another turn.
func TestAtAgentctlATurnBeginsWithItsSecondAnswer(t *testing.T) {
	for _, first := range []string{turnQueued, turnBegins} {
		c := newClientTestAt(t, true, nil)
		c.subscribe()
		c.silent = true
		id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "mine"})
		key := c.codec.sessionByID("uuid").requests[0].key
		c.receive(chunkExample, answerTo(key, `{"turn":"`+first+`"}`), completeExample)
		queued := c.answers[id] != nil
		if queued != (first == turnQueued) || c.state.Turns != 1 || c.state.Turn != nil {
			t.Errorf("%s: answered %+v, %d turns", first, c.answers[id], c.state.Turns)
		}
		c.receive(answerTo(key, `{"turn":"begun"}`))
		r := result[protocol.SendResult](c, id)
		if r == nil || c.state.Turn == nil || c.state.Turn.Message.Text != "mine" {
			t.Fatalf("%s: answered %+v, turn %+v", first, c.answers[id], c.state.Turn)
		}
		if (r.Status == protocol.SendQueued) != queued {
			t.Errorf("%s: answered %+v", first, r)
		}
	}
}

func answerTo(key, payload string) string {
	return `{"type":"agentctl_answer","conversationId":"uuid","requestId":"` + key + `","payload":` + payload + `}`
}

// After a reconnect to agentctl's server a message without an answer is sent again with its key,
// also one that waited in the queue.
func TestAtAgentctlAMessageIsSentAgainWithItsKey(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.subscribe()
	c.send("one")
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "queued"})
	c.silent = true
	c.receive(completeExample)
	first := string(c.frames[len(c.frames)-1])
	if !strings.Contains(first, `"content":"queued"`) {
		t.Fatalf("sent %s", first)
	}
	c.frames = nil
	c.connect()
	c.wantSent(first)
	c.connect()
	c.wantSent(first)
	c.receive(answerTo(c.codec.sessionByID("uuid").requests[0].key, `{}`))
	c.connect()
	c.wantSent()

	c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "direct"})
	first = string(c.frames[len(c.frames)-1])
	c.frames = nil
	c.connect()
	again := c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "direct"})
	c.wantSent(first)
	if c.answers[again] != nil {
		t.Fatalf("answered %+v without evidence", c.answers[again])
	}
	c.receive(answerTo(c.codec.sessionByID("uuid").requests[0].key, `{"turn":"over"}`))
	if turn := c.codec.sessionByID("uuid").turn; result[protocol.SendResult](c, again) == nil || turn != nil {
		t.Errorf("%+v; its turn is over, and is %+v", c.answers[again], turn)
	}
}

// The server may accept the message sent again before its command is sent again, which then waits
// for the turn: it is not a second message.
func TestAtAgentctlACommandMayComeAfterTheServerAcceptedItsMessage(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.subscribe()
	c.silent = true
	c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "once"})
	first := string(c.frames[len(c.frames)-1])
	c.frames = nil
	key := c.codec.sessionByID("uuid").requests[0].key
	c.connect()
	c.receive(answerTo(key, `{"turn":"`+turnBegins+`"}`))
	again := c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "once"})
	c.wantSent(first)
	if c.answers[again] != nil {
		t.Fatalf("answered %+v before its turn began", c.answers[again])
	}
	c.receive(answerTo(key, `{"turn":"begun"}`))
	if r := result[protocol.SendResult](c, again); r == nil || r.Turn != c.codec.sessionByID("uuid").turn.id {
		t.Errorf("%+v", c.answers[again])
	}
}

// A turn that came as one of another client, because its message was not answered yet, is that of
// the message if its output is: it is not shown a second time.
func TestAtAgentctlAMessageFindsItsTurnByItsOutput(t *testing.T) {
	for output, want := range map[string]int{"m": 1, "another": 2} {
		c := newClientTestAt(t, true, nil)
		c.subscribe()
		c.silent = true
		c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "mine"})
		key := c.codec.sessionByID("uuid").requests[0].key
		c.connect()
		c.receive(`{"type":"message_chunk","conversationId":"uuid","payload":{"messageId":"m","chunk":"hi","agentName":"a"}}`,
			`{"type":"message_complete","conversationId":"uuid","payload":{"messageId":"m","content":"hi"}}`)
		c.connect()
		again := c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "mine"})
		c.receive(answerTo(key, `{"turn":"over","output":"`+output+`"}`))
		turns := c.codec.sessionByID("uuid").log.State.Turns
		if result[protocol.SendResult](c, again) == nil || turns != want {
			t.Errorf("output %s: answered %+v, %d turns", output, c.answers[again], turns)
		}
	}
}

// The first message of a new conversation is part of its creation.
func TestACreationIsAnsweredWithItsMessage(t *testing.T) {
	c := newClientTest(t, nil)
	c.silent = true
	id := c.command(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})
	c.receive(`{"type":"conversation_started","payload":{"conversationId":"uuid","domainId":"d","activeAgent":"a"}}`)
	if c.advance(); c.answers[id] != nil {
		t.Fatalf("answered %+v without evidence of the message", c.answers[id])
	}
	c.receive(`{"type":"PONG"}`)
	if r := result[protocol.CreateResult](c, id); r == nil || r.Session != "uuid" || r.Message == nil {
		t.Errorf("%+v", c.answers[id])
	}
}

// agentctl's server answers messages with a key, and its commands have that key.
func TestAMessageWithAKeyIsAnswered(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.startTurn("uuid")
	h.takeSent()
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"},"agentctl":{"key":"k1"}}`)
	sent := h.takeSent()
	if sent[0] != answerTo("k1", `{"turn":"queued"}`) {
		t.Errorf("answered %s", sent[0])
	}
	if cmd := h.commands[len(h.commands)-1]; cmd.Command != protocol.DoSend || cmd.Key != "k1" {
		t.Errorf("command %+v", cmd)
	}
	var end codec.Output
	h.append(&end, "uuid", protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	h.startNext(&end)
	h.receiveNative(end.Native)
	if sent = h.takeSent(); sent[len(sent)-1] != answerTo("k1", `{"turn":"begun"}`) {
		t.Errorf("its turn begins with %s", sent)
	}
	winner := &protocol.Error{Code: protocol.CodeConflict, Message: "bea was first", Winner: &protocol.Winner{
		By: protocol.Actor{Name: "bea"}, Outcome: protocol.Denied, Decision: protocol.Deny,
	}}
	h.answer = func(out *codec.Output, cmd *protocol.Command) bool {
		if cmd.Command == protocol.DoApprove {
			h.responder.Fail(out, cmd, winner)
		}
		return cmd.Command == protocol.DoApprove
	}
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true},"agentctl":{"key":"k2"}}`)
	sent = h.takeSent()

	c := newClientTestAt(t, true, nil)
	c.subscribe()
	c.silent = true
	late := c.commandWithKey(protocol.DoApprove, "uuid", "k2",
		protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
	c.receive(sent...)
	if a := c.answers[late]; c.errorCode(late) != protocol.CodeConflict || a.Error.Winner == nil ||
		a.Error.Winner.By.Name != "bea" {
		t.Errorf("a late decision: %+v", a)
	}
}
