package turn

import (
	"strings"
	"testing"
	"time"

	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// held returns a state whose queue a usage limit holds, until a time unless that is zero.
func held(until time.Time) *protocol.State {
	s := stateOf(nil, []string{"m2"}, protocol.HoldLimit)
	s.Holds[0].MessageID = "m2"
	if !until.IsZero() {
		s.Holds[0].Until = &until
	}
	return s
}

func TestATrackerFollowsASessionThatContinuesAfterALimit(t *testing.T) {
	log := resumed().startTurn("t1", "m1").endTurn("t1", protocol.ReasonLimited).queueMessage("m2").caughtUp().
		startTurn("t2", "m2").textDelta("t2", "p", "done").endTurn("t2", protocol.ReasonCompleted)
	for name, c := range map[string]struct {
		continues bool
		until     time.Time
		reason    protocol.Reason
	}{
		"it continues":           {true, time.Now().Add(time.Hour), protocol.ReasonCompleted},
		"not followed":           {false, time.Now().Add(time.Hour), protocol.ReasonLimited},
		"a user must release it": {true, time.Time{}, protocol.ReasonLimited},
	} {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			tracker := Tracker{
				CLI: &verb.Context{Out: output.Printer{Stderr: &notes}}, Message: "m1", Continues: c.continues,
				current: func() (*protocol.State, error) { return held(c.until), nil },
			}
			for _, item := range log.items {
				end, err := tracker.apply(&item)
				if err != nil {
					t.Fatal(err)
				}
				if end == nil {
					continue
				}
				if end.Reason != c.reason || strings.Contains(notes.String(), "the session continues") != (c.reason == protocol.ReasonCompleted) {
					t.Errorf("ended %s, notes %q", end.Reason, &notes)
				}
				return
			}
			t.Error("not ended")
		})
	}
}

// A queue that the server releases itself needs no person.
func TestAMessageBehindALimitWaitsForAContinuation(t *testing.T) {
	for _, until := range []time.Time{{}, time.Now().Add(time.Hour)} {
		log := resumed().queueMessage("m2").caughtUp()
		tracker := Tracker{
			CLI: &verb.Context{}, Message: "m2", current: func() (*protocol.State, error) { return held(until), nil },
		}
		waiter := Waiter{Condition: ForIdle}
		var trackErr, waitErr error
		for _, item := range log.items {
			if _, err := tracker.apply(&item); err != nil {
				trackErr = err
			}
		}
		for _, item := range attached(held(until), 0).caughtUp().items {
			if _, err := waiter.Apply(&item); err != nil {
				waitErr = err
			}
		}
		if needs := until.IsZero(); (trackErr != nil) != needs || (waitErr != nil) != needs {
			t.Errorf("until %s: %v, %v", until, trackErr, waitErr)
		}
	}
}
