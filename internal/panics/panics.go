package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// An Error is a panic that was caught.
type Error struct {
	Value any
	Stack []byte // of the goroutine, as debug.Stack has it
}

func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is the value, when that is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// RecoverTo sets err to the panic that ends the calling function, if one does. It must be deferred itself. A panic with an Error keeps
// the trace that has.
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

// As is the panic that an error comes of, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Call calls f. Its error is f's panic.
func Call(f func()) (err error) {
	defer RecoverTo(&err)
	f()
	return nil
}
