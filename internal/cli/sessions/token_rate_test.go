package sessions

import (
	"fmt"
	"testing"
	"time"

	"agentctl/internal/cli/sessiontable"
)

func TestTokensASecondAreThoseOfTheLastHalfMinute(t *testing.T) {
	var r tokenRate
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		tokens int64
		want   string
	}{
		{1000, "-"}, {1000, "-"}, {1400, "20"}, {1400, "13"}, {1400, "13"}, {1400, "-"}, {1455, "1.8"},
	} {
		rate := r.add(step.tokens, now.Add(time.Duration(i)*10*time.Second))
		if got := sessiontable.RateText(rate); got != step.want {
			t.Errorf("count %d: %s, want %s", i, got, step.want)
		}
	}
}

func TestATokenRateKeepsTheWindowAlone(t *testing.T) {
	var r tokenRate
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 1000 {
		now = now.Add(time.Second)
		if got := r.add(int64(5*i), now); i > 0 && got != 5 {
			t.Fatalf("count %d: %v tokens a second, want 5", i, got)
		}
	}
	if len(r) != int(tokenWindow/time.Second)+1 {
		t.Error(fmt.Sprint(len(r), " counts are kept"))
	}
}
