package session

import (
	"maps"

	"agentctl/protocol"
)

// label changes the session's labels. It records only labels that change.
func (s *Session) label(cmd *command, d *protocol.LabelData) (any, error) {
	labels := protocol.ChangeLabels(s.state.Labels, d.Labels)
	if err := protocol.CheckLabels(d.Labels); err != nil {
		return nil, err
	}
	if err := protocol.CheckLabels(labels); err != nil {
		return nil, err
	}
	changed := maps.Clone(d.Labels)
	maps.DeleteFunc(changed, func(key, value string) bool { return s.state.Labels[key] == value })
	if len(changed) > 0 {
		s.record(protocol.SessionUpdated, &cmd.by, protocol.SessionUpdatedData{Labels: changed})
	}
	return protocol.LabelResult{Labels: s.state.Labels}, nil
}
