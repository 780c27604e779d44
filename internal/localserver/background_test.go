package localserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/exit"
)

func TestAFailedStartHasTheReasonAndHintOfTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), serverLog)
	for _, c := range []struct{ log, reason, hint string }{
		{
			"time=x level=WARN msg=y\nagentctl: open store: gone\n  restore a backup\n  or start again\n",
			"the server did not start: open store: gone", "restore a backup\n  or start again\n  see the log: " + path,
		},
		{
			"agentctl: warning\n  of another line\nagentctl: no token\n",
			"the server did not start: no token", "see the log: " + path,
		},
		{"", "the server did not start: exit status 1", "agentctl serve"},
	} {
		const former = "agentctl: former\n"
		if err := os.WriteFile(path, []byte(former+c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b := &backgroundServer{log: log, offset: int64(len(former)), err: errors.New("exit status 1")}
		var e *exit.Error
		if err := b.failure(); !errors.As(err, &e) || err.Error() != c.reason || !strings.HasSuffix(e.Hint, c.hint) {
			t.Errorf("%v\n  %s", err, e.Hint)
		}
	}
}

func TestAServerIsNotMissingWhenTheTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exit.ErrTimeout)
	for _, start := range []bool{false, true} {
		if err := Dir(t.TempDir()).EnsureRunning(ctx, start); !errors.Is(err, exit.ErrTimeout) {
			t.Errorf("start %t: %v", start, err)
		}
	}
}
