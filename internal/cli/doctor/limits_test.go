//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
		{checkDescriptors(4096), checkNote}, // fewer than the default limit of clients
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

func TestDoctorComparesTheOpenFilesOfTheServer(t *testing.T) {
	for limit, want := range map[string]string{
		"10": checkBad, "1024": checkOK, "unlimited": checkOK,
	} {
		proc := t.TempDir()
		if err := os.Mkdir(filepath.Join(proc, "fd"), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			if err := os.WriteFile(filepath.Join(proc, "fd", strconv.Itoa(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := "Limit   Soft Limit  Hard Limit  Units\nMax open files   " + limit + "   2048   files\n"
		if err := os.WriteFile(filepath.Join(proc, "limits"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := checkServerDescriptors(proc)
		if c == nil || c.Status != want || !strings.HasPrefix(c.Detail, "9 ") {
			t.Errorf("limit %s: %+v", limit, c)
		}
	}
	if c := checkServerDescriptors(filepath.Join(t.TempDir(), "none")); c != nil {
		t.Errorf("without /proc: %+v", c)
	}
}
