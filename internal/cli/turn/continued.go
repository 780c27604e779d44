package turn

import (
	"agentctl/internal/output"
	"agentctl/protocol"
)

// follows reports whether the session continues automatically after a usage limit ended the turn.
// The tracker then follows the message with which it continues.
func (t *Tracker) follows(end *protocol.TurnEndedData) (bool, error) {
	if !t.Continues || end.Reason != protocol.ReasonLimited {
		return false, nil
	}
	s, err := t.current()
	if err != nil {
		return false, err
	}
	h := s.LimitHold()
	if h == nil || h.Until == nil {
		return false, nil
	}
	t.endLine()
	t.CLI.Out.Notef("%s; the session continues %s", failure(end), output.LocalTime(*h.Until))
	t.Message, t.Turn, t.transcript = h.MessageID, "", protocol.Transcript{}
	return true, nil
}
