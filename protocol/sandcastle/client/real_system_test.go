package client

import (
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// After a frame that it cannot parse the real server answers everything with the same defect.
func TestAConnectionThatTheServerDoesNotReadIsClosed(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Command(protocol.DoSubscribe, "", nil)
	d.Receive(`{"_tag":"Defect","defect":{"name":"SyntaxError","message":"unexpected end"}}`)
	if d.Closed == nil || d.Closed.Code != protocol.CloseGoingAway || d.Answer("1") == nil {
		t.Errorf("closed %+v, sent back %s", d.Closed, d.Lines)
	}
}

// The real server runs a message again that is sent again after its turn, and stores no
// clientMessageId.
func TestAStoredMessageIsNotSentAgain(t *testing.T) {
	before := `{"id":"m0","sessionId":"abc","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":""},` +
		`{"id":"a0","sessionId":"abc","role":"assistant","parts":[],"createdAt":""}`
	now := `,{"id":"m1","sessionId":"abc","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":""}`
	answered := now + `,{"id":"a1","sessionId":"abc","role":"assistant","parts":[],"createdAt":""}`
	for history, want := range map[string]string{
		before:            "chat.send",
		before + now:      `"message_id":"m1"`, // its turn failed
		before + answered: `"message_id":"m1"`,
		before + strings.ReplaceAll(answered, "Hello", "Bye"): "chat.send",
	} {
		memory := &codec.ClientState{Value: &capabilities{tags: wire.ChatTags, tagsKnown: true}}
		d := newClientTest(t, memory)
		d.Command(protocol.DoSubscribe, "", nil)
		d.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":"a0"`))
		d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"messages":[` + before + `]}}}`)
		d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		d = newClientTest(t, memory)
		d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		last := "a0"
		if strings.Contains(history, "a1") {
			last = "a1"
		}
		d.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":"`+last+`"`))
		d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"messages":[` + history + `]}}}`)
		if got := strings.Join(append(d.Sent, d.Lines...), "\n"); !strings.Contains(got, want) ||
			want != "chat.send" && strings.Contains(got, "chat.send") {
			t.Errorf("%s:\n%s\nwant %s", history, got, want)
		}
	}
}
