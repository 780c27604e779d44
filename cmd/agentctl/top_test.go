package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
)

func TestTheTableOfTopFitsTheScreenAndIsSafe(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	started := now.Add(-90 * time.Second)
	rows := []topRow{{
		Summary: &protocol.Summary{
			Session: "s_1", Name: "a\x1b]0;x\a\nb", Status: protocol.Running, Doing: strings.Repeat("long ", 40),
			Progress: protocol.Progress{Tokens: 1234, Cost: 0.5, Currency: "USD"},
		},
		Started: &started, LagBytes: 1025,
	}}
	for range 40 {
		rows = append(rows, topRow{Summary: &protocol.Summary{Session: "s_2", Status: protocol.Idle}})
	}
	table := topTable(rows, now)
	for _, want := range []string{"1m", "1234", "0.50 USD", "2K"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in %s", want, table)
		}
	}
	var out bytes.Buffer
	o := &topOptions{app: &app{stdout: &out}}
	if err := o.draw(table); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b]0;") {
		t.Error("a title reached the terminal")
	}
	lines := strings.Split(ansi.Strip(out.String()), "\r\n")
	if len(lines) != 24 || lines[22] != "… 20 more" || lines[23] != "q leaves" {
		t.Errorf("%d lines: %q", len(lines), lines[len(lines)-2:])
	}
	for _, line := range lines {
		if ansi.StringWidth(line) > 80 || strings.Contains(line, "\n") {
			t.Errorf("%q is not a row", line)
		}
	}
}
