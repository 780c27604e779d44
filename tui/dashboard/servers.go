package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// ServerConnsMsg holds new states of the connections of servers other than home, in order.
type ServerConnsMsg []remote.ServerConn

// servers holds the connections of the servers whose sessions are listed.
type servers struct {
	server  remote.Server
	home    *serverState
	several remote.Several          // nil: home is the only server
	names   []string                // home first; nil if several is nil
	states  map[string]*serverState // by name; nil if several is nil

	listError string // error that ended the summaries, or ""
}

// serverState is the connection of one of several servers.
type serverState struct {
	conn remote.Conn
	asOf time.Time // when the connection was lost; zero: there was none
}

// newServers returns the connections of a server, or of several if it is a remote.Several.
func newServers(server remote.Server) *servers {
	s := &servers{server: server, home: newServerState()}
	if several, ok := server.(remote.Several); ok && len(several.Servers()) > 1 {
		s.several, s.names, s.states = several, several.Servers(), map[string]*serverState{}
		for _, name := range s.names[1:] {
			s.states[name] = newServerState()
		}
		s.states[s.names[0]] = s.home
	}
	return s
}

func newServerState() *serverState { return &serverState{conn: remote.Conn{State: remote.Connecting}} }

// set sets the connection.
func (s *serverState) set(conn remote.Conn, now time.Time) {
	if s.conn.State == remote.Connected && conn.State != remote.Connected {
		s.asOf = now
	}
	s.conn = conn
}

// of returns the name of a session's server, or "" if there is only one.
func (s *servers) of(session string) string {
	if s.several == nil {
		return ""
	}
	return s.several.ServerOf(session)
}

// refuse returns why a command for a session cannot be sent now, or nil. A single server refuses
// none: its commands wait for the connection.
func (s *servers) refuse(session string) error {
	if s.several == nil {
		return nil
	}
	return s.refuseServer(s.of(session))
}

// refuseServer is refuse for one of several servers.
func (s *servers) refuseServer(name string) error {
	state, ok := s.states[name]
	if !ok || state.conn.State == remote.Connected {
		return nil
	}
	return fmt.Errorf("%s is not connected: %s", name, state.reason())
}

// reason returns the end of the text why there is no connection: the cause is last.
func (s *serverState) reason() string {
	text := cmp.Or(s.conn.Reason, string(s.conn.State))
	return ui.FitLeft(ui.Excerpt(text), maxReason)
}

// age says of when the last news of a server is, or that there was none.
func (s *serverState) age(styles *ui.Styles) string {
	if s.asOf.IsZero() {
		return "no news yet"
	}
	return "as of " + format.Age(styles.Now().Sub(s.asOf)) + " ago"
}

// age returns the age of what is known of a session, or "" if its server is connected.
func (s *servers) age(styles *ui.Styles, session string) string {
	if s.refuse(session) == nil {
		return ""
	}
	state := s.states[s.of(session)]
	return state.age(styles)
}

// width returns the width of the column of servers in cells, 0 if there is only one.
func (s *servers) width() int {
	if s.several == nil {
		return 0
	}
	width := len(columnHeads[serverColumn])
	for _, name := range s.names {
		width = max(width, len(name))
	}
	return min(width, maxServer)
}

// isLost reports whether a connection was lost or could not be made. One that has not been tried,
// or is being made for the first time, does not count.
func isLost(conn *remote.Conn) bool {
	switch conn.State {
	case remote.Connected:
		return false
	case remote.Connecting, remote.Offline:
		return conn.Reason != ""
	}
	return true
}

// lostLine returns the line that names the servers other than home that are lost, or "".
func (s *servers) lostLine(styles *ui.Styles, width int) string {
	var lost []string
	for _, name := range s.names[min(1, len(s.names)):] {
		state := s.states[name]
		if !isLost(&state.conn) {
			continue
		}
		lost = append(lost, name+" "+state.age(styles)+": "+state.reason())
	}
	if len(lost) == 0 {
		return ""
	}
	hint := ui.Prefixed(" · ", styles.Keys.Hint(keymap.Reconnect, "tries again now"))
	text := ui.Fit(" ○ "+strings.Join(lost, " · "), max(width-len(hint), 0))
	return styles.Error.Render(text) + styles.Dim.Render(ui.Fit(hint, width))
}

// other returns the name of a session's server, or "" if that is home.
func (s *servers) other(session string) string {
	name := s.of(session)
	if name == "" || name == s.names[0] {
		return ""
	}
	return name
}

// retry returns the function that skips the delay before the next connection attempt of all
// servers, or nil if they are connected.
func (s *servers) retry() func() {
	r, ok := s.server.(remote.Retrier)
	lost := func(state *serverState) bool { return isLost(&state.conn) }
	if !ok || s.home.conn.State == remote.Connected && !slices.ContainsFunc(slices.Collect(maps.Values(s.states)), lost) {
		return nil
	}
	if s.home.conn.State != remote.Connected {
		s.home.conn = remote.Conn{State: remote.Connecting}
	}
	return r.Retry
}

// homeText returns the state of the connection of home unless it is established or being
// established: then waiting, how long a server has not answered, or "".
func (s *servers) homeText(styles *ui.Styles, now time.Time, waiting string) string {
	text := string(s.home.conn.State)
	switch s.home.conn.State {
	case remote.Reconnecting:
		if wait := s.home.conn.Retry.Sub(now); wait > 0 {
			text += fmt.Sprintf(" in %ds", format.SecondsLeft(wait))
		}
	case remote.Offline:
		if s.home.conn.Reason != "" {
			text += ": " + s.home.conn.Reason
		}
	case remote.Connecting, remote.Connected:
		return styles.Warning.Render(ui.Prefixed(" ○ ", waiting))
	}
	if s.several != nil {
		text = s.names[0] + " " + text
	}
	return styles.Error.Render(" ○ " + ui.Excerpt(text))
}

// byServer returns the indexes of sessions by their server.
func (s *servers) byServer(sessions []protocol.Summary) map[string][]int {
	out := map[string][]int{}
	for i := range sessions {
		name := s.of(sessions[i].Session)
		out[name] = append(out[name], i)
	}
	return out
}
