package config

import (
	"runtime"
	"testing"
)

func TestTheStateDirectoryFollowsTheEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system names the directory")
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/ada"}, "/state/agentctl"},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/home/ada"}, "/home/ada/.local/state/agentctl"},
		{map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/state/agentctl"},
		{nil, ""},
	} {
		if got := StateDir(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: got %q, want %q", c.env, got, c.want)
		}
	}
}
