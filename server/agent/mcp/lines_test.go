package mcp

import (
	"bytes"
	"strings"
	"testing"
)

func TestOnlyMessagesOfAProgramAreRead(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":2,"result":{"text":"` + strings.Repeat("x", 200<<10) + `"}}`
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `[{"jsonrpc":"2.0","method":"x"}]`, long, ` {"jsonrpc":"2.0"}` + "\r",
	}
	noise := []string{
		"name 1.0", "", "[INFO] ready",
		"{not JSON", "[1,2]", "[]", "null", `{"level":"info"}`, strings.Repeat("y", 200<<10),
		"{" + strings.Repeat("z", 200<<10),
	}
	var in strings.Builder
	for i, line := range noise {
		in.WriteString(line + "\n")
		if i < len(want) {
			in.WriteString(want[i] + "\n")
		}
	}
	var out bytes.Buffer
	err := copyMessages(&out, strings.NewReader(in.String()))
	if got := out.String(); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	if err == nil || err.Error() != "the program ended: EOF" {
		t.Errorf("%v", err)
	}
}

func TestALineOverTheLimitEndsTheConnection(t *testing.T) {
	err := copyMessages(new(bytes.Buffer), strings.NewReader("{"+strings.Repeat(" ", maxHTTPMessage)+"}\n"))
	if err == nil || !strings.Contains(err.Error(), "over 16 MiB") {
		t.Errorf("%v", err)
	}
}
