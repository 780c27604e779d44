package remote

import (
	"cmp"

	"agentctl/protocol"
)

// ActorName returns the name of an actor, or "user": some dialects do not say who acted.
func ActorName(a *protocol.Actor) string {
	if a == nil || a.Name == "" {
		return "user"
	}
	return a.Name
}

// SessionName returns the name of a session, else its title, else its id.
func SessionName(s *protocol.State) string {
	return cmp.Or(s.Name, s.Title, s.Session)
}

// ErrorText returns an error as text for people.
func ErrorText(err error) string {
	e := protocol.AsError(err)
	if e.Winner != nil {
		return e.Message + " · decided by " + e.Winner.By.Name
	}
	if e.Code == protocol.CodeInternal {
		return err.Error()
	}
	return e.Message
}
