package sandcastle

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

// The server answers the document's requests as shown: SC-1 to SC-5.
func TestTheDocumentsRequestsAreAnsweredAsShown(t *testing.T) {
	const abc, hello = `{"sessionId":"abc"}`, `{"sessionId":"abc","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"temp_123"}`
	for _, c := range []struct {
		tag, payload  string
		answers       map[protocol.Verb]any // of the native server
		command, want string
	}{
		{
			"SendMessage", hello,
			map[protocol.Verb]any{
				protocol.DoSend: protocol.SendResult{Status: protocol.SendStarted, MessageID: "msg_456"},
			},
			`{"text":"Hello","client_message_id":"temp_123"}`, `{"status":"started","messageId":"msg_456"}`,
		},
		{
			"SendMessage", hello,
			map[protocol.Verb]any{
				protocol.DoSend: protocol.SendResult{Status: protocol.SendQueued, MessageID: "msg_456"},
			},
			`{"text":"Hello","client_message_id":"temp_123"}`,
			`{"status":"queued","queuedMessage":{"id":"msg_456","content":"Hello","queuedAt":"2026-03-01T12:00:00.000Z","clientMessageId":"temp_123"}}`,
		},
		{
			"Interrupt", abc,
			map[protocol.Verb]any{protocol.DoInterrupt: protocol.InterruptResult{}},
			`{}`,
			`{"interrupted":false}`,
		},
		{
			"Interrupt", abc,
			map[protocol.Verb]any{protocol.DoInterrupt: protocol.InterruptResult{Interrupted: true}},
			`{}`, `{"interrupted":true}`,
		},
		{
			"DequeueMessage", `{"sessionId":"abc","messageId":"msg_456"}`,
			map[protocol.Verb]any{protocol.DoQueueRemove: protocol.QueueRemoveResult{Removed: true}},
			`{"message_id":"msg_456"}`, `{"removed":true}`,
		},
		{
			"DequeueMessage", `{"sessionId":"abc","messageId":"msg_456"}`,
			map[protocol.Verb]any{protocol.DoQueueRemove: protocol.QueueRemoveResult{}},
			`{"message_id":"msg_456"}`,
			`{"removed":false}`,
		},
		{
			"GetSessionState", abc, nil, ``,
			`{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`,
		},
	} {
		d := sandcastletest.NewServer(t, Dialect.Server)
		d.Session = "abc"
		d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.NativeServer.Answers = c.answers
		sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, c.tag, c.payload)),
			`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":`+c.want+`}}`)
		if got := string(d.Commands[len(d.Commands)-1].Data); got != c.command {
			t.Errorf("%s: the native server got %s", c.tag, got)
		}
		nobody := strings.ReplaceAll(c.payload, `"abc"`, `"nobody"`)
		sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, c.tag, nobody)),
			`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":"SESSION_NOT_FOUND"}}}`)
	}
	d := sandcastletest.NewServer(t, Dialect.Server)
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"abc"}`)),
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":"SESSION_NOT_FOUND"}}}`)
}

// The server sends the document's events as shown: the buffered chat events with the fields that
// clients read, and each session event.
func TestTheDocumentsEventsAreSentAsShown(t *testing.T) {
	d := sandcastletest.NewServer(t, Dialect.Server)
	d.Session = "abc"
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"abc"}`)),
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},"buffer":[]}]}`)
	d.Append(protocol.MessageUser, "turn_1", protocol.MessageUserData{
		Message: protocol.Message{MessageID: "msg_456", Text: "Hello", ClientMessageID: "temp_123"},
	})
	d.Append(protocol.TurnStarted, "turn_1", protocol.TurnStartedData{MessageID: "msg_456"})
	d.AppendText("turn_1", "p", "a", "b")
	at := sandcastletest.Noon
	d.Append(protocol.QueueAdded, "", protocol.QueueAddedData{
		Message: protocol.Message{MessageID: "msg_457", Text: "next", QueuedAt: &at, ClientMessageID: "temp_124"},
	})
	d.Emit()
	buffer := `{"type":"start","messageId":"turn_1","claudeSessionId":"abc"},{"type":"text-start","id":"p"},{"type":"text-delta","id":"p","delta":"a"},` +
		`{"type":"text-delta","id":"p","delta":"b"},{"type":"text-end","id":"p"}`
	queued := `{"id":"msg_457","content":"next","queuedAt":"2026-03-01T12:00:00.000Z","clientMessageId":"temp_124"}`
	values := []string{
		`{"_tag":"UserMessage","message":{"id":"msg_456","content":"Hello","clientMessageId":"temp_123"}}`,
		`{"_tag":"SessionStarted","turnId":"turn_1","messageId":"msg_456","startedAt":"2026-03-01T12:00:02.000Z"}`,
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte("["+buffer+"]"), &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		values = append(values, `{"_tag":"StreamEvent","turnId":"turn_1","event":`+string(e)+`}`)
	}
	values = append(values, `{"_tag":"MessageQueued","message":`+queued+`}`)
	sandcastletest.WantLines(t, d.Request(sandcastletest.AckFrame(0)), `{"_tag":"Chunk","requestId":"0","values":[`+strings.Join(values, ",")+`]}`)
	late := d.Request(sandcastletest.RequestFrame(1, "SubscribeSession", `{"sessionId":"abc"}`))
	if len(late) != 1 || !strings.Contains(late[0],
		`"snapshot":{"status":"streaming","activeTurnId":"turn_1","queue":[`+queued+`],`) ||
		!strings.Contains(late[0], `"buffer":[`+buffer+`]`) {
		t.Errorf("a late client gets %s", late)
	}
	d.Append(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: "msg_457", Reason: protocol.RemovedUser})
	d.EndTurn("turn_1", protocol.ReasonInterrupted)
	d.Emit()
	sandcastletest.WantLines(t, d.Request(sandcastletest.AckFrame(0)),
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"MessageDequeued","messageId":"msg_457"},`+
			`{"_tag":"StreamEvent","turnId":"turn_1","event":{"type":"finish","finishReason":"other","messageMetadata":{"agentctl":{"reason":"interrupted","duration_ms":0}}}},`+
			`{"_tag":"SessionStopped","turnId":"turn_1","reason":"interrupted"}]}`)
}
