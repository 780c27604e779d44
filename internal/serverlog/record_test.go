package serverlog

import (
	"bytes"
	"log/slog"
	"testing"

	"agentctl/internal/redact"
)

func TestARecordIsReadInEachFormat(t *testing.T) {
	for _, format := range Formats {
		var out bytes.Buffer
		log := New(&out, format, "debug", new(redact.Log))
		log.Warn("turn \"failed\"", "err", "a=b msg=c \"level\"", "code", "agent_failed", "code", "other", "msg", "d")
		r, ok := ParseRecord(bytes.TrimSpace(out.Bytes()))
		if !ok || r.Level != slog.LevelWarn || r.Message != `turn "failed"` || r.Code != "agent_failed" || r.Time.IsZero() {
			t.Errorf("%s: %+v %v of %s", format, r, ok, out.String())
		}
	}
	if !IsConstant("server started") || !IsConstant("agent_failed") || IsConstant("") || IsConstant("server started\n") {
		t.Error("constants")
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, format := range Formats {
		var out bytes.Buffer
		New(&out, format, "", new(redact.Log)).Info("a \"b\"", "code", "c")
		f.Add(out.Bytes())
	}
	f.Add([]byte(`time="`))
	f.Add([]byte(`{"time":{}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, ok := ParseRecord(line); ok && r.Time.IsZero() && !bytes.Contains(line, []byte("0001")) {
			t.Errorf("a record without a time: %q", line)
		}
	})
}
