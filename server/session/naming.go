package session

import (
	"maps"

	"agentctl/protocol"
)

func init() {
	handlers[protocol.DoRename] = handler((*Session).rename)
	handlers[protocol.DoLabel] = handler((*Session).label)
}

const maxTitle = 1 << 10 // bytes

// rename reserves the new name first. The old name is free when the commit succeeds, the new one
// when it fails.
func (s *Session) rename(cmd *command, d *protocol.RenameData) (any, error) {
	if d.Name != nil && *d.Name != "" {
		if err := s.hub.list.ReserveName(*d.Name, s.id); err != nil {
			return nil, err
		}
	}
	if d.Title != nil {
		title := truncateTitle(*d.Title)
		d.Title = &title
	}
	old := s.state.Name
	s.recorder.Record(protocol.SessionUpdated, &cmd.By, protocol.SessionUpdatedData{Name: d.Name, Title: d.Title})
	if d.Name != nil {
		s.journal.AfterCommit(func(failed error) {
			unused := old
			if failed != nil {
				unused = *d.Name
			}
			if unused != s.state.Name {
				s.hub.list.ReleaseName(unused)
			}
		})
	}
	return protocol.Empty{}, nil
}

// setAgentTitle sets a title that the agent gives to the session. A title that a user gave stays.
func (s *Session) setAgentTitle(title string) {
	title = truncateTitle(title)
	if title == s.state.Title || s.state.Title != "" && s.state.Title != s.spec.Title {
		return
	}
	s.recorder.RecordIn("", protocol.SessionUpdated, nil, protocol.SessionUpdatedData{Title: &title})
	s.spec.Title = title
	s.storeSpec()
}

func truncateTitle(title string) string {
	return protocol.SplitText(protocol.ValidText(title), maxTitle)[0]
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
		s.recorder.Record(protocol.SessionUpdated, &cmd.By, protocol.SessionUpdatedData{Labels: changes})
	}
	if labels == nil {
		labels = map[string]string{} // an object, not null
	}
	return protocol.LabelResult{Labels: labels}, nil
}
