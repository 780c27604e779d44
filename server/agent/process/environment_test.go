package process

import (
	"slices"
	"testing"
)

func TestTheProgramGetsItsSessionAndNoCredential(t *testing.T) {
	t.Setenv("AGENTCTL_TOKEN", "secret")
	t.Setenv(SessionVariable, "s_outer")
	for _, c := range []struct {
		env     []string
		session string
		want    []string
	}{
		{
			[]string{"A=1", "AGENTCTL_TOKEN=secret", SessionVariable + "=s_0"},
			"s_1",
			[]string{"A=1", "M=1", SessionVariable + "=s_1"},
		},
		{[]string{"A=1", SessionVariable + "="}, "", []string{"A=1", "M=1"}},
	} {
		if got := (&Command{Env: c.env, Session: c.session}).environment("M=1"); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, kv := range (&Command{}).environment("") {
		if kv == "AGENTCTL_TOKEN=secret" || kv == SessionVariable+"=s_outer" {
			t.Errorf("the server's environment has %s", kv)
		}
	}
}
