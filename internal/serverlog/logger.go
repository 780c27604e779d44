package serverlog

import (
	"io"
	"log/slog"
)

// Formats are the names of the formats.
var Formats = []string{"text", "json"}

// Levels are the names of the levels, the most detailed first.
var Levels = []string{"debug", "info", "warn", "error"}

// New returns a logger that writes one record a line, without the secrets of r. format and level
// are names of Formats and Levels; empty: the first, and info.
func New(w io.Writer, format, level string, r *Redactor) *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: r.replace}
	var at slog.Level
	if at.UnmarshalText([]byte(level)) == nil {
		options.Level = at
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
