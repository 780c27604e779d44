package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

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

// logTail is the number of bytes at the end of the server's log that are searched.
const logTail = 64 << 10

// checkServerLog returns the last error or warning since the last start of the server.
func checkServerLog(env func(string) string, dir localserver.Dir) check {
	const name = "server log"
	path := dir.LogPath()
	if path == "" {
		return check{name, checkNote, "the server logs to its standard error, not to a file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return check{name, checkNote, "no server was started in the background yet"}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		if _, err := f.Seek(-logTail, io.SeekEnd); err != nil {
			return check{name, checkBad, err.Error()}
		}
	}
	var secrets redact.Log // a crash may have written some
	secrets.Set(host.LogSecrets(env, dir))
	last, count := "", 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, logTail)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case containsAny(line, `msg="server started"`, `"msg":"server started"`):
			last, count = "", 0
		case strings.HasPrefix(line, "agentctl: "), serverlog.IsCrash(lines.Bytes()),
			containsAny(line, " level=ERROR ", " level=WARN ", `"level":"ERROR"`, `"level":"WARN"`):
			last = line
			count++
		}
	}
	if count == 0 {
		return check{name, checkOK, path}
	}
	return check{name, checkNote, fmt.Sprintf("%s: %d errors and warnings, the last: %s", path, count,
		output.OneLine(secrets.Redact(last), 300))}
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
