package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// decodeServers returns the MCP servers of the client, and the names of those that no agent takes.
func decodeServers(raw []json.RawMessage) (list []protocol.MCPServer, others []string) {
	type value struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	values := func(of []value) map[string]string {
		m := map[string]string{}
		for _, v := range of {
			m[v.Name] = v.Value
		}
		if len(m) == 0 {
			return nil
		}
		return m
	}
	for _, r := range raw {
		var s struct {
			protocol.MCPServer
			Env     []value `json:"env"`
			Headers []value `json:"headers"`
		}
		err := json.Unmarshal(r, &s)
		v := s.MCPServer
		v.Env, v.Headers = values(s.Env), values(s.Headers)
		if v.Command != "" {
			v.Type = "" // stdio, of version 2
		}
		if err != nil || protocol.CheckMCPServers([]protocol.MCPServer{v}) != nil {
			others = append(others, v.Name)
			continue
		}
		list = append(list, v)
	}
	return list, others
}

// noteServers tells the client which of its MCP servers the session does not have.
func (s *session) noteServers(raw []json.RawMessage) {
	list, unused := decodeServers(raw)
	for _, name := range protocol.MCPServerNames(list) {
		if !slices.Contains(s.State.MCPServers, name) {
			unused = append(unused, name)
		}
	}
	if len(unused) == 0 {
		return
	}
	why := "a session has those of its creation and of the server's configuration"
	if !s.client.hello.Role.MayNameMCPServers() {
		why = "an admin names them, or the server's configuration"
	}
	names := visibleLine(strings.Join(unused, ", "))
	s.note(nil, protocol.LevelWarning, "MCP servers of the editor are not used: "+names+": "+why)
}
