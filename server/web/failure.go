package web

import (
	"errors"
	"net/http"

	"agentctl/protocol"
)

var statuses = map[protocol.Code]int{
	protocol.CodeInvalidJSON:     http.StatusBadRequest,
	protocol.CodeInvalidMessage:  http.StatusBadRequest,
	protocol.CodeUnknownCommand:  http.StatusBadRequest,
	protocol.CodeInvalidPosition: http.StatusBadRequest,
	protocol.CodeAmbiguous:       http.StatusBadRequest,
	protocol.CodeInvalidState:    http.StatusBadRequest,
	protocol.CodeUnauthorized:    http.StatusUnauthorized,
	protocol.CodeForbidden:       http.StatusForbidden,
	protocol.CodeNoSession:       http.StatusNotFound,
	protocol.CodeNotFound:        http.StatusNotFound,
	protocol.CodeConflict:        http.StatusConflict,
	protocol.CodeNameTaken:       http.StatusConflict,
	protocol.CodeKeyReused:       http.StatusConflict,
	protocol.CodeSessionClosed:   http.StatusConflict,
	protocol.CodeNotSubscribed:   http.StatusConflict,
	protocol.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	protocol.CodeUnsupported:     http.StatusUnprocessableEntity,
	protocol.CodeNoAgent:         http.StatusUnprocessableEntity,
	protocol.CodeAgentAuth:       http.StatusUnprocessableEntity,
	protocol.CodeTooMany:         http.StatusTooManyRequests,
	protocol.CodeQueueFull:       http.StatusTooManyRequests,
	protocol.CodeSessionLimit:    http.StatusTooManyRequests,
	protocol.CodeAgentLimit:      http.StatusTooManyRequests,
	protocol.CodeInternal:        http.StatusInternalServerError,
	protocol.CodeCorrupt:         http.StatusInternalServerError,
	protocol.CodeAgentFailed:     http.StatusBadGateway,
	protocol.CodeLimited:         http.StatusBadGateway,
	protocol.CodeStorage:         http.StatusServiceUnavailable,
	protocol.CodeShuttingDown:    http.StatusServiceUnavailable,
	protocol.CodeServerRestart:   http.StatusServiceUnavailable,
	protocol.CodeConnectionLimit: http.StatusServiceUnavailable,
	protocol.CodeTimeout:         http.StatusGatewayTimeout,
	protocol.CodeDiskLimit:       http.StatusInsufficientStorage,
}

// StatusOf returns the HTTP status of a code, 0 for an unknown one.
func StatusOf(code protocol.Code) int { return statuses[code] }

// Failure is the body of a response with an error.
type Failure struct {
	Error *protocol.Error `json:"error"`
}

// WriteError answers a request with a coded error.
func WriteError(w http.ResponseWriter, status int, code protocol.Code, message string) {
	write(w, status, Failure{&protocol.Error{Code: code, Message: message}})
}

// A requestError is an error of the request itself, with a status that its code does not have.
type requestError struct {
	err    *protocol.Error
	status int
}

func (e *requestError) Error() string { return e.err.Message }
func (e *requestError) Unwrap() error { return e.err }

// fail answers with err and the HTTP status of its code.
func (a *api) fail(w http.ResponseWriter, err error) {
	e := protocol.AsError(err)
	if a.Failed != nil {
		a.Failed(e.Code)
	}
	if e.Code == protocol.CodeInternal {
		a.Log.Error("answer request", "err", err)
	}
	status := StatusOf(e.Code)
	var own *requestError
	if errors.As(err, &own) {
		status = own.status
	}
	switch status {
	case 0:
		status = http.StatusInternalServerError
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	write(w, status, Failure{e})
}
