//go:build sandbox

package sandboxtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
)

// baseVariable has the directory of the tests of a process that TestMain started.
const baseVariable = "AGENTCTL_TEST_SANDBOX"

// testUser is an account of every system that is not root.
const testUser = "daemon"

// TestMain runs the tests with a controlling terminal, as this user and, if that is root, as another
// one. The program is its tools, too: connect, attach and host.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "connect":
		connect(os.Args[1])
	case "attach":
		attach(os.Args[1])
	case "host":
		hostSandbox(os.Args[1])
	case "agent":
		traits, err := os.ReadFile("traits") // of the session's directory
		if err == nil {
			err = os.Setenv(fakeacp.EnvVar, string(traits))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(fakeacp.Main())
	}
	if os.Getenv(baseVariable) != "" {
		os.Exit(m.Run())
	}
	if os.Getuid() != 0 {
		os.Exit(runAs(os.Getuid()))
	}
	if os.Getenv(ownJobsVariable) == "" {
		os.Exit(ownJobs())
	}
	os.Exit(max(runAs(0), runAsTestUser()))
}

// runAsTestUser runs the tests as another user than root. A file that the configuration of ssh
// includes belongs to root while they run.
func runAsTestUser() int {
	account, err := user.Lookup(testUser)
	if err == nil {
		err = os.WriteFile(includedFile, []byte("Host agentctl-test\n"), 0o644)
		defer func() { _ = os.Remove(includedFile) }()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	uid, _ := strconv.Atoi(account.Uid)
	return runAs(uid)
}

// includedFile is included by the configuration of ssh.
const includedFile = "/etc/ssh/ssh_config.d/agentctl-test.conf"

// runAs runs the tests as a user.
func runAs(uid int) int {
	base, err := makeBase(uid)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(base) }()
	master, terminal, err := pty.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer master.Close()
	if err := os.Chown(terminal.Name(), uid, -1); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { _, _ = io.Copy(io.Discard, master) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := exec.CommandContext(ctx, filepath.Join(base, "tools", "tests"), os.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = base, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{terminal}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	cmd.Env = append(os.Environ(), baseVariable+"="+base, "HOME="+base, "USER=test", "LOGNAME=test",
		"PATH="+filepath.Join(base, "tools")+":"+os.Getenv("PATH"))
	if os.Getuid() == 0 {
		port, stop, err := serveSSH(base, uid)
		if err != nil {
			fmt.Fprintln(os.Stderr, "sshd:", err)
			return 1
		}
		defer stop()
		stopJobs, err := serveJobs(base, uid)
		if err != nil {
			fmt.Fprintln(os.Stderr, "cron and at:", err)
			return 1
		}
		defer stopJobs()
		cmd.Env = append(cmd.Env, "SSH_PORT="+port, "JOBS="+filepath.Join(base, "jobs"))
	}
	fmt.Println("as user", uid)
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "as user", uid, err)
		return 1
	}
	return 0
}

// makeBase makes a directory for the tests of a user, with the tools. It is not a temporary one:
// those are hidden in a sandbox.
func makeBase(uid int) (string, error) {
	parent, err := os.UserCacheDir()
	if os.Getuid() == 0 {
		parent, err = "/home", nil
	}
	if err != nil {
		return "", err
	}
	base, err := os.MkdirTemp(parent, "agentctl-sandbox-")
	if err != nil {
		return "", err
	}
	tools := filepath.Join(base, "tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		return "", err
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		return "", err
	}
	if err := buildAgentctl(tools); err != nil {
		return "", err
	}
	for _, name := range []string{"tests", "connect", "attach", "host", "agent"} {
		if err := os.WriteFile(filepath.Join(tools, name), program, 0o755); err != nil {
			return "", err
		}
	}
	return base, os.Chown(base, uid, uid)
}

// buildAgentctl puts agentctl into a directory.
func buildAgentctl(dir string) error {
	program, err := testbinary.Build(dir)
	if err != nil || filepath.Dir(program) == dir {
		return err
	}
	b, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "agentctl"), b, 0o755)
}

// connect prints WON if a socket accepts a connection.
func connect(path string) {
	c, err := net.DialTimeout("unix", path, 30*time.Second)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = c.Close()
	fmt.Println("WON")
	os.Exit(0)
}

// attach prints WON if it can trace a process.
func attach(text string) {
	pid, err := strconv.Atoi(text)
	if err == nil {
		err = syscall.PtraceAttach(pid)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = syscall.PtraceDetach(pid)
	fmt.Println("WON")
	os.Exit(0)
}
