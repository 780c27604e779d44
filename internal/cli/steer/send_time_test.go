package steer

import (
	"testing"
	"time"
)

func TestTimesOfSend(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 3, 1, 22, 30, 0, 0, zone)
	for _, c := range []struct {
		in   sendTime
		want string // "": an error; "now": none
	}{
		{sendTime{}, "now"},
		{sendTime{In: 2 * time.Hour}, "2026-03-02T00:30:00+01:00"},
		{sendTime{At: "23:00"}, "2026-03-01T23:00:00+01:00"},
		{sendTime{At: "22:30"}, "2026-03-02T22:30:00+01:00"},
		{sendTime{At: "2026-03-02 07:00"}, "2026-03-02T07:00:00+01:00"},
		{sendTime{At: "2026-03-02T07:00"}, "2026-03-02T07:00:00+01:00"},
		{sendTime{At: "2026-03-02T07:00:00Z"}, "2026-03-02T07:00:00Z"},
		{sendTime{At: "2026-03-01 22:29"}, ""},
		{sendTime{At: "24:00"}, ""},
		{sendTime{At: "noon"}, ""},
		{sendTime{In: -time.Hour}, ""},
		{sendTime{In: time.Hour, At: "23:00"}, ""},
	} {
		at, err := c.in.notBefore(now)
		got := "now"
		switch {
		case err != nil:
			got = ""
		case at != nil:
			got = at.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%+v: got %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}
