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
func (f *frame) recordError(kind string) {
	d := protocol.ErrorData{
		Kind: kind, Code: protocol.Code(clipID(f.meta.Str("error_type", "error_code"))),
		Message:     protocol.SplitText(f.text(), maxNoticeText)[0],
		Recoverable: f.meta.Str("recoverable") == "true", Stage: clipID(f.meta.Str("stage")),
		LimitMS:   f.meta.Millis("timeout_seconds"),
		ElapsedMS: f.meta.Millis("elapsed_seconds"), Action: clipID(f.meta.Str("recovery_action")),
		Details: flattenErrors(f.meta["context"]),
	}
	d.Fields = flattenErrors(f.meta["errors"])
	if d.Fields == nil {
		d.Fields = flattenErrors(f.meta["validation_errors"])
	}
	f.add(protocol.ErrorRaised, d)
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

func (f *frame) retry() {
	f.add(protocol.RetryScheduled, protocol.RetryData{
		Attempt: int(f.meta.Int("attempt")), Limit: int(f.meta.Int("max_retries", "max_attempts", "total_attempts")),
		DelayMS: f.meta.Millis("delay_seconds", "delay", "retry_delay_seconds"),
		Cause:   f.meta.Str("original_error", "error"),
		Code:    protocol.Code(clipID(f.meta.Str("error_type"))),
	})
}

func (dec *decoder) recovery(f *frame, t protocol.Type) {
	action := clipID(f.meta.Str("recovery_action", "action"))
	switch {
	case f.namesTurns:
	case t == protocol.RecoveryStarted && action == "":
		action = wire.Shorten(f.text())
	case action == "": // the server names the action only once
		action = dec.recoveryAction
	}
	dec.recoveryAction = action
	f.add(t, protocol.RecoveryData{
		Action: action, Attempt: int(f.meta.Int("attempt_count", "attempt")),
		Limit: int(f.meta.Int("max_attempts")), DelayMS: f.meta.Millis("delay_seconds"),
		Cause:   f.meta.Str("original_error"),
		Failure: f.meta.Str("recovery_error"), Code: protocol.Code(clipID(f.meta.Str("error_code"))),
		DurationMS: f.meta.Millis("recovery_time_seconds", "recovery_time"),
		EstimateMS: f.meta.Millis("estimated_duration_seconds", "estimated_duration"),
	})
}
