package serverset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// separator separates the name of a server from the id of a session. Neither contains it.
const separator = "/"

// A Member is one server of a Set.
type Member struct {
	Name   string // that the user gave it; not empty
	Server remote.Server
}

// A Set is several servers as one. It is immutable, and safe for concurrent use.
type Set struct{ members []Member }

var (
	_ remote.Server  = (*Set)(nil)
	_ remote.Several = (*Set)(nil)
	_ remote.Retrier = (*Set)(nil)
)

// New returns a Set. The first member is home. Names must be different and must not contain a
// slash.
func New(home Member, others ...Member) *Set {
	return &Set{append([]Member{home}, others...)}
}

// Home returns the server whose sessions keep their ids.
func (s *Set) Home() remote.Server { return s.members[0].Server }

// Servers returns the names of the servers, home first.
func (s *Set) Servers() []string {
	names := make([]string, len(s.members))
	for i := range s.members {
		names[i] = s.members[i].Name
	}
	return names
}

// ServerOf returns the name of a session's server.
func (s *Set) ServerOf(id string) string {
	i, _ := s.find(id)
	return s.members[i].Name
}

// find returns the index of a session's server and the session's id there. The server of an unknown
// name is home, which does not know the session.
func (s *Set) find(id string) (member int, there string) {
	if name, rest, ok := strings.Cut(id, separator); ok {
		if i := s.named(name); i > 0 {
			return i, rest
		}
	}
	return 0, id
}

// idOf returns the id in the set of a session of a member. The empty id stays empty.
func (s *Set) idOf(member int, id string) string {
	if member == 0 || id == "" {
		return id
	}
	return s.members[member].Name + separator + id
}

// Session returns one session of any server.
func (s *Set) Session(id string) remote.Session {
	i, there := s.find(id)
	return s.members[i].Server.Session(there)
}

// Agents returns the agents of home.
func (s *Set) Agents() []string { return s.Home().Agents() }

// AgentsOf returns the agents of a server, or nil if no server has that name.
func (s *Set) AgentsOf(server string) []string {
	if i := s.named(server); i >= 0 {
		return s.members[i].Server.Agents()
	}
	return nil
}

// Sandbox returns the default sandbox of home.
func (s *Set) Sandbox() *protocol.Sandbox { return s.Home().Sandbox() }

// SandboxOf returns the default sandbox of a server, or nil if no server has that name.
func (s *Set) SandboxOf(server string) *protocol.Sandbox {
	if i := s.named(server); i >= 0 {
		return s.members[i].Server.Sandbox()
	}
	return nil
}

// named returns the index of the server with a name, or -1.
func (s *Set) named(server string) int {
	return slices.IndexFunc(s.members, func(m Member) bool { return m.Name == server })
}

// Create creates a session at home.
func (s *Set) Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	return s.Home().Create(ctx, d)
}

// CreateOn creates a session on a server.
func (s *Set) CreateOn(ctx context.Context, server string, d protocol.CreateData) (protocol.CreateResult, error) {
	i := s.named(server)
	if i < 0 {
		return protocol.CreateResult{}, fmt.Errorf("create session: no server %q", server)
	}
	r, err := s.members[i].Server.Create(ctx, d)
	r.Session = s.idOf(i, r.Session)
	return r, err
}

// Retry immediately connects all servers that wait for their next attempt.
func (s *Set) Retry() {
	for i := range s.members {
		if r, ok := s.members[i].Server.(remote.Retrier); ok {
			r.Retry()
		}
	}
}
