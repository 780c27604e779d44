package session

import (
	"maps"

	"agentctl/protocol"
)

func init() {
	handlers[protocol.DoLabel] = handler((*Session).label)
}

// label changes the session's labels. It records only labels that change.
func (s *Session) label(cmd *command, d *protocol.LabelData) (any, error) {
	if err := protocol.CheckLabels(d.Labels); err != nil {
		return nil, err
	}
	changes := map[string]string{}
	if d.Replace {
		for key := range s.state.Labels {
			changes[key] = ""
		}
	}
	maps.Copy(changes, d.Labels)
	labels := protocol.ChangeLabels(s.state.Labels, changes)
	if err := protocol.CheckLabels(labels); err != nil {
		return nil, err
	}
	maps.DeleteFunc(changes, func(key, value string) bool { return s.state.Labels[key] == value })
	if len(changes) > 0 {
		s.record(protocol.SessionUpdated, &cmd.by, protocol.SessionUpdatedData{Labels: changes})
	}
	if labels == nil {
		labels = map[string]string{} // an object, not null
	}
	return protocol.LabelResult{Labels: labels}, nil
}
