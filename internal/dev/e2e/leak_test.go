//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"agentctl/protocol"
	"agentctl/server"
	"agentctl/wsclient"
)

func TestNothingIsLeftOfAServerItsAgentsAndItsClients(t *testing.T) {
	files := 0
	before := goleak.IgnoreCurrent()
	for round := range 3 {
		var pids []int
		t.Run(
			fmt.Sprint("round ", round),
			func(t *testing.T) { // its cleanup stops the server, its agents and its clients
				w := newTestServer(
					t,
					`{"on":"*"}`,
					`{"spawn":["sh","-c","trap '' TERM; sleep 600 & sleep 600"]}`,
					`{"say":"up"}`,
					`{"wait":"never"}`,
				)
				socket := filepath.Join(w.dir, "socket")
				l, err := server.ListenUnix(socket)
				if err != nil {
					t.Fatal(err)
				}
				w.server.Load().listen(l)
				var ids []string
				for range 4 {
					c := wsclient.New("unix://"+socket, wsclient.Options{})
					t.Cleanup(func() { _ = c.Close() })
					id := w.create(c)
					ids = append(ids, id)
					w.send(c, id, "go")
					mustObserve(t, c, id, wsclient.SubscribeOptions{}, eventOfType(protocol.TextEnd))
				}
				pids = children(t)
				c := w.client("bob")
				do[protocol.InterruptResult](t, c, protocol.DoInterrupt, ids[0], protocol.InterruptData{})
				do[protocol.Empty](t, c, protocol.DoClose, ids[1], protocol.CloseData{})
				do[protocol.Empty](t, c, protocol.DoClose, ids[2], protocol.CloseData{Delete: true})
				_ = w.dialRaw(t).conn.CloseNow()
			},
		)
		if len(pids) != 4 {
			t.Errorf("%d processes of agents while they ran", len(pids))
		}
		for _, pid := range pids {
			if left := members(t, pid); len(left) > 0 {
				t.Errorf("process group %d still has %v", pid, left)
			}
		}
		if round == 0 { // the runtime opens files for its first socket
			files = openFiles(t)
		}
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d open files and sockets, %d after the first round", now, files)
	}
}

// openFiles returns the number of open file descriptors, sockets included.
func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// children returns the child processes.
func children(t *testing.T) []int {
	return processes(t, func(_ string, parent, _ int) bool { return parent == os.Getpid() })
}

// members returns the processes of a group, without zombies.
func members(t *testing.T, group int) []int {
	return processes(t, func(state string, _, of int) bool { return of == group && state != "Z" })
}

// processes returns the processes that match by state, parent and group.
func processes(t *testing.T, fit func(state string, parent, group int) bool) (pids []int) {
	t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name.Name() + "/stat")
		if err != nil {
			continue // the process ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent, group int
		if n, _ := fmt.Sscan(rest, &state, &parent, &group); n == 3 && fit(state, parent, group) {
			pids = append(pids, pid)
		}
	}
	return pids
}
