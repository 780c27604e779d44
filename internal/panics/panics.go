package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// An Error is a recovered panic.
type Error struct {
	Value any
	Stack []byte // stack trace as returned by debug.Stack
}

func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// RecoverTo recovers a panic of the calling function and stores it in *err. Call it directly with
// defer. A panic whose value wraps an *Error keeps the original trace.
func RecoverTo(err *error) {
	v := recover()
	if v == nil {
		return
	}
	if caught, ok := v.(error); ok {
		if e := As(caught); e != nil {
			*err = e
			return
		}
	}
	*err = &Error{v, debug.Stack()}
}

// As returns the *Error in err's chain, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Call calls f and returns its panic as an *Error, or nil.
func Call(f func()) (err error) {
	defer RecoverTo(&err)
	f()
	return nil
}
