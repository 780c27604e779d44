package protocol

import "encoding/json"

// Kinds of error events.
const (
	ErrorKindValidation = "validation"
	ErrorKindTimeout    = "timeout"
	ErrorKindExecution  = "execution"
)

// ErrorData is the data of error: a failure inside a session. Only turn.ended ends the turn.
type ErrorData struct {
	Kind        string            `json:"kind"`
	Code        Code              `json:"code,omitempty"`
	Message     string            `json:"message"`
	Recoverable bool              `json:"recoverable,omitempty"`
	Stage       string            `json:"stage,omitempty"`
	LimitMS     int64             `json:"limit_ms,omitempty"`   // of a timeout
	ElapsedMS   int64             `json:"elapsed_ms,omitempty"` // of a timeout
	Action      string            `json:"action,omitempty"`     // of recovery
	Fields      map[string]string `json:"fields,omitempty"`     // of a validation: problem by field
	Details     map[string]string `json:"details,omitempty"`    // error class and provider status, nothing internal
}

// RetryData is the data of retry.scheduled. Attempt is 1 to Limit.
type RetryData struct {
	Attempt int    `json:"attempt"`
	Limit   int    `json:"limit"`
	DelayMS int64  `json:"delay_ms"`
	Cause   string `json:"cause"`
	Code    Code   `json:"code,omitempty"`
}

// RecoveryData is the data of recovery.started, succeeded and failed.
type RecoveryData struct {
	Action     string `json:"action"`
	Attempt    int    `json:"attempt,omitempty"`
	Limit      int    `json:"limit,omitempty"`
	DelayMS    int64  `json:"delay_ms,omitempty"`
	Cause      string `json:"cause,omitempty"`
	Failure    string `json:"failure,omitempty"` // of recovery.failed
	Code       Code   `json:"code,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	EstimateMS int64  `json:"estimate_ms,omitempty"`
}

// Levels of a notice.
const (
	LevelInfo    = "info"
	LevelWarning = "warning"
)

// NoticeData is the data of notice: a line for people.
type NoticeData struct {
	Level   string `json:"level"`
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message"`
}

// RawData is the data of raw: a foreign message without an equivalent, kept whole.
type RawData struct {
	Source string          `json:"source"` // acp, or a dialect's name
	Method string          `json:"method,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Blob   string          `json:"blob,omitempty"` // if too large for the event
	Bytes  int64           `json:"bytes,omitempty"`
}
