package model

import (
	"errors"
	"fmt"
	"time"
)

// A Class determines how an error is handled.
type Class string

// The classes. Requests that fail with one of the first group may succeed later.
const (
	RateLimit  Class = "rate_limit"
	Overloaded Class = "overloaded"
	ServerFail Class = "server_error"
	Network    Class = "network"
	Timeout    Class = "timeout"
	Cut        Class = "cut_stream"
	Malformed  Class = "malformed_response"

	Auth    Class = "authentication"
	Quota   Class = "quota"
	Context Class = "context_full"
	Invalid Class = "invalid_request"
	NoModel Class = "unknown_model"
)

// An Error is a failed request. Message has no secret.
type Error struct {
	Class   Class
	Status  int           // of HTTP; 0: none
	Message string        // of the provider or the network
	After   time.Duration // when to try again, from the provider; 0: not given
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

// Temporary reports whether the request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Class {
	case RateLimit, Overloaded, ServerFail, Network, Timeout, Cut, Malformed:
		return true
	}
	return false
}

// AsError returns the Error in err's chain. Any other error is one of the request itself, which
// fails again.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Class: Invalid, Message: err.Error()}
}

// Errorf returns an Error with a formatted message.
func Errorf(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}
