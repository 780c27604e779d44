//go:build release && linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bareRoot is a directory that is the root of the programs that run in it. It has no shell, no
// library and no device, and one file of the kernel: by bootID the store detects whether the
// machine was started again.
type bareRoot struct {
	t   *testing.T
	dir string
}

const bootID = "/proc/sys/kernel/random/boot_id"

func newBareRoot(t *testing.T) bareRoot {
	t.Helper()
	root := bareRoot{t, t.TempDir()}
	id, err := os.ReadFile(bootID)
	if err != nil {
		t.Fatal(err)
	}
	root.write(bootID, id)
	root.mkdir("tmp")
	return root
}

func (r bareRoot) mkdir(path string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Join(r.dir, path), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r bareRoot) write(path string, text []byte) {
	r.t.Helper()
	r.mkdir(filepath.Dir(path))
	if err := os.WriteFile(filepath.Join(r.dir, path), text, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// run runs a program of the root without any environment of this one.
func (r bareRoot) run(program string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), program, args...)
	cmd.Dir, cmd.Env = "/", []string{"HOME=/tmp", "XDG_RUNTIME_DIR=/tmp", "PATH=/usr/bin", "USER=ann"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.dir}
	if id := os.Geteuid(); id != 0 {
		own := []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		cmd.SysProcAttr.Cloneflags, cmd.SysProcAttr.UidMappings = syscall.CLONE_NEWUSER, own
	}
	return output(r.t, cmd)
}

// check runs what needs neither agent nor network: the version, and the tour.
func (r bareRoot) check(program string) {
	r.t.Helper()
	var version struct{ Version, Commit, Date, OS string }
	if err := json.Unmarshal([]byte(r.run(program, "version", "-o", "json")), &version); err != nil {
		r.t.Fatal(err)
	}
	if _, err := time.Parse(time.RFC3339, version.Date); err != nil || len(version.Commit) != 40 ||
		version.Version == "" || version.OS != "linux" {
		r.t.Errorf("the version is %+v (%v)", version, err)
	}
	tour := r.run(program, "tour")
	for _, want := range []string{": ✓ allowed", "queued 1st: ", "turn completed"} {
		if !strings.Contains(tour, want) {
			r.t.Errorf("the tour lacks %q:\n%s", want, tour)
		}
	}
}

func TestTheArchiveRunsOnABareRoot(t *testing.T) {
	t.Parallel()
	root := newBareRoot(t)
	run(t, "tar", "xzf", forThisSystem(t, ".tar.gz"), "-C", root.dir, "--no-same-owner")
	root.check("/agentctl")
}

// The deb is installed by dpkg, without scripts, into a system that has no other package.
func TestTheDebInstallsAndRuns(t *testing.T) {
	t.Parallel()
	root := newBareRoot(t)
	root.mkdir("var/lib/dpkg/info")
	root.mkdir("var/lib/dpkg/updates")
	root.write("var/lib/dpkg/status", nil)
	run(t, "dpkg", "--root="+root.dir, "--force-not-root", "--log=/dev/null", "--install", forThisSystem(t, ".deb"))
	status := run(t, "dpkg", "--root="+root.dir, "--status", "agentctl")
	if !strings.Contains(status, "Status: install ok installed") {
		t.Errorf("dpkg says %s", status)
	}
	root.check("/usr/bin/agentctl")
}

func TestTheRpmInstallsAndRuns(t *testing.T) {
	t.Parallel()
	root := newBareRoot(t)
	run(t, "rpm", "--root="+root.dir, "--install", "--nosignature", forThisSystem(t, ".rpm"))
	root.check("/usr/bin/agentctl")
}

// The unit names settings that systemd knows, and leaves few rights: a service without any limit
// has an exposure of 9.6. Agents need the network, the home directory and programs, and their sandboxes
// a /proc of which no part is mounted over.
func TestTheServiceIsHardened(t *testing.T) {
	dir := t.TempDir()
	run(t, "tar", "xzf", forThisSystem(t, ".tar.gz"), "-C", dir, "--no-same-owner")
	unit, err := os.ReadFile(filepath.Join(dir, "packaging/agentctl@.service"))
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"ProtectKernelTunables=", "ProtectKernelLogs=", "ProtectHostname=", "ProcSubset="} {
		if strings.Contains(string(unit), "\n"+over) {
			t.Errorf("%s lets no sandbox be set up", over)
		}
	}
	// systemd looks for the program of a unit in the directories of the system.
	text := strings.Replace(string(unit), "ExecStart=", "ExecStart="+dir+"/", 1)
	path := filepath.Join(dir, "agentctl@.service")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", path)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	run(t, "systemd-analyze", "security", "--offline=true", "--threshold=36", path)
}
