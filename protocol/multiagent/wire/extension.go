package wire

import (
	"encoding/json"

	"agentctl/protocol"
)

// A Note is agentctl's extension of send_message and approve_tool: the key that makes the message
// act once. agentctl's server answers a message with a note by an agentctl_answer with that key.
type Note struct {
	Key string `json:"key"`
}

// An Answer is the payload of agentctl_answer. Error is nil if the message was accepted. Turn is
// the state of an accepted user message.
type Answer struct {
	Error  *protocol.Error `json:"error,omitempty"`
	Turn   string          `json:"turn,omitempty"`
	Output string          `json:"output,omitempty"` // the messageId of the output of a turn that is over
}

// The values of Answer.Turn. A second answer with TurnBegun follows TurnQueued and TurnBegins, when
// the turn begins.
const (
	TurnQueued = "queued" // the message waits behind others
	TurnBegins = "begins" // its turn is next
	TurnBegun  = "begun"  // its turn runs, and the output after the last turn is its output
	TurnOver   = "over"   // its turn has ended
)

// DecodeAnswer decodes an agentctl_answer; nil: data is not one.
func DecodeAnswer(data []byte) *Answer {
	var m struct {
		Payload *Answer `json:"payload"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m.Payload
}
