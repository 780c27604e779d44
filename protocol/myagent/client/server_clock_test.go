package client

import (
	"testing"
	"time"

	"agentctl/protocol"
)

// A time without a zone is the server's local time, in any zone, also after its clock was changed.
func TestATimeWithoutAZoneIsTheServersLocalTime(t *testing.T) {
	now := time.Date(2027, 3, 8, 6, 30, 0, 0, time.UTC)
	for _, zone := range []time.Duration{0, 8 * time.Hour, -5 * time.Hour, 5*time.Hour + 45*time.Minute} {
		var c serverClock
		local := func(t time.Time) string { return t.Add(zone).Format("2006-01-02T15:04:05.000000") }
		check := func(what string, got, want time.Time) {
			t.Helper()
			if got.Sub(want).Abs() > time.Second {
				t.Errorf("%s: %s of %s is read as %s, want %s", zone, what, local(want), got, want)
			}
		}
		check("a replayed frame before any other", c.read(local(now.Add(-time.Hour)), now, true), now)
		check("the greeting", c.read(local(now), now, false), now)
		check("a frame that was held", c.read(local(now.Add(time.Minute)), now.Add(2*time.Minute), false),
			now.Add(time.Minute))
		check("a replayed frame", c.read(local(now.Add(-time.Hour)), now, true), now.Add(-time.Hour))
		check("a time with a zone", c.read("2027-03-08T07:30:00+01:00", now, false), now)
		later := now.Add(24 * time.Hour)
		zone += time.Hour // summer time
		check("a frame after a change of the zone", c.read(local(later), later, false), later)
	}
}

// The duration of a turn is measured only by the client's clock.
func TestATurnsDurationIsOfOneClock(t *testing.T) {
	s := newClientTest(t)
	s.Receive(`{"event":"system.connected","timestamp":"2026-03-01T17:04:00.5","content":"Connected","seq":1}`)
	s.Command(protocol.DoSubscribe, "work", protocol.SubscribeData{})
	s.Receive(`{"event":"agent.session_created","timestamp":"2026-03-01T17:04:01","session_id":"8202","seq":2}`)
	s.Call(protocol.DoSend, "work", protocol.SendData{Text: "one"}, nil)
	began := s.Now
	s.Now = s.Now.Add(3 * time.Second)
	s.Receive(`{"event":"agent.final_answer","timestamp":"2026-03-01T17:30:00","session_id":"8202","content":"x","seq":3}`)
	if end := s.Transcript.Current().End; end == nil || end.DurationMS != s.Now.Sub(began).Milliseconds() {
		t.Errorf("%+v, want %s", end, s.Now.Sub(began))
	}
}
