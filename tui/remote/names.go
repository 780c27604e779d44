package remote

import (
	"cmp"
	"errors"

	"agentctl/protocol"
)

// ActorName returns the name of an actor, or "user" if it is unknown: some dialects do not send it.
func ActorName(a *protocol.Actor) string {
	if a == nil || a.Name == "" {
		return "user"
	}
	return a.Name
}

// SessionName returns a session's name, or else its title, or else its id.
func SessionName(s *protocol.State) string {
	return cmp.Or(s.Name, s.Title, s.Session)
}

// ErrorText returns the message of an error for the user.
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

// An AdvisedError is an error with what the user can do about it.
type AdvisedError struct {
	Err    error
	Advice string
}

func (e *AdvisedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *AdvisedError) Unwrap() error { return e.Err }

// Advice returns what the user can do about an error, or "".
func Advice(err error) string {
	var e *AdvisedError
	if errors.As(err, &e) {
		return e.Advice
	}
	return ""
}
