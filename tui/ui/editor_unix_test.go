//go:build unix

package ui

import (
	"strings"
	"testing"
)

func TestEditorGetsItsArguments(t *testing.T) {
	var out strings.Builder
	e := &Editor{
		Context: t.Context(), Command: `printf '[%s]' "two words"`, Arguments: []string{"+12", "/a b/$(id);'.go"},
	}
	e.SetStdout(&out)
	if err := e.Run(); err != nil || out.String() != "[two words][+12][/a b/$(id);'.go]" {
		t.Errorf("ran %s, error %v", out.String(), err)
	}
	e.Command = "false"
	if err := e.Run(); err == nil || !strings.Contains(err.Error(), `editor "false"`) {
		t.Errorf("error %v", err)
	}
}
