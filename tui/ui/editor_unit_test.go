package ui

import (
	"context"
	"strings"
	"testing"
)

func TestTheEditorEndsWithTheProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := &Editor{Context: ctx, Command: "sleep 60;", Extension: "md"}
	if err := e.Run(); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheEnvironmentNamesTheEditor(t *testing.T) {
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
			t.Errorf("%q: %q, want %q", c.env, got, c.want)
		}
	}
}
