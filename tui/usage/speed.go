package usage

import (
	"time"

	"agentctl/protocol"
)

const (
	exactRateTTL  = 10 * time.Second // validity of a rate from the agent's token counts
	minRateTime   = time.Second      // between the counts that give a rate
	bytesPerToken = 4                // estimated average
	maxLiveRun    = 1024             // deltas that a server joins while the client keeps up
)

// Speed computes the output rate of a session's agent. The zero value is ready to use.
type Speed struct {
	running     bool      // a turn is running
	written     rate      // bytes of text and reasoning
	output      int64     // tokens written in the session, by the agent's count
	outputAt    time.Time // time of the last count, or of the turn's start
	exactRate   float64   // tokens per second between the last counts
	exactRateAt time.Time
}

// Reset replaces all data by a snapshot.
func (s *Speed) Reset(state *protocol.State) {
	*s = Speed{running: state.Turn != nil}
	if state.Usage != nil {
		s.output = state.Usage.Output
	}
}

// Apply applies an event received at now, which added bytes of text and reasoning. live is false for
// catch-up events, which do not count for the current rate.
func (s *Speed) Apply(e *protocol.Event, added int64, now time.Time, live bool) {
	switch e.Type {
	case protocol.TurnStarted:
		s.running, s.outputAt = true, now
	case protocol.TurnEnded:
		s.running, s.written, s.exactRateAt = false, rate{}, time.Time{}
	case protocol.UsageUpdated:
		d := new(protocol.Usage)
		if e.Decode(d) == nil {
			s.setOutput(d.Output, now, live)
		}
	case protocol.TextDelta, protocol.ReasoningDelta, protocol.JoinedDeltas:
		if live && e.Seq-e.First() < maxLiveRun { // else written earlier than received
			s.written.add(now, added)
		}
	}
}

// setOutput sets the session's total of output tokens, unless it is 0: not known. Counts less than
// minRateTime apart give no rate.
func (s *Speed) setOutput(output int64, now time.Time, live bool) {
	if output == 0 {
		return
	}
	if n, elapsed := output-s.output, now.Sub(s.outputAt); live && s.running && n > 0 {
		if elapsed < minRateTime {
			return // the next count includes this one
		}
		s.exactRate, s.exactRateAt = float64(n)/elapsed.Seconds(), now
	}
	s.output, s.outputAt = output, now
}

// TokenRate returns the agent's output in tokens per second: from its own token counts, or
// estimated from the text of the last seconds. ok is false while the agent writes nothing.
func (s *Speed) TokenRate(now time.Time) (perSecond float64, estimated, ok bool) {
	if s.running && !s.exactRateAt.IsZero() && now.Sub(s.exactRateAt) < exactRateTTL {
		return s.exactRate, false, true
	}
	bytes, ok := s.written.perSecond(now)
	return bytes / bytesPerToken, true, ok && s.running
}
