package serverlog

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Record holds the fields that every record of a log may have. The others are attributes.
type Record struct {
	Time    time.Time
	Level   slog.Level
	Message string
	Code    string // attribute code, or ""
}

// ParseRecord reads a line in one of Formats. It returns false if the line is not a whole record. Of
// a repeated key the first value counts, which no attribute can replace.
func ParseRecord(line []byte) (r Record, ok bool) {
	fields, ok := textFields(string(line)), true
	if bytes.HasPrefix(line, []byte("{")) {
		fields, ok = jsonFields(line)
	}
	at, err := time.Parse(time.RFC3339Nano, fields[slog.TimeKey])
	if err != nil || !ok || r.Level.UnmarshalText([]byte(fields[slog.LevelKey])) != nil {
		return Record{}, false
	}
	r.Time, r.Message, r.Code = at, fields[slog.MessageKey], fields["code"]
	return r, true
}

// textFields returns the fields of a line in the format text.
func textFields(line string) map[string]string {
	fields := map[string]string{}
	for line != "" {
		key, rest, found := strings.Cut(line, "=")
		if !found {
			break
		}
		value, next, _ := strings.Cut(rest, " ")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			value, _ = strconv.Unquote(quoted) // it is quoted
			next = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		if _, repeated := fields[key]; !repeated {
			fields[key] = value
		}
		line = next
	}
	return fields
}

// jsonFields returns the fields of a line in the format json that are strings.
func jsonFields(line []byte) (fields map[string]string, ok bool) {
	fields = map[string]string{}
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value any
		if d.Decode(&value) != nil {
			return nil, false
		}
		name, _ := key.(string)
		text, isText := value.(string)
		if _, repeated := fields[name]; isText && !repeated {
			fields[name] = text
		}
	}
	return fields, true
}

// constantsFile has the messages of records and the error codes that are constants of the source,
// one a line. internal/dev/layout compares it with the source.
//
//go:embed constants.txt
var constantsFile string

var constants = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(constantsFile) {
		set[strings.TrimSuffix(line, "\n")] = true
	}
	return set
})

// IsConstant reports whether a message or a code is a constant of this version. Other messages may
// have texts of agents and users.
func IsConstant(text string) bool { return constants()[text] }
