package myagent

import (
	"fmt"

	"agentctl/protocol"
)

func (enc *encoder) errorRaised(_ *protocol.Event, d *protocol.ErrorData) []frame {
	m := meta{"recoverable": d.Recoverable}.with("error_type", string(d.Code))
	m.with("stage", d.Stage).with("recovery_action", d.Action)
	if d.LimitMS != 0 {
		m["timeout_seconds"] = seconds(d.LimitMS)
	}
	if d.ElapsedMS != 0 {
		m["elapsed_seconds"] = seconds(d.ElapsedMS)
	}
	if len(d.Fields) > 0 {
		m["errors"] = d.Fields
	}
	if len(d.Details) > 0 {
		m["context"] = d.Details
	}
	f := frame{Event: errorExecution, Content: d.Message, Meta: m, Show: showError}
	switch d.Kind {
	case protocol.ErrorKindValidation:
		f.Event, f.Show = errorValidation, showInvalid
	case protocol.ErrorKindTimeout:
		f.Event, f.Show = errorTimeout, showTimeout
	}
	return single(f)
}

// retryScheduled encodes a retry twice: as the real system does, and as the protocol's document
// does.
func (enc *encoder) retryScheduled(_ *protocol.Event, d *protocol.RetryData) []frame {
	text := fmt.Sprintf("Retry %d of %d: %s", d.Attempt, d.Limit, shorten(d.Cause))
	real := notice(text, meta{
		"attempt": d.Attempt, "total_attempts": d.Limit, "next_attempt": d.Attempt + 1,
		"retry_delay_seconds": seconds(d.DelayMS), "error": d.Cause, "error_type": string(d.Code),
	})
	return []frame{real, {
		Event: errorRetry, Content: text, Show: showRetry,
		Meta: meta{
			"attempt": d.Attempt, "max_retries": d.Limit, "delay_seconds": seconds(d.DelayMS),
			"original_error": d.Cause,
		}.with("error_type", string(d.Code)),
	}}
}

// recoveryMeta returns the metadata of all recovery events.
func recoveryMeta(d *protocol.RecoveryData) meta {
	return meta{"recovery_action": d.Action}.with("attempt_count", d.Attempt).with("max_attempts", d.Limit).
		with("delay_seconds", seconds(d.DelayMS)).with("original_error", d.Cause).with("recovery_error", d.Failure).
		with("error_code", string(d.Code)).with("recovery_time_seconds", seconds(d.DurationMS)).
		with("estimated_duration_seconds", seconds(d.EstimateMS))
}

func (enc *encoder) recoveryStarted(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return single(frame{
		Event: errorRecoveryStarted, Content: "Recovery started: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecovering,
	})
}

func (enc *encoder) recoverySucceeded(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return single(frame{
		Event: errorRecoverySuccess, Content: "Recovery succeeded: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecovered,
	})
}

func (enc *encoder) recoveryFailed(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return single(frame{
		Event: errorRecoveryFailed, Content: "Recovery failed: " + d.Action, Meta: recoveryMeta(d),
		Show: showRecoveryFailed,
	})
}
