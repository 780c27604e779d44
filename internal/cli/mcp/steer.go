package mcp

import (
	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type mcpSendInput struct {
	Session string `json:"session" jsonschema:"id or name of the session"`
	Text    string `json:"text" jsonschema:"the message"`
	Front   bool   `json:"front,omitempty" jsonschema:"queue it first"`
	Steer   bool   `json:"steer,omitempty" jsonschema:"deliver it in the turn that runs; where that is not possible, queue it first"`
	Key     string `json:"key,omitempty" jsonschema:"idempotency key: calls with the same key act once"`
}

// An mcpSentResult names an accepted message. wait takes the id.
type mcpSentResult struct {
	Message string `json:"message"`
	Status  string `json:"status"` // started, queued or steering
	Reason  string `json:"reason,omitempty"`
}

func newMCPSent(r *protocol.SendResult) *mcpSentResult {
	return &mcpSentResult{r.MessageID, r.Status, r.Reason}
}

// send sends a message.
func (c *mcpCall) send(in *mcpSendInput) (*mcpSentResult, error) {
	if in.Text == "" {
		return nil, exit.Usagef("the message is empty")
	}
	id, err := c.changeable(in.Session)
	if err != nil {
		return nil, err
	}
	d := protocol.SendData{Text: in.Text, Front: in.Front}
	if in.Steer {
		d.Delivery = protocol.DeliverSteer
	}
	r, err := connection.CallWithKey[protocol.SendResult](c.Conn, protocol.DoSend, id, in.Key, d)
	if err != nil {
		return nil, err
	}
	return newMCPSent(&r), nil
}

type mcpInterruptInput struct {
	Session string `json:"session" jsonschema:"id or name of the session"`
	Turn    string `json:"turn,omitempty" jsonschema:"end only this turn"`
	Queue   string `json:"queue,omitempty" jsonschema:"what happens to the queue: keep (default), hold or clear"`
	Key     string `json:"key,omitempty" jsonschema:"idempotency key: calls with the same key act once"`
}

type mcpInterrupted struct {
	Interrupted bool   `json:"interrupted"`
	Turn        string `json:"turn,omitempty"`
}

// interrupt ends the turn that runs.
func (c *mcpCall) interrupt(in *mcpInterruptInput) (*mcpInterrupted, error) {
	id, err := c.changeable(in.Session)
	if err != nil {
		return nil, err
	}
	r, err := connection.CallWithKey[protocol.InterruptResult](c.Conn, protocol.DoInterrupt, id, in.Key,
		protocol.InterruptData{Turn: in.Turn, Queue: in.Queue})
	if err != nil {
		return nil, err
	}
	return &mcpInterrupted{r.Interrupted, r.Turn}, nil
}
