package wire

import (
	"testing"
)

func TestTheURLNamesTheSession(t *testing.T) {
	for url, want := range map[string]string{
		"ws://localhost:8080": "agentloop", "ws://localhost:8080/": "agentloop",
		"ws://localhost:8080/ws/abc123":                "abc123",
		"wss://h/dialect/agentloop/fix%20ci?token=a/b": "fix ci", "wss://h?x=/y": "agentloop",
		"unix:///run/agentctl.sock": "agentloop",
		"ws://h/100%":               "100%", "ws://h/x#/y": "x", "": "agentloop",
	} {
		if got := SessionOfURL(url); got != want {
			t.Errorf("%s names %q, want %q", url, got, want)
		}
	}
}
