package serve

import (
	"io"
	"log/slog"
	"slices"

	"github.com/spf13/pflag"

	"agentctl/internal/cli/host"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/redact"
	"agentctl/internal/serverlog"
)

// logFlags are the flags of serve for its log, and that log.
type logFlags struct {
	Format  string
	Level   string
	File    string // empty: standard error
	Verbose bool

	logger  *slog.Logger
	file    *serverlog.File // nil: standard error
	secrets redact.Log
}

func (l *logFlags) add(f *pflag.FlagSet) {
	f.StringVar(&l.Format, "log-format", "", "`FORMAT` of the log: text (default), json")
	f.StringVar(&l.Level, "log-level", "", "`LEVEL` of the log: debug, info, warn, error")
	f.StringVar(&l.File, "log-file", "", "log to `FILE`, not to stderr")
	f.BoolVarP(&l.Verbose, "verbose", "v", false, "log debug messages, as --log-level debug")
}

func (l *logFlags) check() error {
	if l.Verbose {
		l.Level = "debug"
	}
	switch {
	case l.Format != "" && !slices.Contains(serverlog.Formats, l.Format):
		return exit.Usagef("invalid --log-format %q: want text or json", l.Format)
	case l.Level != "" && !slices.Contains(serverlog.Levels, l.Level):
		return exit.Usagef("invalid --log-level %q: want debug, info, warn or error", l.Level)
	}
	return nil
}

// open opens the log.
func (l *logFlags) open(stderr io.Writer) error {
	if l.File != "" {
		var err error
		if l.file, err = serverlog.Open(l.File, serverlog.MaxBytes); err != nil {
			return err
		}
		stderr = l.file
	}
	l.logger = serverlog.New(stderr, l.Format, l.Level, &l.secrets)
	return nil
}

// reportCrash hides secrets in the output of a former server that crashed, and records the crash. A
// log on standard error is not this server's to change.
func (l *logFlags) reportCrash() {
	if l.file == nil {
		return
	}
	crash, err := l.file.RedactOutput(&l.secrets)
	if err != nil {
		l.logger.Error("output of the previous server", "err", err)
	}
	if crash != "" {
		l.logger.Error("the previous server crashed", "err", crash)
	}
}

// path returns the path of the log; empty: standard error.
func (l *logFlags) path() string {
	if l.file == nil {
		return ""
	}
	return l.file.Path()
}

// Close closes the log.
func (l *logFlags) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// hide keeps secrets out of the log: secrets of the configuration, the environment and the data
// directory, and more.
func (l *logFlags) hide(c *config.Server, dir localserver.Dir, more ...string) {
	l.secrets.Set(slices.Concat(host.ProcessSecrets(dir), host.ConfigSecrets(c), more))
}
