package protocol

import (
	"maps"
	"slices"
	"strings"
)

// Types of the events of failures.
const (
	ErrorRaised       Type = "error"
	RetryScheduled    Type = "retry.scheduled"
	RecoveryStarted   Type = "recovery.started"
	RecoverySucceeded Type = "recovery.succeeded"
	RecoveryFailed    Type = "recovery.failed"
)

var errorEvents = []EventType{
	{Type: ErrorRaised, New: of[ErrorData], AgentMay: true, Exported: true, line: errorLine},
	{Type: RetryScheduled, New: of[RetryData], AgentMay: true},
	{Type: RecoveryStarted, New: of[RecoveryData], AgentMay: true, line: recoveryStartedLine},
	{Type: RecoverySucceeded, New: of[RecoveryData], AgentMay: true, line: recoverySucceededLine},
	{Type: RecoveryFailed, New: of[RecoveryData], AgentMay: true, line: recoveryFailedLine},
}

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

// errorLine has the message, or else the code in words, and the fields, a line each.
func errorLine(e *Event) Line {
	d := dataOf[ErrorData](e)
	text := d.Message
	if text == "" {
		text = strings.ReplaceAll(string(d.Code), "_", " ")
	}
	for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
		text += "\n" + field + ": " + d.Fields[field]
	}
	return Line{LevelError, "✗", text}
}

func recoveryStartedLine(e *Event) Line {
	d := dataOf[RecoveryData](e)
	return Line{LevelWarning, "↻", "recovery: " + d.Action + after(d.Cause)}
}

func recoverySucceededLine(e *Event) Line {
	return Line{LevelSuccess, "✓", "recovered: " + dataOf[RecoveryData](e).Action}
}

func recoveryFailedLine(e *Event) Line {
	d := dataOf[RecoveryData](e)
	return Line{LevelError, "✗", "recovery failed: " + d.Action + after(d.Failure)}
}
