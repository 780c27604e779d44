package wire

import "agentctl/protocol"

// Reasons of finish.
const (
	finishStop   = "stop"
	finishError  = "error"
	finishLength = "length"
	finishFilter = "content-filter"
	finishOther  = "other"
)

// Reasons of SessionStopped.
const (
	stopCompleted   = "completed"
	stopInterrupted = "interrupted"
	StopError       = "error"
)

// FinishReason returns the reason of finish for the end of a turn.
func FinishReason(r protocol.Reason) string {
	switch r {
	case protocol.ReasonCompleted:
		return finishStop
	case protocol.ReasonMaxTokens:
		return finishLength
	case protocol.ReasonRefusal:
		return finishFilter
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		return finishOther
	}
	return finishError
}

// StopReason returns the reason of SessionStopped for the end of a turn.
func StopReason(r protocol.Reason) string {
	switch r {
	case protocol.ReasonCompleted, protocol.ReasonMaxTokens, protocol.ReasonRefusal:
		return stopCompleted
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		return stopInterrupted
	}
	return StopError
}

// ReasonOf returns the reason of a turn's end, given the reasons of SessionStopped and finish.
func ReasonOf(stop, finish string) protocol.Reason {
	switch {
	case stop == stopInterrupted:
		return protocol.ReasonInterrupted
	case stop == StopError:
		return protocol.ReasonError
	case finish == finishLength:
		return protocol.ReasonMaxTokens
	case finish == finishFilter:
		return protocol.ReasonRefusal
	}
	return protocol.ReasonCompleted
}
