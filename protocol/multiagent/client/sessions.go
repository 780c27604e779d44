package client

import (
	"slices"
	"strings"
)

// sessions are the sessions of a client, over its connections, in the order of their first use.
type sessions []*session

// find returns the session with an id, a name or a unique prefix of an id, or nil.
func (list sessions) find(name string) *session {
	var found *session
	many := false
	for _, s := range list {
		switch {
		case s.log.Session == name, s.name == name:
			return s
		case strings.HasPrefix(s.log.Session, name):
			found, many = s, found != nil
		}
	}
	if many {
		return nil
	}
	return found
}

// byID returns the session of a conversation, or nil.
func (list sessions) byID(id string) *session {
	i := slices.IndexFunc(list, func(s *session) bool { return s.log.Session == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// likely returns the session that an error without a conversation most likely concerns: one with a
// request in flight, or the only one with a turn; nil: no such session.
func (list sessions) likely() *session {
	var found *session
	for _, s := range list {
		if len(s.requests.inFlight) > 0 {
			return s
		}
		if s.turns.current != nil {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}
