package server

import (
	"fmt"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

func (enc *encoder) errorRaised(_ *protocol.Event, d *protocol.ErrorData) []wire.Frame {
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
func (enc *encoder) retryScheduled(_ *protocol.Event, d *protocol.RetryData) []wire.Frame {
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

// recoveryMeta returns the metadata of all recovery events.
func recoveryMeta(d *protocol.RecoveryData) wire.Meta {
	return wire.Meta{"recovery_action": d.Action}.With("attempt_count", d.Attempt).With("max_attempts", d.Limit).
		With("delay_seconds", wire.Seconds(d.DelayMS)).With("original_error", d.Cause).With("recovery_error", d.Failure).
		With("error_code", string(d.Code)).With("recovery_time_seconds", wire.Seconds(d.DurationMS)).
		With("estimated_duration_seconds", wire.Seconds(d.EstimateMS))
}

func (enc *encoder) recoveryStarted(_ *protocol.Event, d *protocol.RecoveryData) []wire.Frame {
	return single(wire.Frame{
		Event: wire.ErrorRecoveryStarted, Content: "Recovery started: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecovering,
	})
}

func (enc *encoder) recoverySucceeded(_ *protocol.Event, d *protocol.RecoveryData) []wire.Frame {
	return single(wire.Frame{
		Event: wire.ErrorRecoverySuccess, Content: "Recovery succeeded: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecovered,
	})
}

func (enc *encoder) recoveryFailed(_ *protocol.Event, d *protocol.RecoveryData) []wire.Frame {
	return single(wire.Frame{
		Event: wire.ErrorRecoveryFailed, Content: "Recovery failed: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecoveryFailed,
	})
}
