package server

import (
	"fmt"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

func errorRaised(d *protocol.ErrorData) []wire.Frame {
	m := wire.Meta{"recoverable": d.Recoverable}.With("error_type", string(d.Code))
	m.With("stage", d.Stage).With("recovery_action", d.Action)
	if d.LimitMS != 0 {
		m["timeout_seconds"] = wire.Seconds(d.LimitMS)
	}
	if d.ElapsedMS != 0 {
		m["elapsed_seconds"] = wire.Seconds(d.ElapsedMS)
	}
	if len(d.Fields) > 0 {
		m["errors"] = d.Fields
	}
	if len(d.Details) > 0 {
		m["context"] = d.Details
	}
	f := wire.Frame{Event: wire.ErrorExecution, Content: d.Message, Meta: m, Show: showError}
	switch d.Kind {
	case protocol.ErrorKindValidation:
		f.Event, f.Show = wire.ErrorValidation, showInvalid
	case protocol.ErrorKindTimeout:
		f.Event, f.Show = wire.ErrorTimeout, showTimeout
	}
	return single(f)
}

// retryScheduled encodes a retry twice: as the real system does, and as the protocol's document
// does.
func retryScheduled(d *protocol.RetryData) []wire.Frame {
	text := fmt.Sprintf("Retry %d of %d: %s", d.Attempt, d.Limit, wire.Shorten(d.Cause))
	real := notice(text, wire.Meta{
		"attempt": d.Attempt, "total_attempts": d.Limit, "next_attempt": d.Attempt + 1,
		"retry_delay_seconds": wire.Seconds(d.DelayMS), "error": d.Cause, "error_type": string(d.Code),
	})
	return []wire.Frame{real, {
		Event: wire.ErrorRetry, Content: text, Show: showRetry,
		Meta: wire.Meta{
			"attempt": d.Attempt, "max_retries": d.Limit, "delay_seconds": wire.Seconds(d.DelayMS),
			"original_error": d.Cause,
		}.With("error_type", string(d.Code)),
	}}
}

// recovery returns the encoder of a recovery event.
func recovery(event, text, display string) func(*protocol.RecoveryData) []wire.Frame {
	return func(d *protocol.RecoveryData) []wire.Frame {
		m := wire.Meta{"recovery_action": d.Action}.With("attempt_count", d.Attempt).With("max_attempts", d.Limit).
			With("delay_seconds", wire.Seconds(d.DelayMS)).With("original_error", d.Cause).
			With("recovery_error", d.Failure).With("error_code", string(d.Code)).
			With("recovery_time_seconds", wire.Seconds(d.DurationMS)).
			With("estimated_duration_seconds", wire.Seconds(d.EstimateMS))
		return single(wire.Frame{Event: event, Content: text + d.Action, Meta: m, Show: display})
	}
}
