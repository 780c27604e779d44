package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A mountPoint is a line of /proc/self/mountinfo.
type mountPoint struct {
	device string // major:minor
	root   string // of the mount, in its file system
	path   string
	kind   string // of file system
}

// readMounts returns the mounts that this process sees.
func readMounts() (list []mountPoint, err error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(b)) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) > 4 && len(kind) > 0 {
			list = append(list, mountPoint{f[2], unescape.Replace(f[3]), unescape.Replace(f[4]), kind[0]})
		}
	}
	return list, nil
}

// hideAliases hides the other names of hidden paths: mounts of the same files elsewhere, other
// views of processes, and sockets that programs listen on, except those in the session's directory.
func hideAliases(t table, paths []string, cwd string) error {
	mounts, err := readMounts()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if m.kind == "proc" && !within("/proc", m.path) && reachable(m.path) {
			t.set(m.path, hidden)
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		of := mountOf(mounts, real)
		name, err := filepath.Rel(of.path, real)
		if err != nil {
			continue
		}
		file := filepath.Join(of.root, name) // in its file system
		for _, m := range mounts {
			if alias, err := filepath.Rel(m.root, file); m.device == of.device && err == nil && filepath.IsLocal(alias) {
				if same := filepath.Join(m.path, alias); same != real && sameFile(same, real) {
					t.set(same, hidden)
				}
			}
		}
	}
	return hideSockets(t, cwd)
}

func mountOf(mounts []mountPoint, path string) (of mountPoint) {
	for _, m := range mounts {
		if within(m.path, path) && len(m.path) >= len(of.path) {
			of = m
		}
	}
	return of
}

// reachable reports whether a process in a sandbox passes the directories above a path. A process of
// root has no capability there, so that directories of other users are closed to it, and to the
// program that makes the mounts.
func reachable(path string) bool {
	if os.Getuid() != 0 {
		return true
	}
	groups, err := os.Getgroups()
	if err != nil {
		return false
	}
	for path != filepath.Dir(path) {
		path = filepath.Dir(path)
		var s unix.Stat_t
		if unix.Stat(path, &s) != nil {
			return false
		}
		search := s.Mode & 0o001
		switch {
		case s.Uid == 0:
			search = s.Mode & 0o100
		case s.Gid == 0 || slices.Contains(groups, int(s.Gid)):
			search = s.Mode & 0o010
		}
		if search == 0 {
			return false
		}
	}
	return true
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// hideSockets hides the sockets of this machine that have a name.
func hideSockets(t table, cwd string) error {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return fmt.Errorf("read sockets: %w", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		_, path, ok := strings.Cut(lines.Text(), " /")
		if path = "/" + path; !ok || within(cwd, path) {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !reachable(real) {
			continue
		}
		if a := t.at(real).access; a == read || a == write {
			t.set(real, hidden)
		}
	}
	return nil
}
