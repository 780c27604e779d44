package myagent

import (
	"fmt"

	"agentctl/protocol"
)

func (t *teller) errorRaised(_ *protocol.Event, d *protocol.ErrorData) []frame {
	m := meta{"recoverable": d.Recoverable}.with("error_type", string(d.Code)).with("stage", d.Stage).with("recovery_action", d.Action)
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
	return one(f)
}

func (t *teller) retryScheduled(_ *protocol.Event, d *protocol.RetryData) []frame {
	return one(frame{
		Event: errorRetry, Content: fmt.Sprintf("Retry %d of %d: %s", d.Attempt, d.Limit, shorten(d.Cause)), Show: showRetry,
		Meta: meta{
			"attempt": d.Attempt, "max_retries": d.Limit, "delay_seconds": seconds(d.DelayMS), "original_error": d.Cause,
		}.with("error_type", string(d.Code)),
	})
}

// recovery holds what all three events of a recovery share.
func recovery(d *protocol.RecoveryData) meta {
	return meta{"recovery_action": d.Action}.with("attempt_count", d.Attempt).with("max_attempts", d.Limit).
		with("delay_seconds", seconds(d.DelayMS)).with("original_error", d.Cause).with("recovery_error", d.Failure).
		with("error_code", string(d.Code)).with("recovery_time_seconds", seconds(d.DurationMS)).
		with("estimated_duration_seconds", seconds(d.EstimateMS))
}

func (t *teller) recoveryStarted(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return one(frame{Event: errorRecoveryStarted, Content: "Recovery started: " + d.Action, Meta: recovery(d), Show: showRecovering})
}

func (t *teller) recoverySucceeded(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return one(frame{Event: errorRecoverySuccess, Content: "Recovery succeeded: " + d.Action, Meta: recovery(d), Show: showRecovered})
}

func (t *teller) recoveryFailed(_ *protocol.Event, d *protocol.RecoveryData) []frame {
	return one(frame{Event: errorRecoveryFailed, Content: "Recovery failed: " + d.Action, Meta: recovery(d), Show: showLost})
}
