package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"agentctl/internal/cli/host"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/internal/redact"
	"agentctl/internal/serverlog"
	"agentctl/server/sqlite"
)

// checkStored checks the stored sessions quickly, and looks for errors in the log of the server.
func checkStored(ctx context.Context, env func(string) string, dir localserver.Dir) []check {
	if _, err := os.Stat(string(dir)); err != nil {
		return nil // reported by checkDataDir
	}
	return []check{checkSessions(ctx, dir), checkServerLog(env, dir)}
}

func checkSessions(ctx context.Context, dir localserver.Dir) check {
	const name = "sessions"
	first := ""
	report, err := sqlite.Check(ctx, sqlite.Path(string(dir)), sqlite.CheckOptions{
		Quick: true,
		Damage: func(d sqlite.Damage) error {
			if first == "" {
				first = d.String()
			}
			return nil
		},
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check{name, checkNote, "none are stored yet"}
	case err != nil:
		return check{name, checkBad, err.Error()}
	case report.Damages > 0:
		problem := fmt.Sprintf("%d damages, the first: %s; run agentctl check", report.Damages, first)
		return check{name, checkBad, problem}
	}
	detail := fmt.Sprintf("%d, complete by their index; agentctl check reads everything", report.Sessions)
	return check{name, checkOK, detail}
}

// checkServerLog returns the last error or warning since the last start of the server.
func checkServerLog(env func(string) string, dir localserver.Dir) check {
	const name = "server log"
	path := dir.LogPath()
	if path == "" {
		return check{name, checkNote, "the server logs to its standard error, not to a file"}
	}
	tail, err := serverlog.OpenTail(path)
	if err != nil {
		return check{name, checkNote, "no server was started in the background yet"}
	}
	defer tail.Close() //nolint:errcheck // only read
	lines, err := tail.Last(logLines)
	if err != nil {
		return check{name, checkBad, err.Error()}
	}
	var secrets redact.Log // a crash may have written some
	secrets.Set(host.LogSecrets(env, dir))
	last, count := "", 0
	for _, line := range lines {
		r, ok := serverlog.ParseRecord(line)
		switch {
		case ok && r.Message == "server started":
			last, count = "", 0
		case ok && r.Level >= slog.LevelWarn, serverlog.IsCrash(line), bytes.HasPrefix(line, []byte("agentctl: ")):
			last = string(line)
			count++
		}
	}
	if count == 0 {
		return check{name, checkOK, path}
	}
	return check{name, checkNote, fmt.Sprintf("%s: %d errors and warnings, the last: %s", path, count,
		output.OneLine(secrets.Redact(last), 300))}
}
