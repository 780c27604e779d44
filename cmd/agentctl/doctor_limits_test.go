//go:build unix

package main

import (
	"testing"

	"agentctl/internal/localserver"
)

func TestDoctorWarnsOfFewResources(t *testing.T) {
	for _, c := range []struct {
		got  check
		want string
	}{
		{checkDisk(10 << 30), checkOK},
		{checkDisk(100 << 20), checkBad},
		{checkDescriptors(1 << 20), checkOK},
		{checkDescriptors(256), checkNote},
	} {
		if c.got.Status != c.want {
			t.Errorf("%+v: want %s", c.got, c.want)
		}
	}
	checks := checkLimits(localserver.Dir(t.TempDir()))
	if len(checks) != 2 || checks[0].Check != "disk" || checks[1].Check != "open files" {
		t.Errorf("checks: %+v", checks)
	}
}
