package session

import (
	"strings"
	"unicode"

	"agentctl/protocol"
)

const maxName = 128 // bytes

// reserve takes a name for a session.
func (h *Hub) reserve(name, id string) error {
	if len(name) > maxName || name != protocol.ValidText(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, idSession+"_") {
		return protocol.Errorf(protocol.CodeInvalidMessage, "name: at most %d bytes of text, without control characters, outer spaces or a leading %q", maxName, idSession+"_")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if owner, taken := h.names[name]; taken && owner != id {
		return protocol.Errorf(protocol.CodeNameTaken, "another session has the name %.80q", name)
	}
	h.names[name] = id
	return nil
}

func (h *Hub) free(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.names, name)
}

// rename takes the new name in the hub at once; the old one is free when the new one is kept, or the other way round.
func (s *Session) rename(a *action, d *protocol.RenameData) (any, error) {
	if d.Name != nil && *d.Name != "" {
		if err := s.hub.reserve(*d.Name, s.id); err != nil {
			return nil, err
		}
	}
	if d.Title != nil {
		title := protocol.SplitText(protocol.ValidText(*d.Title), 1<<10)[0]
		d.Title = &title
	}
	old := s.state.Name
	s.record(protocol.SessionUpdated, &a.by, protocol.SessionUpdatedData{Name: d.Name, Title: d.Title})
	if d.Name != nil {
		s.then(func(failed error) {
			lost := old
			if failed != nil {
				lost = *d.Name
			}
			if lost != s.state.Name {
				s.hub.free(lost)
			}
		})
	}
	return protocol.Empty{}, nil
}
