package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestSocketsAndOtherNamesOfHiddenFilesAreHidden(t *testing.T) {
	b, home := newTestBox(t, "workspace", "app/file")
	path := filepath.Join(home, "app", "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rules, err := b.table()
	if err != nil {
		t.Fatal(err)
	}
	if a := rules.at(path).access; a != hidden {
		t.Errorf("the socket has the access %d", a)
	}
	mounts := []mountPoint{{device: "1:1", root: "/", path: "/"}, {device: "1:2", root: "/", path: "/home"}}
	if of := mountOf(mounts, "/home/ada/x"); of.path != "/home" {
		t.Errorf("the mount of a home directory is %+v", of)
	}
}

func TestDirectoriesOfOthersAreClosedToRootInASandbox(t *testing.T) {
	if os.Getuid() != 0 {
		return // another user has no capability outside, either
	}
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if !reachable(filepath.Join(closed, "s")) {
		t.Error("root does not pass its directory")
	}
	if err := os.Chown(closed, 1, 1); err != nil {
		t.Fatal(err)
	}
	if reachable(filepath.Join(closed, "s")) {
		t.Error("root passes a closed directory of another user")
	}
}
