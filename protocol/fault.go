package protocol

import "encoding/json"

// Kinds of error events.
const (
	ErrorKindValidation = "validation"
	ErrorKindTimeout    = "timeout"
	ErrorKindExecution  = "execution"
)

// ErrorData is the data of error: something went wrong inside a session. Whether the turn ends is told by turn.ended alone.
type ErrorData struct {
	Kind        string            `json:"kind"`
	Code        Code              `json:"code,omitempty"`
	Message     string            `json:"message"`
	Recoverable bool              `json:"recoverable,omitempty"`
	Stage       string            `json:"stage,omitempty"`
	LimitMS     int64             `json:"limit_ms,omitempty"`   // of a timeout
	ElapsedMS   int64             `json:"elapsed_ms,omitempty"` // of a timeout
	Action      string            `json:"action,omitempty"`     // of recovery
	Fields      map[string]string `json:"fields,omitempty"`     // of a validation: field → what is wrong
	Details     map[string]string `json:"details,omitempty"`    // error class, provider status; nothing internal
}

// RetryData is the data of retry.scheduled. Attempt counts from 1, up to Limit.
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
	Failure    string `json:"failure,omitempty"` // why the recovery failed
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

// RawData is the data of raw: a foreign message that maps to nothing here, kept whole.
type RawData struct {
	Source string          `json:"source"` // acp, or a dialect's name
	Method string          `json:"method,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Blob   string          `json:"blob,omitempty"` // when too large to be held here
	Bytes  int64           `json:"bytes,omitempty"`
}
