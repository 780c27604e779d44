package client

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// maxFields bounds the fields and details of an error.
const maxFields = 64

// recordError records an error that does not end the turn.
func (h *frameHandler) recordError(kind string) {
	d := protocol.ErrorData{
		Kind: kind, Code: protocol.Code(clipID(h.meta.Str("error_type", "error_code"))),
		Message:     protocol.SplitText(h.text(), maxNoticeText)[0],
		Recoverable: h.meta.Str("recoverable") == "true", Stage: clipID(h.meta.Str("stage")),
		LimitMS:   h.meta.Millis("timeout_seconds"),
		ElapsedMS: h.meta.Millis("elapsed_seconds"), Action: clipID(h.meta.Str("recovery_action")),
		Details: flattenErrors(h.meta["context"]),
	}
	d.Fields = flattenErrors(h.meta["errors"])
	if d.Fields == nil {
		d.Fields = flattenErrors(h.meta["validation_errors"])
	}
	h.record(protocol.ErrorRaised, d)
}

// flattenErrors decodes an object, or a list of objects with a field and a message, as strings.
func flattenErrors(raw json.RawMessage) map[string]string {
	m := map[string]string{}
	o := wire.ParseObject(raw)
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if len(m) < maxFields {
			m[clipID(k)] = protocol.SplitText(resultText(o[k]), 1<<10)[0]
		}
	}
	var list []json.RawMessage
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		for _, e := range list[:min(len(list), maxFields)] {
			o := wire.ParseObject(e)
			name, text := o.Str("field", "loc"), o.Str("message", "msg", "error")
			if o == nil {
				name, text = "message", resultText(e)
			}
			m[clipID(name)] = protocol.SplitText(text, 1<<10)[0]
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

func (h *frameHandler) retry() {
	h.record(protocol.RetryScheduled, protocol.RetryData{
		Attempt: int(h.meta.Int("attempt")), Limit: int(h.meta.Int("max_retries", "max_attempts", "total_attempts")),
		DelayMS: h.meta.Millis("delay_seconds", "delay", "retry_delay_seconds"),
		Cause:   h.meta.Str("original_error", "error"),
		Code:    protocol.Code(clipID(h.meta.Str("error_type"))),
	})
}

func (h *frameHandler) recovery(t protocol.Type) {
	action := clipID(h.meta.Str("recovery_action", "action"))
	switch {
	case h.namesTurns:
	case t == protocol.RecoveryStarted && action == "":
		action = wire.Shorten(h.text())
	case action == "": // the server names the action only once
		action = h.session.recoveryAction
	}
	h.session.recoveryAction = action
	h.record(t, protocol.RecoveryData{
		Action: action, Attempt: int(h.meta.Int("attempt_count", "attempt")),
		Limit: int(h.meta.Int("max_attempts")), DelayMS: h.meta.Millis("delay_seconds"),
		Cause:   h.meta.Str("original_error"),
		Failure: h.meta.Str("recovery_error"), Code: protocol.Code(clipID(h.meta.Str("error_code"))),
		DurationMS: h.meta.Millis("recovery_time_seconds", "recovery_time"),
		EstimateMS: h.meta.Millis("estimated_duration_seconds", "estimated_duration"),
	})
}

// systemError records an error of the connection in the current session.
func (h *frameHandler) systemError() { h.recordError(protocol.ErrorKindExecution) }
