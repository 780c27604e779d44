package ui

import (
	"context"
	"strings"
	"testing"
)

func TestEditorStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := &Editor{Context: ctx, Command: "sleep 60;", Extension: "md"}
	if err := e.Run(); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("Run() = %v, want an error with %q", err, "context canceled")
	}
}

func TestEditorCommand(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, "vi"},
		{[]string{"EDITOR=nano"}, "nano"},
		{[]string{"VISUAL=code --wait", "EDITOR=nano"}, "code --wait"},
		{[]string{"VISUAL= ", "EDITOR="}, "vi"},
	} {
		if got := EditorCommand(c.env); got != c.want {
			t.Errorf("EditorCommand(%q) = %q, want %q", c.env, got, c.want)
		}
	}
}
