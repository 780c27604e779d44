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
	table := topTable(rows, now, 0)
	for _, want := range []string{"1m", "1234", "0.50 USD", "2K"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in %s", want, table)
		}
	}
	var out bytes.Buffer
	o := &topOptions{app: &app{stdout: &out}}
	if err := o.draw(table, 80, 24); err != nil {
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

func TestTopLeavesOutTheLeastImportantColumns(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	started := now.Add(-90 * time.Second)
	rows := []topRow{{
		Summary: &protocol.Summary{
			Session: "s_1", Name: "fix-the-login", Status: protocol.Running, Agent: "claude",
			Doing:    "修复 the tests of the package login",
			Progress: protocol.Progress{Tokens: 123456, Cost: 0.5, Currency: "USD"},
		},
		Started: &started,
	}}
	for width, want := range map[int]string{
		0:   "SESSION STATUS AGENT TURN TOKENS TOK/S COST QUEUE CLIENTS LAG ABOUT",
		200: "SESSION STATUS AGENT TURN TOKENS TOK/S COST QUEUE CLIENTS LAG ABOUT",
		110: "SESSION STATUS AGENT TURN TOKENS TOK/S COST QUEUE CLIENTS ABOUT",
		80:  "SESSION STATUS TURN TOKENS COST ABOUT",
		60:  "SESSION STATUS TURN ABOUT",
		40:  "SESSION STATUS ABOUT",
	} {
		header, row, _ := strings.Cut(topTable(rows, now, width), "\n")
		if got := strings.Join(strings.Fields(header), " "); got != want {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
		before, _, _ := strings.Cut(row, "修")
		if at := strings.Index(header, "ABOUT"); at != len(before) {
			t.Errorf("%d columns: ABOUT begins at %d, its text at %d", width, at, len(before))
		}
	}
}

func TestTokensASecondAreThoseOfTheLastHalfMinute(t *testing.T) {
	rates, now := topRates{}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		tokens int64
		want   string
	}{
		{1000, "-"}, {1000, "-"}, {1400, "20"}, {1400, "13"}, {1400, "13"}, {1400, "-"}, {1455, "1.8"},
	} {
		rows := []topRow{{Summary: &protocol.Summary{Session: "s_1", Progress: protocol.Progress{Tokens: step.tokens}}}}
		rates.add(rows, now.Add(time.Duration(i)*10*time.Second))
		if got := rateText(rows[0].Rate); got != step.want {
			t.Errorf("sample %d: %s, want %s", i, got, step.want)
		}
	}
	if len(rates["s_1"]) > 5 {
		t.Errorf("%d samples are kept", len(rates["s_1"]))
	}
	rates.add(nil, now)
	if len(rates) != 0 {
		t.Error("a session without a row is kept")
	}
}
