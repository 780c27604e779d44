package myagent

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
)

// maxFields bounds the fields and details of an error.
const maxFields = 64

// fault records that something went wrong, which ends nothing.
func (h *heard) fault(kind string) {
	d := protocol.ErrorData{
		Kind: kind, Code: protocol.Code(clip(h.meta.str("error_type", "error_code"))), Message: protocol.SplitText(h.text(), maxWords)[0],
		Recoverable: h.meta.str("recoverable") == "true", Stage: clip(h.meta.str("stage")), LimitMS: h.meta.ms("timeout_seconds"),
		ElapsedMS: h.meta.ms("elapsed_seconds"), Action: clip(h.meta.str("recovery_action")), Details: flat(h.meta["context"]),
	}
	d.Fields = flat(h.meta["errors"])
	if d.Fields == nil {
		d.Fields = flat(h.meta["validation_errors"])
	}
	h.add(protocol.ErrorRaised, d)
}

// flat reads an object as strings, or a list of objects with a field and a message.
func flat(raw json.RawMessage) map[string]string {
	m := map[string]string{}
	o := object(raw)
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if len(m) < maxFields {
			m[clip(k)] = protocol.SplitText(result(o[k]), 1<<10)[0]
		}
	}
	var list []json.RawMessage
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		for _, e := range list[:min(len(list), maxFields)] {
			o := object(e)
			name, words := o.str("field", "loc"), o.str("message", "msg", "error")
			if o == nil {
				name, words = "message", result(e)
			}
			m[clip(name)] = protocol.SplitText(words, 1<<10)[0]
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

func (h *heard) retry() {
	h.add(protocol.RetryScheduled, protocol.RetryData{
		Attempt: int(h.meta.int("attempt")), Limit: int(h.meta.int("max_retries", "max_attempts", "total_attempts")),
		DelayMS: h.meta.ms("delay_seconds", "delay", "retry_delay_seconds"), Cause: h.meta.str("original_error", "error"),
		Code: protocol.Code(clip(h.meta.str("error_type"))),
	})
}

func (h *heard) recovery(t protocol.Type) {
	action := clip(h.meta.str("recovery_action", "action"))
	switch {
	case h.told:
	case t == protocol.RecoveryStarted && action == "":
		action = shorten(h.text())
	case action == "": // of a server that says it once
		action = h.s.recovering
	}
	h.s.recovering = action
	h.add(t, protocol.RecoveryData{
		Action: action, Attempt: int(h.meta.int("attempt_count", "attempt")),
		Limit: int(h.meta.int("max_attempts")), DelayMS: h.meta.ms("delay_seconds"), Cause: h.meta.str("original_error"),
		Failure: h.meta.str("recovery_error"), Code: protocol.Code(clip(h.meta.str("error_code"))),
		DurationMS: h.meta.ms("recovery_time_seconds", "recovery_time"), EstimateMS: h.meta.ms("estimated_duration_seconds", "estimated_duration"),
	})
}

// systemError is of the connection; the session that it is used for shows it.
func (h *heard) systemError() { h.fault(protocol.ErrorKindExecution) }
