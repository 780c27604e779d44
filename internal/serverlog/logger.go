package serverlog

import (
	"fmt"
	"io"
	"log/slog"

	"agentctl/internal/redact"
)

// Formats are the names of the formats.
var Formats = []string{"text", "json"}

// Levels are the names of the levels, the most detailed first.
var Levels = []string{"debug", "info", "warn", "error"}

// New returns a logger that writes one record a line, without the secrets of r. format and level
// are names of Formats and Levels; empty: the first, and info.
func New(w io.Writer, format, level string, r *redact.Log) *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: redactAttr(r)}
	var at slog.Level
	if at.UnmarshalText([]byte(level)) == nil {
		options.Level = at
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// redactAttr returns the ReplaceAttr of a handler that hides secrets.
func redactAttr(r *redact.Log) func(groups []string, a slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey):
		case a.Value.Kind() == slog.KindString:
			a.Value = slog.StringValue(r.Redact(a.Value.String()))
		case a.Value.Kind() == slog.KindAny:
			a.Value = slog.StringValue(r.Redact(fmt.Sprint(a.Value.Any())))
		}
		return a
	}
}
